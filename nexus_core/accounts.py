"""Who may come in: inviting, roles, deactivation, links by which one chooses a password, sessions of others."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from uuid import UUID

from nexus_core import api_tokens, audit, passwords, people, sessions
from nexus_core.database import Scope, Transaction, transaction
from nexus_core.errors import Conflict, Forbidden, Invalid, NotFound
from nexus_core.i18n import _
from nexus_core.people import Account, Person
from nexus_core.sessions import Session
from nexus_core.signin import PER_ACCOUNT, PER_ADDRESS, note, within

PATH = "/welcome/"
INVITED_DAYS = 7
RESET_DAYS = 1


def invite(scope: Scope, email: str, name: str, role: str) -> tuple[Account, str | None]:
    """Make a person and a member, and the code of a link by which they choose their password, told here only.

    Somebody of another workspace on this server becomes a member of this one, too, and comes in as ever: no link.
    Raises Forbidden, Invalid, for who has no way of their own to sign in too, and Conflict for a member.
    """
    _by_hand(scope)
    with _administering(scope) as tx:
        mine = _account(tx, scope.user_id)
        if not (mine.has_password or mine.has_oidc):
            raise Invalid(_("Set a password for yourself first: once others can sign in, you will need one."))
        if people.by_email(tx, email) is not None:
            raise Conflict(_("A person with this e-mail is here already."), field="email")
        known = people.credentials(tx, email)
        if known is not None:
            people.join(tx, known.id, role)
            return _account(tx, known.id), None
        made = people.create(tx, email, name, role)
        code = _link(tx, made.id, INVITED_DAYS)
        return _account(tx, made.id), code


def new_link(scope: Scope, person_id: UUID) -> str:
    """The code of another link for a person who has no password yet; the former one works no more.

    Raises Forbidden, NotFound, Invalid for who has one.
    """
    _by_hand(scope)
    with _administering(scope) as tx:
        if _over(tx, person_id).has_password:
            raise Invalid(_("This person has a password already; reset it instead."))
        return _link(tx, person_id, INVITED_DAYS)


def reset_password(scope: Scope, person_id: UUID) -> str:
    """End a person's password and sessions, and return the code of a link by which they choose another within a day.

    Raises Forbidden, NotFound, Invalid for oneself.
    """
    _by_hand(scope)
    with _administering(scope) as tx:
        _over(tx, person_id)
        people.set_password(tx, person_id, None)
        sessions.revoke_all(tx, person_id)
        return _link(tx, person_id, RESET_DAYS)


def set_role(scope: Scope, person_id: UUID, role: str) -> Account:
    """Change a member's role; what it allows changes with their next request. Raises Forbidden, Invalid, NotFound."""
    _by_hand(scope)
    with _administering(scope, person_id) as tx:
        people.get(tx, person_id)
        people.join(tx, person_id, role)
        return _account(tx, person_id)


def change(scope: Scope, person_id: UUID, *, role: str | None = None, status: str | None = None) -> Account:
    """Change a member's role, then whether they may come in (active, deactivated); None leaves it as it is.

    Raises what `set_role`, `deactivate` and `reactivate` raise, and Invalid when there is nothing to change.
    """
    found = set_role(scope, person_id, role) if role else None
    if status:
        found = {"active": reactivate, "deactivated": deactivate}[status](scope, person_id)
    if found is None:
        raise Invalid(_("Say what to change."))
    return found


def deactivate(scope: Scope, person_id: UUID) -> Account:
    """Let a person in no more: sessions and tokens end at once, and for good. What they wrote stays.

    Raises Forbidden, NotFound, Invalid for oneself and the last administrator.
    """
    with _administering(scope, person_id) as tx:
        _over(tx, person_id)
        people.keep_an_admin(tx, person_id)
        people.set_status(tx, person_id, "deactivated")
        sessions.revoke_all(tx, person_id)
        api_tokens.revoke_all(tx, person_id, everywhere=True)
        return _account(tx, person_id)


def reactivate(scope: Scope, person_id: UUID) -> Account:
    """Let a person in again, with their password and their role. Raises Forbidden, NotFound, Invalid for oneself."""
    _by_hand(scope)
    with _administering(scope) as tx:
        _over(tx, person_id)
        people.set_status(tx, person_id, "active")
        return _account(tx, person_id)


def remove(scope: Scope, person_id: UUID) -> None:
    """End a membership, and the tokens of this workspace; what the person wrote stays, under their name.

    Raises Forbidden, NotFound, Invalid for oneself, the owner of this machine and the last administrator.
    """
    with _administering(scope, person_id) as tx:
        if person_id == scope.user_id:
            raise Invalid(_("Nobody removes themselves; ask another administrator."))
        people.leave(tx, person_id)
        api_tokens.revoke_all(tx, person_id, everywhere=False)


def sessions_of(scope: Scope, person_id: UUID) -> list[Session]:
    """Where a person is signed in, the latest seen first: oneself, or, for admins, a member.

    Raises Forbidden, NotFound.
    """
    if person_id != scope.user_id:
        scope.require("admin")
    with transaction(scope) as tx:
        people.get(tx, person_id)
        return sessions.list_(tx, person_id)


