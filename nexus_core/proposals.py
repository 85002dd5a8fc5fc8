"""Proposals: changes to a project's memory, line by line, that wait until a person accepts or rejects them."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from uuid6 import uuid7

from nexus_core import audit
from nexus_core.database import Json, Transaction
from nexus_core.errors import Conflict, NotFound
from nexus_core.i18n import _
from nexus_core.text import as_uuid

TRIGGERS = ("asked", "task", "decision", "archive", "merge", "message")
STATUSES = ("pending", "accepted", "rejected")


@dataclass(frozen=True)
class Line:
    """One change to one entry of a list, or to the summary, whose entries are texts.

    `op` is add, edit or close; `before` is the entry as it was when this was proposed, `after` as it would be, None
    for one that goes. `key` tells the entry from the others (`entries.keys_of`). `evidence` are the messages that it
    rests on. `status`: pending, accepted, rejected, or known, which was in the memory by the time it was accepted.
    """

    op: str
    field: str
    after: Any
    before: Any = None
    key: str | None = None
    evidence: tuple[UUID, ...] = ()
    status: str = "pending"
    decided_by: UUID | None = None
    decided_at: str | None = None
    id: UUID = dataclasses.field(default_factory=uuid7)


@dataclass(frozen=True)
class Proposal:
    """Lines proposed together, against the memory at `base_version`; pending while any of them is.

    `trigger` says why: asked, task (closed), decision (marked), archive, merge or message. `run_id` is the run that
    made it; the names are those of the conversation, the task and the people.
    """

    id: UUID
    project_id: UUID
    conversation_id: UUID | None
    conversation_title: str | None
    task_id: UUID | None
    task_title: str | None
    run_id: UUID | None
    trigger: str
    base_version: int
    changes: list[dict[str, Any]]
    status: str
    created_by: UUID | None
    created_by_name: str | None
    created_at: datetime
    decided_by: UUID | None
    decided_by_name: str | None
    decided_at: datetime | None

    @property
    def lines(self) -> list[Line]:
        """Its lines."""
        return [_line(stored) for stored in self.changes]

    @property
    def pending(self) -> list[Line]:
        """Those of its lines that wait."""
        return [line for line in self.lines if line.status == "pending"]


@dataclass(frozen=True)
class Said:
    """A message that a line may rest on; `author` is a name, None for an assistant or somebody who is gone."""

    id: UUID
    conversation_id: UUID
    conversation_title: str
    seq: int
    role: str
    user_id: UUID | None
    author: str | None
    body: str
    created_at: datetime


def create(
    tx: Transaction,
    project_id: UUID,
    lines: Sequence[Line],
    *,
    base_version: int,
    trigger: str = "asked",
    conversation_id: UUID | None = None,
    task_id: UUID | None = None,
    run_id: UUID | None = None,
) -> Proposal:
    """A new proposal that waits. Raises Forbidden, NotFound for what it points to."""
    tx.scope.require("operator")
    proposal_id = uuid7()
    about = {"conversation_id": conversation_id, "task_id": task_id, "run_id": run_id, "trigger": trigger}
    changes = Json([_stored(line) for line in lines])
    where = {"id": proposal_id, "project_id": project_id, "base_version": base_version}
    tx.execute("proposals.create", changes=changes, **where, **about)
    audit.record(tx, "create", "proposal", proposal_id, {"trigger": trigger, "lines": len(lines)})
    return get(tx, proposal_id)


def get(tx: Transaction, proposal_id: UUID) -> Proposal:
    """One proposal; raises NotFound."""
    return tx.get(Proposal, "proposals.get", id=proposal_id)


def locked(tx: Transaction, proposal_id: UUID) -> Proposal:
    """One proposal, which nobody else decides until this transaction ends; raises NotFound."""
    tx.execute("proposals.lock", id=proposal_id)
    return get(tx, proposal_id)


def list_(
    tx: Transaction, project_id: UUID, *, status: str | None = None, before: Proposal | None = None, limit: int = 25
) -> list[Proposal]:
    """A project's proposals, newest first, at most `limit`; older than `before` when given."""
    keyset = {"before_at": before and before.created_at, "before_id": before and before.id}
    return tx.all(Proposal, "proposals.list", project_id=project_id, status=status, limit=limit, **keyset)


