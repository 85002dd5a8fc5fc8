"""A model on loopback that says numbered words at a steady pace: `python -m bench.paced 20 600` prints its port.

The words of an answer begin with the last word of the question: asked "… q7", chunk 12 is "q7w0012 ".
"""

import asyncio
import json
import sys
import time
from typing import Any

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
PARAGRAPH = 60


def word(tag: str, number: int) -> str:
    """Chunk `number`, from 0, of the answer to the question that ends with `tag`."""
    return f"{tag}w{number:04d}" + ("\n\n" if number % PARAGRAPH == PARAGRAPH - 1 else " ")


def _event(delta: dict[str, Any] | None, finish: str | None = None, **more: Any) -> bytes:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "paced", "choices": choices}
    return b"data: " + json.dumps(chunk | more).encode() + b"\n\n"


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pace: float, chunks: int) -> None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.partition("content-length:")[2].split("\r\n")[0])
        asked = json.loads(await reader.readexactly(length))["messages"][-1]["content"]
        text = asked if isinstance(asked, str) else asked[-1]["text"]
        tag = text.split()[-1]
        writer.write(HEAD)
        begun = time.monotonic()
        for number in range(chunks):
            await asyncio.sleep(begun + number / pace - time.monotonic())
            writer.write(_event({"content": word(tag, number)}))
            await writer.drain()
        usage = {"prompt_tokens": 50, "completion_tokens": chunks, "total_tokens": 50 + chunks}
        writer.write(_event({}, "stop") + _event(None, usage=usage) + b"data: [DONE]\n\n")
        await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError):
        pass  # whoever asked went away
    finally:
        writer.close()


async def _serve(pace: float, chunks: int) -> None:
    server = await asyncio.start_server(lambda r, w: _answer(r, w, pace, chunks), "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)  # until whoever started it lets go


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1]), int(sys.argv[2])))
