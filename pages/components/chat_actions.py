"""What a click in the chat does; what goes wrong becomes a sentence on the page, never a lost text."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid4

import streamlit as st

from nexus_core import chat, conversations, keeping, shelf
from nexus_core.conversations import Conversation, Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import Busy, NexusError, StoreUnavailable
from nexus_core.i18n import _
from pages.components import chat_place, session
from pages.components.attempt import attempt
from pages.components.chat_place import Desk

_NOTICE = "chat_notice"
_UNSENT = "chat_unsent"
_SENDING = "chat_sending"
_BOXES = "chat_boxes"
_STOPPING = "chat_stopping"
STOP = "chat_stop"


@dataclass(frozen=True)
class Unsent:
    """A text that could not be sent, why, and where it belongs; `workspace` as the URL names it."""

    text: str
    reason: str
    desk: Desk
    workspace: str | None


def unsent(desk: Desk) -> Unsent | None:
    """The text that waits at this desk to be sent again; one for a place waits in the conversation made there since."""
    kept = _kept()
    return kept.get(desk.name) or (kept.get(replace(desk, conversation_id=None).name) if desk.conversation_id else None)


def unsent_elsewhere(desk: Desk) -> Unsent | None:
    """The latest text that waits at another desk."""
    here = unsent(desk)
    return next((waiting for waiting in reversed(_kept().values()) if waiting != here), None)


def unsent_key(waiting: Unsent) -> str:
    """The key of the box that a waiting text stands in."""
    return f"chat_unsent_text_{waiting.desk.name}"


def forget_unsent(waiting: Unsent) -> None:
    """Give up the text that waits."""
    _kept().pop(waiting.desk.name, None)
    _sending().pop(waiting.desk.name, None)
    st.session_state.pop(unsent_key(waiting), None)


def box(desk: Desk) -> str:
    """The key of the box at a desk: it stays the same when the first message makes the conversation."""
    return f"chat_box_{begun_as(desk) or desk.name}"


def begun_as(desk: Desk) -> str:
    """The name that the desk of a conversation had before its first message made it, in this session; else empty."""
    return str(st.session_state.get(_BOXES, {}).get(desk.conversation_id, ""))


def sent_is_seen(desk: Desk) -> None:
    """What was sent is on the page: the same words again are a new message from here on."""
    _sending().pop(desk.name, None)


def notice() -> str:
    """What the last click has to say, once."""
    return str(st.session_state.pop(_NOTICE, ""))


def submit(desk: Desk) -> None:
    """Send what was typed into the box."""
    send(str(st.session_state[box(desk)] or ""), desk)


def send_again(waiting: Unsent, desk: Desk) -> None:
    """Send the text that waits at this desk, as it is in its box now."""
    send(str(st.session_state[unsent_key(waiting)] or ""), desk, waiting)


def send(text: str, desk: Desk, again: Unsent | None = None) -> None:
    """Send a text, once, however often this runs before the page has shown it; keep it when that fails.

    Where another answer is being written, the page is drawn anew with it; where the database is away, it stays.
    """
    if not text.strip():
        return
    origin = again.desk if again else desk
    try:
        turn = chat.send(
            session.scope(),
            text,
            conversation_id=desk.conversation_id,
            place=desk.place,
            client_message_id=_client_id(text, origin),
        )
    except NexusError as error:
        _refused(text, error, origin, again)
        return
    if again:
        forget_unsent(again)
    if desk.conversation_id is None:
        st.session_state.setdefault(_BOXES, {})[turn.conversation_id] = desk.name
    chat_place.go(turn.conversation_id)
    st.rerun()


def _refused(text: str, error: NexusError, origin: Desk, again: Unsent | None) -> None:
    if again or unsent(origin) is None:
        _kept()[origin.name] = Unsent(text, error.message, origin, session.here().get("workspace"))
    else:  # a suggestion; a text of the person's own waits already
        st.session_state[_NOTICE] = error.message
    if isinstance(error, Busy):
        st.rerun()


def _kept() -> dict[str, Unsent]:
    found: dict[str, Unsent] = st.session_state.setdefault(_UNSENT, {})
    return found


def _sending() -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = st.session_state.setdefault(_SENDING, {})
    return found


def _client_id(text: str, desk: Desk) -> str:
    """The same id for the same text at a desk until the page has shown it; another text is another message."""
    kept = _sending().get(desk.name)
    if kept is None or kept[0] != text:
        kept = _sending()[desk.name] = (text, str(uuid4()))
    return kept[1]


def stop(scope: Scope, conversation: Conversation) -> None:
    """Stop the answer that is being written: at once and without the database where this process writes it.

    `scope` is whoever the page was drawn for; what they began, they may stop. Asking another process takes a look at
    who is there now.
    """
    here = chat.stop_here(scope, conversation.id)
    if here or attempt(STOP, lambda: chat.stop(session.scope(), conversation.id)):
        st.session_state[_STOPPING] = conversation.active_run_id


def stopping(conversation: Conversation) -> bool:
    """Whether the answer that is being written has been told to stop."""
    return conversation.active_run_id is not None and st.session_state.get(_STOPPING) == conversation.active_run_id


def answer_again(message_id: UUID) -> None:
    """Have the question of this answer answered again."""
    done(lambda: chat.answer_again(session.scope(), message_id))


def show_version(message_id: UUID) -> None:
    """Show another version."""
    done(lambda: chat.show_version(session.scope(), message_id))


def edit(message_id: UUID) -> None:
    """Open a message for editing."""
    st.session_state["chat_editing"] = (message_id, str(uuid4()))


def edited() -> UUID | None:
    """The message that is being edited."""
    found: UUID | None = st.session_state.get("chat_editing", (None, ""))[0]
    return found


def end_edit(key: str) -> None:
    """Close the editor and forget its text, which is under `key`."""
    st.session_state.pop("chat_editing", None)
    st.session_state.pop(key, None)


def resend(message_id: UUID, key: str) -> None:
    """Send the edited text in the place of the message; the box stays open with it when that fails."""
    text = str(st.session_state[key] or "")
    client_id = st.session_state["chat_editing"][1]
    if done(lambda: chat.edit(session.scope(), message_id, text, client_message_id=client_id)):
        end_edit(key)


def new_conversation(place: Place) -> None:
    """Begin an empty conversation in the same place; the former one stays."""
    made: list[UUID] = []

    def create() -> None:
        with transaction(session.scope()) as tx:
            made.append(conversations.create(tx, place).id)

    if done(create):
        chat_place.go(made[0])


def rename(conversation_id: UUID, key: str) -> None:
    """Give the title typed into the box; an empty one lets the first question give it."""
    title = str(st.session_state[key] or "")
    _in_transaction(lambda tx: conversations.rename(tx, conversation_id, title))


def set_archived(conversation_id: UUID, archived: bool) -> None:
    """Put the conversation away, which lets the assistant propose what to remember of it, or bring it back."""
    if archived:
        done(lambda: keeping.update_conversation(session.scope(), conversation_id, status="archived"))
    else:
        _in_transaction(lambda tx: conversations.set_archived(tx, conversation_id, archived))


def delete(conversation_id: UUID, agent: str | None) -> bool:
    """Move the conversation to the trash and go to the one that is active with that agent then; None: with any."""
    trashed = _in_transaction(lambda tx: shelf.trash(tx, [conversation_id]))
    if trashed:
        chat_place.go(agent=agent)
    return trashed


def _in_transaction(change: Callable[[Any], object]) -> bool:
    def run() -> None:
        with transaction(session.scope()) as tx:
            change(tx)

    return done(run)


def done(action: Callable[[], object]) -> bool:
    """Whether an action was done; why it was not is said on the next drawing of the page."""
    try:
        action()
    except StoreUnavailable as error:
        st.session_state[_NOTICE] = _("{reason} Nothing was changed; try again.").format(reason=error.message)
        return False
    except NexusError as error:
        st.session_state[_NOTICE] = error.message
        return False
    return True
