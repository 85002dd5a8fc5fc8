"""/api/messages: one message, its versions, and what of it a project remembers."""

from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path
from pydantic import Field

from nexus_core import chat, conversations, keeping, messages
from nexus_core.api import shapes
from nexus_core.api.schema import Camel, Success, Who, done
from nexus_core.database import Transaction, transaction

router = APIRouter(prefix="/messages", tags=["Conversations"])
MessageId = Annotated[UUID, Path(description="The message's id.")]
KIND = Literal["decisions", "open_questions", "risks"]


class Keep(Camel):
    """As what to keep a message."""

    kind: KIND = Field(description="The list of the project's memory.", examples=["decisions"])


class Kept(Camel):
    """An entry of the project's memory that a message became."""

    project_id: UUID = Field(description="The project.")
    field: KIND = Field(description="The list that it is in.")
    entry: dict[str, Any] = Field(description="The entry, with the message's link; give it to memory/forget to undo.")
    version: int = Field(description="The memory's version then.")
    new: bool = Field(description="False: it was kept before.")


@router.get("/{message_id}", response_model=Success[shapes.Message], summary="Get a message")
def get_message(who: Who, message_id: MessageId) -> dict[str, Any]:
    """One message, a version that is not shown, too."""
    with transaction(who) as tx:
        return done(shapes.Message.of(_read(tx, message_id)))


@router.get("/{message_id}/versions", response_model=Success[list[shapes.Message]], summary="List versions")
def list_versions(who: Who, message_id: MessageId) -> dict[str, Any]:
    """The answers to one question, or the wordings of one question, the first one first."""
    with transaction(who) as tx:
        return done([shapes.Message.of(row) for row in messages.versions(tx, _read(tx, message_id))])


@router.post("/{message_id}/show", response_model=Success[shapes.Message], summary="Show a version")
def show_version(who: Who, message_id: MessageId) -> dict[str, Any]:
    """With what leads to it and what followed it last; 409 while the conversation is answering. Needs the role
    operator."""
    chat.show_version(who, message_id)
    with transaction(who) as tx:
        return done(shapes.Message.of(messages.get(tx, message_id)))


@router.post("/{message_id}/keep", response_model=Success[Kept], summary="Keep a message in the memory")
def keep_message(who: Who, message_id: MessageId, body: Keep) -> dict[str, Any]:
    """Of a project's conversation; a second time is the same. Of a decision the assistant proposes, in the background,
    what follows from it. Needs the role operator."""
    return done(keeping.keep(who, message_id, body.kind))


def _read(tx: Transaction, message_id: UUID) -> messages.Message:
    found = messages.get(tx, message_id)
    conversations.mark_read(tx, found.conversation_id, 0)  # looked at, which the audit has where it is another's
    return found
