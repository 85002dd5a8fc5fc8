"""Personal tokens, with which programs act for a person: nxs_ and random signs, their SHA-256 in the database."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from uuid import UUID

from uuid6 import uuid7

from nexus_core import audit, l10n
from nexus_core.database import ROLES, Scope, Transaction
from nexus_core.errors import Forbidden, Invalid, NotFound
from nexus_core.i18n import _
from nexus_core.text import one_line

PREFIX = "nxs_"
SHOWN = len(PREFIX) + 4
DAYS = 90
MOST_DAYS = 3650
MOST_PROJECTS = 100
USED_EVERY = timedelta(minutes=1)


@dataclass(frozen=True)
class Token:
    """A token as lists show it; `hint` is how it begins, the rest is known to its holder alone.

    `role` is the highest that it gives: less where the person's own is lower by now. `project_ids`: the only projects
    that it opens, None for all; `projects` are the names of those that still are. `expires_at` None: never.
    """

    id: UUID
    person_id: UUID
    person_name: str
    name: str
    hint: str
    role: str
    project_ids: list[UUID] | None
    projects: list[str]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    expired: bool


@dataclass(frozen=True)
class Grant:
    """What a token opens now: one workspace, with `role`, every project (None) or those of `project_ids`."""

    id: UUID
    workspace_id: UUID
    person_id: UUID
    role: str
    project_ids: list[UUID] | None
    last_used_at: datetime | None


def create(
    tx: Transaction,
    name: str,
    *,
    role: str = "operator",
    project_ids: Sequence[UUID] | None = None,
    days: int | None = DAYS,
) -> tuple[Token, str]:
    """A token of one's own in this workspace, and its text of 192 random bits, which is stored nowhere.

    `days` None: it never expires. Raises Forbidden for a role above one's own and for who came with a token, Invalid,
    and NotFound for a project that is not here.
    """
    _by_hand(tx.scope)
    name = one_line(name)
    if not name or len(name) > 100:
        raise Invalid(_("Write a name of at most 100 characters, such as what the token is for."), field="name")
    if role not in ROLES:
        raise Invalid(_("A role is viewer, operator or admin."), field="role")
    tx.scope.require(role)
    chosen = None if project_ids is None else sorted(set(project_ids))
    if chosen is not None and not 0 < len(chosen) <= MOST_PROJECTS:
        raise Invalid(_("Choose 1 to {n} projects, or none for all.").format(n=MOST_PROJECTS), field="project_ids")
    if chosen is not None and role == "admin":
        raise Invalid(_("What administrators do is not limited to projects: choose another role."), field="role")
    if days is not None and not 1 <= days <= MOST_DAYS:
        raise Invalid(_("A token works for 1 to {n} days.").format(n=l10n.number(MOST_DAYS)), field="days")
    token_id, token = uuid7(), PREFIX + secrets.token_hex(24)
    about = {"name": name, "role": role, "project_ids": chosen}
    made = tx.execute("api_tokens.create", id=token_id, token_hash=_hash(token), hint=token[:SHOWN], days=days, **about)
    if not made.rowcount:
        raise NotFound(_("There is no such project here."))
    limit = {"projects": [str(one) for one in chosen]} if chosen else {}
    audit.record(tx, "create", "token", token_id, {"name": name, "role": role, "days": days} | limit)
    return tx.get(Token, "api_tokens.list", id=token_id, person_id=None), token


def list_(tx: Transaction, *, everybodys: bool = False) -> list[Token]:
    """One's own tokens in this workspace that were not revoked, the newest first; as an admin, everybody's.

    Raises Forbidden when everybody's are asked for below admin.
    """
    if everybodys:
        tx.scope.require("admin")
    return tx.all(Token, "api_tokens.list", id=None, person_id=None if everybodys else tx.scope.user_id)


def revoke(tx: Transaction, token_id: UUID) -> None:
    """End a token of one's own at once; as an admin, anybody's. Whoever came with a token may end that one alone.

    Raises NotFound, Forbidden.
    """
    _by_hand(tx.scope, token_id)
    person = None if tx.scope.role in ("admin", "system") else tx.scope.user_id
    if not tx.execute("api_tokens.revoke", id=token_id, person_id=person).rowcount:
        raise NotFound(_("There is no such token here."))
    audit.record(tx, "revoke", "token", token_id)


def revoke_all(tx: Transaction, person_id: UUID, *, everywhere: bool) -> int:
    """End a person's tokens of this workspace, or, in the system's scope, of every one; returns how many there were."""
    return tx.execute("api_tokens.revoke_all", person_id=person_id, everywhere=everywhere).rowcount


def resolve(tx: Transaction, token: str) -> Grant | None:
    """What a token opens; None when unknown, revoked or expired, or its person no active member any more.

    For the system's scope. Its use is written down at most once in USED_EVERY.
    """
    found = tx.one(Grant, "api_tokens.resolve", token_hash=_hash(token))
    if found and (found.last_used_at is None or datetime.now(UTC) - found.last_used_at > USED_EVERY):
        tx.execute(
            "api_tokens.touch", workspace=found.workspace_id, id=found.id, every_seconds=USED_EVERY.total_seconds()
        )
    return found


def _by_hand(scope: Scope, token_id: UUID | None = None) -> None:
    """Whoever finds a token must not be able to outlive it with another one, nor to end others; itself it may end."""
    if scope.token_id not in (None, token_id):
        raise Forbidden(_("A token can't make or end tokens: sign in for that."))


def _hash(token: str) -> bytes:
    """SHA-256 is enough: nobody can try 192 random bits, however fast; argon2 is for what people think up."""
    return sha256(token.encode("utf-8", "surrogatepass")).digest()
