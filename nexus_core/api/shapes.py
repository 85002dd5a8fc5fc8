"""Conversations, messages and runs as the camelCase routes show them."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from nexus_core.api.schema import Camel, Money, Success
from nexus_core.messages import Message as Stored


class Message(Camel):
    """A message; `id`, `role`, `parts` and `metadata` are those of the AI SDK's UIMessage."""

    id: UUID = Field(description="Its id.")
    conversation_id: UUID = Field(description="The conversation it belongs to.")
    seq: int = Field(description="Its number; messages are in the order of their numbers.")
    role: Literal["system", "user", "assistant"] = Field(description="Who speaks; a tool's result is the assistant's.")
    content: str = Field(description="Its text.", examples=["Where do we launch?"])
    parts: list[Any] = Field(description="UIMessage parts: text, reasoning, tool calls with their results.")
    status: Literal["complete", "streaming", "stopped", "failed"] = Field(
        description="streaming: still being written; leave it out of what is given to useChat with resume."
    )
    user_id: UUID | None = Field(description="The person who wrote it.")
    run_id: UUID | None = Field(description="The run that wrote it.")
    model: str | None = Field(description="The model that wrote it.", examples=["openai/gpt-5.4-mini"])
    version: int = Field(description="Which version of its place this is, from 1.")
    versions: int = Field(description="How many versions there are: answers to one question, or its wordings.")
    metadata: Any = Field(description="What its sender added; of a failed answer `error` and `error_type`.")
    created_at: datetime = Field(description="When it was stored.")

    @classmethod
    def of(cls, row: Stored) -> "Message":
        """A stored message in this form: a tool's result that came on its own is an assistant's part, as UIMessage
        knows no other."""
        fields = {name: getattr(row, name) for name in cls.model_fields if hasattr(row, name)} | {"content": row.body}
        if row.role == "tool":
            fields |= {"role": "assistant", "parts": [_result(row)]}
        return cls(**fields)


class Conversation(Camel):
    """A conversation."""

    id: UUID = Field(description="Its id.")
    user_id: UUID = Field(description="Who began it.")
    title: str = Field(description="The first question's words, or what a person typed; empty before any message.")
    agent_id: UUID | None = Field(description="The agent; null is Just Chat.")
    project_id: UUID | None = Field(description="The project; null: outside any, seen by its owner alone.")
    task_id: UUID | None = Field(description="The task it is about.")
    session_id: str | None = Field(description="The id that its caller chose.")
    model_id: str | None = Field(description="The model that answered last.")
    provider_id: str | None = Field(description="That model's provider.")
    kind: Literal["project", "task", "decision", "run", "support"] = Field(description="What it is about.")
    status: Literal["open", "summarized", "archived"] = Field(description="Archived ones are kept out of lists.")
    tags: list[str] = Field(description="Its tags, by name.", examples=[["pricing"]])
    running: bool = Field(description="An answer is being written just now.")
    unread: bool = Field(description="You have not seen its newest message in the cockpit.")
    metadata: Any = Field(description="What its callers added.")
    created_at: datetime = Field(description="When it began.")
    updated_at: datetime = Field(description="When it was changed last; the version that If-Match names.")
    last_message_at: datetime = Field(description="When the newest message came; lists are ordered by it.")


class Passage(Camel):
    """The message to show for what was looked for, cut around it."""

    message_id: UUID = Field(description="The message; the cockpit opens at it with `?conversation=…&message=…`.")
    seq: int = Field(description="Its number.")
    role: str = Field(description="Who speaks.")
    said_at: datetime = Field(description="When it was stored.")
    text: str = Field(description="A part of its text.", examples=["We decided on 12 % in May."])
    marks: list[tuple[int, int]] = Field(description="Where in `text` the words stand: from, to.")
    clipped: tuple[bool, bool] = Field(description="Whether text was left out before and after it.")


class Listed(Conversation):
    """A conversation in a list."""

    passage: Passage | None = Field(None, description="What was looked for; null where the title alone has it.")


class Page(Camel):
    """Where a page of a search stands."""

    total: int = Field(description="How many were found in all.")
    exact: bool = Field(description="False: there are more than `total`.")
    after: str | None = Field(description="Brings the next page; null: this is the last.")


class Listing(Success[list[Listed]]):
    """The envelope of a list of conversations."""

    page: Page | None = Field(None, description="Of a search; null for a list, which goes on with `before`.")


class Trashed(Camel):
    """A conversation in the trash."""

    id: UUID = Field(description="Its id.")
    user_id: UUID = Field(description="Who began it.")
    project_id: UUID | None = Field(description="The project; null: outside any.")
    agent_id: UUID | None = Field(description="The agent; null is Just Chat.")
    title: str = Field(description="Its title.")
    messages: int = Field(description="How many messages were ever stored in it.")
    deleted_at: datetime = Field(description="When it was put into the trash.")
    gone_at: datetime = Field(description="When it goes for good.")


class Opened(Conversation):
    """A conversation with its newest messages."""

    messages: list[Message] = Field(description="The newest messages, oldest first.")
    earlier: int = Field(description="How many messages stand before these; get them with `before`.")


class Run(Camel):
    """A call to a model, from the ledger; null is unknown, never 0."""

    id: UUID = Field(description="Its id.")
    status: Literal["planned", "running", "succeeded", "failed", "blocked"] = Field(description="How it ended.")
    model: str = Field(description="The model that was asked.")
    served_model: str | None = Field(description="The model that answered, by its provider's word.")
    provider: str | None = Field(description="The model's provider.")
    runtime: str | None = Field(description="Where it ran: built in, local or remote.")
    profile_slug: str | None = Field(description="The model profile.")
    attempt: int = Field(description="Which attempt at the answer this was.")
    input_tokens: int | None = Field(description="Tokens sent, cached ones included.")
    cached_tokens: int | None = Field(description="Of these, read from the provider's cache.")
    output_tokens: int | None = Field(description="Tokens written, reasoning included.")
    reasoning_tokens: int | None = Field(description="Of these, reasoning.")
    usage_source: str = Field(description="Who counted: provider, estimated or none.")
    cost_estimate: Money | None = Field(description="US dollars; null: unpriced.")
    duration_ms: int | None = Field(description="From question to end, in milliseconds.")
    first_token_ms: int | None = Field(description="To the first piece, in milliseconds.")
    stopped: bool = Field(description="A person stopped it.")


def _result(row: Stored) -> dict[str, Any]:
    """A row of role tool as the view system.ai_messages shows it."""
    metadata = row.metadata if isinstance(row.metadata, dict) else {}
    return {
        "type": "dynamic-tool",
        "toolName": str(metadata.get("tool_name") or "tool"),
        "toolCallId": str(metadata.get("tool_call_id") or row.id),
        "state": "output-available",
        "input": {},
        "output": row.body,
    }
