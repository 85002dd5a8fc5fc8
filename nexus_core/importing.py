"""Import: conversations out of a file become this person's, each in a transaction of its own; twice adds nothing."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import IO, Any, Literal
from uuid import UUID, uuid5

from nexus_core import audit, conversations, l10n, projects, reading, tags
from nexus_core.conversations import TITLE_LIMIT, Place
from nexus_core.database import Json, Scope, Transaction, transaction
from nexus_core.errors import Conflict, Invalid, NexusError, StoreUnavailable
from nexus_core.foreign import FIRST
from nexus_core.formats import Document, Message, Taken
from nexus_core.i18n import _
from nexus_core.text import clip, one_line

Status = Literal["imported", "known", "trashed", "failed"]
ROWS = 500
MOST_MESSAGES = 100_000
LONGEST = 5_000_000  # characters of a message


@dataclass(frozen=True)
class Outcome:
    """What became of a conversation in the file.

    `status`: imported; known: it is here already, and was left as it is; trashed: it is in the trash; failed: nothing
    of it was stored, and `reason` says why. `left` counts by kind what could not be taken along, see `formats.Taken`.
    """

    title: str
    status: Status
    conversation_id: UUID | None = None
    messages: int = 0
    left: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""


def run(scope: Scope, file: IO[bytes], into: Place | None = None) -> Iterator[Outcome]:
    """Import the conversations of a file, one after the other; all of them become this person's.

    `into`: where to; None: each where it was, as far as its project and agent are here, else outside any project, in
    Just Chat. Raises Forbidden and NotFound at once, Invalid for a file without conversations, and StoreUnavailable,
    after which the same file can be imported again: what is here already is left as it is.
    """
    scope.require("operator")
    if into is not None and into.project_id is not None:
        with transaction(scope) as tx:
            projects.get(tx, into.project_id)
    return _each(scope, file, into)


def _each(scope: Scope, file: IO[bytes], into: Place | None) -> Iterator[Outcome]:
    for found in reading.conversations(file):
        if isinstance(found, Invalid):
            yield Outcome("", "failed", reason=found.message)
            continue
        try:
            with transaction(scope) as tx:
                outcome = store(tx, found, into)
        except StoreUnavailable:
            raise
        except NexusError as error:
            outcome = Outcome(found.document.title, "failed", reason=error.message)
        yield outcome


def store(tx: Transaction, taken: Taken, into: Place | None) -> Outcome:
    """Store a conversation, whole, under its own id where that is free, else under one made from it and this person's.

    Raises Forbidden, Invalid, Conflict.
    """
    tx.scope.require("operator")
    document, left = taken.document, Counter(taken.left)
    _check(document)
    place = _place(tx, document, into, left)
    for conversation_id in (document.id, uuid5(_me(tx), str(document.id))):
        imported = _imported(document, conversation_id)
        values = _values(document) | place | {"imported": Json(imported) if imported else None}
        if tx.execute("exchange.insert_conversation", id=conversation_id, **values).first():
            break
        here = tx.execute("exchange.here", id=conversation_id).first()
        if here is not None:
            known: Status = "trashed" if here.trashed else "known"
            return Outcome(document.title, known, None if here.trashed else conversation_id, here.messages)
    else:
        raise Conflict(_("Its id belongs to another conversation."))
    _messages(tx, conversation_id, taken, left)
    _summaries(tx, conversation_id, document)
    for start in range(0, len(document.tags), tags.MOST):
        tags.add(tx, [conversation_id], document.tags[start : start + tags.MOST])
    conversations.mark_read(tx, conversation_id, values["next_seq"] - 1)
    tx.execute("exchange.settle", id=conversation_id, updated_at=_sane(document.updated_at))
    told = {"format": taken.foreign or "nexus", "messages": len(document.messages)}
    audit.record(tx, "import", "conversation", conversation_id, told)
    return Outcome(document.title, "imported", conversation_id, len(document.messages), dict(+left))


def _me(tx: Transaction) -> UUID:
    assert tx.scope.user_id is not None
    return tx.scope.user_id


def _check(document: Document) -> None:
    if len(document.messages) > MOST_MESSAGES:
        raise Invalid(_("It has more than {n} messages.").format(n=l10n.number(MOST_MESSAGES)))
    for message in document.messages:
        if len(message.body) > LONGEST:
            words = _("Message {number} is longer than {n} characters.")
            raise Invalid(words.format(number=message.seq, n=l10n.number(LONGEST)))


def _place(tx: Transaction, document: Document, into: Place | None, left: Counter[str]) -> dict[str, UUID | None]:
    """Where it goes; what of its own place is not here is counted among what was left."""
    wanted = {name: getattr(document, name) for name in ("project", "agent", "task")}
    if into is not None:
        return {"project_id": into.project_id, "agent_id": into.agent_id, "task_id": None}
    asked = {f"{name}_id": named and named.id for name, named in wanted.items()}
    found = tx.execute("exchange.place", **asked).one()._asdict()
    left.update(name for name in wanted if wanted[name] and found[f"{name}_id"] is None)
    return dict(found)


def _values(document: Document) -> dict[str, Any]:
    """The columns that come from the document as they are."""
    names = ("title_source", "kind", "status", "summary_md", "model_id", "provider_id")
    numbers = [message.seq for message in document.messages] + [summary.to_seq for summary in document.summaries]
    return {name: getattr(document, name) for name in names} | {
        "title": clip(one_line(document.title), TITLE_LIMIT),
        "session_id": document.session_id and document.session_id[:200],
        "metadata": Json(_object(document.metadata)),
        "next_seq": max(numbers, default=0) + 1,
        "created_at": _sane(document.created_at),
        "updated_at": _sane(document.updated_at),
        "last_message_at": _sane(document.last_message_at),
    }


def _imported(document: Document, conversation_id: UUID) -> dict[str, Any]:
    """What stays beside the rows: where it came from, and the figures of runs, which belong to another ledger."""
    known = {run.id for run in document.runs}
    wrote = {str(one.seq): str(one.run_id) for one in document.messages if one.run_id in known}
    kept: dict[str, Any] = document.imported_from.model_dump() if document.imported_from else {}
    if conversation_id != document.id and not kept:
        kept = {"format": "nexus", "id": str(document.id)}
    if document.runs:
        kept |= {"runs": [run.model_dump(mode="json") for run in document.runs], "run_of": wrote}
    return kept


def _messages(tx: Transaction, conversation_id: UUID, taken: Taken, left: Counter[str]) -> None:
    said = taken.document.messages
    for start in range(0, len(said), ROWS):
        rows = [_row(message, taken, tx, left) for message in said[start : start + ROWS]]
        stored = _insert(tx, "messages", conversation_id, rows)
        others = _renamed(conversation_id, rows, stored)
        if len(_insert(tx, "messages", conversation_id, others)) < len(others):
            raise Conflict(_("The ids of its messages belong to others."))


def _insert(tx: Transaction, what: str, conversation_id: UUID, rows: list[dict[str, Any]]) -> set[str]:
    """Store rows whose ids are free; returns those ids."""
    names = {"messages": "exchange.insert_messages", "summaries": "exchange.insert_summaries"}
    if not rows:
        return set()
    return {str(row["id"]) for row in tx.rows(names[what], conversation_id=conversation_id, rows=Json(rows))}


def _renamed(conversation_id: UUID, rows: list[dict[str, Any]], stored: set[str]) -> list[dict[str, Any]]:
    """The rows that were not stored, as their ids are taken, under ids made from these and the conversation's."""
    return [row | {"id": str(uuid5(conversation_id, row["id"]))} for row in rows if row["id"] not in stored]


