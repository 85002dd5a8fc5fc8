"""The log of every change: who, when, through which door; append-only, without secrets and without message texts."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from nexus_core.database import Json, Transaction
from nexus_core.errors import Invalid
from nexus_core.i18n import _

LIMIT = 1_000


@dataclass(frozen=True)
class Entry:
    """One change: `action` (create, update, delete, …) on `entity` (agent, project, …); `detail` says what.

    `number` is its place in the workspace's chain, without gaps.
    """

    number: int | None
    id: UUID
    at: datetime
    user_id: UUID | None
    user_name: str | None
    door: str
    action: str
    entity: str
    entity_id: UUID | None
    detail: dict[str, Any]


@dataclass(frozen=True)
class Wanted:
    """Which entries: None is every one. `person` did it, or it was about them; from `from_at` on, before `to_at`."""

    from_at: datetime | None = None
    to_at: datetime | None = None
    person: UUID | None = None
    doors: tuple[str, ...] | None = None
    actions: tuple[str, ...] | None = None
    entities: tuple[str, ...] | None = None
    entity_id: UUID | None = None


EVERYTHING = Wanted()


@dataclass(frozen=True)
class Page:
    """Some entries, the newest first; `after` begins the next page, None when there is none."""

    entries: list[Entry]
    after: tuple[datetime, UUID] | None


@dataclass(frozen=True)
class Verdict:
    """What making every seal anew found.

    `entries` are sealed, numbered 1 to `last_number`; `broken_at` is the first number that does not follow the one
    before it or whose seal is another's, None when all hold; `unsealed` entries are in the log and not in the chain.
    `last_hash`, hexadecimal, stands for the whole log up to now: whoever keeps it can tell later whether that part
    changed, which the chain alone can't tell of somebody who may rewrite the whole database.
    """

    entries: int
    broken_at: int | None
    unsealed: int
    last_number: int
    last_hash: str

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return self.broken_at is None and not self.unsealed and self.entries == self.last_number


def record(
    tx: Transaction,
    action: str,
    entity: str,
    entity_id: UUID | None,
    detail: dict[str, Any] | None = None,
    *,
    workspace_id: UUID | None = None,
) -> None:
    """Write one entry in the change's own transaction.

    Of what came with a token, the token's id is in the entry. `workspace_id` is needed only in the system's scope,
    which has none.
    """
    acting = {"token": str(tx.scope.token_id)} if tx.scope.token_id else {}
    tx.execute(
        "audit.record",
        workspace_id=workspace_id or tx.scope.workspace_id,
        door=tx.scope.door,
        action=action,
        entity=entity,
        entity_id=entity_id,
        detail=Json((detail or {}) | acting),
    )


def latest(tx: Transaction, limit: int = 100) -> list[Entry]:
    """The newest entries of the workspace, newest first, at most `limit`. For admins alone."""
    return page(tx, limit=limit).entries


def page(
    tx: Transaction, wanted: Wanted = EVERYTHING, *, after: tuple[datetime, UUID] | None = None, limit: int = 100
) -> Page:
    """The entries that fit, newest first, from below `after` on. Raises Forbidden below admin, Invalid over 1,000."""
    tx.scope.require("admin")
    if not 0 < limit <= LIMIT:
        raise Invalid(_("A page has 1,000 rows at most."), field="limit")
    after_at, after_id = after or (None, None)
    values = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(wanted).items()}
    found = tx.all(Entry, "audit.page", after_at=after_at, after_id=after_id, limit=limit + 1, **values)
    entries = found[:limit]
    return Page(entries, (entries[-1].at, entries[-1].id) if len(found) > limit else None)


def entities(tx: Transaction) -> list[str]:
    """What kinds of things the log is about, to filter by. For admins alone."""
    tx.scope.require("admin")
    return [row.entity for row in tx.execute("audit.kinds")]


def verify(tx: Transaction) -> Verdict:
    """Make every seal of the workspace's chain anew and compare. For admins alone."""
    tx.scope.require("admin")
    row = tx.execute("audit.verify").one()
    return Verdict(
        row.entries, row.broken_at, row.unsealed, row.last_number, row.last_hash.hex() if row.last_hash else ""
    )
