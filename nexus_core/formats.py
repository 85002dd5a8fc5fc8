"""The document that a conversation is exported as and imported from: nexus-conversation, version 1."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, PlainSerializer, model_validator

from nexus_core.i18n import _


def _utc(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat()


FORMAT = "nexus-conversation"
VERSION = 1
Number = Annotated[int, Field(ge=1, le=2**31 - 1)]
Amount = Annotated[int, Field(ge=0, le=2**53 - 1)]
Instant = Annotated[AwareDatetime, PlainSerializer(_utc, return_type=str, when_used="json")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class Named(_Part):
    """Something outside the conversation that it belongs to."""

    id: UUID = Field(description="Its id where it was exported.")
    name: str = Field(description="Its name then.")


class Origin(_Part):
    """Where a conversation was imported from before it was exported."""

    format: str = Field(description="nexus, chatgpt or claude.")
    id: str = Field(description="Its id there.")


class Message(_Part):
    """One row of what was said, the versions that are not shown too."""

    id: UUID = Field(description="Its id.")
    seq: Number = Field(description="Its number; messages are in the order of their numbers, which may have gaps.")
    parent_seq: Number | None = Field(
        description="The message it follows; those with the same parent and role are versions of each other."
    )
    active: bool = Field(description="On the path that is shown.")
    role: Literal["system", "user", "assistant", "tool"] = Field(description="Who speaks.")
    status: Literal["complete", "streaming", "stopped", "failed"] = Field(description="How it ended.")
    parts: list[Any] = Field(
        description="UIMessage parts; a call's arguments, as they came, in callProviderMetadata.nexus.arguments."
    )
    body: str = Field(description="The plain text of its text parts.")
    tokens: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = Field(description="An estimate; null: not counted.")
    user_id: UUID | None = Field(description="The person who wrote it.")
    author: str | None = Field(description="That person's name.")
    run_id: UUID | None = Field(description="The run that wrote it, one of `runs`.")
    model: str | None = Field(description="The model that wrote it.")
    runtime: str | None = Field(description="Where that ran.")
    metadata: Any = Field(description="What its sender added; of a failed answer, why.")
    copied_from: UUID | None = Field(description="In a fork: the message that this is a copy of.")
    created_at: Instant = Field(description="When it was stored.")
    updated_at: Instant = Field(description="When it was written to last.")


class Summary(_Part):
    """A text that stands for the messages from one number to another, both included."""

    id: UUID = Field(description="Its id.")
    from_seq: Number = Field(description="The first message it stands for.")
    to_seq: Number = Field(description="The last one.")
    body_md: Annotated[str, Field(min_length=1)] = Field(description="The summary, in Markdown.")
    tokens: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = Field(description="An estimate.")
    method: Literal["model", "extract", "hand"] = Field(description="How it was made.")
    created_at: Instant = Field(description="When.")


class Run(_Part):
    """The figures of one call to a model; null is unknown, never 0. No word of what was asked is here."""

    id: UUID = Field(description="Its id.")
    request_id: UUID = Field(description="What the attempts at one answer have in common.")
    attempt: int = Field(description="Which attempt this was.")
    kind: str = Field(description="answer, summary, proposal, test or external.")
    model: str = Field(description="The model that was asked.")
    served_model: str | None = Field(description="The model that answered, by its provider's word.")
    provider: str | None = Field(description="The model's provider.")
    runtime: str | None = Field(description="Where it ran.")
    profile_slug: str | None = Field(description="The model profile.")
    status: str = Field(description="planned, running, succeeded, failed or blocked.")
    input_tokens: Amount | None = Field(description="Tokens sent, cached ones included.")
    cached_tokens: Amount | None = Field(description="Of these, read from the provider's cache.")
    cache_write_tokens: Amount | None = Field(description="Of these, written to the provider's cache.")
    output_tokens: Amount | None = Field(description="Tokens written, reasoning included.")
    reasoning_tokens: Amount | None = Field(description="Of these, reasoning.")
    usage_source: str = Field(description="Who counted: provider, estimated or none.")
    cost_estimate: Annotated[str, Field(pattern=r"^\d{1,10}(\.\d{1,10})?$")] | None = Field(
        description="US dollars, a decimal number as text; null: unpriced."
    )
    cost_source: str | None = Field(description="Where the price came from.")
    price_version: str | None = Field(description="Which version of it.")
    duration_ms: Amount | None = Field(description="From question to end, in milliseconds.")
    first_token_ms: Amount | None = Field(description="To the first piece, in milliseconds.")
    stopped: bool = Field(description="A person stopped it.")
    error_type: str | None = Field(description="What kind of failure it was.")
    created_at: Instant = Field(description="When it was entered.")
    started_at: Instant | None = Field(description="When it began.")
    finished_at: Instant | None = Field(description="When it ended.")


class Document(_Part):
    """A conversation, whole."""

    format: Literal["nexus-conversation"] = Field(description="Always nexus-conversation.")
    version: Literal[1] = Field(description="Of this format; another number means another shape.")
    id: UUID = Field(description="The conversation's id.")
    title: str = Field(description="Its title; empty before the first question.")
    title_source: Literal["none", "question", "person"] = Field(description="Who gave the title.")
    kind: Literal["project", "task", "decision", "run", "support"] = Field(description="What it is about.")
    status: Literal["open", "summarized", "archived"] = Field(description="Where it stands.")
    summary_md: str = Field(description="What was noted about it, in Markdown.")
    session_id: str | None = Field(description="The id that its caller chose.")
    model_id: str | None = Field(description="The model that answered last.")
    provider_id: str | None = Field(description="That model's provider.")
    metadata: Any = Field(description="What its callers added.")
    owner: Named = Field(description="Who began it.")
    project: Named | None = Field(description="The project; null: outside any.")
    task: Named | None = Field(description="The task it is about.")
    agent: Named | None = Field(description="The agent; null: Just Chat.")
    tags: list[str] = Field(description="The names of its tags.")
    imported_from: Origin | None = Field(description="Where it was imported from; null: it began here.")
    created_at: Instant = Field(description="When it began.")
    updated_at: Instant = Field(description="When it was changed last.")
    last_message_at: Instant = Field(description="When the newest message came.")
    runs: list[Run] = Field(description="The calls to models that it took, the first one first.")
    summaries: list[Summary] = Field(description="What stands for its beginning in prompts.")
    messages: list[Message] = Field(description="What was said, in the order of the numbers.")

    @model_validator(mode="after")
    def _numbers(self) -> "Document":
        numbers = [message.seq for message in self.messages]
        if any(later <= earlier for earlier, later in pairwise(numbers)):
            raise ValueError(_("the messages are not in the order of their numbers"))
        if len({message.id for message in self.messages}) < len(self.messages):
            raise ValueError(_("two messages have one id"))
        for message in self.messages:
            if message.parent_seq is not None and message.parent_seq >= message.seq:
                raise ValueError(_("message {number} follows a later one").format(number=message.seq))
        for summary in self.summaries:
            if summary.to_seq < summary.from_seq:
                raise ValueError(_("a summary ends before it begins"))
        return self


@dataclass(frozen=True)
class Taken:
    """What of a file's conversation can be stored, and how many of what kind were left.

    Kinds: attachments, images, tool_calls, thoughts, system, unknown; of a place: project, task, agent, authors.
    `foreign`: another product wrote it, so that its user is whoever imports it.
    """

    document: Document
    left: Counter[str] = field(default_factory=Counter)
    foreign: str = ""
