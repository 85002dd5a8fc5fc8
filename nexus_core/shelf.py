"""Putting conversations away, one or many at once: the archive, the trash, deletion for good."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from nexus_core import audit, conversations
from nexus_core.database import ROLES, Transaction
from nexus_core.errors import Invalid, NotFound
from nexus_core.i18n import _

TRASH_DAYS = 30
"""How long the trash keeps what is in it."""
MOST = 500
"""Conversations that one change may name."""


@dataclass(frozen=True)
class Going:
    """What a deletion takes: messages in every version, what `runs` were asked and answered (their figures stay), and
    links that still work. `running` of the conversations are answering just now."""

    conversations: int
    messages: int
    runs: int
    shares: int
    running: int


@dataclass(frozen=True)
class Trashed:
    """A conversation in the trash; it goes for good at `gone_at`."""

    id: UUID
    user_id: UUID
    user_name: str | None
    project_id: UUID | None
    agent_id: UUID | None
    title: str
    messages: int
    last_message_at: datetime
    deleted_at: datetime
    gone_at: datetime


def going(tx: Transaction, ids: Collection[UUID]) -> Going:
    """What deleting these would take with it, those in the trash too; foreign ones count for nothing."""
    return tx.get(Going, "shelf.going", ids=_bounded(ids))


def archive(tx: Transaction, ids: Collection[UUID]) -> list[UUID]:
    """Put conversations away; those that were not away before. An answer that is being written goes on to its end.

    All or none: raises Forbidden, and NotFound when one of them is not here.
    """
    return _set_archived(tx, ids, True)


def unarchive(tx: Transaction, ids: Collection[UUID]) -> list[UUID]:
    """Bring archived conversations back; those that were away. Raises as `archive` does."""
    return _set_archived(tx, ids, False)


def _set_archived(tx: Transaction, ids: Collection[UUID], archived: bool) -> list[UUID]:
    changing = [row["id"] for row in _pick(tx, ids, False) if (row["status"] == "archived") != archived]
    for conversation_id in changing:
        conversations.set_archived(tx, conversation_id, archived)
    return changing


def trash(tx: Transaction, ids: Collection[UUID]) -> None:
    """Move conversations to the trash: nobody finds, lists, remembers or continues them, and their links are dead.

    What is being answered is stopped, and kept. One's own, or any that one sees as an admin. All or none: raises
    Forbidden, and NotFound when one of them is not here.
    """
    found = _own(tx, _pick(tx, ids, False))
    tx.execute("shelf.trash", ids=found)
    for conversation_id in found:
        audit.record(tx, "trash", "conversation", conversation_id)


def restore(tx: Transaction, ids: Collection[UUID]) -> None:
    """Bring conversations back from the trash, as they were; links stay dead. Who may: as for `trash`."""
    for conversation_id in _own(tx, _pick(tx, ids, True)):
        tx.execute("shelf.restore", id=conversation_id)
        audit.record(tx, "restore", "conversation", conversation_id)


def delete(tx: Transaction, ids: Collection[UUID]) -> None:
    """Delete conversations for good, in the trash or not: messages, the texts of runs, receipts, summaries, shares, and
    what search knew. The ledger keeps its figures. Who may: as for `trash`.
    """
    for conversation_id in _own(tx, _pick(tx, ids, None)):
        conversations.delete(tx, conversation_id)


def trashed(tx: Transaction, *, before: UUID | None = None, limit: int = 50) -> list[Trashed]:
    """The trash that this person may empty, what was deleted last first: one's own, as an admin all that one sees.

    `before` is the last one of the page before.
    """
    return tx.all(Trashed, "shelf.trashed", everyones=_is_admin(tx), before=before, days=TRASH_DAYS, limit=limit)


def count_trashed(tx: Transaction) -> int:
    """How many conversations `trashed` lists in all."""
    return int(tx.execute("shelf.count_trashed", everyones=_is_admin(tx)).scalar_one())


def purge(tx: Transaction, *, limit: int = 200) -> int:
    """Delete for good what has been in the trash for TRASH_DAYS; in the system's scope, on a timer. How many."""
    gone = tx.rows("shelf.purge", days=TRASH_DAYS, limit=limit)
    for row in gone:
        audit.record(tx, "purge", "conversation", row["id"], workspace_id=row["workspace_id"])
    return len(gone)


def _bounded(ids: Collection[UUID]) -> list[UUID]:
    if len(ids) > MOST:
        raise Invalid(_("At most {n} conversations at a time.").format(n=MOST))
    return sorted(set(ids))


def _pick(tx: Transaction, ids: Collection[UUID], trashed: bool | None) -> list[dict[str, Any]]:
    """The rows of these conversations, locked: all of them, or NotFound."""
    tx.scope.require("operator")
    wanted = _bounded(ids)
    found = tx.rows("shelf.pick", ids=wanted, trashed=trashed)
    if len(found) < len(wanted):
        raise NotFound(_("There is no such conversation here."))
    return list(found)


def _own(tx: Transaction, found: list[dict[str, Any]]) -> list[UUID]:
    if any(row["user_id"] != tx.scope.user_id for row in found):
        tx.scope.require("admin")
    return [row["id"] for row in found]


def _is_admin(tx: Transaction) -> bool:
    return tx.scope.role in ROLES and ROLES.index(tx.scope.role) >= ROLES.index("admin")
