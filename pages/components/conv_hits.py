"""What a search found: each conversation with the passage that has the words, as a link to that message."""

import streamlit as st

from nexus_core.i18n import _
from nexus_core.search import Hit, Passage
from pages.components import conv_chosen, conv_place, conv_words, figures
from pages.components.conv_rows import Names, Rows
from pages.components.markdown import label


def draw(rows: Rows, names: Names) -> None:
    """The hits of a page, the best first."""
    chosen = set(conv_chosen.ids())
    with st.container(key="conv_hits", gap="small"):
        for hit in rows.page.hits:
            with st.container(key=f"conv_hit_{hit.id}", horizontal=True, wrap=False, gap="small"):
                _box(hit, hit.id in chosen)
                with st.container(gap=None):
                    _link(hit)
                    if hit.passage:
                        st.markdown(_passage(hit.passage))
                    st.caption(label(_facts(hit, rows, names)))
                _look(hit)


def _box(hit: Hit, ticked: bool) -> None:
    key = f"conv_tick_{conv_chosen.epoch()}_{hit.id}"
    st.session_state.setdefault(key, ticked)
    st.checkbox(
        _("Choose {title}").format(title=label(conv_words.title(hit.title))),
        key=key,
        label_visibility="collapsed",
        width="content",
        on_change=conv_chosen.tick,
        args=(hit.id, key),
    )


def _link(hit: Hit) -> None:
    st.page_link(
        conv_place.CHAT,
        label=f"**{conv_words.marked(hit.title, hit.title_marks) or _('New conversation')}**",
        query_params=conv_place.in_chat(hit, hit.passage.message_id if hit.passage else None),
    )


def _passage(passage: Passage) -> str:
    before, after = ("… " if passage.clipped[0] else ""), (" …" if passage.clipped[1] else "")
    return f":small[{before}{conv_words.marked(passage.text, passage.marks)}{after}]"


def _facts(hit: Hit, rows: Rows, names: Names) -> str:
    when = figures.moment(hit.passage.said_at if hit.passage else hit.last_message_at)
    where = _("message {number}, {when}").format(number=hit.passage.seq, when=when) if hit.passage else when
    tags = " ".join(f"#{tag}" for tag in hit.tags)
    status = _("archived") if hit.status == "archived" else ""
    facts = (where, names.project(hit.project_id), names.agent(hit.agent_id), rows.who(hit), tags, status)
    return " · ".join(fact for fact in facts if fact)


def _look(hit: Hit) -> None:
    st.button(
        _("Look at it here"),
        key=f"conv_look_{hit.id}",
        icon=":material/visibility:",
        type="tertiary",
        help=_("Look at it here"),
        on_click=conv_chosen.look_at,
        args=(hit.id,),
    )
