"""What a click in the chat does; what goes wrong becomes a sentence on the page, never a lost text."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import streamlit as st

from nexus_core import chat, conversations, keeping, shelf
from nexus_core.conversations import Place
from nexus_core.database import transaction
from nexus_core.errors import NexusError, StoreUnavailable
from nexus_core.i18n import _
from pages.components import chat_place, session

BOX = "chat_box"
_NOTICE = "chat_notice"
_UNSENT = "chat_unsent"
_SENDING = "chat_sending"


@dataclass(frozen=True)
class Unsent:
    """A text that could not be sent, and why."""

    text: str
    reason: str


def unsent() -> Unsent | None:
    """The text that waits to be sent again."""
    return st.session_state.get(_UNSENT)


def forget_unsent() -> None:
    """Give up the text that waits."""
    st.session_state.pop(_UNSENT, None)
    st.session_state.pop(_SENDING, None)


def sent_is_seen() -> None:
    """What was sent is on the page: the same words again are a new message from here on."""
    st.session_state.pop(_SENDING, None)


def notice() -> str:
    """What the last click has to say, once."""
    return str(st.session_state.pop(_NOTICE, ""))


def submit(conversation_id: UUID | None, place: Place) -> None:
    """Send what was typed into the box."""
    send(str(st.session_state[BOX] or ""), conversation_id, place)


def send_again(key: str, conversation_id: UUID | None, place: Place) -> None:
    """Send the text that waits, as it is in its box now."""
    send(str(st.session_state[key] or ""), conversation_id, place)


def send(text: str, conversation_id: UUID | None, place: Place) -> None:
    """Send a text, once, however often this runs before the page has shown it; keep it when that fails."""
    if not text.strip():
        return
    try:
        turn = chat.send(
            session.scope(), text, conversation_id=conversation_id, place=place, client_message_id=_client_id(text)
        )
    except NexusError as error:
        st.session_state[_UNSENT] = Unsent(text, error.message)
        return
    st.session_state.pop(_UNSENT, None)
    chat_place.go(turn.conversation_id)
    st.rerun()


def _client_id(text: str) -> str:
    """The same id for the same text until the page has shown it; another text is another message."""
    kept = st.session_state.get(_SENDING)
    if kept is None or kept[0] != text:
        kept = st.session_state[_SENDING] = (text, str(uuid4()))
    return str(kept[1])


def stop(conversation_id: UUID) -> None:
    """Stop the answer that is being written."""
    done(lambda: chat.stop(session.scope(), conversation_id))


def answer_again(message_id: UUID) -> None:
    """Have the question of this answer answered again."""
    done(lambda: chat.answer_again(session.scope(), message_id))


def show_version(message_id: UUID) -> None:
    """Show another version."""
    done(lambda: chat.show_version(session.scope(), message_id))


def edit(message_id: UUID | None) -> None:
    """Open a message for editing; None closes it."""
    st.session_state["chat_editing"] = (message_id, str(uuid4()))


def edited() -> UUID | None:
    """The message that is being edited."""
    found: UUID | None = st.session_state.get("chat_editing", (None, ""))[0]
    return found


def resend(message_id: UUID, key: str) -> None:
    """Send the edited text in the place of the message; the box stays open with it when that fails."""
    text = str(st.session_state[key] or "")
    client_id = st.session_state["chat_editing"][1]
    if done(lambda: chat.edit(session.scope(), message_id, text, client_message_id=client_id)):
        edit(None)


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
