"""Conversations: whose they are, where they belong, what they are called."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from uuid6 import uuid7

from nexus_core import audit
from nexus_core.database import Json, Transaction
from nexus_core.errors import Busy, Conflict, Invalid, NotFound
from nexus_core.i18n import _
from nexus_core.text import as_uuid, clip, one_line

KINDS = ("project", "task", "decision", "run", "support")
STATUSES = ("open", "summarized", "archived")
TITLE_LIMIT = 200


@dataclass(frozen=True)
class Conversation:
    """A conversation; without a project its owner alone sees it, in one every member of the workspace does.

    `agent_id` None is Just Chat. `title_source`: none, question (made from the first one) or person (typed, never
    overwritten). `running`: an answer is being written now. `unread`: this person has not seen the newest message.
    `next_seq` - 1 is the number of messages ever stored.
    """

    id: UUID
    user_id: UUID
    project_id: UUID | None
    task_id: UUID | None
    agent_id: UUID | None
    session_id: str | None
    title: str
    title_source: str
    kind: str
    status: str
    summary_md: str
    model_id: str | None
    provider_id: str | None
    metadata: dict[str, Any]
    next_seq: int
    active_run_id: UUID | None
    running: bool
    unread: bool
    created_at: datetime
    updated_at: datetime
    last_message_at: datetime


@dataclass(frozen=True)
class Place:
    """Where conversations are listed or made: a project or None, and an agent or None for Just Chat."""

    project_id: UUID | None = None
    agent_id: UUID | None = None

    def __post_init__(self) -> None:
        if UUID(int=0) in (self.project_id, self.agent_id):  # stands for "none" in the database, and is nobody's id
            raise NotFound(_("There is no such project or agent here."))


def get(tx: Transaction, conversation_id: UUID) -> Conversation:
    """One conversation; raises NotFound, for another person's private one too."""
    return tx.get(Conversation, "conversations.get", id=conversation_id)


def of(tx: Transaction, ids: Sequence[UUID]) -> dict[UUID, Conversation]:
    """Those of these conversations that this person may see, by id."""
    return {found.id: found for found in tx.all(Conversation, "conversations.of", ids=list(ids))}


def list_(
    tx: Transaction,
    place: Place,
    *,
    archived: bool = False,
    before: Conversation | None = None,
    limit: int = 25,
) -> list[Conversation]:
    """This person's conversations in a place, newest first, at most `limit`; older than `before` when given.

    `archived` lists the archived ones instead.
    """
    return tx.all(
        Conversation,
        "conversations.list",
        project_id=place.project_id,
        agent_id=place.agent_id,
        archived=archived,
        own=False,
        limit=limit,
        **_keyset(before),
    )


def of_person(
    tx: Transaction, *, archived: bool = False, before: Conversation | None = None, limit: int = 25
) -> list[Conversation]:
    """Everything that this person began, wherever it belongs, newest first, paged as `list_` is."""
    return tx.all(Conversation, "conversations.of_person", archived=archived, limit=limit, **_keyset(before))


def of_project(
    tx: Transaction,
    project_id: UUID,
    *,
    status: str | None = None,
    task_id: UUID | None = None,
    before: Conversation | None = None,
    limit: int = 25,
) -> list[Conversation]:
    """A project's conversations, whosesoever and whatever their status, newest first, paged as `list_` is."""
    where = {"project_id": project_id, "status": status, "task_id": task_id}
    return tx.all(Conversation, "conversations.of_project", limit=limit, **where, **_keyset(before))


def named(tx: Transaction, name: str) -> Conversation:
    """The conversation whose id this is, or else this person's latest one of the session `name`; raises NotFound."""
    return tx.get(Conversation, "conversations.named", id=as_uuid(name), session_id=name)


def called(tx: Transaction, place: Place, name: str) -> Conversation | None:
    """The conversation whose id this is, or this person's one of the session `name` in a place; None for neither."""
    found = tx.one(Conversation, "conversations.get", id=known) if (known := as_uuid(name)) else None
    where = {"session_id": name, "title": "", "project_id": place.project_id, "agent_id": place.agent_id}
    return found or tx.one(Conversation, "conversations.reusable", **where)


def in_project(tx: Transaction, conversation_id: UUID) -> Conversation:
    """A conversation that belongs to a project; raises NotFound, for one outside any too."""
    found = get(tx, conversation_id)
    if found.project_id is None:
        raise NotFound(_("There is no such conversation here."))
    return found


def require_place(tx: Transaction, conversation_id: UUID, place: Place) -> None:
    """Raise Invalid for a conversation with another agent or in another project than `place` names; NotFound."""
    if place == Place():
        return
    found = get(tx, conversation_id)
    if place.agent_id not in (None, found.agent_id):
        raise Invalid(_("This conversation is with another agent."), field="agent_id")
    if place.project_id not in (None, found.project_id):
        raise Invalid(_("This conversation is not in that project."), field="project_id")


def recent(tx: Transaction, project_id: UUID | None, *, limit: int = 10) -> list[Conversation]:
    """The newest conversations that this person can see in a project, or has outside any, whatever the agent."""
    return tx.all(Conversation, "conversations.recent", project_id=project_id, limit=limit)


def latest(tx: Transaction, project_id: UUID | None) -> Conversation | None:
    """The conversation that this person was last in, in a project or outside any, whatever the agent.

    Not an archived one, nor a program's, nor one with a deleted agent, which can't go on.
    """
    return tx.one(Conversation, "conversations.latest", project_id=project_id)


def active(tx: Transaction, place: Place) -> Conversation | None:
    """The conversation that goes on when this person comes to a place: the newest, not archived, not a program's."""
    where = {"project_id": place.project_id, "agent_id": place.agent_id, "archived": False, "own": True, "limit": 1}
    return tx.one(Conversation, "conversations.list", **where, **_keyset(None))


