"""/api/chat: a message and its answer, whole or as a stream, for plain clients and for the AI SDK's useChat."""

from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from anyio import to_thread
from fastapi import APIRouter, Header, Path, Response
from pydantic import Field
from starlette.responses import StreamingResponse

from nexus_core import chat, conversations, messages, parts
from nexus_core.api import shapes, uistream
from nexus_core.api.schema import Camel, Success, Text, Who, done
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import Invalid, NotFound
from nexus_core.i18n import _
from nexus_core.messages import Message
from nexus_core.turns import Turn
from nexus_core.watching import exchange, running

router = APIRouter(prefix="/chat", tags=["Chat"])
STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Both messages and the run; or the AI SDK's UI message stream, version 1.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}
RESUMED: dict[int | str, dict[str, Any]] = {
    200: STREAM[200] | {"description": "The AI SDK's UI message stream, version 1."},
    204: {"description": "No answer is being written."},
}


class UIMessage(Camel):
    """A message as the AI SDK keeps it."""

    id: Text | None = Field(None, max_length=200, description="The id that the client chose.")
    role: Literal["system", "user", "assistant"] = Field(description="Who speaks.")
    parts: list[dict[str, Any]] = Field([], description="UIMessage parts.")


class Ask(Camel):
    """A message: `message`, or what useChat sends by itself: `id`, `messages` and `trigger`."""

    message: Text | None = Field(None, description="What to say.", examples=["Where do we launch?"])
    conversation_id: UUID | None = Field(None, description="The conversation to go on with.")
    agent_id: UUID | None = Field(None, description="The agent to talk to; left out: Just Chat.")
    project_id: UUID | None = Field(None, description="The project to talk in; left out: outside any.")
    session_id: Text | None = Field(
        None, min_length=1, max_length=200, description="A new one is a new conversation, the same one the same."
    )
    client_message_id: Text | None = Field(
        None, min_length=1, max_length=200, description="Sent again, it stores nothing and gives the same answer."
    )
    stream: bool | None = Field(None, description="As a stream; so does `Accept: text/event-stream`.", examples=[False])
    id: Text | None = Field(
        None, min_length=1, max_length=200, description="useChat's chat id: a conversation's, or else a sessionId."
    )
    messages: list[UIMessage] = Field([], description="useChat's messages; the last one of the user is sent.")
    trigger: Literal["submit-message", "regenerate-message"] = Field(
        "submit-message", description="useChat: a new message, or the answer once more."
    )
    message_id: Text | None = Field(
        None, max_length=200, description="useChat: the message to replace, or the answer to give again."
    )

    def wants_stream(self, accept: str) -> bool:
        """Whether the answer is to come as a stream."""
        return self.stream if self.stream is not None else bool(self.messages) or "text/event-stream" in accept


class Exchange(Camel):
    """A question and its answer."""

    conversation_id: UUID = Field(description="The conversation, to go on with.")
    user_message: shapes.Message = Field(description="What was asked.")
    assistant_message: shapes.Message = Field(description="What was answered; status complete or stopped.")
    run: shapes.Run | None = Field(description="The call to the model, from the ledger.")


@router.post("", response_model=Success[Exchange], responses=STREAM, summary="Say something")
async def say(
    who: Who, ask: Ask, accept: Annotated[str, Header(description="text/event-stream for a stream.")] = ""
) -> Any:
    """Stored before the model is called; the answer goes on when the client goes. Needs the role operator."""
    turn = await to_thread.run_sync(begin, who, ask)
    if ask.wants_stream(accept):
        return streaming(who, turn.answer_id, turn.conversation_id)
    return done(await answered(who, turn))


@router.get("/{conversation_id}/stream", response_model=None, responses=RESUMED, summary="Go on watching an answer")
async def resume(
    who: Who, conversation_id: Annotated[Text, Path(description="The conversation's id, or its sessionId.")]
) -> Response:
    """The running answer from its first piece; 204 when none is being written."""
    answer = await to_thread.run_sync(_running, who, conversation_id)
    if answer is None:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    return streaming(who, answer.id, answer.conversation_id)


def streaming(who: Scope, answer_id: UUID, conversation_id: UUID) -> StreamingResponse:
    """The stream of an answer."""
    told = uistream.told(who, answer_id, conversation_id)
    return StreamingResponse(told, media_type="text/event-stream", headers=uistream.HEADERS)


async def answered(who: Scope, turn: Turn) -> dict[str, Any]:
    """Both messages and the run, once the answer has ended."""
    ended = await exchange(who, turn.answer_id)
    both = {"user_message": ended.question, "assistant_message": ended.answer}
    shown = {name: shapes.Message.of(row) for name, row in both.items()}
    return {"conversation_id": ended.answer.conversation_id, "run": ended.run, **shown}


def begin(who: Scope, ask: Ask) -> Turn:
    """Start what a request asks for."""
    if ask.message is None and not ask.messages:
        raise Invalid(_("Write something first."), field="message")
    conversation_id = _conversation(who, ask)
    if ask.message is None and conversation_id is not None:
        if ask.trigger == "regenerate-message":
            return chat.answer_again(who, _answer(who, conversation_id, ask.message_id))
        if ask.message_id is not None:
            with transaction(who) as tx:
                former = messages.named(tx, conversation_id, ask.message_id)
            return chat.edit(who, former.id, _said(ask)[0])
    text, client_id = (ask.message, None) if ask.message is not None else _said(ask)
    return chat.send(
        who,
        text,
        conversation_id=conversation_id,
        place=Place(ask.project_id, ask.agent_id),
        session_id=ask.session_id or ask.id,
        client_message_id=ask.client_message_id or client_id,
    )


def _conversation(who: Scope, ask: Ask) -> UUID | None:
    """The conversation that is meant, by its id or by its session's; None: one that is still to be found or made."""
    place, name = Place(ask.project_id, ask.agent_id), ask.session_id or ask.id
    with transaction(who) as tx:
        known = conversations.called(tx, place, name) if name and not ask.conversation_id else None
        meant = known.id if known else ask.conversation_id
        if meant is not None:
            conversations.require_place(tx, meant, place)
    return meant


def _said(ask: Ask) -> tuple[str, str | None]:
    """The last message of the user, and the id that the client gave it."""
    last = next((said for said in reversed(ask.messages) if said.role == "user"), None)
    if last is None:
        raise Invalid(_("There is no message of the user."), field="messages")
    if any(part.get("type") == "file" for part in last.parts):
        raise Invalid(_("Files can't be sent yet."), field="messages")
    return parts.body(last.parts), last.id


def _answer(who: Scope, conversation_id: UUID, name: str | None) -> UUID:
    """The answer that is to be given again: the one named, the one to the question named, or the newest."""
    with transaction(who) as tx:
        meant = messages.named(tx, conversation_id, name) if name else None
        if meant is None or meant.role != "assistant":
            meant = messages.newest_answer(tx, conversation_id, parent_seq=meant.seq if meant else None)
    if meant is None:
        raise NotFound(_("There is no answer to give again."))
    return meant.id


def _running(who: Scope, name: str) -> Message | None:
    with transaction(who) as tx:
        found = conversations.named(tx, name)
    return running(who, found.id)