def waiting(tx: Transaction, project_id: UUID | None = None) -> int:
    """How many proposals wait, in one project or in the whole workspace."""
    return int(tx.execute("proposals.waiting", project_id=project_id).scalar_one())


def former(tx: Transaction, project_id: UUID) -> list[Line]:
    """The lines that wait or were rejected of late: nobody wants to see them again."""
    return [_line(row["line"]) for row in tx.rows("proposals.former", project_id=project_id)]


def material(
    tx: Transaction,
    project_id: UUID,
    *,
    conversation_ids: Sequence[UUID] | None = None,
    task_id: UUID | None = None,
    limit: int = 300,
) -> list[Said]:
    """What people and assistants said of late, oldest first: in a project, some conversations of it, or on one task."""
    chosen = list(conversation_ids) if conversation_ids else None
    where = {"project_id": project_id, "conversation_ids": chosen, "task_id": task_id, "limit": limit}
    return tx.all(Said, "proposals.material", **where)[::-1]


def evidence(tx: Transaction, lines: Sequence[Line]) -> dict[UUID, Said]:
    """The messages that lines rest on, by id; without those that are gone."""
    ids = list({message_id for line in lines for message_id in line.evidence})
    return {said.id: said for said in tx.all(Said, "proposals.evidence", ids=ids)} if ids else {}


def are_left(tx: Transaction, said: Sequence[Said]) -> bool:
    """Whether every one of these messages is still there."""
    ids = [one.id for one in said]
    return not ids or tx.execute("proposals.count_left", ids=ids).scalar_one() == len(ids)


def decide(tx: Transaction, proposal: Proposal, decided: dict[UUID, Line]) -> Proposal:
    """Store the lines as decided, by id, and with the last one the proposal. Raises Forbidden, NotFound, Conflict.

    The proposal must be `locked` in this transaction. Conflict: a line was decided before.
    """
    tx.scope.require("operator")
    waiting = {line.id for line in proposal.pending}
    if unknown := set(decided) - {line.id for line in proposal.lines}:
        raise NotFound(_("This proposal has no such line."), detail={"lines": sorted(map(str, unknown))})
    if set(decided) - waiting:
        raise Conflict(_("Somebody has decided this already."), detail={"status": proposal.status})
    now = datetime.now(UTC).isoformat()
    mark: dict[str, Any] = {"decided_by": tx.scope.user_id, "decided_at": now}
    lines = [replace(decided[line.id], **mark) if line.id in decided else line for line in proposal.lines]
    states = {line.status for line in lines}
    status = "pending" if "pending" in states else "rejected" if states <= {"rejected"} else "accepted"
    changes = Json([_stored(line) for line in lines])
    tx.execute("proposals.decide", id=proposal.id, changes=changes, status=status)
    told = {state: sum(line.status == state for line in decided.values()) for state in ("accepted", "rejected")}
    audit.record(tx, "decide", "proposal", proposal.id, told | {"status": status})
    return get(tx, proposal.id)


def _stored(line: Line) -> dict[str, Any]:
    return vars(line) | {"evidence": list(line.evidence)}


def _line(stored: dict[str, Any]) -> Line:
    known = {name: stored[name] for name in Line.__dataclass_fields__ if name in stored}
    known["id"] = as_uuid(str(stored.get("id"))) or uuid7()
    known["evidence"] = tuple(filter(None, (as_uuid(str(one)) for one in stored.get("evidence") or ())))
    return Line(**{"op": "add", "field": "decisions", "after": None} | known)