def create(
    tx: Transaction,
    place: Place,
    *,
    title: str = "",
    session_id: str | None = None,
    kind: str = "project",
    task_id: UUID | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Conversation:
    """A new conversation of this person's.

    An empty one that lies there already is taken instead of a second one, where nothing sets the new one apart. A
    `session_id` names it for its caller; the same one in the same place is the same conversation. Raises Forbidden,
    NotFound (for the agent, the project or a task that is not the project's, too), Invalid.
    """
    tx.scope.require("operator")
    _check(kind=kind)
    if session_id is not None and not 0 < len(session_id) <= 200:
        raise Invalid(_("A session id has 1 to 200 characters."), field="session_id")
    place_params = {"project_id": place.project_id, "agent_id": place.agent_id}
    apart = session_id is None and (kind != "project" or task_id or metadata)
    known = tx.one(Conversation, "conversations.reusable", session_id=session_id, title=title, **place_params)
    if known is not None and not apart:
        return known
    made = tx.one(
        Conversation,
        "conversations.create",
        id=uuid7(),
        title=clip(one_line(title), TITLE_LIMIT),
        session_id=session_id,
        kind=kind,
        task_id=task_id,
        metadata=Json(dict(metadata or {})),
        **place_params,
    ) or tx.get(Conversation, "conversations.reusable", session_id=session_id, title=title, **place_params)
    audit.record(tx, "create", "conversation", made.id, {"project_id": place.project_id, "agent_id": place.agent_id})
    return made


def update(
    tx: Transaction, conversation_id: UUID, *, unchanged_since: datetime | None = None, **fields: Any
) -> Conversation:
    """Change any of `title`, `kind`, `status`, `summary_md`, `metadata`, and `task_id`, where None is no task.

    An empty title lets the first question give it again. Raises Forbidden, NotFound (for a task that is not the
    project's, too), Invalid, and Conflict where it was changed after `unchanged_since`, an `updated_at`.
    """
    tx.scope.require("operator")
    _check(**fields)
    before = get(tx, conversation_id)
    if fields.get("title") is not None:
        fields["title"] = clip(one_line(fields["title"]), TITLE_LIMIT)
    values = {field: fields.get(field) for field in ("title", "kind", "status", "summary_md", "task_id")}
    metadata = None if fields.get("metadata") is None else Json(fields["metadata"])
    done = tx.execute(
        "conversations.update",
        id=conversation_id,
        unchanged_since=unchanged_since,
        sets_task="task_id" in fields,
        metadata=metadata,
        **values,
    )
    if not done.rowcount:
        raise Conflict(
            _("Somebody changed this conversation meanwhile."), detail={"version": before.updated_at.isoformat()}
        )
    detail = {"fields": sorted(fields)} | ({"status": fields["status"]} if "status" in fields else {})
    audit.record(tx, "update", "conversation", conversation_id, detail)
    return get(tx, conversation_id)


def rename(tx: Transaction, conversation_id: UUID, title: str) -> None:
    """Give a title that nothing overwrites; an empty one lets the first question give it again. Raises NotFound."""
    tx.scope.require("operator")
    get(tx, conversation_id)
    tx.execute("conversations.rename", id=conversation_id, title=clip(one_line(title), TITLE_LIMIT))
    audit.record(tx, "rename", "conversation", conversation_id)


def set_archived(tx: Transaction, conversation_id: UUID, archived: bool) -> None:
    """Put a conversation away, or bring it back. Raises Forbidden, NotFound."""
    tx.scope.require("operator")
    get(tx, conversation_id)
    tx.execute("conversations.set_archived", id=conversation_id, archived=archived)
    audit.record(tx, "archive" if archived else "restore", "conversation", conversation_id)


def delete(tx: Transaction, conversation_id: UUID) -> None:
    """Delete a conversation for good, in the trash or not, its messages with it; the ledger keeps its figures.

    One's own, or any that one sees as an admin. Raises Forbidden, NotFound.
    """
    tx.scope.require("operator")
    owner = tx.execute("conversations.owner", id=conversation_id).scalar()
    if owner is None:
        raise NotFound(_("There is no such conversation here."))
    if owner != tx.scope.user_id:
        tx.scope.require("admin")
    tx.execute("conversations.delete", id=conversation_id)
    audit.record(tx, "delete", "conversation", conversation_id)


def mark_read(tx: Transaction, conversation_id: UUID, seq: int) -> None:
    """Remember that this person has seen the messages up to number `seq`; another's first read is in the audit."""
    row = tx.execute("conversations.mark_read", id=conversation_id, seq=seq).first()
    if row is not None and row.first and row.owner_id != tx.scope.user_id:
        audit.record(tx, "read", "conversation", conversation_id)


def require_idle(tx: Transaction, conversation_id: UUID) -> Conversation:
    """The conversation, locked for this transaction; raises NotFound, or Busy while an answer is being written."""
    conversation = tx.get(Conversation, "conversations.lock", id=conversation_id)
    if conversation.running:
        raise Busy(_("This conversation is answering just now; stop it or wait for its end."))
    return conversation


def _check(*, kind: str | None = None, status: str | None = None, **_fields: Any) -> None:
    if kind is not None and kind not in KINDS:
        raise Invalid(_("A conversation's kind is one of {kinds}.").format(kinds=", ".join(KINDS)), field="kind")
    if status is not None and status not in STATUSES:
        raise Invalid(_("A conversation is open, summarized or archived."), field="status")


def _keyset(before: Conversation | None) -> dict[str, Any]:
    return {"before_at": before and before.last_message_at, "before_id": before and before.id}
