"""Try an agent: one question to it with its saved settings, in a conversation that can be thrown away."""

from uuid import UUID, uuid4

import streamlit as st

from nexus_core import chat, conversations, messages, runs
from nexus_core.agents import Agent
from nexus_core.conversations import Place
from nexus_core.database import transaction
from nexus_core.errors import NotFound
from nexus_core.i18n import _
from nexus_core.messages import Message
from nexus_core.turns import Turn
from pages.components import chat_figures, chat_parts, chat_receipt, session
from pages.components.attempt import attempt, refusal
from pages.components.markdown import label, literal

REFRESH = 0.3


def draw(agent: Agent) -> None:
    """The panel: the box, the question, the answer as it comes, and the way to forget it."""
    st.subheader(_("Try it"), anchor=False)
    st.caption(
        _(
            "One question, answered with the settings as they are saved. It is a real conversation with this agent: "
            "counted, listed in the chat and part of its memory, until you forget it."
        )
    )
    with st.form(f"try_{agent.id}", border=False, clear_on_submit=False):
        st.text_area(
            _("Question"),
            key=f"try_{agent.id}_question",
            placeholder=_("Ask {name} something").format(name=agent.name),
            label_visibility="collapsed",
            height=96,
        )
        st.form_submit_button(
            _("Ask"), icon=":material/send:", key=f"try_{agent.id}_ask", on_click=_ask, args=(agent.id,)
        )
    refusal(f"try_{agent.id}")
    shown = _shown(agent.id)
    if shown:
        if shown[1].status == "streaming":
            st.fragment(_exchange, run_every=REFRESH)(agent.id, agent.emoji, True)
        else:
            _exchange(agent.id, agent.emoji, False)


def _exchange(agent_id: UUID, emoji: str, was_running: bool) -> None:
    shown = _shown(agent_id)
    if shown is None or (was_running and shown[1].status != "streaming"):
        st.rerun()
    question, message = shown
    with st.chat_message("user", avatar=":material/person:"):
        st.markdown(literal(question))
    with st.chat_message("assistant", avatar=emoji if emoji.isascii() is False else None):
        _answer(message)
    if message.status == "streaming":
        st.button(
            _("Stop"),
            icon=":material/stop:",
            key=f"try_{agent_id}_stop",
            on_click=_stop,
            args=(agent_id, message.conversation_id),
        )
    else:
        st.button(
            _("Forget this try"),
            icon=":material/delete:",
            key=f"try_{agent_id}_forget",
            help=_("Deletes the conversation of these tries with their messages."),
            on_click=_forget,
            args=(agent_id, message.conversation_id),
        )


def _answer(message: Message) -> None:
    """The answer as far as it has come; at its end its error, or who gave it and what it took."""
    live = chat.live(message)
    if message.status == "streaming":
        chat_parts.growing(live.parts, live.note)
        return
    with transaction(session.scope()) as tx:
        run = runs.of(tx, [message.run_id]).get(message.run_id) if message.run_id else None
    chat_parts.answer(live.parts, run)
    if message.status == "failed":
        st.error(label(str(message.metadata.get("error") or _("The answer failed."))), icon=":material/error:")
    st.caption(label(chat_figures.line(message, run)))
    if run is not None and run.status in ("succeeded", "failed"):
        chat_receipt.button(message.id, run)


def _shown(agent_id: UUID) -> tuple[str, Message] | None:
    """The last try's question and answer, unless it is gone."""
    tried: tuple[str, UUID] | None = st.session_state.get(f"tried_{agent_id}")
    if tried is None:
        return None
    try:
        with transaction(session.scope()) as tx:
            return tried[0], messages.get(tx, tried[1])
    except NotFound:
        del st.session_state[f"tried_{agent_id}"]
        return None


def _ask(agent_id: UUID) -> None:
    question = st.session_state[f"try_{agent_id}_question"]
    turn = attempt(f"try_{agent_id}", lambda: _send(agent_id, question))
    if turn is not None:
        st.session_state[f"tried_{agent_id}"] = (question, turn.answer_id)


def _send(agent_id: UUID, question: str) -> Turn:
    return chat.send(
        session.scope(),
        question,
        place=Place(session.project_id(), agent_id),
        session_id=f"try-{agent_id}",
        client_message_id=str(uuid4()),
    )


def _stop(agent_id: UUID, conversation_id: UUID) -> None:
    attempt(f"try_{agent_id}", lambda: chat.stop(session.scope(), conversation_id))
    st.rerun()  # a refusal stands outside of this fragment


def _forget(agent_id: UUID, conversation_id: UUID) -> None:
    def delete() -> bool:
        with transaction(session.scope()) as tx:
            conversations.delete(tx, conversation_id)
        return True

    if attempt(f"try_{agent_id}", delete):
        del st.session_state[f"tried_{agent_id}"]
    st.rerun()
