"""A model on loopback whose every word a test decides, when it comes too."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.nexus_core.faulty_server import delta, sse, usage

Script = Callable[[dict[str, Any], int], Iterator[str | dict[str, Any] | bytes]]
"""What one request is answered with, given its JSON and its number from 1: pieces of text, whole chunks, raw bytes.

It runs in the request's own thread and may wait. A chunk with a finish reason ends it, otherwise it ends with `stop`.
"""


@dataclass
class ModelServer:
    """Speaks OpenAI's chat completions; `bodies` are the requests as they came, `raw` their bytes."""

    script: Script
    bodies: list[dict[str, Any]] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                owner.answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        raw = request.rfile.read(int(request.headers["Content-Length"]))
        self.raw.append(raw)
        self.bodies.append(json.loads(raw))
        request.send_response(200)
        request.send_header("Content-Type", "text/event-stream")
        request.end_headers()
        finished = False
        try:
            for piece in self.script(self.bodies[-1], len(self.bodies)):
                if isinstance(piece, dict):
                    finished = finished or any(choice["finish_reason"] for choice in piece["choices"])
                chunks = [piece] if isinstance(piece, bytes) else sse(_chunk(piece), done=False)
                request.wfile.write(b"".join(chunks))
                request.wfile.flush()
            end = [] if finished else [delta(finish="stop"), {**delta(), "choices": [], "usage": usage(11, 7)}]
            request.wfile.write(b"".join(sse(*end)))
        except OSError:
            pass  # the client went away, as a stopped answer does


def _chunk(piece: str | dict[str, Any]) -> dict[str, Any]:
    return delta(piece) if isinstance(piece, str) else piece


@dataclass
class Tap:
    """A script that says `first`, waits until it is opened, and says `then`; `flowing` is set once `first` is out."""

    first: str = "One two "
    then: str = "three."
    flowing: threading.Event = field(default_factory=threading.Event)
    opened: threading.Event = field(default_factory=threading.Event)

    def __call__(self, body: dict[str, Any], number: int) -> Iterator[str]:
        if self.first:
            yield self.first
        self.flowing.set()
        self.opened.wait(30)
        yield self.then


def echo(body: dict[str, Any], number: int) -> Iterator[str]:
    yield f"Answer {number}"


def tool_call(name: str, arguments: str, call_id: str = "call_1", index: int = 0) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return delta(tool_calls=[{"index": index, "id": call_id, "type": "function", "function": function}])


def ending(reason: str = "stop", sent: int = 100, made: int = 10) -> list[dict[str, Any]]:
    return [delta(finish=reason), {**delta(), "choices": [], "usage": usage(sent, made)}]
