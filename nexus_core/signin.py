"""Who is there: signing in and out, the owner of this machine, and what a signed-in person may act as."""

import secrets
import sys
import time
from dataclasses import dataclass, replace
from functools import cache
from hmac import compare_digest
from uuid import UUID

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from nexus_core import api_tokens, audit, i18n, passwords, people, profiles, sessions, workspaces
from nexus_core.config import settings
from nexus_core.database import Scope, Transaction, transaction
from nexus_core.errors import Forbidden, Invalid, NotFound, TooMany, Unauthenticated
from nexus_core.i18n import _
from nexus_core.people import Person
from nexus_core.workspaces import Membership

PER_ACCOUNT = parse("10 per 5 minutes")
PER_ADDRESS = parse("40 per 5 minutes")
PER_ADDRESS_SET_UP = parse("20 per 5 minutes")
_GATE = Scope(None, None, "system", "gate")
_limiter = MovingWindowRateLimiter(MemoryStorage())


@dataclass(frozen=True)
class Identity:
    """A signed-in person, where they are a member, and how they came in (local, password, oidc, token).

    Whoever came with a token acts by `token_id`, in its workspace alone, and sees `project_ids` alone (None: all).
    """

    person: Person
    workspaces: tuple[Membership, ...]
    method: str
    token_id: UUID | None = None
    project_ids: tuple[UUID, ...] | None = None


def sign_in(email: str, password: str, address: str = "", user_agent: str = "") -> str:
    """Check a password and start a session; returns its token.

    An unknown e-mail, a wrong password and a deactivated person get the same answer after the same work.
    Raises Unauthenticated, or TooMany with `retry_after` seconds: 10 tries per account and 40 per address in
    5 minutes.
    """
    account = ("account", email.strip().casefold()[:254])
    within(PER_ADDRESS, "address", address)
    within(PER_ACCOUNT, *account)
    with transaction(_GATE) as tx:
        known = people.credentials(tx, email)
    right = passwords.verify(known.password_hash if known else None, password)
    if known is None or not right or not known.active:
        with transaction(_GATE) as tx:
            note(tx, "sign_in_failed", known.id if known else None, address)
        raise Unauthenticated(_("The e-mail or the password is wrong."))
    fresh = passwords.renewed(known.password_hash, password)
    with transaction(Scope(None, known.id, "system", "gate")) as tx:
        if fresh:
            people.set_password(tx, known.id, fresh)
        note(tx, "sign_in", known.id, address)
        token = sessions.create(tx, known.id, "password", user_agent=user_agent, address=address)
    _limiter.clear(PER_ACCOUNT, *account)
    return token


def local_mode() -> bool:
    """Whether the owner of this machine may come in without a form, where the gate finds the request local.

    NEXUS_AUTH=local always, password never, auto until somebody can sign in by password and administer.
    """
    with transaction(_GATE) as tx:
        return _local_mode(tx)


def sign_in_locally(address: str = "", user_agent: str = "") -> str:
    """Start a session of the owner of this machine; returns its token. The caller has asked `local_mode`."""
    owner = local_owner().person
    with transaction(Scope(None, owner.id, "system", "gate")) as tx:
        note(tx, "sign_in", owner.id, address)
        return sessions.create(tx, owner.id, "local", user_agent=user_agent, address=address)


def sign_out(token: str) -> None:
    """End the session of a token; nothing happens when there is none."""
    with transaction(_GATE) as tx:
        person_id = sessions.revoke_token(tx, token)
    if person_id:
        with transaction(Scope(None, person_id, "system", "gate")) as tx:
            note(tx, "sign_out", person_id, "")


def resolve(token: str | None) -> Identity | None:
    """Who holds the session of a token; None when nobody does."""
    if not token:
        return None
    with transaction(_GATE) as tx:
        session = sessions.resolve(tx, token)
        if session is None or (session.method == "local" and not _local_mode(tx)):
            return None
        person = people.get(tx, session.person_id)
        return Identity(person, tuple(workspaces.of_person(tx, person.id)), session.method)


def resolve_token(token: str) -> Identity | None:
    """Whom a token stands for, in its workspace with the role that it gives now; None when it opens nothing."""
    with transaction(_GATE) as tx:
        grant = api_tokens.resolve(tx, token)
        if grant is None:
            return None
        person = people.get(tx, grant.person_id)
        places = [
            replace(one, role=grant.role)
            for one in workspaces.of_person(tx, person.id)
            if one.workspace_id == grant.workspace_id
        ]
    limit = None if grant.project_ids is None else tuple(grant.project_ids)
    return Identity(person, tuple(places), "token", grant.id, limit)


