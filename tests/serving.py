"""Nexus in a process of its own for browsers to meet, forked from one that has its libraries loaded already.

Loading them takes a server six seconds of a processor; test_served and test_main start theirs from nothing.
"""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from nexus_core.__main__ import main
from tests.machine import free_port

ROOT = Path(__file__).resolve().parents[1]


def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.loaded"])
    return context


class Server:
    """`python -m nexus_core serve`, with the interface of a Popen."""

    def __init__(self, log: Path, port: int, **environment: str) -> None:
        variables = {**os.environ, **environment}
        self._process: Any = _context().Process(target=_serve, args=(str(log), port, variables))
        self._process.start()
        self.pid: int = self._process.pid

    def poll(self) -> int | None:
        code: int | None = self._process.exitcode
        return code

    def wait(self, timeout: float) -> int:
        self._process.join(timeout)
        code = self.poll()
        if code is None:
            raise TimeoutError(f"the server has not ended within {timeout} s")
        return code

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _serve(log: str, port: int, variables: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(ROOT)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    sys.exit(main(["serve", "--port", str(port)]))


@contextmanager
def running(log: Path, **environment: str) -> Iterator[tuple[str, Server]]:
    """A server, once it answers: its address, and itself; it is told to end afterwards."""
    port = free_port()
    server = Server(log, port, **environment)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{address}/health", server)
        yield address, server
    finally:
        if server.poll() is None:
            server.terminate()
        server.wait(30)


def wait_for(url: str, server: subprocess.Popen[bytes] | Server, seconds: float = 90) -> None:
    """Return once `url` answers; fail when the server ends or is not there in time, on a busy machine too."""
    deadline = time.monotonic() + seconds
    while server.poll() is None and time.monotonic() < deadline:
        try:
            with urlopen(url, timeout=2):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    pytest.fail(f"{url} does not answer; the server's exit code is {server.poll()}")
