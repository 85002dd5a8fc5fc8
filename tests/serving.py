"""Nexus in a process of its own for browsers to meet, forked from one that has its libraries loaded already.

Loading them takes a server six seconds of a processor; test_served and test_main start theirs from nothing.
"""

import multiprocessing
import os
import signal
import sys
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

from nexus_core.__main__ import main

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
