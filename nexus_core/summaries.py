"""Summaries: what stands for the beginning of a conversation once it is too long to be sent."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from nexus_core.database import Transaction


@dataclass(frozen=True)
class Summary:
    """A text that stands for the messages numbered `from_seq` to `to_seq`, both included; those stay stored."""

    id: UUID
    conversation_id: UUID
    from_seq: int
    to_seq: int
    body_md: str
    tokens: int | None
    method: str
    created_at: datetime


def latest(tx: Transaction, conversation_id: UUID, *, before: int) -> Summary | None:
    """The summary that reaches furthest, of those that end before message number `before`."""
    return tx.one(Summary, "summaries.latest", conversation_id=conversation_id, before=before)
