"""/api/projects/{id}/tasks and /api/tasks: what is to be done in a project."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from nexus_core import keeping, projects
from nexus_core.api.projects import ProjectId
from nexus_core.api.schema import IfMatch, Limit, Snake, Text, Who, as_instant, tag
from nexus_core.database import transaction
from nexus_core.errors import NotFound
from nexus_core.i18n import _

router = APIRouter(tags=["Projects"])
TaskId = Annotated[UUID, Path(description="The task's id.")]
STATUS = Literal["open", "in_progress", "done", "cancelled"]


class NewTask(Snake):
    """A new task."""

    title: Text = Field(description="1 to 200 characters.", examples=["Choose the engine"])
    notes: Text = Field("", max_length=100_000, description="More about it.")


class TaskChanges(Snake):
    """What can be changed of a task."""

    title: Text = Field("", description="1 to 200 characters.")
    notes: Text = Field("", max_length=100_000, description="More about it.")
    status: STATUS = Field("open", description="How far it is.", examples=["done"])


class Task(Snake):
    """A task."""

    id: UUID = Field(description="Its id.")
    project_id: UUID = Field(description="Its project.")
    title: str = Field(description="What is to be done.")
    notes: str = Field(description="More about it.")
    status: STATUS = Field(description="How far it is.")
    created_at: datetime = Field(description="When it was made.")
    updated_at: datetime = Field(description="When it was changed last; the version that If-Match names.")
    closed_at: datetime | None = Field(description="When it was done or cancelled.")


@router.get("/projects/{project_id}/tasks", response_model=list[Task], summary="List tasks")
def list_tasks(
    who: Who,
    project_id: ProjectId,
    open_only: Annotated[bool, Query(description="Without the closed ones.")] = False,
    before: Annotated[UUID | None, Query(description="Only what follows this one: the id of the last item.")] = None,
    limit: Limit = 100,
) -> Any:
    """The open ones first, newest first."""
    with transaction(who) as tx:
        projects.get(tx, project_id)
        if before is not None and projects.task(tx, before).project_id != project_id:
            raise NotFound(_("There is no such task here."))
        return projects.tasks(tx, project_id, open_only=open_only, before=before, limit=limit)


@router.post("/projects/{project_id}/tasks", response_model=Task, status_code=HTTPStatus.CREATED, summary="Make a task")
def create_task(who: Who, project_id: ProjectId, body: NewTask) -> Any:
    """Needs the role operator."""
    with transaction(who) as tx:
        return projects.create_task(tx, project_id, body.title, body.notes)


@router.get("/tasks/{task_id}", response_model=Task, summary="Get a task")
def get_task(who: Who, task_id: TaskId, response: Response) -> Any:
    """The ETag is the version for If-Match."""
    with transaction(who) as tx:
        found = projects.task(tx, task_id)
    tag(response, found.updated_at)
    return found


@router.patch("/tasks/{task_id}", response_model=Task, summary="Change a task")
def update_task(who: Who, task_id: TaskId, body: TaskChanges, version: IfMatch, response: Response) -> Any:
    """Only the fields that are sent change. Of one that becomes done the assistant proposes, in the background, what to
    remember. Needs the role operator."""
    after, _run_id = keeping.update_task(who, task_id, unchanged_since=as_instant(version), **body.given())
    tag(response, after.updated_at)
    return after


@router.delete("/tasks/{task_id}", status_code=HTTPStatus.NO_CONTENT, summary="Delete a task")
def delete_task(who: Who, task_id: TaskId) -> None:
    """Conversations and runs that were about it stay. Needs the role operator."""
    with transaction(who) as tx:
        projects.delete_task(tx, task_id)
