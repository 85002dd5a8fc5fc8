"""/api/projects/{id}/conversations and /assistant-runs, /api/project-conversations: what a project remembers."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from nexus_core import conversations, keeping, messages, parts, projects, runs
from nexus_core.api.conversations import Before
from nexus_core.api.projects import ProjectId
from nexus_core.api.schema import BIGINT, IfMatch, Limit, Money, Object, Snake, Text, Who, as_instant, tag
from nexus_core.conversations import Place
from nexus_core.database import transaction

router = APIRouter(tags=["Project memory"])
KIND = Literal["project", "task", "decision", "run", "support"]
STATUS = Literal["open", "summarized", "archived"]
RUN_STATUS = Literal["planned", "running", "succeeded", "failed", "blocked"]
ConversationId = Annotated[UUID, Path(description="The conversation's id.")]
TaskId = Annotated[UUID | None, Query(description="Only those of this task.")]
Count = Annotated[int | None, Field(ge=0, le=BIGINT)]
Short = Annotated[Text | None, Field(max_length=2000)]
Name = Annotated[Text | None, Field(max_length=200)]


class NewConversation(Snake):
    """A new conversation of a project."""

    title: Text = Field("", description="A title that no question overwrites.", examples=["Launch site"])
    kind: KIND = Field("project", description="What it is about.")
    task_id: UUID | None = Field(None, description="A task of the project.")
    agent_id: UUID | None = Field(None, description="The agent that answers; left out: Just Chat.")
    session_id: Text | None = Field(
        None, min_length=1, max_length=200, description="An id of your choice; the same one is the same conversation."
    )
    metadata: Object = Field({}, description="Anything of yours.")


class ConversationChanges(Snake):
    """What can be changed of a conversation."""

    title: Text = Field("", description="A title that no question overwrites.")
    kind: KIND = Field("project", description="What it is about.")
    status: STATUS = Field("open", description="Where it stands.", examples=["archived"])
    task_id: UUID | None = Field(None, description="A task of the project; null: none.")
    summary_md: Text = Field("", description="Its summary, Markdown.")
    metadata: Object = Field({}, description="Replaces what was there.")


class Conversation(Snake):
    """A conversation of a project."""

    id: UUID = Field(description="Its id.")
    project_id: UUID = Field(description="Its project.")
    task_id: UUID | None = Field(description="The task it is about.")
    agent_id: UUID | None = Field(description="The agent that answers; null: Just Chat.")
    user_id: UUID = Field(description="Who began it.")
    title: str = Field(description="Its title.")
    kind: KIND = Field(description="What it is about.")
    status: STATUS = Field(description="Where it stands.")
    summary_md: str = Field(description="Its summary, Markdown.")
    metadata: Any = Field(description="What its callers added.")
    created_at: datetime = Field(description="When it began.")
    updated_at: datetime = Field(description="When it was changed last; the version that If-Match names.")
    last_message_at: datetime = Field(description="When the newest message came; lists are ordered by it.")


class NewMessage(Snake):
    """A message to store as it is; no model is called (POST /api/chat has one answer)."""

    role: Literal["system", "user", "assistant", "tool"] = Field(description="Who speaks.", examples=["user"])
    body: Text = Field(max_length=2_000_000, description="What was said.", examples=["Where do we launch?"])
    model: Name = Field(None, description="The model that said it.")
    runtime: Name = Field(None, description="Where that model ran.")
    metadata: Object = Field({}, description="Anything of yours; of a tool's result `tool_call_id` names the call.")


class Message(Snake):
    """A message of a project's conversation."""

    id: UUID = Field(description="Its id.")
    workspace_id: UUID = Field(description="The workspace.")
    conversation_id: UUID = Field(description="The conversation.")
    seq: int = Field(description="Its number; a tool's result has that of the answer that asked for it.")
    role: Literal["system", "user", "assistant", "tool"] = Field(description="Who speaks.")
    body: str = Field(description="What was said.")
    model: str | None = Field(description="The model that said it.")
    runtime: str | None = Field(description="Where that model ran.")
    metadata: Any = Field(description="What its sender added.")
    created_at: datetime = Field(description="When it was stored.")


class RunFields(Snake):
    """What is known of a run; null is unknown, never 0."""

    task_id: UUID | None = Field(None, description="The task it was for.")
    conversation_id: UUID | None = Field(None, description="The conversation it was for.")
    prompt_summary: Short = Field(None, description="What was asked, in short.")
    response_summary: Short = Field(None, description="What was answered, in short.")
    model: Annotated[Text, Field(min_length=1, max_length=200)] = Field(
        description="The model that was asked.", examples=["openai/gpt-5.4-mini"]
    )
    runtime: Name = Field(None, description="Where it ran.", examples=["remote"])
    profile_slug: Name = Field(None, description="The model profile.")
    status: RUN_STATUS = Field("succeeded", description="How it ended, or how far it is.")
    input_tokens: Count = Field(None, description="Tokens sent, cached ones included.")
    cached_tokens: Count = Field(None, description="Of these, read from the provider's cache.")
    output_tokens: Count = Field(None, description="Tokens written, reasoning included.")
    reasoning_tokens: Count = Field(None, description="Of these, reasoning.")
    cost_estimate: Annotated[Money | None, Field(ge=0, lt=10**9)] = Field(None, description="US dollars.")
    duration_ms: Annotated[int | None, Field(ge=0, le=10**10)] = Field(None, description="In milliseconds.")
    error_type: Name = Field(None, description="Of a failed run, the kind of failure.")
    error_message: Short = Field(None, description="Of a failed run, why.")
    metadata: Object = Field({}, description="Anything of yours.")


