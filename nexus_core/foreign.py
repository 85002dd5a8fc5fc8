"""What other products' exports have in common: a tree of messages becomes numbered rows with versions."""

import heapq
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID, uuid5

from nexus_core import parts as parts_
from nexus_core import tokens
from nexus_core.formats import Document, Message, Named, Origin, Taken
from nexus_core.parts import Part
from nexus_core.text import one_line, title_of

ORIGINS = UUID("0198c0de-0000-7000-8000-000000000022")
"""The namespace of ids made from another product's: the same conversation always becomes the same id."""

NOBODY = Named(id=UUID(int=0), name="")
FIRST = datetime(1970, 1, 2, tzinfo=UTC)
"""The time of what has none: at the end of every list, so that it is nobody's newest conversation."""


@dataclass(frozen=True)
class Node:
    """A message of a tree: `parent` is the key of what it follows.

    Without parts nothing of it is kept, and what follows it hangs on what it followed. `at` None: no time is known.
    """

    key: str
    parent: str | None
    role: Literal["user", "assistant"] = "user"
    parts: Sequence[Part] = ()
    at: datetime | None = None
    model: str | None = None


@dataclass(frozen=True)
class Facts:
    """What a file says about a conversation besides its messages; `current` is the key of the last one shown."""

    format: str
    id: str
    title: str
    created_at: datetime | None = None
    updated_at: datetime | None = None
    current: str | None = None
    archived: bool = False


def taken(facts: Facts, nodes: Sequence[Node], left: Counter[str]) -> Taken:
    """The conversation as a document of ours; messages that hang on nothing (a broken tree) are left."""
    ordered = _ordered(list({node.key: node for node in reversed(nodes)}.values())[::-1])
    left["unknown"] += len(nodes) - len(ordered)
    conversation_id = uuid5(ORIGINS, f"{facts.format}:{facts.id}")
    shown = _path(ordered, facts.current)
    began = facts.created_at or next((node.at for node in ordered if node.at), None) or FIRST
    messages: list[Message] = []
    number: dict[str, int | None] = {}
    time: dict[str, datetime] = {}
    for node in ordered:
        parent = number.get(node.parent or "")
        time[node.key] = node.at or time.get(node.parent or "", began)
        number[node.key] = parent
        if node.parts:
            messages.append(_message(node, conversation_id, len(messages) + 1, parent, time[node.key], shown))
            number[node.key] = len(messages)
    title = one_line(facts.title)
    asked = next((message.body for message in messages if message.role == "user"), "")
    document = Document.model_construct(
        format="nexus-conversation", version=1, id=conversation_id, title=title or (title_of(asked) if asked else ""),
        title_source="person" if title else "question" if asked else "none", kind="project",
        status="archived" if facts.archived else "open", summary_md="", session_id=None, model_id=None,
        provider_id=None, metadata={}, owner=NOBODY, project=None, task=None, agent=None, tags=[],
        imported_from=Origin(format=facts.format, id=facts.id), created_at=began,
        updated_at=facts.updated_at or max(time.values(), default=began),
        last_message_at=max(time.values(), default=began), runs=[], summaries=[], messages=messages,
    )  # fmt: skip
    return Taken(document, left, facts.format)


def _message(node: Node, within: UUID, seq: int, parent: int | None, at: datetime, shown: set[str]) -> Message:
    parts = list(node.parts)
    return Message.model_construct(
        id=uuid5(within, node.key), seq=seq, parent_seq=parent, active=node.key in shown, role=node.role,
        status="complete", parts=parts, body=parts_.body(parts), tokens=tokens.count_parts(parts), user_id=None,
        author=None, run_id=None, model=node.model, runtime=None, metadata={}, copied_from=None, created_at=at,
        updated_at=at,
    )  # fmt: skip


def _ordered(nodes: Sequence[Node]) -> list[Node]:
    """Parents before their children, and else by time, as far as the file says any; a circle is not reached."""
    known = {node.key for node in nodes}
    children: dict[str | None, list[int]] = {}
    for index, node in enumerate(nodes):
        children.setdefault(node.parent if node.parent in known else None, []).append(index)
    waiting = [(_stamp(nodes[index], 0.0), index) for index in children.get(None, [])]
    heapq.heapify(waiting)
    found = []
    while waiting:
        stamp, index = heapq.heappop(waiting)
        found.append(nodes[index])
        for child in children.pop(nodes[index].key, ()):
            heapq.heappush(waiting, (_stamp(nodes[child], stamp), child))
    return found


def _stamp(node: Node, otherwise: float) -> float:
    return node.at.timestamp() if node.at else otherwise


def _path(ordered: Sequence[Node], current: str | None) -> set[str]:
    """The keys from the last message shown up to the beginning; the newest one where the file names none."""
    by_key = {node.key: node for node in ordered}
    at = current if current in by_key else (ordered[-1].key if ordered else None)
    found: set[str] = set()
    while at is not None and at in by_key and at not in found:
        found.add(at)
        at = by_key[at].parent
    return found


def instant(value: Any) -> datetime | None:
    """A time as files write it: seconds since 1970, or ISO 8601; None for what is none, or before 1970."""
    try:
        if isinstance(value, str) and not value.replace(".", "", 1).isdigit():
            found = datetime.fromisoformat(value)
            found = found if found.tzinfo else found.replace(tzinfo=UTC)
        else:
            seconds = float(value)
            found = datetime.fromtimestamp(seconds if math.isfinite(seconds) else 0.0, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    return found if found >= FIRST else None


def text(value: Any) -> str:
    """The value where it is a text; empty else."""
    return value if isinstance(value, str) else ""


def mapping(value: Any) -> Mapping[str, Any]:
    """The value where it is an object; an empty one else."""
    return value if isinstance(value, Mapping) else {}


def items(value: Any) -> Sequence[Any]:
    """The value where it is a list; an empty one else."""
    return value if isinstance(value, list) else ()


def note(name: str = "", *, image: bool = False) -> Part:
    """What stands in the place of something that no export carries along, for people and models to read."""
    if image:
        return parts_.text("[Image, not imported]")
    return parts_.text(f"[Attached file, not imported: {one_line(name)[:200] or 'unnamed'}]")
