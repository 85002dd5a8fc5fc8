"""A raw HTTP server on loopback that answers with the bytes it is told to, for what no mock would send."""

import asyncio
import json
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self


def delta(content: Any = None, *, finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """One OpenAI chat completion chunk."""
    parts = {"content": content, **fields} if content is not None else fields
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "served-1",
        "choices": [{"index": 0, "delta": parts, "finish_reason": finish}],
    }


def usage(sent: int, made: int, **details: Any) -> dict[str, Any]:
    return {"prompt_tokens": sent, "completion_tokens": made, "total_tokens": sent + made, **details}


def sse(*chunks: dict[str, Any] | str, done: bool = True) -> list[bytes]:
    """Chunks as server-sent events, [DONE] at the end."""
    events = [c if isinstance(c, str) else json.dumps(c) for c in chunks] + (["[DONE]"] if done else [])
    return [f"data: {event}\n\n".encode() for event in events]


@dataclass
class FaultyServer:
    """Answers every request with `pieces`, byte for byte, then ends, hangs or drops the connection.

    `hang` waits after the pieces until the client goes away; `head` False sends not even a status line. `closed`
    says when (time.monotonic) the client went; `bodies` holds the requests' JSON, `keys` their Authorization.
    """

    pieces: Iterable[bytes] = ()
    status: str = "200 OK"
    headers: tuple[str, ...] = ("Content-Type: text/event-stream",)
    head: bool = True
    hang: bool = False
    bodies: list[Any] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    closed: list[float] = field(default_factory=list)
    port: int = 0

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(5)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._answer, "127.0.0.1", 0)

    async def _stop(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            fields = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head.splitlines()[1:])}
            self.bodies.append(json.loads(await reader.readexactly(int(fields["content-length"]))))
            self.keys.append(fields.get("authorization", ""))
            if self.head:
                lines = (f"HTTP/1.1 {self.status}", *self.headers, "Connection: close", "", "")
                writer.write("\r\n".join(lines).encode())
            for piece in self.pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)
            if self.hang:
                await reader.read()
                self.closed.append(time.monotonic())
        finally:
            writer.close()
