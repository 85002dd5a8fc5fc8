"""/api/conversations: what was said, by agent or in Just Chat."""

from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import Field

from nexus_core import agents, chat, conversations, messages, projects
from nexus_core.api import shapes
from nexus_core.api.schema import Camel, IfMatch, Limit, Object, Success, Text, Who, as_instant, done, tag
from nexus_core.api.shapes import Conversation, Opened
from nexus_core.conversations import Place
from nexus_core.database import Transaction, transaction
from nexus_core.errors import Invalid
from nexus_core.i18n import _

router = APIRouter(prefix="/conversations", tags=["Conversations"])
ConversationId = Annotated[UUID, Path(description="The conversation's id.")]
Before = Annotated[UUID | None, Query(description="Only what follows this one in the list: the id of its last item.")]


class NewConversation(Camel):
    """A new conversation; an empty one that lies there already is taken instead of a second one."""

    agent_id: UUID | None = Field(None, description="The agent; left out: Just Chat.")
    project_id: UUID | None = Field(None, description="The project; left out: outside any.")
    task_id: UUID | None = Field(None, description="A task of that project.")
    session_id: Text | None = Field(
        None, min_length=1, max_length=200, description="An id of your choice; the same one is the same conversation."
    )
    title: Text = Field("", description="A title that no question overwrites.", examples=["Launch plans"])
    metadata: Object = Field({}, description="Anything of yours.", examples=[{"ticket": 12}])


class ConversationChanges(Camel):
    """What can be changed of a conversation."""

    title: Text = Field("", description="A title that no question overwrites; empty: the first question gives it.")
    status: Literal["open", "archived"] = Field("open", description="archived puts it away, open brings it back.")
    metadata: Object = Field({}, description="Replaces what was there.")


class Deleted(Camel):
    """What was deleted."""

    id: UUID = Field(description="Its id.")


class Stopped(Camel):
    """Whether there was an answer to stop."""

    stopped: bool = Field(description="False: no answer was being written.")


def chosen(
    agent_id: Annotated[UUID | None, Query(alias="agentId", description="The agent's conversations.")] = None,
    is_just_chat: Annotated[bool, Query(alias="isJustChat", description="Those without an agent.")] = False,
    project_id: Annotated[UUID | None, Query(alias="projectId", description="In this project.")] = None,
) -> Place | None:
    """Which conversations are asked for; None: all of this person's."""
    if agent_id is not None and is_just_chat:
        raise Invalid(_("Just Chat has no agent: give agentId or isJustChat, not both."), field="isJustChat")
    if agent_id is None and not is_just_chat:
        if project_id is not None:
            raise Invalid(_("Say with whom: agentId, or isJustChat=true."), field="agentId")
        return None
    return Place(project_id, agent_id)


Chosen = Annotated[Place | None, Depends(chosen)]


def check(tx: Transaction, place: Place) -> Place:
    """The place, once it is sure that its agent and its project are here; raises NotFound."""
    if place.agent_id is not None:
        agents.get(tx, place.agent_id)
    if place.project_id is not None:
        projects.get(tx, place.project_id)
    return place


@router.get("", response_model=Success[list[Conversation]], summary="List conversations")
def list_conversations(
    who: Who,
    place: Chosen,
    before: Before = None,
    archived: Annotated[bool, Query(description="The archived ones instead.")] = False,
    limit: Limit = 25,
) -> dict[str, Any]:
    """Your own, newest first: with an agent, in Just Chat, or all of them."""
    with transaction(who) as tx:
        last = conversations.get(tx, before) if before else None
        if place is None:
            return done(conversations.of_person(tx, archived=archived, before=last, limit=limit))
        return done(conversations.list_(tx, check(tx, place), archived=archived, before=last, limit=limit))


@router.get("/active", response_model=Success[Opened | None], summary="Get the active conversation")
def active_conversation(who: Who, place: Chosen, limit: Limit = 100) -> dict[str, Any]:
    """The newest that is not archived, with its newest messages; null before the first one."""
    if place is None:
        raise Invalid(_("Say with whom: agentId, or isJustChat=true."), field="agentId")
    with transaction(who) as tx:
        found = conversations.active(tx, check(tx, place))
        return done(found and opened(tx, found, limit))


@router.post("", response_model=Success[Conversation], status_code=HTTPStatus.CREATED, summary="Begin a conversation")
def create_conversation(who: Who, body: NewConversation, response: Response) -> dict[str, Any]:
    """The former one stays and can be found. Needs the role operator."""
    fields = body.model_dump(exclude={"agent_id", "project_id"})
    with transaction(who) as tx:
        made = conversations.create(tx, check(tx, Place(body.project_id, body.agent_id)), **fields)
    tag(response, made.updated_at)
    return done(made)


@router.get("/{conversation_id}", response_model=Success[Opened], summary="Get a conversation")
def get_conversation(
    who: Who, conversation_id: ConversationId, response: Response, limit: Limit = 100
) -> dict[str, Any]:
    """With its newest messages. The ETag is the version for If-Match."""
    with transaction(who) as tx:
        found = conversations.get(tx, conversation_id)
        tag(response, found.updated_at)
        return done(opened(tx, found, limit))


@router.patch("/{conversation_id}", response_model=Success[Conversation], summary="Change a conversation")
def update_conversation(
    who: Who, conversation_id: ConversationId, body: ConversationChanges, version: IfMatch, response: Response
) -> dict[str, Any]:
    """Only the fields that are sent change. Needs the role operator."""
    with transaction(who) as tx:
        after = conversations.update(tx, conversation_id, unchanged_since=as_instant(version), **body.given())
    tag(response, after.updated_at)
    return done(after)


@router.delete("/{conversation_id}", response_model=Success[Deleted], summary="Delete a conversation")
def delete_conversation(who: Who, conversation_id: ConversationId) -> dict[str, Any]:
    """For good, with its messages; the ledger keeps its figures. Another member's needs the role admin."""
    with transaction(who) as tx:
        conversations.delete(tx, conversation_id)
    return done({"id": conversation_id})


@router.get("/{conversation_id}/messages", response_model=Success[list[shapes.Message]], summary="List messages")
def list_messages(
    who: Who,
    conversation_id: ConversationId,
    before: Annotated[int | None, Query(ge=1, le=2**53 - 1, description="Only those before this `seq`.")] = None,
    limit: Limit = 50,
) -> dict[str, Any]:
    """The newest ones, oldest first; go back with `before`, the `seq` of the first one that you have."""
    with transaction(who) as tx:
        conversations.get(tx, conversation_id)
        page = chat.read(tx, conversation_id, before=before, limit=limit)
    return done([shapes.Message.of(row) for row in page])


@router.post("/{conversation_id}/stop", response_model=Success[Stopped], summary="Stop the answer")
def stop_answer(
    who: Who, conversation_id: Annotated[Text, Path(description="The conversation's id, or its sessionId.")]
) -> dict[str, Any]:
    """What came so far stays. Needs the role operator."""
    with transaction(who) as tx:
        found = conversations.named(tx, conversation_id)
    return done({"stopped": chat.stop(who, found.id)})


def opened(tx: Transaction, found: conversations.Conversation, limit: int) -> dict[str, Any]:
    """A conversation with its newest messages."""
    page = messages.page(tx, found.id, limit=limit)
    earlier = messages.earlier(tx, found.id, page[0].seq) if page else 0
    return vars(found) | {"messages": [shapes.Message.of(row) for row in page], "earlier": earlier}
