"""Chat: one conversation with an agent or with nobody in particular, and the way to all others."""

from pathlib import Path

import streamlit as st

from nexus_core.errors import NotFound
from nexus_core.i18n import _, ngettext
from pages.components import (
    chat_actions,
    chat_empty,
    chat_header,
    chat_list,
    chat_message,
    chat_place,
    composer,
    session,
)
from pages.components.chat_place import View
from pages.components.markdown import label

STYLE = Path(__file__).resolve().parents[1] / "components" / "chat.css"


def page() -> None:
    """Draw what the URL asks for, or say kindly that it is not there."""
    st.html(STYLE)
    try:
        asked = chat_place.wanted()
        view = chat_place.load(session.scope(), asked, chat_place.shown(asked.conversation_id))
    except NotFound as error:
        not_found(error.message)
        return
    chat_place.settle(view)
    composer.draw(view)  # first: a page that has a bottom opens at its end
    with st.container(key="chat_page", horizontal=True, wrap=False, gap="medium"):
        room = chat_list.room()
        with st.container(key="chat_thread", gap="small"):
            chat_header.draw(view)
            say()
            newer = thread(view)
        chat_list.panel(view, room)
    if newer:
        st.rerun()


def thread(view: View) -> bool:
    """The messages, oldest first, or the invitation to begin; True when an answer ended since the page was read."""
    if not view.messages:
        chat_empty.draw(view)
    if view.conversation and view.conversation.status == "archived":
        st.caption(":material/archive: " + _("Archived; a new message brings it back."))
    if view.earlier and view.conversation:
        earlier(view)
    shared = chat_message.thread(view)
    newer = [chat_message.draw(message, shared) for message in view.messages]
    if view.found and view.conversation:
        if view.found.id not in {message.id for message in view.messages}:
            st.caption(_("The message that the link names is another version of one of these."))
        st.button(
            _("Show the newest messages"),
            key="chat_newest",
            icon=":material/arrow_downward:",
            type="tertiary",
            on_click=chat_place.go,
            args=(view.conversation.id,),
        )
    return any(newer)


def earlier(view: View) -> None:
    """The way to what was said before the first message shown."""
    words = ngettext("Show earlier ({n} message)", "Show earlier ({n} messages)", view.earlier)
    with st.container(horizontal_alignment="center"):
        st.button(
            words.format(n=view.earlier),
            key="chat_earlier",
            icon=":material/arrow_upward:",
            type="tertiary",
            on_click=chat_place.show_earlier,
            args=(view.messages[0].conversation_id,),
        )


def say() -> None:
    """What the last click has to say."""
    if sentence := chat_actions.notice():
        st.warning(label(sentence), icon=":material/info:")


def not_found(sentence: str) -> None:
    """A link that leads nowhere for this person, and the way back."""
    with st.container(key="chat_not_found", horizontal_alignment="center"):
        st.space("large")
        st.subheader(_("Not found"), text_alignment="center")
        st.markdown(label(sentence), text_alignment="center")
        st.caption(_("It may have been deleted, or it is not yours to see."), text_alignment="center")
        st.button(_("To my conversations"), key="chat_back", type="primary", on_click=chat_place.leave)


page()
