"""/api/conversations: the trash, forks, summaries, moves between projects, and what they would change."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field

from nexus_core import agents, conversations, fork, gauge, keeping, moves, shelf, summaries
from nexus_core.api.conversations import ConversationId, tagged
from nexus_core.api.schema import Camel, Limit, Success, Who, done
from nexus_core.api.shapes import Conversation, Trashed
from nexus_core.database import transaction
from nexus_core.errors import NotFound
from nexus_core.i18n import _
from nexus_core.messages import get as message_of

router = APIRouter(prefix="/conversations", tags=["Conversations"])


class Fork(Camel):
    """Where a fork leaves."""

    message_id: UUID = Field(description="The last message that goes along.")


class Going(Camel):
    """What a deletion takes."""

    conversations: int = Field(description="Whether it is there: 1, or 0.")
    messages: int = Field(description="Messages, in every version.")
    runs: int = Field(description="Runs that lose their words; their figures stay.")
    shares: int = Field(description="Links that work.")
    running: int = Field(description="Whether it is answering just now.")


class Used(Camel):
    """Runs that were made in a project with what is remembered there."""

    project_id: UUID | None = Field(description="The project; null: outside any.")
    project_name: str | None = Field(description="What it is called.")
    with_memory: int = Field(description="Runs with its memory in their prompt.")
    with_quotes: int = Field(description="Runs with quotes from its other conversations.")


class Effect(Camel):
    """What a move changes."""

    moving: int = Field(description="Whether its place changes: 1, or 0.")
    opened: int = Field(description="Conversations of one's own that all members will see.")
    closed: int = Field(description="Conversations that their owner alone will see.")
    members: int = Field(description="How many members the workspace has.")
    others: int = Field(description="Conversations of somebody else.")
    used: list[Used] = Field(description="Whose memory it was answered from.")


class Gauge(Camel):
    """What the next question takes along, before it is written."""

    mode: str = Field(description="The agent's memory mode: none, session or user.")
    messages: int = Field(description="Messages that go along.")
    tokens: int = Field(description="Their tokens, an estimate.")
    left_out: int = Field(description="Older messages that stay behind.")
    first_seq: int | None = Field(description="The number of the oldest that goes along.")
    first_words: str | None = Field(description="How that one begins.")
    max_messages: int | None = Field(description="The agent's limit; null: none.")
    max_tokens: int | None = Field(description="The agent's limit; null: none.")
    summarized: int = Field(description="Up to this number a summary stands for what was said.")
    share: float = Field(description="How full it is, by the limit that is nearer; 1: full.")


class Begun(Camel):
    """Whether it was begun; it goes on in the background."""

    begun: bool = Field(description="False: a budget lets no summary be made; the conversation's runs say which.")


class Summary(Camel):
    """A text that stands for older messages in what the assistant sees; the messages stay."""

    id: UUID = Field(description="Its id.")
    from_seq: int = Field(description="The `seq` of the first message that it stands for.")
    to_seq: int = Field(description="The `seq` of the last one.")
    body_md: str = Field(description="The summary, Markdown.")
    tokens: int | None = Field(description="Its tokens.")
    method: Literal["model", "extract", "hand"] = Field(
        description="extract: sentences as they were said, chosen without a model."
    )
    created_at: datetime = Field(description="When it was made.")


class Move(Camel):
    """Where to."""

    project_id: UUID | None = Field(description="The project; null: outside any, seen by its owner alone.")


@router.get("/trash", response_model=Success[list[Trashed]], summary="List the trash")
def list_trash(
    who: Who,
    before: Annotated[UUID | None, Query(description="Only what follows this one: the id of the last item.")] = None,
    limit: Limit = 25,
) -> dict[str, Any]:
    """What you may restore, what was deleted last first: your own; as an admin everything that you may see."""
    with transaction(who) as tx:
        return done(shelf.trashed(tx, before=before, limit=limit))


@router.get("/{conversation_id}/gauge", response_model=Success[Gauge], summary="See how full its memory is")
def get_gauge(who: Who, conversation_id: ConversationId) -> dict[str, Any]:
    """What the next question would take along and leave out."""
    with transaction(who) as tx:
        found = conversations.get(tx, conversation_id)
        told = gauge.of(tx, found, agents.get(tx, found.agent_id) if found.agent_id else None)
    return done(vars(told) | {"share": told.share})


@router.get("/{conversation_id}/deletion", response_model=Success[Going], summary="See what a deletion takes")
def preview_deletion(who: Who, conversation_id: ConversationId) -> dict[str, Any]:
    """Before it is deleted, or emptied out of the trash; all 0 where there is no such conversation."""
    with transaction(who) as tx:
        return done(shelf.going(tx, [conversation_id]))


@router.get("/{conversation_id}/move", response_model=Success[Effect], summary="See what a move changes")
def preview_move(
    who: Who,
    conversation_id: ConversationId,
    project_id: Annotated[UUID | None, Query(alias="projectId", description="To this project; left out: none.")] = None,
) -> dict[str, Any]:
    """Who would see it and what it would be remembered for. Needs the role operator."""
    with transaction(who) as tx:
        return done(moves.effect(tx, [conversation_id], project_id))


@router.post("/{conversation_id}/restore", response_model=Success[Conversation], summary="Restore a conversation")
def restore_conversation(who: Who, conversation_id: ConversationId) -> dict[str, Any]:
    """Out of the trash, as it was; links to it stay dead. Another member's needs the role admin."""
    with transaction(who) as tx:
        shelf.restore(tx, [conversation_id])
        return done(tagged(tx, [conversations.get(tx, conversation_id)])[0])


@router.post(
    "/{conversation_id}/fork",
    response_model=Success[Conversation],
    status_code=HTTPStatus.CREATED,
    summary="Fork a conversation",
)
def fork_conversation(who: Who, conversation_id: ConversationId, body: Fork) -> dict[str, Any]:
    """A conversation of your own in the same place that begins with what was said up to a message.

    `metadata.forked_from` says where it left. Needs the role operator.
    """
    with transaction(who) as tx:
        if message_of(tx, body.message_id).conversation_id != conversation_id:
            raise NotFound(_("There is no such message in this conversation."))
        return done(tagged(tx, [fork.fork(tx, body.message_id)])[0])


@router.post(
    "/{conversation_id}/summarise",
    response_model=Success[Begun],
    status_code=HTTPStatus.ACCEPTED,
    summary="Summarise a conversation",
)
def summarise_conversation(who: Who, conversation_id: ConversationId) -> dict[str, Any]:
    """All but its newest messages, in the background; its run is of kind summary. 409 while one is being made.

    Needs the role operator.
    """
    return done({"begun": keeping.summarise(who, conversation_id)})


@router.get("/{conversation_id}/summaries", response_model=Success[list[Summary]], summary="List summaries")
def list_summaries(who: Who, conversation_id: ConversationId, limit: Limit = 25) -> dict[str, Any]:
    """Newest first; each holds those before it."""
    with transaction(who) as tx:
        conversations.get(tx, conversation_id)
        return done(summaries.of(tx, conversation_id, limit=limit))


@router.post("/{conversation_id}/move", response_model=Success[Conversation], summary="Move a conversation")
def move_conversation(who: Who, conversation_id: ConversationId, body: Move) -> dict[str, Any]:
    """To another project, or out of any. Its messages are remembered there from then on and no more in the former one;
    what was spent stays on the former one's account. 409 while it is being answered.
    """
    with transaction(who) as tx:
        moves.move(tx, [conversation_id], body.project_id)
        return done(tagged(tx, [conversations.get(tx, conversation_id)])[0])
