"""Cockpit and API on one port: everything that can go wrong is tried first, and said in one line."""

import asyncio
import errno
import logging
import os
import signal
import socket
import sys
from types import FrameType
from typing import Any

import uvicorn

from nexus_core import database, embedded, migrate
from nexus_core.config import settings
from nexus_core.errors import SetupFailed
from nexus_core.i18n import _

GRACE_SECONDS = 2  # an open page never ends its WebSocket by itself
WEBSOCKET_BYTES = 200 * 1024 * 1024  # Streamlit's own limit
LOGGERS = ("uvicorn", "uvicorn.access", "uvicorn.error")
WILDCARDS = ("", "0.0.0.0", "::")


class _Quiet(logging.Filter):
    """Keeps what a person should know from a server's log.

    Streamlit, loading its settings, makes these loggers talk of every request. And an answer that still streams
    when the server is told to end is no fault to be shown with a traceback.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        cancelled = record.exc_info is not None and record.exc_info[0] is asyncio.CancelledError
        return record.levelno >= logging.WARNING and not cancelled


class _Server(uvicorn.Server):
    """Says where it is once it can be reached there."""

    address = ""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        print(_("Nexus is at {address}").format(address=self.address), flush=True)


def serve() -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP; then end, and stop the bundled server if nobody else uses it.

    Raises SetupFailed when the port is taken, the database can't be used, or a setting is wrong.
    """
    chosen = settings()
    sockets = listen(chosen.host, chosen.port)
    signal.signal(signal.SIGTERM, _leave)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
        signal.signal(signal.SIGHUP, lambda number, frame: signal.raise_signal(signal.SIGTERM))
    try:
        migrate.migrate(database.url())
        server = _Server(_config())
        server.address = address(chosen.host, sockets[0].getsockname()[1])
        for name in LOGGERS:
            logging.getLogger(name).addFilter(_Quiet())
        server.run(sockets)
    except KeyboardInterrupt:
        pass  # Ctrl+C is how one ends it
    finally:
        database.reset()
        embedded.close()


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)  # after uvicorn has ended, or before it began


def _config() -> uvicorn.Config:
    sys.path.insert(0, str(database.ROOT))
    os.chdir(database.ROOT)  # Streamlit looks for .streamlit/config.toml here
    return uvicorn.Config(
        "app:app",
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="websockets-sansio",
        ws_max_size=WEBSOCKET_BYTES,
        ws_ping_interval=30,
        ws_ping_timeout=30,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


def listen(host: str, port: int) -> list[socket.socket]:
    """A listening socket for every address of `host`; SetupFailed when there is none or it is taken.

    Listening starts before the application is loaded, so that two that start at once can't both believe they
    may. The sockets know that they are TCP: asyncio delays small packets on those that don't.
    """
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        raise SetupFailed(_("NEXUS_HOST={host} is not an address of this machine.").format(host=host)) from None
    opened: list[socket.socket] = []
    for family, kind, protocol, _name, where in found[:1] if port == 0 else found:
        opened.append(_listen(family, kind, protocol, where, opened))
    return opened


def _listen(
    family: int, kind: int, protocol: int, where: tuple[Any, ...], opened: list[socket.socket]
) -> socket.socket:
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, where[0] != "::")
        listener.bind(where)
        listener.listen(2048)
    except OSError as error:
        for each in (listener, *opened):
            each.close()
        raise SetupFailed(_refusal(error, where[0], where[1])) from None
    return listener


def _refusal(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return _("Port {port} is in use: end what uses it, or choose another, as in PORT={other}.").format(
            port=port, other=port + 1 if port < 65535 else 8501
        )
    if error.errno == errno.EACCES:
        return _("This user may not use port {port}: choose one above 1023, as in PORT=8501.").format(port=port)
    return _("Nexus can't listen on {host}, port {port}: {reason}.").format(host=host, port=port, reason=error.strerror)


def address(host: str, port: int) -> str:
    """What a person on this machine types into a browser."""
    name = "localhost" if host in WILDCARDS else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"
