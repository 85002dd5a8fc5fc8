"""People, and their roles in workspaces."""

import re
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from uuid6 import uuid7

from nexus_core import audit
from nexus_core.database import ROLES, Transaction
from nexus_core.errors import Invalid
from nexus_core.i18n import LANGUAGES, _
from nexus_core.text import one_line


@dataclass(frozen=True)
class Person:
    """Somebody who uses Nexus; `status` is active or deactivated, `locale` None until one was chosen."""

    id: UUID
    email: str
    name: str
    locale: str | None
    status: str
    is_local_owner: bool
    has_password: bool


@dataclass(frozen=True)
class Member:
    """A person in one workspace, with the role there: viewer, operator or admin."""

    id: UUID
    email: str
    name: str
    status: str
    has_password: bool
    role: str
    joined_at: datetime


@dataclass(frozen=True)
class Account:
    """A member with what is known of how they come in.

    The last six fields are for administrators and the person, None for others.

    `link_until`: until when a link works by which they choose a password. `sessions` are those that live.
    `language`: the one that they chose, one of i18n.LANGUAGES.
    """

    id: UUID
    email: str
    name: str
    status: str
    role: str
    joined_at: datetime
    is_local_owner: bool
    has_password: bool | None
    has_oidc: bool | None
    link_until: datetime | None
    last_seen_at: datetime | None
    sessions: int | None
    language: str | None


@dataclass(frozen=True)
class Known:
    """Who has an e-mail address, wherever they are; whether an identity provider has named them before."""

    id: UUID
    has_subject: bool


@dataclass(frozen=True)
class Credentials:
    """What a sign-in is checked against; `password_hash` is None for those who have no password."""

    id: UUID
    password_hash: str | None
    active: bool


def create(tx: Transaction, email: str, name: str, role: str, *, password_hash: str | None = None) -> Person:
    """A new person, and a member of the workspace. Raises Forbidden, Invalid, or Conflict for a taken e-mail."""
    tx.scope.require("admin")
    person_id, email, name = uuid7(), address(email), named(name)
    tx.execute("people.create", id=person_id, email=email, name=name, password_hash=password_hash)
    audit.record(tx, "create", "person", person_id)
    _join(tx, person_id, role)
    return get(tx, person_id)


def get(tx: Transaction, person_id: UUID) -> Person:
    """One member of the workspace (anybody, in the system's scope); raises NotFound."""
    return tx.get(Person, "people.get", id=person_id)


def by_email(tx: Transaction, email: str) -> Person | None:
    """The member of the workspace (anybody, in the system's scope) with this e-mail, in any case."""
    return tx.one(Person, "people.by_email", email=email.strip())


def members(tx: Transaction) -> list[Member]:
    """Everybody in the workspace, by name."""
    return tx.all(Member, "people.members")


def accounts(tx: Transaction, person_id: UUID | None = None) -> list[Account]:
    """Everybody in the workspace, or one of them, by name."""
    return tx.all(Account, "people.accounts", person_id=person_id, admin=tx.scope.role in ("admin", "system"))


def join(tx: Transaction, person_id: UUID, role: str) -> None:
    """Change a member's role; in the system's scope, make anybody a member.

    Raises Forbidden, NotFound, and Invalid, for the last administrator too.
    """
    tx.scope.require("admin")
    if tx.scope.role != "system":
        get(tx, person_id)
    _join(tx, person_id, role)


def _join(tx: Transaction, person_id: UUID, role: str) -> None:
    if role not in ROLES:
        raise Invalid(_("A role is viewer, operator or admin."), field="role")
    if role != "admin":
        keep_an_admin(tx, person_id)
    tx.execute("people.join", person_id=person_id, role=role)
    audit.record(tx, "join", "person", person_id, {"role": role})


def leave(tx: Transaction, person_id: UUID) -> None:
    """End a membership of this workspace; what the person wrote stays, under their name.

    Raises Forbidden, NotFound, and Invalid for the owner of this machine and the last administrator.
    """
    tx.scope.require("admin")
    if get(tx, person_id).is_local_owner:
        raise Invalid(_("This is the owner of this machine, whom Nexus would make a member again."))
    keep_an_admin(tx, person_id)
    tx.execute("people.leave", person_id=person_id)
    audit.record(tx, "leave", "person", person_id)


def keep_an_admin(tx: Transaction, person_id: UUID) -> None:
    """Raise Invalid for the workspace's only administrator; no other stops being one before the end."""
    tx.execute("people.lock_admins", person_id=person_id)
    if tx.execute("people.is_last_admin", person_id=person_id).scalar_one():
        raise Invalid(_("This is the only administrator; make somebody else one first."))