def end_sessions(scope: Scope, person_id: UUID, session_id: UUID | None = None) -> int:
    """End one session of a person, or all; returns how many. Oneself, or, for admins, a member.

    Raises Forbidden, NotFound.
    """
    if person_id != scope.user_id:
        scope.require("admin")
    with transaction(scope) as tx:
        people.get(tx, person_id)
        if session_id:
            sessions.revoke(tx, session_id, person_id)
        ended = 1 if session_id else sessions.revoke_all(tx, person_id)
        audit.record(tx, "end_sessions", "person", person_id, {"sessions": ended})
        return ended


def whose(code: str) -> Person:
    """Who chooses a password by a link. Raises NotFound: the same for a wrong, an old and a used one."""
    with transaction(Scope(None, None, "system", "gate")) as tx:
        return _known(tx, code)


def choose_password(code: str, password: str, address: str = "", user_agent: str = "") -> str:
    """Set the password of a link's person, end the link and their other sessions, and start one; returns its token.

    Raises NotFound, Invalid for a password that is too short, TooMany.
    """
    within(PER_ADDRESS, "link", address)
    hashed = passwords.hash_(password)
    with transaction(Scope(None, whose(code).id, "system", "gate")) as tx:
        person = _known(tx, code)  # once more, for the link is one person's who comes first
        people.set_password(tx, person.id, hashed)
        sessions.revoke_all(tx, person.id)
        note(tx, "set_password", person.id, address)
        return sessions.create(tx, person.id, "password", user_agent=user_agent, address=address)


def change_password(scope: Scope, current: str, password: str, *, keep: str | None = None) -> None:
    """Change one's own password, given the current one; ends one's other sessions, but that of the token `keep`.

    Raises Forbidden for who came with a token, Invalid for a wrong or a too short one, TooMany.
    """
    if scope.token_id or not scope.user_id:
        raise Forbidden(_("A token can't change a password: sign in for that."))
    within(PER_ACCOUNT, "change", str(scope.user_id))
    with transaction(Scope(None, scope.user_id, "system", scope.door)) as tx:
        known = people.credentials(tx, people.get(tx, scope.user_id).email)
    if known is None or not passwords.verify(known.password_hash, current):
        raise Invalid(_("This is not your current password."), field="current")
    hashed = passwords.hash_(password)
    with transaction(Scope(None, scope.user_id, "system", scope.door)) as tx:
        people.set_password(tx, scope.user_id, hashed)
        sessions.revoke_all(tx, scope.user_id, keep=keep)
        note(tx, "set_password", scope.user_id, "")


def speak(scope: Scope, language: str | None) -> Account:
    """Choose one's own language, one of i18n.LANGUAGES; None: whatever one's browser asks for. Raises Invalid."""
    with transaction(replace(scope, role="system")) as tx:
        found = _account(tx, scope.user_id)
        people.speak(tx, found.id, language)
        return _account(tx, found.id)


@contextmanager
def _administering(scope: Scope, person_id: UUID | None = None) -> Iterator[Transaction]:
    """A transaction that sees accounts, for who is an administrator at this moment, not only when the page was drawn.

    Given a person, all administrators of their workspaces stay what they are until it ends.
    """
    scope.require("admin")
    with transaction(replace(scope, role="system")) as tx:
        if person_id:
            tx.execute("people.lock_admins", person_id=person_id)
        if not tx.execute("people.is_admin").scalar_one():
            raise Forbidden(_("You are not an administrator any more."))
        yield tx


def _over(tx: Transaction, person_id: UUID) -> Account:
    """A member whose account who acts may change: not their own, nor one that other workspaces rely on."""
    found = _account(tx, person_id)
    if person_id == tx.scope.user_id:
        raise Invalid(_("This is your own account; another administrator can change it."))
    if people.elsewhere(tx, person_id):
        sentence = _(
            "This person is also in a workspace that you do not administer; you can remove them from this one."
        )
        raise Forbidden(sentence)
    return found


def _account(tx: Transaction, person_id: UUID | None) -> Account:
    found = people.accounts(tx, person_id) if person_id else []
    if not found:
        raise NotFound(_("There is no such person here."))
    return found[0]


def _by_hand(scope: Scope) -> None:
    """Whoever finds an administrator's token must not be able to make a way in that outlives it."""
    scope.require("admin")
    if scope.token_id:
        raise Forbidden(_("A token can't let people in: sign in for that."))


def _link(tx: Transaction, person_id: UUID, days: int) -> str:
    code = secrets.token_urlsafe(24)
    people.set_link(tx, person_id, _hash(code), days=days)
    return code


def _known(tx: Transaction, code: str) -> Person:
    person = people.by_link(tx, _hash(code))
    if person is None:
        raise NotFound(_("It was used, or it is too old. Ask an administrator for a new one."))
    return person


def _hash(code: str) -> bytes:
    return sha256(code.encode("utf-8", "surrogatepass")).digest()
