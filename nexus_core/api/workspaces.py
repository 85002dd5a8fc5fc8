"""/api/workspaces: what belongs together, its name and the zone of its days."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field

from nexus_core import workspaces
from nexus_core.api.schema import Camel, IfMatch, Success, Text, Who, as_instant, done, tag
from nexus_core.database import transaction
from nexus_core.workspaces import Membership

router = APIRouter(prefix="/workspaces", tags=["Workspaces"])


class WorkspaceChanges(Camel):
    """What can be changed of a workspace."""

    name: Text | None = Field(None, max_length=200, description="What people call it.", examples=["Aurora"])
    time_zone: Text | None = Field(
        None, max_length=100, description="An IANA name; the days of every report are days of it.", examples=["UTC"]
    )


class Workspace(Camel):
    """A workspace."""

    id: UUID = Field(description="Its id.")
    slug: str = Field(description="How `?workspace=` names it.", examples=["default"])
    name: str = Field(description="What people call it.")
    time_zone: str = Field(description="An IANA name; the days of every report are days of it.")
    updated_at: datetime = Field(description="When it was changed last; the version that If-Match names.")


class Mine(Camel):
    """A workspace that you are a member of."""

    workspace_id: UUID = Field(description="Its id.")
    slug: str = Field(description="How `?workspace=` names it.")
    name: str = Field(description="What people call it.")
    time_zone: str = Field(description="An IANA name; the days of every report are days of it.")
    role: Literal["viewer", "operator", "admin"] = Field(description="What you may do in it.")


def memberships(who: Who, request: Request) -> tuple[Membership, ...]:
    """The workspaces of who asks, as the gate found them."""
    found: tuple[Membership, ...] = request.state.identity.workspaces
    return found


@router.get("", response_model=Success[list[Mine]], summary="List workspaces")
def list_workspaces(mine: Annotated[tuple[Membership, ...], Depends(memberships)]) -> dict[str, Any]:
    """Those that you are a member of; the first one is meant where `?workspace=` is left out."""
    return done(mine)


@router.get("/current", response_model=Success[Workspace], summary="Get the workspace")
def get_workspace(who: Who, response: Response) -> dict[str, Any]:
    """The one that `?workspace=` names, or your first one. The ETag is the version for If-Match."""
    with transaction(who) as tx:
        found = workspaces.get(tx)
    tag(response, found.updated_at)
    return done(found)


@router.patch("/current", response_model=Success[Workspace], summary="Change the workspace")
def update_workspace(who: Who, body: WorkspaceChanges, version: IfMatch, response: Response) -> dict[str, Any]:
    """Only the fields that are sent change; reports count days of the new zone at once. Needs the role admin."""
    with transaction(who) as tx:
        after = workspaces.update(tx, unchanged_since=as_instant(version), **body.given())
    tag(response, after.updated_at)
    return done(after)
