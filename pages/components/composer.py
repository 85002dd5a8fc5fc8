"""Where one writes: the box at the bottom, Stop while an answer comes, and a text that could not be sent."""

import streamlit as st

from nexus_core.conversations import Conversation
from nexus_core.database import Scope
from nexus_core.i18n import _
from pages.components import attempt, chat_actions, chat_place, chat_tab
from pages.components.chat_actions import Unsent
from pages.components.chat_place import Desk, View
from pages.components.markdown import label


def draw(view: View) -> None:
    """Draw what stands at the bottom of the page."""
    st.chat_input(" ", key="chat_end", disabled=True)  # not seen; a page with such a box opens at its end
    with st.container(key="chat_ready"):  # not seen; the browser has a box of this kind when the server is in trouble
        st.text_area(" ", key="chat_ready_text", disabled=True)
    _box(view, chat_place.address(view))


@st.fragment
def _box(view: View, address: str) -> None:
    """A fragment, so that the page stays as it is when sending fails because the database is away."""
    with st.bottom, st.container(key="chat_bottom", gap="xxsmall"):
        if view.running and view.conversation and not view.refusal:
            _stop(view.scope, view.conversation)
        attempt.refusal(chat_actions.STOP)
        if elsewhere := chat_actions.unsent_elsewhere(view.desk):
            _elsewhere(elsewhere)
        waiting = None if view.refusal else chat_actions.unsent(view.desk)
        _tab(view, address, waiting, _unsent(waiting, view.desk) if waiting else None)
        if waiting is None:
            chat_actions.sent_is_seen(view.desk)
            st.chat_input(
                view.refusal or _("Message {name}").format(name=view.agent.name if view.agent else _("Just Chat")),
                key=chat_actions.box(view.desk),
                disabled=bool(view.refusal),
                on_submit=chat_actions.submit,
                args=(view.desk,),
            )


def _stop(scope: Scope, conversation: Conversation) -> None:
    with st.container(horizontal_alignment="center"):
        if chat_actions.stopping(conversation):
            words = _("Stopped; what came so far is being stored …")
            st.caption(f":material/stop_circle: {words}", width="content")
            return
        st.button(
            _("Stop"),
            key="chat_stop",
            icon=":material/stop_circle:",
            on_click=chat_actions.stop,
            args=(scope, conversation),
        )


def _tab(view: View, address: str, waiting: Unsent | None, text: str | None) -> None:
    box = chat_actions.unsent_key(waiting) if waiting else chat_actions.box(view.desk)
    chat_tab.keep(
        f"{view.scope.user_id}_{view.desk.name}",
        box="" if view.refusal else box,
        waiting=text,
        begun_as=f"{view.scope.user_id}_{chat_actions.begun_as(view.desk)}",
        address=address,
    )


def _unsent(waiting: Unsent, desk: Desk) -> str:
    """Draw a text that waits; returns it as it stands now."""
    key = chat_actions.unsent_key(waiting)
    st.session_state.setdefault(key, waiting.text)
    words = label(_("Not sent. {reason}").format(reason=waiting.reason))
    st.markdown(f":orange[:material/cloud_off: {words}]")
    text = st.text_area(
        _("Your message"), key=key, label_visibility="collapsed", height="content", persist_state="session"
    )
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.button(
            _("Discard"),
            key="chat_unsent_discard",
            type="tertiary",
            on_click=chat_actions.forget_unsent,
            args=(waiting,),
        )
        st.button(
            _("Try again"),
            key="chat_unsent_retry",
            type="primary",
            icon=":material/refresh:",
            on_click=chat_actions.send_again,
            args=(waiting, desk),
        )
    return text or ""


def _elsewhere(waiting: Unsent) -> None:
    """Say that a text waits in another conversation, and lead there."""
    with st.container(key="chat_elsewhere", horizontal=True, vertical_alignment="center", gap="xsmall"):
        words = _("A text that was not sent waits in another conversation.")
        st.caption(f":material/cloud_off: {words}", width="content")
        st.button(_("Go there"), key="chat_elsewhere_go", type="tertiary", on_click=_go, args=(waiting,))


def _go(waiting: Unsent) -> None:
    chat_place.go_to(waiting.desk, waiting.workspace)
    st.rerun()
