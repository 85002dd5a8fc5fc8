"""/api/people: who is here, and for administrators who may come in."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Request
from pydantic import Field

from nexus_core import accounts, people
from nexus_core.api.conversations import Deleted
from nexus_core.api.gate import is_secure
from nexus_core.api.schema import Camel, Success, Text, Who, done
from nexus_core.api.tokens import Role
from nexus_core.database import transaction
from nexus_core.errors import NotFound
from nexus_core.i18n import _
from nexus_core.sessions import COOKIE

router = APIRouter(prefix="/people", tags=["People"])
Language = Literal["en", "es"]
PersonId = Annotated[UUID, Path(description="The person's id.")]


class Invitation(Camel):
    """Whom to let in."""

    email: Text = Field(max_length=254, description="Their e-mail address.", examples=["ana@example.com"])
    name: Text = Field(max_length=200, description="Their name.", examples=["Ana"])
    role: Role = Field("operator", description="What they may do in this workspace.")


class AccountChange(Camel):
    """What to change; what is left out stays."""

    role: Role | None = Field(None, description="What they may do in this workspace.", examples=["viewer"])
    status: Literal["active", "deactivated"] | None = Field(
        None, description="deactivated: they come in no more; sessions and tokens end at once, and for good."
    )


class NewPassword(Camel):
    """The password that holds and the one that shall."""

    current: str = Field(max_length=1000, description="The current one.")
    password: str = Field(max_length=1000, description="The new one, of 10 characters at least.")


class Speech(Camel):
    """What language one reads."""

    language: Language | None = Field(
        description="Of the cockpit; null: the browser's. Refusals here speak what Accept-Language asks for.",
        examples=["es"],
    )


class Account(Camel):
    """A member of the workspace; the last six fields only administrators and the person are told."""

    id: UUID = Field(description="Their id.")
    email: str = Field(description="Their e-mail address.")
    name: str = Field(description="Their name.")
    status: Literal["active", "deactivated"] = Field(description="Whether they may come in.")
    role: Role = Field(description="What they may do in this workspace.")
    joined_at: datetime = Field(description="Since when they are a member.")
    is_local_owner: bool = Field(description="The owner of the machine on which Nexus runs.")
    has_password: bool | None = Field(description="They can sign in by a password.")
    has_oidc: bool | None = Field(description="They have signed in by the identity provider.")
    link_until: datetime | None = Field(description="Until when a link works by which they choose a password.")
    last_seen_at: datetime | None = Field(description="When they were here last; null: never.")
    sessions: int | None = Field(description="In how many browsers they are signed in.")
    language: Language | None = Field(description="The language that they chose; null: their browser's.")


class Link(Camel):
    """A link by which a person chooses their password."""

    url: str | None = Field(
        description="It works once, and is told here only; null for who is in another workspace here already."
    )


class Invited(Account, Link):
    """A person who was let in."""


class Session(Camel):
    """A browser where a person is signed in."""

    id: UUID = Field(description="Its id.")
    method: Literal["local", "password", "oidc"] = Field(description="How they came in.")
    user_agent: str = Field(description="What the browser says of itself.")
    address: str = Field(description="From where.")
    created_at: datetime = Field(description="When they signed in.")
    last_seen_at: datetime = Field(description="When they were seen last, to the minute.")
    expires_at: datetime = Field(description="When it ends, unless it is used before.")


class Ended(Camel):
    """What was ended."""

    sessions: int = Field(description="So many sessions.")


@router.get("", response_model=Success[list[Account]], summary="List people")
def list_people(who: Who) -> dict[str, Any]:
    """The members of the workspace, by name."""
    with transaction(who) as tx:
        return done(people.accounts(tx))


@router.post("", response_model=Success[Invited], status_code=HTTPStatus.CREATED, summary="Invite a person")
def invite_person(who: Who, body: Invitation, request: Request) -> dict[str, Any]:
    """Nexus sends no mail: hand the link over yourself. It works for 7 days. Needs the role admin, and no token."""
    made, code = accounts.invite(who, body.email, body.name, body.role)
    return done(vars(made) | {"url": _url(request, code)})


@router.post("/password", response_model=Success[Deleted], summary="Change your password")
def change_password(who: Who, body: NewPassword, request: Request) -> dict[str, Any]:
    """Your own; your other sessions end. No token does this."""
    accounts.change_password(who, body.current, body.password, keep=request.cookies.get(COOKIE))
    return done({"id": who.user_id})


@router.put("/language", response_model=Success[Account], summary="Choose your language")
def choose_language(who: Who, body: Speech) -> dict[str, Any]:
    """Your own, for the cockpit, whatever browser you open it in."""
    return done(accounts.speak(who, body.language))


@router.get("/{person_id}", response_model=Success[Account], summary="Get a person")
def get_person(who: Who, person_id: PersonId) -> dict[str, Any]:
    """A member of the workspace."""
    with transaction(who) as tx:
        found = people.accounts(tx, person_id)
    if not found:
        raise NotFound(_("There is no such person here."))
    return done(found[0])


@router.patch("/{person_id}", response_model=Success[Account], summary="Change a person")
def change_person(who: Who, person_id: PersonId, body: AccountChange) -> dict[str, Any]:
    """Role and status. The last administrator stays one. Needs the role admin, and but for deactivating no token."""
    return done(accounts.change(who, person_id, **body.given()))


@router.delete("/{person_id}", response_model=Success[Deleted], summary="Remove a person from the workspace")
def remove_person(who: Who, person_id: PersonId) -> dict[str, Any]:
    """Their tokens of this workspace end; what they wrote stays, under their name. Needs the role admin."""
    accounts.remove(who, person_id)
    return done({"id": person_id})


@router.post("/{person_id}/link", response_model=Success[Link], summary="Make a link to choose a password")
def make_link(who: Who, person_id: PersonId, request: Request) -> dict[str, Any]:
    """For who has none yet; the former link works no more. Needs the role admin, and no token."""
    return done({"url": _url(request, accounts.new_link(who, person_id))})


@router.post("/{person_id}/reset-password", response_model=Success[Link], summary="Reset a password")
def reset_password(who: Who, person_id: PersonId, request: Request) -> dict[str, Any]:
    """The old one and all sessions end at once; the link works for a day. Needs the role admin, and no token."""
    return done({"url": _url(request, accounts.reset_password(who, person_id))})


@router.get("/{person_id}/sessions", response_model=Success[list[Session]], summary="List sessions")
def list_sessions(who: Who, person_id: PersonId) -> dict[str, Any]:
    """Where a person is signed in, the latest seen first. Your own; anybody's needs the role admin."""
    return done(accounts.sessions_of(who, person_id))


@router.delete("/{person_id}/sessions", response_model=Success[Ended], summary="End all sessions")
def end_sessions(who: Who, person_id: PersonId) -> dict[str, Any]:
    """They end at once. Your own; anybody's needs the role admin."""
    return done({"sessions": accounts.end_sessions(who, person_id)})


@router.delete("/{person_id}/sessions/{session_id}", response_model=Success[Ended], summary="End a session")
def end_session(
    who: Who, person_id: PersonId, session_id: Annotated[UUID, Path(description="The session's id.")]
) -> dict[str, Any]:
    """It ends at once. Your own; anybody's needs the role admin."""
    return done({"sessions": accounts.end_sessions(who, person_id, session_id)})


def _url(request: Request, code: str | None) -> str | None:
    scheme = "https" if is_secure(request) else "http"
    return f"{scheme}://{request.url.netloc}{accounts.PATH}{code}" if code else None