def scope_for(identity: Identity, slug: str | None, door: str) -> Scope:
    """The scope of a person in the workspace with this slug, or in their first one.

    Raises NotFound where they are no member, the same as where there is no such workspace, and Forbidden for
    who is a member of none.
    """
    if not identity.workspaces:
        raise Forbidden(_("You are not a member of any workspace yet; ask an administrator to add you."))
    for membership in identity.workspaces:
        if slug is None or membership.slug == slug:
            who = (membership.workspace_id, identity.person.id, membership.role)
            return Scope(*who, door, identity.project_ids, identity.token_id)
    raise NotFound(_("There is no such workspace here."))


def local_owner() -> Identity:
    """The owner of this machine, administrator of the workspace `default`; both are made on first use."""
    with transaction(_GATE) as tx:
        workspace = workspaces.default(tx)
        owner = people.local_owner(tx)
        places = workspaces.of_person(tx, owner.id)
    if all(place.workspace_id != workspace.id for place in places):
        scope = Scope(workspace.id, owner.id, "system", "gate")
        furnish(scope)
        with transaction(scope) as tx:
            people.join(tx, owner.id, "admin")
            places = workspaces.of_person(tx, owner.id)
    return Identity(owner, tuple(places), "local")


def furnish(scope: Scope) -> None:
    """Give a workspace that has no profile the built-in assistant's, as its default. For administrators."""
    with transaction(scope) as tx:
        workspaces.lock(tx)
        if not profiles.list_(tx):
            made = profiles.save(tx, slug="builtin", name=_("Built in"), model=profiles.BUILTIN)
            profiles.make_default(tx, made.id)


def administrator_exists() -> bool:
    """Whether somebody can sign in by password and administer a workspace."""
    with transaction(_GATE) as tx:
        return people.administrator_exists(tx)


@cache
def set_up_code() -> str:
    """The one-time code of this process, printed on the console when first asked for; 60 random bits."""
    letters = "".join(secrets.choice("23456789ABCDEFGHJKLMNPQRSTUVWXYZ") for _letter in range(12))
    code = "-".join((letters[:4], letters[4:8], letters[8:]))
    with i18n.speaking("en"):  # the console's reader is not who asks for the page
        sys.stderr.write("\n" + _("To set Nexus up, enter this one-time code: {code}").format(code=code) + "\n\n")
    sys.stderr.flush()
    return code


def set_up(code: str, email: str, name: str, password: str, address: str = "") -> None:
    """Make the owner of this machine the first administrator with a password; what was theirs stays theirs.

    Ends the sessions that were opened without a password. Raises TooMany (20 tries per address in 5 minutes),
    Invalid, for a wrong one-time code too, and Forbidden once there is an administrator.
    """
    within(PER_ADDRESS_SET_UP, "set_up", address)
    given = code.upper().replace("-", "").replace(" ", "").encode("utf-8", "replace")
    if not compare_digest(given, set_up_code().replace("-", "").encode()):
        raise Invalid(_("This is not the code that Nexus printed on its console."), field="code")
    hashed = passwords.hash_(password)
    owner = local_owner()
    place = scope_for(owner, workspaces.DEFAULT, "gate")
    with transaction(Scope(place.workspace_id, place.user_id, "system", "gate")) as tx:
        workspaces.lock(tx)
        if people.administrator_exists(tx):
            raise Forbidden(_("Nexus has an administrator already: sign in."))
        people.describe(tx, owner.person.id, email=email, name=name)
        people.set_password(tx, owner.person.id, hashed)
        sessions.revoke_all(tx, owner.person.id)


def reset() -> None:
    """Forget the counted attempts and the one-time code (for tests)."""
    _limiter.storage.reset()
    set_up_code.cache_clear()


def within(rate: RateLimitItem, *key: str) -> None:
    """Count one attempt; raises TooMany, with `retry_after` in seconds, when there were too many."""
    if not _limiter.hit(rate, *key):
        wait = max(0.0, _limiter.get_window_stats(rate, *key).reset_time - time.time())
        raise TooMany(_("Too many attempts; wait a moment."), detail={"retry_after": wait})


def _local_mode(tx: Transaction) -> bool:
    auth = settings().auth
    return auth == "local" or (auth == "auto" and not people.administrator_exists(tx))


def note(tx: Transaction, action: str, person_id: UUID | None, address: str) -> None:
    """Audit it where the person is a member, else in `default`; what an unknown person typed is not kept."""
    places = [m.workspace_id for m in workspaces.of_person(tx, person_id)] if person_id else []
    for place in places or [workspaces.default(tx).id]:
        audit.record(tx, action, "person", person_id, {"address": address}, workspace_id=place)
