"""The REST door behind a real HTTP server in this process, and its events one by one."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import uvicorn
from starlette.types import ASGIApp

from tests.nexus_core.conversing import until


@contextmanager
def served(app: ASGIApp) -> Iterator[str]:
    """The address of a server on loopback."""
    config = uvicorn.Config(app, port=0, log_level="warning", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until(lambda: server.started)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(10)


def events(answer: httpx2.Response) -> Iterator[Any]:
    """The events of a stream as they come: parsed JSON, and the last one's `[DONE]`."""
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-vercel-ai-ui-message-stream"] == "v1"
    for line in answer.iter_lines():
        if line.startswith("data: "):
            said = line.removeprefix("data: ")
            yield said if said == "[DONE]" else json.loads(said)
        else:
            assert line == "" or line.startswith(":")


def kinds(told: list[Any]) -> list[str]:
    """The types of chunks, deltas in a row as one."""
    found = ["[DONE]" if one == "[DONE]" else one["type"] for one in told]
    return [kind for before, kind in zip([None, *found], found, strict=False) if kind != before or "delta" not in kind]


def written(told: list[Any], kind: str = "text") -> str:
    """What the deltas of a kind add up to."""
    return "".join(one["delta"] for one in told if one != "[DONE]" and one["type"] == f"{kind}-delta")
