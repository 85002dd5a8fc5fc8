"""/api/projects/{id}/proposals, /api/proposals: changes to a memory that wait for a person."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query
from pydantic import Field

from nexus_core import deciding, projects, proposals, proposing
from nexus_core.api.memory import FIELD, Memory
from nexus_core.api.projects import ProjectId
from nexus_core.api.schema import INT, Limit, Snake, Who
from nexus_core.database import transaction
from nexus_core.keeping import MOST
from nexus_core.proposals import Proposal as Stored

router = APIRouter(tags=["Project memory"])
ProposalId = Annotated[UUID, Path(description="The proposal's id.")]
STATUS = Literal["pending", "accepted", "rejected"]


class ProposalRequest(Snake):
    """What the assistant is to read; nothing: what was said lately in the project."""

    conversation_id: UUID | None = Field(None, description="One conversation of the project.")
    task_id: UUID | None = Field(None, description="The conversations about one task.")
    conversation_ids: list[UUID] = Field(
        [], max_length=MOST, description="Old conversations of the project, read whole and folded in as one proposal."
    )


class Asked(Snake):
    """The run that reads; the proposal is there once it has succeeded and found something new."""

    run_id: UUID = Field(description="The run, as in assistant-runs.")


class Line(Snake):
    """One proposed change."""

    id: UUID = Field(description="Its id.")
    op: Literal["add", "edit", "close"] = Field(description="What would be done.")
    field: FIELD = Field(description="To which part of the memory.")
    before: Any = Field(description="The entry, or the summary, as it was when this was proposed.")
    after: Any = Field(description="As it would be; null: it goes.")
    evidence: list[UUID] = Field(description="The messages that support it.")
    status: Literal["pending", "accepted", "rejected", "known"] = Field(
        description="known: the memory said it already when it was accepted."
    )
    decided_by: UUID | None = Field(description="Who decided.")
    decided_at: datetime | None = Field(description="When.")


class Proposal(Snake):
    """Changes that the assistant proposes; nothing of them is in the memory before a person accepts it."""

    id: UUID = Field(description="Its id.")
    project_id: UUID = Field(description="The project.")
    conversation_id: UUID | None = Field(description="The conversation that was read.")
    task_id: UUID | None = Field(description="The task that was closed.")
    run_id: UUID | None = Field(description="The run that made it.")
    trigger: Literal["asked", "task", "decision", "archive", "merge", "message"] = Field(description="Why it was made.")
    base_version: int = Field(description="The version of the memory that was read.")
    status: STATUS = Field(description="pending while any of its lines is.")
    lines: list[Line] = Field(description="The changes.")
    created_by: UUID | None = Field(description="Who asked.")
    created_at: datetime = Field(description="When it was made.")
    decided_by: UUID | None = Field(description="Who decided the last line.")
    decided_at: datetime | None = Field(description="When.")

    @classmethod
    def of(cls, row: Stored) -> "Proposal":
        """A stored proposal in this form."""
        lines = [Line(**vars(line)) for line in row.lines]
        return cls(**{name: getattr(row, name) for name in cls.model_fields if name != "lines"}, lines=lines)


class Acceptance(Snake):
    """Which lines to take, and what to write instead of them."""

    lines: list[UUID] | None = Field(None, description="Left out: all that wait.")
    edits: dict[UUID, Any] = Field({}, description="By a line's id: the entry's fields, or the summary, to write.")
    version: int | None = Field(None, ge=1, le=INT, description="The memory's version that edits were made against.")


class Rejection(Snake):
    """Which lines to refuse."""

    lines: list[UUID] | None = Field(None, description="Left out: all that wait.")


class Accepted(Snake):
    """How it stands afterwards."""

    proposal: Proposal = Field(description="The proposal.")
    memory: Memory = Field(description="The memory.")
    clashes: dict[UUID, Any] = Field(
        description="Lines that still wait, by id, with what the memory says in their place: it was changed since."
    )


@router.get("/projects/{project_id}/proposals", response_model=list[Proposal], summary="List proposals")
def list_proposals(
    who: Who,
    project_id: ProjectId,
    status: Annotated[STATUS | None, Query(description="Only those that stand so.")] = None,
    before: Annotated[UUID | None, Query(description="Only those before this one.")] = None,
    limit: Limit = 25,
) -> Any:
    """Newest first."""
    with transaction(who) as tx:
        projects.get(tx, project_id)
        last = proposals.get(tx, before) if before else None
        found = proposals.list_(tx, project_id, status=status, before=last, limit=limit)
    return [Proposal.of(row) for row in found]


@router.post(
    "/projects/{project_id}/proposals",
    response_model=Asked,
    status_code=HTTPStatus.ACCEPTED,
    summary="Ask for a proposal",
)
def create_proposal(who: Who, project_id: ProjectId, body: ProposalRequest) -> Any:
    """The assistant reads in the background; follow its run. Needs the role operator."""
    return {"run_id": proposing.propose(who, project_id, **body.model_dump())}


@router.get("/proposals/{proposal_id}", response_model=Proposal, summary="Get a proposal")
def get_proposal(who: Who, proposal_id: ProposalId) -> Any:
    """With its lines and what supports each."""
    with transaction(who) as tx:
        return Proposal.of(proposals.get(tx, proposal_id))


@router.post("/proposals/{proposal_id}/accept", response_model=Accepted, summary="Accept lines of a proposal")
def accept_proposal(who: Who, proposal_id: ProposalId, body: Acceptance) -> Any:
    """They become one revision, joined with what others changed since; what clashes goes on waiting, and is 409 when
    that is all. Needs the role operator."""
    with transaction(who) as tx:
        done = deciding.accept(tx, proposal_id, body.lines, edits=body.edits, version=body.version)
    return {"proposal": Proposal.of(done.proposal), "memory": vars(done.memory), "clashes": done.clashes}


@router.post("/proposals/{proposal_id}/reject", response_model=Proposal, summary="Reject lines of a proposal")
def reject_proposal(who: Who, proposal_id: ProposalId, body: Rejection) -> Any:
    """They are not proposed again. Needs the role operator."""
    with transaction(who) as tx:
        return Proposal.of(deciding.reject(tx, proposal_id, body.lines))
