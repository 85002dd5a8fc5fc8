"""/api/projects/{id}/memory/…: what the memory weighs in prompts, what it answers, and taking an entry out again."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic import Field

from nexus_core import asking, keeping, memories, weighing
from nexus_core.api.memory import Memory
from nexus_core.api.messages import KIND
from nexus_core.api.projects import ProjectId
from nexus_core.api.schema import Entries, Object, Snake, Text, Who, tag
from nexus_core.database import transaction
from nexus_core.keeping import Kept
from nexus_core.weighing import Weight as Found

router = APIRouter(tags=["Project memory"])


class Draft(Snake):
    """A memory that is not saved; what is left out is as it is."""

    summary_md: Text = Field("", description="The living summary, Markdown.", examples=["We go to the moon."])
    decisions: Entries = Field([], description="What was decided.")
    open_questions: Entries = Field([], description="What is open.")
    risks: Entries = Field([], description="What may go wrong.")
    links: Entries = Field([], description="Where to look.")


class LeftOut(Snake):
    """An entry that does not fit."""

    list: str = Field(description="The list that it is in.")
    index: int = Field(description="Its place in that list, from 0.")


class Weight(Snake):
    """What the memory takes in the prompts of those that share a limit."""

    limit: int = Field(description="Tokens that it may take.")
    names: list[str | None] = Field(description="The agents; null among them is Just Chat.")
    tokens: int = Field(description="Tokens that it takes, an estimate.")
    left_out: list[LeftOut] = Field(description="Entries that do not fit; settled ones never go into a prompt.")


class Known(Snake):
    """An entry that answers."""

    field: str = Field(description="The list that it is in.")
    entry: Any = Field(description="The entry.")
    message_id: UUID | None = Field(description="The message that it came from.")
    conversation_id: UUID | None = Field(description="Where that message stands.")


class Said(Snake):
    """A message that says more."""

    message_id: UUID = Field(description="The message.")
    conversation_id: UUID = Field(description="Where it stands.")
    conversation_title: str = Field(description="That conversation's title.")
    seq: int = Field(description="Its number.")
    role: str = Field(description="Who speaks.")
    author: str | None = Field(description="The person's name.")
    body: str = Field(description="What was said.")
    created_at: datetime = Field(description="When.")


class Answer(Snake):
    """What a project knows about a question."""

    entries: list[Known] = Field(description="Of its memory, those that hold before others.")
    passages: list[Said] = Field(description="Of its conversations.")


class Forget(Snake):
    """What `keep` answered."""

    field: KIND = Field(description="The list.", examples=["risks"])
    entry: Object = Field(description="The entry, exactly as it was kept.", examples=[{"risk": "Weather"}])


@router.get("/projects/{project_id}/memory/weight", response_model=list[Weight], summary="Weigh the memory")
def get_weight(who: Who, project_id: ProjectId) -> Any:
    """Under each limit that an agent sets it, the widest first."""
    with transaction(who) as tx:
        return [_weight(one) for one in weighing.weigh(memories.get(tx, project_id), weighing.limits(tx))]


@router.post("/projects/{project_id}/memory/weight", response_model=list[Weight], summary="Weigh a draft")
def weigh_draft(who: Who, project_id: ProjectId, body: Draft) -> Any:
    """The same for a memory that is not saved yet; nothing is stored."""
    with transaction(who) as tx:
        memory = replace(memories.get(tx, project_id), **body.given())
        return [_weight(one) for one in weighing.weigh(memory, weighing.limits(tx))]


@router.get("/projects/{project_id}/memory/answer", response_model=Answer, summary="Ask the memory")
def ask_memory(
    who: Who,
    project_id: ProjectId,
    q: Annotated[Text, Query(max_length=1000, description="What did we decide about …?", examples=["engine"])] = "",
) -> Any:
    """Answered at once from the memory and from what was said, in words or by meaning; no model is asked."""
    with transaction(who) as tx:
        return asking.about(tx, project_id, q)


@router.post("/projects/{project_id}/memory/forget", response_model=Memory, summary="Take a kept message out again")
def forget_entry(who: Who, project_id: ProjectId, body: Forget, response: Response) -> Any:
    """What `POST /api/messages/{id}/keep` put in; 409 once somebody edited it. Needs the role operator."""
    after = keeping.undo(who, Kept(project_id, body.field, body.entry, version=0, new=False))
    tag(response, after.version)
    return after


def _weight(found: Found) -> dict[str, Any]:
    return vars(found) | {"limit": found.limit.tokens, "names": found.limit.names}
