"""/api/tokens: personal tokens, with which programs act for a person."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query
from pydantic import Field

from nexus_core import api_tokens
from nexus_core.api.conversations import Deleted
from nexus_core.api.schema import Camel, Success, Text, Who, done
from nexus_core.api_tokens import DAYS, MOST_DAYS, MOST_PROJECTS
from nexus_core.database import transaction

router = APIRouter(prefix="/tokens", tags=["Tokens"])
Role = Literal["viewer", "operator", "admin"]


class NewToken(Camel):
    """What a token may do, and for how long."""

    name: Text = Field(max_length=100, description="What it is for.", examples=["Nightly import"])
    role: Role = Field("operator", description="The highest role that it gives; never above yours.")
    project_ids: list[UUID] | None = Field(
        None,
        min_length=1,
        max_length=MOST_PROJECTS,
        description="The only projects that it opens; all, and what is outside projects, when left out.",
    )
    days: int | None = Field(DAYS, ge=1, le=MOST_DAYS, description="It works for so many days; null: until revoked.")


class Token(Camel):
    """A token that was not revoked."""

    id: UUID = Field(description="Its id.")
    person_id: UUID = Field(description="For whom it acts.")
    person_name: str = Field(description="That person's name.")
    name: str = Field(description="What it is for.")
    hint: str = Field(description="How it begins.", examples=["nxs_3f9a"])
    role: Role = Field(description="The highest role that it gives; never above its person's role of the moment.")
    project_ids: list[UUID] | None = Field(description="The only projects that it opens; null: all.")
    created_at: datetime = Field(description="When it was made.")
    expires_at: datetime | None = Field(description="Until when it works; null: until it is revoked.")
    last_used_at: datetime | None = Field(description="When it was used last, to the minute; null: never.")
    expired: bool = Field(description="It does not work any more.")


class MadeToken(Token):
    """A token that was just made."""

    token: str = Field(description="The token. It is told here only: Nexus keeps nothing from which to tell it again.")


@router.get("", response_model=Success[list[Token]], summary="List tokens")
def list_tokens(
    who: Who,
    everybodys: Annotated[bool, Query(alias="all", description="Everybody's; needs the role admin.")] = False,
) -> dict[str, Any]:
    """Your tokens in this workspace, the newest first."""
    with transaction(who) as tx:
        return done(api_tokens.list_(tx, everybodys=everybodys))


@router.post("", response_model=Success[MadeToken], status_code=HTTPStatus.CREATED, summary="Make a token")
def make_token(who: Who, body: NewToken) -> dict[str, Any]:
    """A token of your own, sent as `Authorization: Bearer nxs_…` with each request.

    Only a person who is signed in makes one: no token makes another.
    """
    with transaction(who) as tx:
        made, token = api_tokens.create(tx, body.name, role=body.role, project_ids=body.project_ids, days=body.days)
    return done(vars(made) | {"token": token})


@router.delete("/{token_id}", response_model=Success[Deleted], summary="Revoke a token")
def revoke_token(who: Who, token_id: Annotated[UUID, Path(description="The token's id.")]) -> dict[str, Any]:
    """It works no more, at once. One of your own; anybody's needs the role admin. A token may revoke itself alone."""
    with transaction(who) as tx:
        api_tokens.revoke(tx, token_id)
    return done({"id": token_id})