def set_status(tx: Transaction, person_id: UUID, status: str) -> None:
    """Let a person in or not, whichever workspace they are in: active or deactivated; for the system's scope."""
    tx.execute("people.set_status", id=person_id, status=status)
    audit.record(tx, "deactivate" if status == "deactivated" else "reactivate", "person", person_id)


def set_link(tx: Transaction, person_id: UUID, link_hash: bytes, *, days: int) -> None:
    """Keep the hash of a link by which a person chooses a password; the former one works no more."""
    tx.execute("people.set_link", id=person_id, link_hash=link_hash, days=days)
    audit.record(tx, "invite", "person", person_id, {"days": days})


def by_link(tx: Transaction, link_hash: bytes) -> Person | None:
    """Whose link it is, held until the transaction ends; None when it works no more. For the system's scope."""
    return tx.one(Person, "people.by_link", link_hash=link_hash)


def known(tx: Transaction, email: str) -> Known | None:
    """Who has this e-mail address, in any workspace; for the system's scope."""
    return tx.one(Known, "people.known", email=email)


def by_subject(tx: Transaction, issuer: str, subject: str) -> Person | None:
    """Whom an identity provider names so; for the system's scope."""
    return tx.one(Person, "people.by_subject", issuer=issuer, subject=subject)


def link_subject(tx: Transaction, person_id: UUID, issuer: str, subject: str) -> None:
    """From now on an identity provider's word is enough for this person; for the system's scope."""
    tx.execute("people.link_subject", id=person_id, issuer=issuer, subject=subject)
    audit.record(tx, "link_oidc", "person", person_id, {"issuer": issuer})


def speak(tx: Transaction, person_id: UUID, language: str | None) -> None:
    """Keep the language that a person chose; None: their browser's. For the system's scope. Raises Invalid."""
    if language not in (None, *LANGUAGES):
        raise Invalid(_("A language is one of {codes}.").format(codes=", ".join(LANGUAGES)), field="language")
    tx.execute("people.speak", id=person_id, language=language)
    audit.record(tx, "speak", "person", person_id, {"language": language})


def elsewhere(tx: Transaction, person_id: UUID) -> bool:
    """Whether a person is in a workspace that who acts does not administer; for the system's scope."""
    return bool(tx.execute("people.elsewhere", person_id=person_id).scalar_one())


def credentials(tx: Transaction, email: str) -> Credentials | None:
    """What a sign-in with this e-mail is checked against; for the system's scope."""
    return tx.one(Credentials, "people.credentials", email=email.strip())


def set_password(tx: Transaction, person_id: UUID, password_hash: str | None) -> None:
    """Store the hash of a new password, one's own or, as an admin, a member's; None takes it away.

    Raises Forbidden, NotFound.
    """
    if person_id != tx.scope.user_id:
        tx.scope.require("admin")
    person = get(tx, person_id)
    tx.execute("people.set_password", id=person.id, password_hash=password_hash)
    if tx.scope.workspace_id:
        audit.record(tx, "set_password" if password_hash else "reset_password", "person", person.id)


def describe(tx: Transaction, person_id: UUID, *, email: str, name: str) -> Person:
    """Change a person's e-mail and name. Raises Forbidden, Invalid, Conflict, NotFound."""
    tx.scope.require("admin")
    person = get(tx, person_id)
    tx.execute("people.describe", id=person.id, email=address(email), name=named(name))
    if tx.scope.workspace_id:
        audit.record(tx, "update", "person", person.id)
    return get(tx, person.id)


def local_owner(tx: Transaction) -> Person:
    """The owner of this machine, made when there is none yet; for the system's scope."""
    person = tx.one(Person, "people.local_owner")
    if person is None:
        tx.execute("people.create_local_owner_once", id=uuid7(), email="owner@localhost", name=_("Owner"))
        person = tx.get(Person, "people.local_owner")
    return person


def administrator_exists(tx: Transaction) -> bool:
    """Whether somebody can sign in and administer a workspace, by password or OIDC; for the system's scope."""
    return bool(tx.execute("people.administrator_exists").scalar())


def address(email: str) -> str:
    """The e-mail address without surrounding blanks; raises Invalid when it can't be one."""
    email = email.strip()
    if len(email) > 254 or not re.fullmatch(r"[^\s@\x00-\x1f]+@[^\s@\x00-\x1f]+", email):
        raise Invalid(_("Write an e-mail address such as ana@example.com."), field="email")
    return email


def named(name: str) -> str:
    """The name on one line; raises Invalid when nothing is left or it is longer than 200 characters."""
    name = one_line(name)
    if not name or len(name) > 200:
        raise Invalid(_("Write a name of at most 200 characters."), field="name")
    return name
