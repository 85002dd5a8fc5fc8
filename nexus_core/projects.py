"""Projects, and the tasks in them."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from uuid6 import uuid7

from nexus_core import audit
from nexus_core.database import Transaction
from nexus_core.errors import Conflict, Invalid
from nexus_core.i18n import _
from nexus_core.text import one_line

TASK_STATUSES = ("open", "in_progress", "done", "cancelled")


@dataclass(frozen=True)
class Project:
    """A piece of work with a living memory; `status` is active or archived.

    `auto_propose`: closing a task, marking a decision and archiving a conversation let the assistant propose changes.
    """

    id: UUID
    name: str
    description: str
    status: str
    auto_propose: bool
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True)
class Contents:
    """What goes when a project does: so many conversations and tasks, and a memory that is at `version`.

    `own`: this person made the project, and nobody else's words are in it.
    """

    name: str
    conversations: int
    tasks: int
    version: int
    own: bool


@dataclass(frozen=True)
class Task:
    """Something to do in a project; `status` is open, in_progress, done or cancelled."""

    id: UUID
    project_id: UUID
    title: str
    notes: str
    status: str
    created_at: datetime
    updated_at: datetime
    closed_at: datetime | None


def list_(tx: Transaction, *, archived: bool = False) -> list[Project]:
    """The workspace's projects by name; the archived ones too when asked for."""
    return tx.all(Project, "projects.list", archived=archived)


def get(tx: Transaction, project_id: UUID) -> Project:
    """One project; raises NotFound."""
    return tx.get(Project, "projects.get", id=project_id)


def create(tx: Transaction, name: str, description: str = "") -> Project:
    """A new project with an empty memory at version 1. Raises Forbidden, Invalid, or Conflict for a taken name."""
    tx.scope.require("operator")
    project = tx.get(Project, "projects.create", id=uuid7(), name=_named(name), description=description.strip())
    audit.record(tx, "create", "project", project.id, {"name": project.name})
    return project


def update(
    tx: Transaction,
    project_id: UUID,
    *,
    name: str | None = None,
    description: str | None = None,
    status: str | None = None,
    auto_propose: bool | None = None,
    unchanged_since: datetime | None = None,
) -> Project:
    """Change what is given. Raises Forbidden, NotFound, Invalid.

    Raises Conflict for a taken name, and where it was changed after `unchanged_since`, an `updated_at`.
    """
    tx.scope.require("operator")
    if status not in (None, "active", "archived"):
        raise Invalid(_("A project is active or archived."), field="status")
    before = get(tx, project_id)
    after = tx.one(
        Project,
        "projects.update",
        id=project_id,
        unchanged_since=unchanged_since or before.updated_at,
        name=before.name if name is None else _named(name),
        description=before.description if description is None else description.strip(),
        status=status or before.status,
        auto_propose=before.auto_propose if auto_propose is None else auto_propose,
    )
    if after is None:
        raise Conflict(_("Somebody changed this project meanwhile."), detail={"version": before.updated_at.isoformat()})
    told = {"before": before.name, "after": after.name, "status": after.status, "auto_propose": after.auto_propose}
    audit.record(tx, "update", "project", project_id, told)
    return after


def contents(tx: Transaction, project_id: UUID) -> Contents:
    """What would go with a project; raises NotFound."""
    return tx.get(Contents, "projects.contents", id=project_id)


def delete(tx: Transaction, project_id: UUID) -> int:
    """Delete a project for good, with its memory, tasks, proposals and conversations; returns how many those were.

    The ledger keeps its figures. A conversation is never kept outside: what was said in a project is its members', and
    no memory crosses a project. Who made it may, as long as nobody else's words are in it; admins always may. Raises
    Forbidden, NotFound.
    """
    tx.scope.require("operator")
    found = contents(tx, project_id)
    if not found.own:
        tx.scope.require("admin")
    count = tx.execute("projects.delete_conversations", id=project_id).rowcount
    tx.execute("projects.delete", id=project_id)
    audit.record(tx, "delete", "project", project_id, {"name": found.name, "conversations": count})
    return count


def tasks(
    tx: Transaction,
    project_id: UUID,
    *,
    open_only: bool = False,
    before: UUID | None = None,
    limit: int | None = None,
) -> list[Task]:
    """A project's tasks, the open ones first, newest first; `before` is the last one of the page before."""
    where = {"project_id": project_id, "open_only": open_only, "before": before, "limit": limit}
    return tx.all(Task, "projects.tasks", **where)


def create_task(tx: Transaction, project_id: UUID, title: str, notes: str = "") -> Task:
    """A new open task. Raises Forbidden, NotFound for the project, Invalid for an empty title."""
    tx.scope.require("operator")
    get(tx, project_id)
    task = tx.get(
        Task, "projects.create_task", id=uuid7(), project_id=project_id, title=_named(title), notes=notes.strip()
    )
    audit.record(tx, "create", "task", task.id, {"title": task.title})
    return task


def task(tx: Transaction, task_id: UUID) -> Task:
    """One task; raises NotFound."""
    return tx.get(Task, "projects.task", id=task_id)


def update_task(
    tx: Transaction,
    task_id: UUID,
    *,
    title: str | None = None,
    notes: str | None = None,
    status: str | None = None,
    unchanged_since: datetime | None = None,
) -> Task:
    """Change what is given; done and cancelled tasks are closed. Raises Forbidden, NotFound, Invalid.

    Raises Conflict where it was changed after `unchanged_since`, an `updated_at`.
    """
    tx.scope.require("operator")
    if status not in (None, *TASK_STATUSES):
        raise Invalid(_("A task is open, in progress, done or cancelled."), field="status")
    before = task(tx, task_id)
    after = tx.one(
        Task,
        "projects.update_task",
        id=task_id,
        unchanged_since=unchanged_since or before.updated_at,
        title=before.title if title is None else _named(title),
        notes=before.notes if notes is None else notes.strip(),
        status=status or before.status,
    )
    if after is None:
        raise Conflict(_("Somebody changed this task meanwhile."), detail={"version": before.updated_at.isoformat()})
    audit.record(tx, "update", "task", task_id, {"title": after.title, "status": after.status})
    return after


def delete_task(tx: Transaction, task_id: UUID) -> None:
    """Delete a task; conversations and runs that were about it stay. Raises Forbidden, NotFound."""
    tx.scope.require("operator")
    found = task(tx, task_id)
    tx.execute("projects.delete_task", id=task_id)
    audit.record(tx, "delete", "task", task_id, {"title": found.title})


def _named(name: str) -> str:
    name = one_line(name)
    if not name:
        raise Invalid(_("Give it a name."), field="name")
    if len(name) > 200:
        raise Invalid(_("A name has at most 200 characters."), field="name")
    return name
