"""Signing in by an OpenID Connect provider: authorization code with PKCE, state and nonce (OpenID Connect Core 1.0)."""

import logging
import secrets
from dataclasses import dataclass
from hmac import compare_digest
from types import ModuleType
from typing import Any
from uuid import UUID

from nexus_core import people, sessions, workspaces
from nexus_core.config import settings
from nexus_core.database import ROLES, Scope, Transaction, transaction
from nexus_core.errors import Forbidden, Invalid, Unauthenticated
from nexus_core.i18n import _
from nexus_core.people import Person
from nexus_core.signin import PER_ADDRESS, note, within

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Attempt:
    """A sign-in that was begun: what its browser keeps until it comes back from the provider."""

    state: str
    nonce: str
    verifier: str


def configured() -> bool:
    """Whether people can sign in by a provider."""
    return bool(settings().oidc_issuer and settings().oidc_client_id)


def begin(redirect_uri: str, address: str = "") -> tuple[str, Attempt]:
    """The provider's address to send a browser to, and what it keeps. Raises Invalid, TooMany, ProviderFailed."""
    within(PER_ADDRESS, "oidc", address)
    attempt = Attempt(*(secrets.token_urlsafe(32) for _part in range(3)))
    return _provider().authorize(redirect_uri, attempt), attempt


def finish(
    attempt: Attempt | None, state: str, code: str, redirect_uri: str, *, address: str = "", user_agent: str = ""
) -> str:
    """Take the provider's answer and start a session of whom it names; returns its token.

    Raises Unauthenticated for an answer that this browser did not ask for, Forbidden for who may not come in, TooMany,
    ProviderFailed.
    """
    within(PER_ADDRESS, "oidc", address)
    if (
        attempt is None
        or not code
        or not compare_digest(attempt.state.encode("utf-8", "replace"), state.encode("utf-8", "replace"))
    ):
        raise Unauthenticated(_("This sign-in was not begun in this browser, or too long ago; try again."))
    person = _admit(_provider().claims(redirect_uri, code, attempt))
    with transaction(Scope(None, person.id, "system", "gate")) as tx:
        note(tx, "sign_in", person.id, address)
        return sessions.create(tx, person.id, "oidc", user_agent=user_agent, address=address)


def _provider() -> ModuleType:
    """What speaks to the provider: the better part of a second to import, which only those pay who have one."""
    if not configured():
        raise Invalid(_("No identity provider is set up."))
    from nexus_core import oidc_provider  # noqa: PLC0415

    return oidc_provider


def _admit(claims: dict[str, Any]) -> Person:
    """The person of these claims, found by subject or else by verified e-mail, made where a role says so.

    In one transaction: nobody is made who then may not come in.
    """
    issuer, subject = str(settings().oidc_issuer), str(claims["sub"])
    role, decided = _role(claims)
    with transaction(Scope.system()) as tx:
        place = workspaces.named(tx, settings().oidc_workspace)
    with transaction(Scope(place.id, None, "system", "gate")) as tx:
        found = people.by_subject(tx, issuer, subject)
        if found is None:
            email = _email(claims)
            known = people.known(tx, email)
            if known is not None and known.has_subject:
                raise Forbidden(_("This e-mail belongs to another account of the identity provider."))
            if known is None and role is None:
                raise Forbidden(_("Nobody has let you in yet; ask an administrator to invite you."))
            person_id = known.id if known else people.create(tx, email, _name(claims, email), role or "").id
            people.link_subject(tx, person_id, issuer, subject)
            found = people.by_subject(tx, issuer, subject)
        if found is None or found.status != "active":
            raise Forbidden(_("This account is deactivated."))
        _give_role(tx, found.id, role, decided=decided)
        return found


def _give_role(tx: Transaction, person_id: UUID, role: str | None, *, decided: bool) -> None:
    """Where groups decide, the role follows them with each sign-in; the last administrator stays one."""
    now = next((one.role for one in people.accounts(tx, person_id)), None)
    if role is None and (decided or now is None):
        if decided or not workspaces.of_person(tx, person_id):
            raise Forbidden(_("None of your groups may come in here; ask an administrator."))
        return
    if role and role != now and (now is None or decided):
        try:
            people.join(tx, person_id, role)
        except Invalid:
            _log.warning("the only administrator stays one, whatever the groups say")


def _role(claims: dict[str, Any]) -> tuple[str | None, bool]:
    """The highest role of somebody's groups, or the usual one; and whether groups decide at all."""
    pairs = [one.rpartition("=") for one in settings().oidc_groups.split(",") if one.strip()]
    said = claims.get(settings().oidc_groups_claim) or []
    groups = {str(one) for one in said} if isinstance(said, list) else set(str(said).split())
    given = [role.strip() for group, _equals, role in pairs if group.strip() in groups]
    return max(given, key=ROLES.index, default=settings().oidc_default_role), bool(pairs)


def _email(claims: dict[str, Any]) -> str:
    if not claims.get("email") or str(claims.get("email_verified")).lower() != "true":
        raise Forbidden(_("The identity provider has not verified your e-mail address."))
    return people.address(str(claims["email"]))


def _name(claims: dict[str, Any], email: str) -> str:
    return str(claims.get("name") or claims.get("preferred_username") or email)[:200]
