"""What the search beside a thread finds: each conversation of the place, and in it the passage that has the words."""

from collections.abc import Callable
from uuid import UUID

import streamlit as st

from nexus_core import search
from nexus_core.conversations import Place
from nexus_core.database import transaction
from nexus_core.i18n import _
from nexus_core.search import Filter, Hit, Passage
from pages.components import conv_words, figures, session
from pages.components.markdown import label

MOST = 100
BEFORE, LENGTH = 24, 110  # characters of a passage that a narrow list shows


def draw(
    words: str, place: Place, where: str, *, archived: bool, shown: int, open_: Callable[[UUID, UUID | None], None]
) -> bool:
    """Draw the best `shown` hits for `words`, or that there is none; returns whether there are more.

    A click calls `open_` with the conversation and the message of its passage.
    """
    places = Filter(
        project_id=place.project_id,
        outside=place.project_id is None,
        agent_id=place.agent_id,
        just_chat=place.agent_id is None,
        status="archived" if archived else search.ACTIVE,
    )
    with transaction(session.scope()) as tx:
        page = search.find(tx, words, places, limit=min(shown, MOST))
    for hit in page.hits:
        _hit(hit, where, open_)
    if not page.hits:
        st.caption(_("Nothing here has “{words}”, neither a title nor a message.").format(words=label(words)))
    return page.after is not None and shown < MOST


def _hit(hit: Hit, where: str, open_: Callable[[UUID, UUID | None], None]) -> None:
    with st.container(key=f"chat_hit_{where}_{hit.id}", gap=None):
        with st.container(
            key=f"chat_item_{where}_{hit.id}", horizontal=True, wrap=False, gap=None, vertical_alignment="center"
        ):
            st.button(
                label(hit.title) or _("New conversation"),
                key=f"chat_open_{where}_{hit.id}",
                type="tertiary",
                width="stretch",
                on_click=open_,
                args=(hit.id, hit.passage.message_id if hit.passage else None),
            )
            st.caption(figures.when(hit.passage.said_at if hit.passage else hit.last_message_at), width="content")
        if hit.passage and hit.passage.text != hit.title:
            st.caption(around(hit.passage))


def around(passage: Passage) -> str:
    """The part of a passage about its first mark, with its marks; Markdown of one line."""
    first = passage.marks[0][0] if passage.marks else 0
    start = passage.text.rfind(" ", 0, max(0, first - BEFORE)) + 1 if first > BEFORE else 0
    end = start + LENGTH
    marks = [(a - start, min(b, end) - start) for a, b in passage.marks if start <= a < end]
    before = "… " if start or passage.clipped[0] else ""
    after = " …" if end < len(passage.text) or passage.clipped[1] else ""
    return f"{before}{conv_words.marked(passage.text[start:end], marks)}{after}"
