"""Where one writes: the box at the bottom, Stop while an answer comes, and a text that could not be sent."""

from uuid import UUID

import streamlit as st

from nexus_core.conversations import Place
from nexus_core.i18n import _
from pages.components import chat_actions
from pages.components.chat_place import View
from pages.components.markdown import label

UNSENT = "chat_unsent_text"


def draw(view: View) -> None:
    """Draw what stands at the bottom of the page."""
    st.chat_input(" ", key="chat_end", disabled=True)  # not seen; a page with such a box opens at its end
    with st.container(key="chat_ready"):  # not seen; the browser has a box of this kind when the server is in trouble
        st.text_area(" ", key="chat_ready_text", disabled=True)
    _box(view)


@st.fragment
def _box(view: View) -> None:
    """A fragment, so that the page stays as it is when sending fails because the database is away."""
    conversation_id = view.conversation.id if view.conversation else None
    with st.bottom, st.container(key="chat_bottom", gap="xxsmall"):
        if view.running and conversation_id and not view.refusal:
            _stop(conversation_id)
        waiting = chat_actions.unsent()
        if waiting and not view.refusal:
            _unsent(waiting, conversation_id, view.place)
            return
        chat_actions.sent_is_seen()
        st.session_state.pop(UNSENT, None)
        st.chat_input(
            view.refusal or _("Message {name}").format(name=view.agent.name if view.agent else _("Just Chat")),
            key=chat_actions.BOX,
            disabled=bool(view.refusal),
            on_submit=chat_actions.submit,
            args=(conversation_id, view.place),
        )


def _stop(conversation_id: UUID) -> None:
    with st.container(horizontal_alignment="center"):
        st.button(
            _("Stop"),
            key="chat_stop",
            icon=":material/stop_circle:",
            on_click=chat_actions.stop,
            args=(conversation_id,),
        )


def _unsent(waiting: chat_actions.Unsent, conversation_id: UUID | None, place: Place) -> None:
    st.session_state.setdefault(UNSENT, waiting.text)
    words = label(_("Not sent. {reason}").format(reason=waiting.reason))
    st.markdown(f":orange[:material/cloud_off: {words}]")
    st.text_area(_("Your message"), key=UNSENT, label_visibility="collapsed", height="content")
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.button(_("Discard"), key="chat_unsent_discard", type="tertiary", on_click=chat_actions.forget_unsent)
        st.button(
            _("Try again"),
            key="chat_unsent_retry",
            type="primary",
            icon=":material/refresh:",
            on_click=chat_actions.send_again,
            args=(UNSENT, conversation_id, place),
        )
