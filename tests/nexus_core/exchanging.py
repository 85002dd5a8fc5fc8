"""What the tests of export and import say again and again: hostile conversations, and both ways at once."""

import io
import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from nexus_core import exchange, importing
from nexus_core.conversations import Place
from nexus_core.database import Scope
from nexus_core.importing import Outcome
from nexus_core.text import one_line

HOSTILE = [
    "", " ", "```\n````\n## User\n~~~", "> quoted\n\n---\n# Title", "<!-- open", "<pre>\n", "\\u0000", "`",
    "a\r\n## User · x\rb", "\u2028## User\u2029", "日本/语 \"x\"\r\nX: y 🚀", "👨‍👩‍👧‍👦", "e\u0301", "\u202eevil",
    "{\"a\": 1}", "- a\n  - b\n\n      code", "[x]: /y", "=1+1", "Setext\n===\n", "| a |\n|---|\n", "\t",
    "\x0b\x0c\x85",
    "1. a\n\n   b", "&amp; <b>", "$$x$$",
]  # fmt: skip
TEXT = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=40), st.text("`~#>-=* \n\t<!0a", max_size=60)).map(
    lambda text: "".join(letter for letter in text if letter != "\0" and not "\ud800" <= letter <= "\udfff")
)
INSTANT = st.datetimes(datetime(1971, 1, 1), datetime(2026, 1, 1)).map(lambda at: at.replace(tzinfo=UTC).isoformat())  # noqa: DTZ001
SIMPLE = st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), TEXT, st.floats(-1e9, 1e9, width=32))
JSON = st.recursive(
    SIMPLE, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=6
)
PART = st.one_of(
    TEXT.map(lambda text: {"type": "text", "text": text}),
    TEXT.map(lambda text: {"type": "reasoning", "text": text}),
    st.just({"type": "step-start"}),
    st.builds(
        lambda name, arguments, output: {
            "type": f"tool-{name}", "toolCallId": "call-1", "state": "output-available", "input": {},
            "callProviderMetadata": {"nexus": {"arguments": arguments}}, "output": output,
        },
        TEXT, TEXT | st.just('{"b": 1, "a": 1, "a": 2}  '), JSON,
    ),
    st.just({"type": "file", "filename": "a\nb.png", "mediaType": "image/png", "url": "https://evil.example/p"}),
    st.dictionaries(TEXT, JSON, max_size=2).map(lambda more: more | {"type": "data-odd"}),
)  # fmt: skip
NUMBER = st.none() | st.integers(0, 2**31)


@st.composite
def run(draw: st.DrawFn) -> dict[str, Any]:
    """A run's figures, as they are exported."""
    at = draw(INSTANT)
    return {
        "id": str(draw(st.uuids())), "request_id": str(draw(st.uuids())), "attempt": draw(st.integers(1, 3)),
        "kind": "answer", "model": draw(TEXT), "served_model": draw(st.none() | TEXT), "provider": None,
        "runtime": "remote", "profile_slug": None, "status": "succeeded", "input_tokens": draw(NUMBER),
        "cached_tokens": None, "cache_write_tokens": None, "output_tokens": draw(NUMBER), "reasoning_tokens": None,
        "usage_source": "provider", "cost_estimate": draw(st.sampled_from([None, "0", "0.0000000001", "12.5"])),
        "cost_source": None, "price_version": None, "duration_ms": 3, "first_token_ms": None, "stopped": False,
        "error_type": None, "created_at": at, "started_at": at, "finished_at": None,
    }  # fmt: skip


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """A hostile conversation as it is exported: gaps, versions, every kind of part, figures of runs."""
    runs = sorted(draw(st.lists(run(), max_size=2, unique_by=lambda one: one["id"])),
                  key=lambda one: (one["created_at"], one["id"]))  # fmt: skip
    wrote = st.none() | st.sampled_from([one["id"] for one in runs]) if runs else st.none()
    messages: list[dict[str, Any]] = []
    for _number in range(draw(st.integers(0, 5))):
        seq = (messages[-1]["seq"] if messages else 0) + draw(st.integers(1, 3))
        parts = draw(st.lists(PART, max_size=3))
        messages.append({
            "id": str(draw(st.uuids())), "seq": seq,
            "parent_seq": draw(st.none() | st.sampled_from([one["seq"] for one in messages])) if messages else None,
            "active": draw(st.booleans()), "role": draw(st.sampled_from(["system", "user", "assistant", "tool"])),
            "status": draw(st.sampled_from(["complete", "stopped", "failed"])), "parts": parts, "body": draw(TEXT),
            "tokens": draw(st.none() | st.integers(0, 2**31 - 1)), "user_id": None, "author": None,
            "run_id": draw(wrote), "model": draw(st.none() | TEXT), "runtime": draw(st.none() | TEXT),
            "metadata": draw(st.dictionaries(TEXT, JSON, max_size=2)),
            "copied_from": draw(st.none() | st.uuids().map(str)), "created_at": draw(INSTANT),
            "updated_at": draw(INSTANT),
        })  # fmt: skip
    last = messages[-1]["seq"] if messages else 1
    summaries = [
        {"id": str(draw(st.uuids())), "from_seq": 1, "to_seq": last, "body_md": "x" + draw(TEXT), "tokens": None,
         "method": "hand", "created_at": draw(INSTANT)}
        for _one in range(draw(st.integers(0, 1)))
    ]  # fmt: skip
    title = draw(TEXT.map(one_line))
    return {
        "format": "nexus-conversation", "version": 1, "id": str(draw(st.uuids())), "title": title,
        "title_source": "person" if title else "none",
        "kind": draw(st.sampled_from(["project", "decision", "support"])),
        "status": draw(st.sampled_from(["open", "summarized", "archived"])),
        "summary_md": draw(TEXT),
        "session_id": None, "model_id": draw(st.none() | TEXT), "provider_id": None,
        "metadata": draw(st.dictionaries(TEXT, JSON, max_size=2)), "owner": {"id": str(UUID(int=0)), "name": ""},
        "project": None, "task": None, "agent": None,
        "tags": sorted(draw(st.sets(st.sampled_from(["pricing", "日本", "hot"])))), "imported_from": None,
        "created_at": draw(INSTANT), "updated_at": draw(INSTANT), "last_message_at": draw(INSTANT), "runs": runs,
        "summaries": summaries, "messages": messages,
    }  # fmt: skip


def bring(scope: Scope, raw: Any, into: Place | None = None) -> list[Outcome]:
    """Import what is bytes, or what JSON can write."""
    content = raw if isinstance(raw, bytes) else json.dumps(raw).encode()
    return list(importing.run(scope, io.BytesIO(content), into))


def taken(scope: Scope, conversation_id: UUID | None) -> bytes:
    """A conversation's export."""
    assert conversation_id is not None
    return b"".join(exchange.one(scope, conversation_id, "json").chunks)


def markdown(scope: Scope, conversation_id: UUID | None) -> str:
    """The same, to be read."""
    assert conversation_id is not None
    return b"".join(exchange.one(scope, conversation_id, "markdown").chunks).decode()
