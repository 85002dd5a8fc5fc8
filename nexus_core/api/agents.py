"""/api/agents: who answers."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from nexus_core import agents
from nexus_core.api.schema import INT, Camel, IfMatch, Success, Text, Who, as_instant, done, tag
from nexus_core.database import transaction

router = APIRouter(prefix="/agents", tags=["Agents"])
AgentId = Annotated[UUID, Path(description="The agent's id.")]
MODES = Literal["none", "session", "user"]


class AgentFields(Camel):
    """What can be said of an agent; what is left out stays as it is, or is as Nexus makes it."""

    name: Text = Field("", description="What people call it; 1 to 100 characters.", examples=["Ada"])
    emoji: Text = Field("🤖", description="Its face.", examples=["🧭"])
    role: Text = Field("", description="What it is, in a few words.", examples=["Research assistant"])
    description: Text = Field("", description="What it is good for.", max_length=100_000)
    instructions: Text = Field("", description="The system prompt; 100,000 characters at most.")
    status: Literal["active", "archived"] = Field("active", description="Archived agents are kept out of lists.")
    profile_id: UUID | None = Field(None, description="The model profile that serves it; null for the default one.")
    memory_mode: MODES = Field(
        "session",
        description="What it sees of the past: none (this message alone), session (this conversation), user (all "
        "that this person said with it in this project, or outside any).",
    )
    max_messages: int | None = Field(40, ge=0, le=INT, description="Messages of history sent at most; null: no limit.")
    max_tokens: int | None = Field(16_000, ge=0, le=INT, description="Tokens of history sent at most; null: no limit.")
    recall: bool = Field(True, description="Whether it recalls what other conversations of the project said.")
    tools: bool = Field(True, description="Whether it may search the memory by itself.")
    max_steps: int = Field(5, ge=1, le=20, description="Calls to the model for one answer at most.")


class NewAgent(AgentFields):
    """A new agent; only its name is needed."""

    name: Text = Field(description="What people call it; 1 to 100 characters.", examples=["Ada"])


class Agent(AgentFields):
    """An agent."""

    id: UUID = Field(description="Its id.")
    user_id: UUID | None = Field(description="Who made it; null when that person is gone.")
    created_at: datetime = Field(description="When it was made.")
    updated_at: datetime = Field(description="When it was changed last; the version that If-Match names.")


class AgentGoing(Camel):
    """What hangs on an agent."""

    conversations: int = Field(description="How many of its conversations you can see; kept or deleted with it.")


class DeletedAgent(Camel):
    """What was deleted."""

    id: UUID = Field(description="The agent's id.")
    deleted_conversations: int = Field(description="How many conversations went with it.")


@router.get("", response_model=Success[list[Agent]], summary="List agents")
def list_agents(
    who: Who, archived: Annotated[bool, Query(description="The archived ones too.")] = False
) -> dict[str, Any]:
    """The workspace's agents by name."""
    with transaction(who) as tx:
        return done(agents.list_(tx, archived=archived))


@router.post("", response_model=Success[Agent], status_code=HTTPStatus.CREATED, summary="Make an agent")
def create_agent(who: Who, body: NewAgent, response: Response) -> dict[str, Any]:
    """Needs the role operator."""
    with transaction(who) as tx:
        made = agents.create(tx, **body.given())
    tag(response, made.updated_at)
    return done(made)


@router.get("/{agent_id}", response_model=Success[Agent], summary="Get an agent")
def get_agent(who: Who, agent_id: AgentId, response: Response) -> dict[str, Any]:
    """The ETag is the version for If-Match."""
    with transaction(who) as tx:
        found = agents.present(tx, agent_id)
    tag(response, found.updated_at)
    return done(found)


@router.patch("/{agent_id}", response_model=Success[Agent], summary="Change an agent")
def update_agent(
    who: Who, agent_id: AgentId, body: AgentFields, version: IfMatch, response: Response
) -> dict[str, Any]:
    """Only the fields that are sent change. Needs the role operator."""
    with transaction(who) as tx:
        agents.present(tx, agent_id)
        after = agents.update(tx, agent_id, unchanged_since=as_instant(version), **body.given())
    tag(response, after.updated_at)
    return done(after)


@router.post(
    "/{agent_id}/duplicate",
    response_model=Success[Agent],
    status_code=HTTPStatus.CREATED,
    summary="Duplicate an agent",
)
def duplicate_agent(who: Who, agent_id: AgentId, response: Response) -> dict[str, Any]:
    """A copy under a name of its own, without conversations. Needs the role operator."""
    with transaction(who) as tx:
        agents.present(tx, agent_id)
        made = agents.duplicate(tx, agent_id)
    tag(response, made.updated_at)
    return done(made)


@router.get("/{agent_id}/deletion", response_model=Success[AgentGoing], summary="See what a deletion takes")
def preview_agent_deletion(who: Who, agent_id: AgentId) -> dict[str, Any]:
    """Before it is deleted."""
    with transaction(who) as tx:
        agents.present(tx, agent_id)
        return done({"conversations": agents.conversation_counts(tx).get(agent_id, 0)})


@router.delete("/{agent_id}", response_model=Success[DeletedAgent], summary="Delete an agent")
def delete_agent(
    who: Who,
    agent_id: AgentId,
    conversations: Annotated[bool, Query(description="Delete its conversations too, instead of keeping them.")] = False,
) -> dict[str, Any]:
    """Kept conversations can be read and not continued. Needs the role operator."""
    with transaction(who) as tx:
        agents.present(tx, agent_id)
        return done({"id": agent_id, "deleted_conversations": agents.delete(tx, agent_id, conversations=conversations)})
