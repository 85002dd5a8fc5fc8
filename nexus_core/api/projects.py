"""/api/projects and /api/tasks: what people work on, and the living memory of a project."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from nexus_core import memories, projects
from nexus_core.api.schema import INT, Entries, IfMatch, Object, Snake, Text, Who, as_instant, as_number, tag
from nexus_core.database import transaction

router = APIRouter(tags=["Projects"])
ProjectId = Annotated[UUID, Path(description="The project's id.")]
TASK_STATUS = Literal["open", "in_progress", "done", "cancelled"]


class NewProject(Snake):
    """A new project."""

    name: Text = Field(description="A name that no other project has; 1 to 200 characters.", examples=["Apollo"])
    description: Text = Field("", max_length=100_000, description="What it is about.")


class ProjectChanges(Snake):
    """What can be changed of a project."""

    name: Text = Field("", description="Another name.", examples=["Apollo 11"])
    description: Text = Field("", max_length=100_000, description="What it is about.")
    status: Literal["active", "archived"] = Field("active", description="Archived projects are kept out of lists.")


class Project(Snake):
    """A project."""

    id: UUID = Field(description="Its id.")
    name: str = Field(description="Its name.", examples=["Apollo"])
    description: str = Field(description="What it is about.")
    status: Literal["active", "archived"] = Field(description="Archived projects are kept out of lists.")
    created_at: datetime = Field(description="When it was made.")
    updated_at: datetime = Field(description="When it was changed last; the version that If-Match names.")


class DeletedProject(Snake):
    """What was deleted."""

    id: UUID = Field(description="The project's id.")
    deleted_conversations: int = Field(description="How many conversations went with it.")


class NewTask(Snake):
    """A new task."""

    title: Text = Field(description="1 to 200 characters.", examples=["Choose the engine"])
    notes: Text = Field("", max_length=100_000, description="More about it.")


class TaskChanges(Snake):
    """What can be changed of a task."""

    status: TASK_STATUS = Field(description="How far it is.", examples=["done"])


class Task(Snake):
    """A task."""

    id: UUID = Field(description="Its id.")
    project_id: UUID = Field(description="Its project.")
    title: str = Field(description="What is to be done.")
    notes: str = Field(description="More about it.")
    status: TASK_STATUS = Field(description="How far it is.")
    created_at: datetime = Field(description="When it was made.")
    updated_at: datetime = Field(description="When it was changed last.")
    closed_at: datetime | None = Field(description="When it was done or cancelled.")


class MemoryFields(Snake):
    """The living memory whole: a list that is left out is empty afterwards; the former version stays as a revision."""

    summary_md: Text = Field("", description="The living summary, Markdown.", examples=["We go to the moon."])
    decisions: Entries = Field([], description="What was decided; texts or objects.", examples=[[{"what": "Lisbon"}]])
    open_questions: Entries = Field([], description="What is open.", examples=[[{"question": "Which engine?"}]])
    risks: Entries = Field([], description="What may go wrong.", examples=[[{"risk": "Weather"}]])
    links: Entries = Field(
        [], description="Where to look.", examples=[[{"label": "Plan", "url": "https://example.com"}]]
    )
    metadata: Object | None = Field(None, description="Anything of yours; left out: as it is.")
    version: int | None = Field(
        None, ge=1, le=INT, description="The version that was read: 409 when it is not current. Or send If-Match."
    )


class Memory(Snake):
    """The living memory of a project."""

    project_id: UUID = Field(description="The project.")
    version: int = Field(description="Grows with each change.")
    summary_md: str = Field(description="The living summary, Markdown.")
    decisions: list[Any] = Field(description="What was decided.")
    open_questions: list[Any] = Field(description="What is open.")
    risks: list[Any] = Field(description="What may go wrong.")
    links: list[Any] = Field(description="Where to look.")
    metadata: Any = Field(description="What its callers added.")
    updated_by: UUID | None = Field(description="Who changed it last.")
    updated_by_name: str | None = Field(description="That person's name.")
    updated_at: datetime = Field(description="When it was changed last.")


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


@router.get("/projects/{project_id}/tasks", response_model=list[Task], summary="List tasks")
def list_tasks(
    who: Who, project_id: ProjectId, open_only: Annotated[bool, Query(description="Without the closed ones.")] = False
) -> Any:
    """The open ones first, newest first."""
    with transaction(who) as tx:
        projects.get(tx, project_id)
        return projects.tasks(tx, project_id, open_only=open_only)


@router.post("/projects/{project_id}/tasks", response_model=Task, status_code=HTTPStatus.CREATED, summary="Make a task")
def create_task(who: Who, project_id: ProjectId, body: NewTask) -> Any:
    """Needs the role operator."""
    with transaction(who) as tx:
        return projects.create_task(tx, project_id, body.title, body.notes)


@router.patch("/tasks/{task_id}", response_model=Task, summary="Move a task on")
def update_task(who: Who, task_id: Annotated[UUID, Path(description="The task's id.")], body: TaskChanges) -> Any:
    """Needs the role operator."""
    with transaction(who) as tx:
        return projects.set_task_status(tx, task_id, body.status)


@router.get("/projects/{project_id}/memory", response_model=Memory, summary="Get the memory")
def get_memory(who: Who, project_id: ProjectId, response: Response) -> Any:
    """The ETag is the version for If-Match."""
    with transaction(who) as tx:
        found = memories.get(tx, project_id)
    tag(response, found.version)
    return found


@router.put("/projects/{project_id}/memory", response_model=Memory, summary="Replace the memory")
def replace_memory(who: Who, project_id: ProjectId, body: MemoryFields, version: IfMatch, response: Response) -> Any:
    """With a version, 409 when somebody was faster. Needs the role operator."""
    fields = body.model_dump() | {"version": body.version or as_number(version), "source": "api"}
    with transaction(who) as tx:
        after = memories.replace(tx, project_id, **fields)
    tag(response, after.version)
    return after
