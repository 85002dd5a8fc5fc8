"""Summaries: what stands for the beginning of a conversation once it is too long to be sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from uuid6 import uuid7

from nexus_core import audit, tokens
from nexus_core.database import Transaction


@dataclass(frozen=True)
class Summary:
    """A text that stands for the messages numbered `from_seq` to `to_seq`, both included; those stay stored.

    `method`: model, extract (sentences as they were said, chosen without a model) or hand.
    """

    id: UUID
    conversation_id: UUID
    from_seq: int
    to_seq: int
    body_md: str
    tokens: int | None
    method: str
    created_at: datetime


@dataclass(frozen=True)
class Spoken:
    """A message as a summary reads it; `author` is a person's name, None for the assistant's and a program's."""

    seq: int
    role: str
    body: str
    author: str | None
    model: str | None
    created_at: datetime
    tokens: int


def latest(tx: Transaction, conversation_id: UUID, *, before: int) -> Summary | None:
    """The summary that reaches furthest, of those that end before message number `before`, on the path that is shown.

    One whose last message is hidden was made of another version of the conversation and stands for nothing here.
    """
    return tx.one(Summary, "summaries.latest", conversation_id=conversation_id, before=before)


def of(tx: Transaction, conversation_id: UUID, *, limit: int = 20) -> list[Summary]:
    """The newest summaries of a conversation, newest first; each holds those before it."""
    return tx.all(Summary, "summaries.of", conversation_id=conversation_id, limit=limit)


def material(tx: Transaction, conversation_id: UUID, *, after: int, before: int, limit: int = 1000) -> list[Spoken]:
    """What was said between two numbers (both exclusive) on the path that is shown, oldest first."""
    where = {"conversation_id": conversation_id, "after": after, "before": before}
    return tx.all(Spoken, "summaries.material", **where, limit=limit)


def newest_from(tx: Transaction, conversation_id: UUID, kept: int) -> int:
    """The number at which the newest `kept` messages of the path begin; 0 in an empty conversation."""
    return int(tx.execute("summaries.newest_from", conversation_id=conversation_id, kept=kept).scalar_one())


def is_being_made(tx: Transaction, conversation_id: UUID) -> bool:
    """Whether a summary of this conversation is being made just now."""
    return bool(tx.execute("summaries.is_being_made", conversation_id=conversation_id).scalar_one())


def failures(tx: Transaction, conversation_id: UUID, model: str) -> tuple[int, datetime | None]:
    """How many summaries of a conversation did not come about with this model since the last that did, and when."""
    row = tx.execute("summaries.failures", conversation_id=conversation_id, model=model).one()
    return row.failures, row.last_at


def store(
    tx: Transaction, conversation_id: UUID, said: Sequence[int], body_md: str, method: str, *,
    former: Summary | None, run_id: UUID | None,
) -> bool:  # fmt: skip
    """Keep a summary of the messages `said` (numbers, oldest first) and of those that the `former` one stood for.

    The conversation is `summarized` then. False, and nothing kept, where any of it is gone or no longer on the
    path that is shown, or another summary reaches as far.
    """
    values: dict[str, Any] = {"from_seq": former.from_seq if former else said[0], "to_seq": said[-1]}
    kept = tx.execute(
        "summaries.store",
        id=uuid7(),
        conversation_id=conversation_id,
        body_md=body_md,
        former_md=former.body_md if former else "",
        former_id=former.id if former else None,
        said=list(said),
        tokens=tokens.count(body_md),
        method=method,
        run_id=run_id,
        **values,
    ).rowcount
    if kept:
        audit.record(tx, "summarize", "conversation", conversation_id, values | {"method": method})
    return kept > 0
