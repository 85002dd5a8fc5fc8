"""A short list of conversations: title, with whom, who began it, when something was said last."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import streamlit as st

from nexus_core.conversations import Conversation
from nexus_core.i18n import _
from pages.components import figures, session
from pages.components.markdown import label

CHAT = "pages/work/chat.py"
INDENT = "&emsp;&emsp;&ensp;"  # as wide as the icon of a page link


def draw(found: Sequence[Conversation], agents: Mapping[UUID, str], people: Mapping[UUID, str]) -> None:
    """`found` as links to the chat, those that are answering now marked; `agents` and `people` are names by id."""
    for conversation in found:
        agent = agents.get(conversation.agent_id) if conversation.agent_id else _("Just Chat")
        who = people.get(conversation.user_id)
        when = _("answering now") if conversation.running else figures.when(conversation.last_message_at)
        facts = label(" · ".join(fact for fact in (agent, who, when) if fact))
        with st.container(gap=None):
            st.page_link(
                CHAT,
                label=label(conversation.title or _("New conversation")),
                icon=":material/pending:" if conversation.running else ":material/chat:",
                query_params=session.here() | {"conversation": str(conversation.id)},
            )
            st.caption(INDENT + facts)
