"""/api/projects: what people work on."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from nexus_core import projects
from nexus_core.api.schema import IfMatch, Snake, Text, Who, as_instant, tag
from nexus_core.database import transaction

router = APIRouter(tags=["Projects"])
ProjectId = Annotated[UUID, Path(description="The project's id.")]
AUTO_PROPOSE = (
    "Whether closing a task, marking a decision or archiving a conversation has the assistant propose what to remember."
)


class NewProject(Snake):
    """A new project."""

    name: Text = Field(description="A name that no other project has; 1 to 200 characters.", examples=["Apollo"])
    description: Text = Field("", max_length=100_000, description="What it is about.")


class ProjectChanges(Snake):
    """What can be changed of a project."""

    name: Text = Field("", description="Another name.", examples=["Apollo 11"])
    description: Text = Field("", max_length=100_000, description="What it is about.")
    status: Literal["active", "archived"] = Field("active", description="Archived projects are kept out of lists.")
    auto_propose: bool = Field(True, description=AUTO_PROPOSE)


class Project(Snake):
    """A project."""

    id: UUID = Field(description="Its id.")
    name: str = Field(description="Its name.", examples=["Apollo"])
    description: str = Field(description="What it is about.")
    status: Literal["active", "archived"] = Field(description="Archived projects are kept out of lists.")
    auto_propose: bool = Field(description=AUTO_PROPOSE)
    created_at: datetime = Field(description="When it was made.")
    updated_at: datetime = Field(description="When it was changed last; the version that If-Match names.")


class DeletedProject(Snake):
    """What was deleted."""

    id: UUID = Field(description="The project's id.")
    deleted_conversations: int = Field(description="How many conversations went with it.")


@router.get("/projects", response_model=list[Project], summary="List projects")
def list_projects(who: Who, archived: Annotated[bool, Query(description="The archived ones too.")] = False) -> Any:
    """The workspace's projects by name."""
    with transaction(who) as tx:
        return projects.list_(tx, archived=archived)


@router.post("/projects", response_model=Project, status_code=HTTPStatus.CREATED, summary="Make a project")
def create_project(who: Who, body: NewProject, response: Response) -> Any:
    """With an empty memory at version 1. Needs the role operator."""
    with transaction(who) as tx:
        made = projects.create(tx, body.name, body.description)
    tag(response, made.updated_at)
    return made


@router.get("/projects/{project_id}", response_model=Project, summary="Get a project")
def get_project(who: Who, project_id: ProjectId, response: Response) -> Any:
    """The ETag is the version for If-Match."""
    with transaction(who) as tx:
        found = projects.get(tx, project_id)
    tag(response, found.updated_at)
    return found


@router.patch("/projects/{project_id}", response_model=Project, summary="Change a project")
def update_project(who: Who, project_id: ProjectId, body: ProjectChanges, version: IfMatch, response: Response) -> Any:
    """Only the fields that are sent change. Needs the role operator."""
    with transaction(who) as tx:
        after = projects.update(tx, project_id, unchanged_since=as_instant(version), **body.given())
    tag(response, after.updated_at)
    return after


@router.delete("/projects/{project_id}", response_model=DeletedProject, summary="Delete a project")
def delete_project(who: Who, project_id: ProjectId) -> Any:
    """For good, with its memory, tasks and conversations; the ledger keeps its figures.

    Its maker may, as long as nobody else's words are in it; else it needs the role admin.
    """
    with transaction(who) as tx:
        return {"id": project_id, "deleted_conversations": projects.delete(tx, project_id)}
