"""The conversation that is looked at, beside the list: its last messages and the ways into it."""

from uuid import UUID

import streamlit as st

from nexus_core import chat, conversations, tags
from nexus_core.conversations import Conversation
from nexus_core.database import transaction
from nexus_core.errors import NotFound
from nexus_core.i18n import _
from nexus_core.messages import Message
from nexus_core.text import clip, one_line
from pages.components import conv_chosen, conv_place, conv_words, figures, session
from pages.components.conv_rows import Names
from pages.components.markdown import label

LAST = 6
LONG = 400  # grapheme clusters


def draw(conversation_id: UUID, names: Names) -> None:
    """What there is to see of it at a glance."""
    try:
        with transaction(session.scope()) as tx:
            found = conversations.get(tx, conversation_id)
            said = chat.read(tx, conversation_id, limit=LAST)
            words = tags.of(tx, [conversation_id]).get(conversation_id, [])
    except NotFound:
        conv_chosen.look_at(None)
        return
    with st.container(key="conv_preview", border=True, gap="small"):
        _head(found, names, words)
        for message in said:
            _message(message)
        if not said:
            st.caption(_("Nothing was said yet."))


def _head(found: Conversation, names: Names, words: list[str]) -> None:
    with st.container(key="conv_preview_head", horizontal=True, wrap=False):
        st.markdown(f"**{label(conv_words.title(found.title))}**")
        st.button(
            _("Close"), key="conv_preview_close", icon=":material/close:", type="tertiary", help=_("Close"),
            on_click=conv_chosen.look_at, args=(None,),
        )  # fmt: skip
    project = names.project(found.project_id) or _("No project")
    st.caption(label(" · ".join((project, names.agent(found.agent_id), figures.moment(found.last_message_at)))))
    if words:
        st.markdown(" ".join(f":gray-badge[{label(word)}]" for word in words))
    if found.summary_md:
        st.caption(label(clip(one_line(found.summary_md), LONG)))
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.button(_("Open"), key="conv_preview_open", icon=":material/open_in_full:", on_click=_open, args=(found.id,))
        st.page_link(
            conv_place.CHAT, label=_("Open in chat"), icon=":material/chat:",
            query_params=conv_place.in_chat(found),
        )  # fmt: skip


def _message(message: Message) -> None:
    name = message.user_name or (_("Somebody") if message.role == "user" else _("Assistant"))
    with st.container(gap=None):
        st.caption(f"**{label(name)}** · {label(figures.moment(message.created_at))}")
        st.markdown(label(clip(one_line(message.body[: 8 * LONG]), LONG)) or "…")


def _open(conversation_id: UUID) -> None:
    conv_place.open_(conversation_id)
    st.rerun()