def _row(message: Message, taken: Taken, tx: Transaction, left: Counter[str]) -> dict[str, Any]:
    """A message as it is stored: nobody's words are put into another person's mouth, and nothing is being written."""
    author = message.user_id
    if taken.foreign and message.role == "user":
        author = _me(tx)
    left["authors"] += author not in (None, _me(tx))
    parts = [part for part in message.parts if _is_part(part)]
    left["unknown"] += len(message.parts) - len(parts)
    return message.model_dump(mode="json", exclude={"author", "run_id", "parts", "metadata"}) | {
        "user_id": str(author) if author == _me(tx) else None,
        "status": "stopped" if message.status == "streaming" else message.status,
        "parts": parts,
        "metadata": _object(message.metadata),
        "created_at": _sane(message.created_at),
        "updated_at": _sane(message.updated_at),
    }


def _summaries(tx: Transaction, conversation_id: UUID, document: Document) -> None:
    rows = [one.model_dump(mode="json") | {"created_at": _sane(one.created_at)} for one in document.summaries]
    stored = _insert(tx, "summaries", conversation_id, rows)
    _insert(tx, "summaries", conversation_id, _renamed(conversation_id, rows, stored))


def _is_part(part: Any) -> bool:
    """Whether the cockpit and the models can make something of it."""
    if not isinstance(part, Mapping) or not isinstance(part.get("type"), str):
        return False
    if part["type"] in ("text", "reasoning"):
        return isinstance(part.get("text"), str)
    about = part.get("callProviderMetadata") or {}
    return isinstance(about, Mapping) and isinstance(about.get("nexus") or {}, Mapping)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _sane(instant: datetime) -> datetime:
    """A time that a list can be ordered by: not before there were computers, not in the future."""
    return min(max(instant, FIRST), datetime.now(UTC))
