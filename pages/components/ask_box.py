"""The box that asks from anywhere: it begins a conversation and opens the chat on it."""

from uuid import UUID, uuid4

import streamlit as st

from nexus_core import chat, conversations
from nexus_core.conversations import Place
from nexus_core.database import transaction
from nexus_core.i18n import _
from nexus_core.turns import Turn
from pages.components import session
from pages.components.attempt import attempt, refusal
from pages.components.conversation_list import CHAT


def draw(key: str, project_id: UUID | None, placeholder: str = "") -> None:
    """The box; what can't be sent stays in it, with the reason under it."""
    if kept := st.session_state.pop(f"{key}_kept", None):
        st.session_state[key] = kept
    with st.container(key=f"{key}_box"):
        question = st.chat_input(placeholder or _("Ask something"), key=key)
    refusal(key)
    if question is None:
        return
    turn = attempt(key, lambda: send(question, project_id))
    if turn is not None:
        st.switch_page(CHAT, query_params=session.here() | {"conversation": str(turn.conversation_id)})
    st.session_state[f"{key}_kept"] = question
    st.rerun()


def send(question: str, project_id: UUID | None) -> Turn:
    """Ask in a new conversation. Raises Forbidden, Invalid, NotFound, StoreUnavailable."""
    scope = session.scope()
    with transaction(scope) as tx:
        begun = conversations.create(tx, Place(project_id))
    return chat.send(scope, question, conversation_id=begun.id, client_message_id=str(uuid4()))
