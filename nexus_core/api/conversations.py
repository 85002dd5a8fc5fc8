"""/api/conversations: what was said, by agent or in Just Chat."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import Field

from nexus_core import agents, chat, conversations, keeping, messages, projects, search, shelf, tags
from nexus_core.api import shapes
from nexus_core.api.schema import Camel, IfMatch, Limit, Object, Success, Text, Who, as_instant, aware, done, tag
from nexus_core.api.shapes import Conversation, Listing, Opened
from nexus_core.conversations import Place
from nexus_core.database import Transaction, transaction
from nexus_core.errors import Invalid, NotFound
from nexus_core.i18n import _
from nexus_core.search import Filter, Sort
from nexus_core.tags import MOST

router = APIRouter(prefix="/conversations", tags=["Conversations"])
ConversationId = Annotated[UUID, Path(description="The conversation's id.")]
Before = Annotated[UUID | None, Query(description="Only what follows this one in the list: the id of its last item.")]
Kind = Literal["project", "task", "decision", "run", "support"]


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
    kind: Kind = Field("project", description="What it is about.")
    tags: Annotated[list[Text], Field(max_length=MOST)] = Field(
        [], description="Replaces its tags; a new word becomes a tag of the workspace.", examples=[["pricing"]]
    )
    metadata: Object = Field({}, description="Replaces what was there.")


class Deleted(Camel):
    """What was deleted."""

    id: UUID = Field(description="Its id.")


class Stopped(Camel):
    """Whether there was an answer to stop."""

    stopped: bool = Field(description="False: no answer was being written.")


AgentId = Annotated[UUID | None, Query(alias="agentId", description="The agent's conversations.")]
JustChat = Annotated[bool, Query(alias="isJustChat", description="Those without an agent.")]
ProjectId = Annotated[UUID | None, Query(alias="projectId", description="In this project.")]


def chosen(agent_id: AgentId = None, is_just_chat: JustChat = False, project_id: ProjectId = None) -> Place | None:
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


@dataclass(frozen=True)
class Narrowed:
    """What narrows everything that one may see."""

    q: Annotated[
        str | None,
        Query(max_length=1000, description='Words in any order, "a phrase" in quotes; blank finds everything.'),
    ] = None
    kind: Annotated[Kind | None, Query(description="Only of this kind.")] = None
    status: Annotated[
        Literal["open", "summarized", "archived", "active"] | None,
        Query(description="Only those that stand so; active is whatever is not archived."),
    ] = None
    tag: Annotated[Text | None, Query(description="Only those with this tag.")] = None
    person_id: Annotated[UUID | None, Query(alias="personId", description="Only those that this person began.")] = None
    since: Annotated[datetime | None, Query(description="Only those whose newest message came then or later.")] = None
    until: Annotated[datetime | None, Query(description="Only those whose newest message came earlier.")] = None


@dataclass(frozen=True)
class Asked(Narrowed):
    """What turns the list into a search over everything that one may see."""

    sort: Annotated[
        Sort | None, Query(description="best (of a search: the whole phrase first), newest, oldest or title.")
    ] = None
    after: Annotated[Text | None, Query(max_length=1000, description="The next page: `page.after` of this one.")] = None


@router.get("", response_model=Listing, summary="List and search conversations")
def list_conversations(
    who: Who,
    asked: Annotated[Asked, Depends()],
    agent_id: AgentId = None,
    is_just_chat: JustChat = False,
    project_id: ProjectId = None,
    before: Before = None,
    archived: Annotated[bool, Query(description="The archived ones instead.")] = False,
    limit: Limit = 25,
) -> dict[str, Any]:
    """Your own, newest first: with an agent, in Just Chat, or all of them; go on with `before`.

    With `q` or any of `kind`, `status`, `tag`, `personId`, `since`, `until`, `sort`, `after`: everything that you may
    see, your colleagues' in projects too, by title and by what was said; go on with `after`.
    """
    with transaction(who) as tx:
        if asked != Asked():
            return _search(tx, asked, Filter(project_id, False, agent_id, is_just_chat), limit)
        place = chosen(agent_id, is_just_chat, project_id)
        last = conversations.get(tx, before) if before else None
        if place is None:
            found = conversations.of_person(tx, archived=archived, before=last, limit=limit)
        else:
            found = conversations.list_(tx, check(tx, place), archived=archived, before=last, limit=limit)
        return done(tagged(tx, found))


def _search(tx: Transaction, asked: Asked, place: Filter, limit: int) -> dict[str, Any]:
    page = search.find(
        tx, asked.q or "", narrowed(tx, asked, place), sort=asked.sort or "best", after=asked.after, limit=limit
    )
    known = conversations.of(tx, [hit.id for hit in page.hits])
    rows = tagged(tx, [known[hit.id] for hit in page.hits])
    passages = {hit.id: hit.passage for hit in page.hits}
    return done([row | {"passage": passages[row["id"]]} for row in rows]) | {"page": page}


def narrowed(tx: Transaction, asked: Narrowed, place: Filter) -> Filter:
    """What is asked for, of what is in a place; raises Invalid, NotFound for the tag."""
    return replace(
        place,
        kind=asked.kind,
        status=asked.status,
        tag_id=_tag(tx, asked.tag),
        person_id=asked.person_id,
        since=aware(asked.since, "since"),
        until=aware(asked.until, "until"),
    )


def _tag(tx: Transaction, name: str | None) -> UUID | None:
    if name is None:
        return None
    for known in tags.list_(tx):
        if known.name.lower() == name.strip().lower():
            return known.id
    raise NotFound(_("There is no such tag here."), field="tag")


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
        return done(tagged(tx, [made])[0])


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
    fields = body.given()
    wanted = fields.pop("tags", None)
    fields["unchanged_since"] = as_instant(version)
    after, _run_id = keeping.update_conversation(who, conversation_id, labels=wanted, **fields)
    tag(response, after.updated_at)
    with transaction(who) as tx:
        return done(tagged(tx, [after])[0])


@router.delete("/{conversation_id}", response_model=Success[Deleted], summary="Delete a conversation")
def delete_conversation(
    who: Who,
    conversation_id: ConversationId,
    trash: Annotated[
        bool, Query(description="Into the trash instead, from which it can be restored for 30 days.")
    ] = False,
) -> dict[str, Any]:
    """For good, out of the trash too, with its messages; the ledger keeps its figures. Another member's needs the role
    admin.
    """
    with transaction(who) as tx:
        if trash:
            shelf.trash(tx, [conversation_id])
        else:
            shelf.delete(tx, [conversation_id])
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
    page = chat.read(tx, found.id, limit=limit)
    earlier = messages.earlier(tx, found.id, page[0].seq) if page else 0
    return tagged(tx, [found])[0] | {"messages": [shapes.Message.of(row) for row in page], "earlier": earlier}


def tagged(tx: Transaction, found: Sequence[conversations.Conversation]) -> list[dict[str, Any]]:
    """Conversations with the names of their tags."""
    known = tags.of(tx, [one.id for one in found])
    return [vars(one) | {"tags": known.get(one.id, [])} for one in found]
