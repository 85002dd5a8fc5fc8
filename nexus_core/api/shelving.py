"""/api/conversations: the trash, forks, summaries, and moves between projects."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field

from nexus_core import conversations, fork, keeping, moves, shelf, summaries
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