class Run(Snake):
    """A run, from the ledger; null is unknown, never 0."""

    id: UUID = Field(description="Its id.")
    project_id: UUID | None = Field(description="The project.")
    task_id: UUID | None = Field(description="The task it was for.")
    conversation_id: UUID | None = Field(description="The conversation it was for.")
    kind: str = Field(description="answer, summary, proposal, test, embedding, or external: made elsewhere.")
    prompt_summary: str | None = Field(description="What was asked, in short.")
    response_summary: str | None = Field(description="What was answered, in short.")
    model: str = Field(description="The model that was asked.")
    runtime: str | None = Field(description="Where it ran.")
    profile_slug: str | None = Field(description="The model profile.")
    status: RUN_STATUS = Field(description="How it ended, or how far it is.")
    input_tokens: int | None = Field(description="Tokens sent, cached ones included.")
    cached_tokens: int | None = Field(description="Of these, read from the provider's cache.")
    output_tokens: int | None = Field(description="Tokens written, reasoning included.")
    reasoning_tokens: int | None = Field(description="Of these, reasoning.")
    cost_estimate: Money | None = Field(description="US dollars; null: unpriced.")
    duration_ms: int | None = Field(description="In milliseconds.")
    error_type: str | None = Field(description="Of a failed run, the kind of failure.")
    error_message: str | None = Field(description="Of a failed run, why.")
    metadata: Any = Field(description="What its callers added.")
    created_at: datetime = Field(description="When it was entered.")
    started_at: datetime | None = Field(description="When it began.")
    finished_at: datetime | None = Field(description="When it ended.")


@router.get("/projects/{project_id}/conversations", response_model=list[Conversation], summary="List conversations")
def list_project_conversations(
    who: Who,
    project_id: ProjectId,
    status: Annotated[STATUS | None, Query(description="Only those that stand so.")] = None,
    task_id: TaskId = None,
    before: Before = None,
    limit: Limit = 25,
) -> Any:
    """Every member's, newest first."""
    with transaction(who) as tx:
        last = conversations.in_project(tx, before) if before else None
        projects.get(tx, project_id)
        return conversations.of_project(tx, project_id, status=status, task_id=task_id, before=last, limit=limit)


@router.post(
    "/projects/{project_id}/conversations",
    response_model=Conversation,
    status_code=HTTPStatus.CREATED,
    summary="Begin a conversation",
)
def create_project_conversation(who: Who, project_id: ProjectId, body: NewConversation, response: Response) -> Any:
    """Needs the role operator."""
    fields = body.model_dump(exclude={"agent_id"})
    with transaction(who) as tx:
        projects.get(tx, project_id)
        made = conversations.create(tx, Place(project_id, body.agent_id), **fields)
    tag(response, made.updated_at)
    return made


@router.get("/project-conversations/{conversation_id}", response_model=Conversation, summary="Get a conversation")
def get_project_conversation(who: Who, conversation_id: ConversationId, response: Response) -> Any:
    """The ETag is the version for If-Match."""
    with transaction(who) as tx:
        found = conversations.in_project(tx, conversation_id)
    tag(response, found.updated_at)
    return found


@router.patch("/project-conversations/{conversation_id}", response_model=Conversation, summary="Change a conversation")
def update_project_conversation(
    who: Who, conversation_id: ConversationId, body: ConversationChanges, version: IfMatch, response: Response
) -> Any:
    """Only the fields that are sent change. Of one that becomes archived the assistant proposes, in the background,
    what to remember. Needs the role operator."""
    with transaction(who) as tx:
        conversations.in_project(tx, conversation_id)
    after, _run_id = keeping.update_conversation(
        who, conversation_id, unchanged_since=as_instant(version), **body.given()
    )
    tag(response, after.updated_at)
    return after


@router.get("/project-conversations/{conversation_id}/messages", response_model=list[Message], summary="List messages")
def list_project_messages(
    who: Who,
    conversation_id: ConversationId,
    before: Annotated[int | None, Query(ge=1, le=BIGINT, description="Only those before this `seq`.")] = None,
    limit: Limit = 50,
) -> Any:
    """The newest ones, oldest first; each result of a tool follows its answer, beyond the limit where need be."""
    with transaction(who) as tx:
        conversations.in_project(tx, conversation_id)
        return messages.of_project_conversation(tx, conversation_id, before=before, limit=limit)


@router.post(
    "/project-conversations/{conversation_id}/messages",
    response_model=Message,
    status_code=HTTPStatus.CREATED,
    summary="Store a message",
)
def create_project_message(who: Who, conversation_id: ConversationId, body: NewMessage) -> Any:
    """As it is: no model is called. Needs the role operator."""
    fields = body.model_dump(exclude={"role", "body"})
    with transaction(who) as tx:
        conversations.in_project(tx, conversation_id)
        made = messages.append(tx, conversation_id, body.role, [parts.text(body.body)], **fields)
    return vars(made) | {"workspace_id": who.workspace_id}


@router.get("/projects/{project_id}/assistant-runs", response_model=list[Run], summary="List runs")
def list_runs(who: Who, project_id: ProjectId, task_id: TaskId = None, limit: Limit = 50) -> Any:
    """Newest first."""
    with transaction(who) as tx:
        projects.get(tx, project_id)
        return runs.recent(tx, project_id, task_id=task_id, limit=limit)


@router.post(
    "/projects/{project_id}/assistant-runs",
    response_model=Run,
    status_code=HTTPStatus.CREATED,
    summary="Record a run",
)
def create_run(who: Who, project_id: ProjectId, body: RunFields) -> Any:
    """One that was made elsewhere, or that is planned. Needs the role operator."""
    with transaction(who) as tx:
        return runs.record(tx, project_id, **body.model_dump())
