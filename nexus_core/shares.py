"""Shares: public links to what a conversation showed when it was shared."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from uuid6 import uuid7

from nexus_core import audit
from nexus_core.database import ROLES, Transaction
from nexus_core.errors import Invalid, NotFound
from nexus_core.i18n import _, later

DAYS = 30
MOST_DAYS = 365
_DEAD = later("This link does not work. It may be mistyped, it may have expired or been withdrawn.")


@dataclass(frozen=True)
class Share:
    """A link that works now. Its token is known to nobody but those whom it was given to: only its hash is stored."""

    id: UUID
    conversation_id: UUID
    title: str
    created_by: UUID | None
    created_by_name: str | None
    created_at: datetime
    expires_at: datetime
    views: int
    messages: int


@dataclass(frozen=True)
class Visit:
    """A snapshot that a token opens, taken at `created_at`."""

    id: UUID
    created_at: datetime
    expires_at: datetime


def create(tx: Transaction, conversation_id: UUID, *, days: int = DAYS) -> tuple[Share, str]:
    """Share what a conversation shows now, for so many days; the link's token is given here and never again.

    The token is 128 random bits. Raises Forbidden, Invalid, NotFound.
    """
    tx.scope.require("operator")
    if not 0 < days <= MOST_DAYS:
        raise Invalid(_("A link works for 1 to {n} days.").format(n=MOST_DAYS), field="days")
    token, share_id = secrets.token_urlsafe(16), uuid7()
    where = {"id": share_id, "conversation_id": conversation_id, "token_hash": _hash(token), "days": days}
    if tx.execute("shares.create", **where).first() is None:
        raise NotFound(_("There is no such conversation here."))
    made = tx.get(Share, "shares.live", id=share_id, conversation_id=conversation_id, everyones=False)
    audit.record(
        tx, "share", "conversation", conversation_id, {"share_id": str(made.id), "until": made.expires_at.isoformat()}
    )
    return made, token


def of_conversation(tx: Transaction, conversation_id: UUID) -> list[Share]:
    """The links to a conversation that work now, whosesoever, the newest first."""
    return tx.all(Share, "shares.live", id=None, conversation_id=conversation_id, everyones=False)


def live(tx: Transaction) -> list[Share]:
    """The links that this person made and that work now, the newest first; for an admin, all to what they may see."""
    return tx.all(Share, "shares.live", id=None, conversation_id=None, everyones=_is_admin(tx))


def revoke(tx: Transaction, share_id: UUID) -> None:
    """Let a link be dead from now on, and forget what it showed.

    One's own, whatever one's role is now, one to a conversation of one's own, or as an admin any. Raises NotFound.
    """
    row = tx.execute("shares.revoke", id=share_id, everyones=_is_admin(tx)).first()
    if row is None:
        raise NotFound(_("There is no such link here."))
    audit.record(tx, "revoke", "share", share_id, {"conversation_id": str(row.conversation_id)})


def visit(tx: Transaction, token: str, *, counted: bool = True) -> Visit:
    """What a token opens; in the system's scope. Raises the same NotFound for every token that opens nothing."""
    found = tx.one(Visit, "shares.visit", token_hash=_hash(token), counted=int(counted))
    if found is None:
        raise NotFound(_(_DEAD))
    return found


def snapshot(tx: Transaction, share_id: UUID) -> dict[str, Any]:
    """What a share shows: `title`, and `messages` with `role` (user or assistant), `text` and `at`.

    In the system's scope. Raises NotFound once it was withdrawn.
    """
    row = tx.execute("shares.snapshot", id=share_id).first()
    if row is None or not row.snapshot:
        raise NotFound(_(_DEAD))
    return dict(row.snapshot)


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def _is_admin(tx: Transaction) -> bool:
    return tx.scope.role in ROLES and ROLES.index(tx.scope.role) >= ROLES.index("admin")
