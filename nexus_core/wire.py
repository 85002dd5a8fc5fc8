"""Plain text of a model's stream taken straight from the wire; everything else goes the long way through litellm.

What OpenAI's client and litellm make of one chunk costs half a millisecond, and nearly all chunks say a word and
nothing else: fifty answers at twenty chunks a second would take more than half a core.
"""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_TOP = frozenset(
    {"id", "object", "created", "model", "choices", "system_fingerprint", "service_tier", "usage", "obfuscation"}
)
_CHOICE = frozenset({"index", "delta", "finish_reason", "logprobs"})


@dataclass(frozen=True)
class Plain:
    """A chunk that is text and nothing else."""

    text: str


class Wire:
    """The HTTP answer below a stream of OpenAI's client, read event by event by whoever comes first.

    `plain` gives the text of the next event, if it is that; otherwise, and once it has ended or failed, None: then the
    stream itself is to be asked, which reads on here.
    """

    def __init__(self, response: Any) -> None:
        self._response = response
        self._events = _events(response.aiter_bytes())
        self._kept: list[bytes | Exception] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._response, name)

    async def plain(self) -> Plain | None:
        try:
            event = await anext(self._events, None)
        except Exception as error:  # noqa: BLE001 - the stream meets it, and knows what it means
            self._kept.append(error)
            return None
        if event is None:
            return None
        found = text_of(event)
        if found is None:
            self._kept.append(event)
            return None
        return Plain(found)

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        """What `plain` left over, then the rest."""
        while True:
            kept = self._kept.pop(0) if self._kept else await anext(self._events, None)
            if isinstance(kept, Exception):
                raise kept
            if kept is None:
                return
            yield kept


def below(stream: Any) -> Wire | None:
    """Put a Wire below litellm's stream; None where it does not stand on a stream of OpenAI's client."""
    client = getattr(stream, "completion_stream", None)
    response = getattr(client, "response", None)
    if client is None or not hasattr(response, "aiter_bytes") or type(client).__name__ != "AsyncStream":
        return None
    client.response = Wire(response)
    found: Wire = client.response
    return found


def text_of(event: bytes) -> str | None:
    """The text of a server-sent event that is a chunk of plain text; None for every other."""
    if not event.startswith(b"data:"):
        return None
    try:
        chunk = json.loads(event[5:])
        (choice,) = chunk["choices"]
        delta = choice["delta"]
        text = delta["content"]
    except (ValueError, TypeError, KeyError):
        return None
    more = (
        chunk.keys() - _TOP or choice.keys() - _CHOICE or chunk.get("usage") or choice.get("finish_reason")
        or choice.get("logprobs") or any(value for name, value in delta.items() if name not in ("content", "role"))
    )  # fmt: skip
    return text if isinstance(text, str) and text and not more else None


async def _events(raw: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The events of a stream, each with the blank line that ends it."""
    held = b""
    async for piece in raw:
        held += piece
        while found := _END.search(held):
            yield held[: found.end()]
            held = held[found.end() :]
    if held:
        yield held
