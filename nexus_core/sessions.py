"""Signed-in sessions: a random token in a cookie, its SHA-256 in the database."""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from uuid import UUID

from uuid6 import uuid7

from nexus_core.database import Transaction
from nexus_core.errors import NotFound
from nexus_core.i18n import _

COOKIE = "nexus_session"
IDLE = timedelta(days=14)
LIFE = timedelta(days=90)
SEEN_EVERY = timedelta(minutes=1)
KEPT = timedelta(days=1)


@dataclass(frozen=True)
class Session:
    """One browser where a person is signed in; `method` is local, password or oidc.

    It ends at `expires_at`, which moves on while it is used, IDLE ahead and at most LIFE after `created_at`.
    """

    id: UUID
    person_id: UUID
    method: str
    user_agent: str
    address: str
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime


def create(tx: Transaction, person_id: UUID, method: str, *, user_agent: str = "", address: str = "") -> str:
    """Start a session and return its token, 256 random bits as URL-safe text; it is stored nowhere."""
    token = secrets.token_urlsafe(32)
    tx.execute(
        "sessions.create",
        id=uuid7(),
        token_hash=_hash(token),
        person_id=person_id,
        method=method,
        user_agent=user_agent[:400],
        address=address[:100],
        idle_seconds=IDLE.total_seconds(),
    )
    return token


def resolve(tx: Transaction, token: str) -> Session | None:
    """The living session that a token opens; None when unknown, revoked, expired, or its person deactivated.

    Writes only when the session was last seen more than SEEN_EVERY ago.
    """
    session = tx.one(Session, "sessions.resolve", token_hash=_hash(token))
    if session and datetime.now(UTC) - session.last_seen_at > SEEN_EVERY:
        tx.execute(
            "sessions.touch",
            id=session.id,
            idle_seconds=IDLE.total_seconds(),
            life_seconds=LIFE.total_seconds(),
            every_seconds=SEEN_EVERY.total_seconds(),
        )
    return session


def revoke_token(tx: Transaction, token: str) -> UUID | None:
    """End the session that a token opens; returns whose it was, None when there was none."""
    found: UUID | None = tx.execute("sessions.revoke_token", token_hash=_hash(token)).scalar()
    return found


def revoke(tx: Transaction, session_id: UUID, person_id: UUID) -> None:
    """End one session of a person; raises NotFound when there is none."""
    if not tx.execute("sessions.revoke", id=session_id, person_id=person_id).rowcount:
        raise NotFound(_("There is no such session here."))


def revoke_all(tx: Transaction, person_id: UUID, *, method: str | None = None, keep: str | None = None) -> int:
    """End every session of a person, or those of one method, but for that of the token `keep`; returns how many."""
    kept = _hash(keep) if keep else None
    return tx.execute("sessions.revoke_all", person_id=person_id, method=method, keep=kept).rowcount


def purge(tx: Transaction) -> int:
    """Remove sessions that ended more than KEPT ago; for the worker. Returns how many there were."""
    return tx.execute("sessions.purge", kept_seconds=KEPT.total_seconds()).rowcount


def list_(tx: Transaction, person_id: UUID) -> list[Session]:
    """A person's living sessions, the latest seen first."""
    return tx.all(Session, "sessions.list", person_id=person_id)


def _hash(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()
