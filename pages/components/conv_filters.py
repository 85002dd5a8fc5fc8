"""The search box and the filters over the list; each shows and changes the URL."""

from datetime import date

import streamlit as st

from nexus_core import l10n
from nexus_core.i18n import _
from pages.components import conv_place, conv_words, session
from pages.components.conv_place import EVERYWHERE, JUST_CHAT, OUTSIDE, TRASH, Asked
from pages.components.conv_rows import Names


def box(wanted: Asked) -> None:
    """Type and it finds."""
    _follow("conv_q", wanted.q)
    st.text_input(
        _("Search conversations"),
        key="conv_q",
        type="search",
        live="300ms",
        placeholder=_("Search titles and what was said · “exact phrase” in quotes"),
        label_visibility="collapsed",
        on_change=_typed,
    )


def pills(wanted: Asked, names: Names) -> None:
    """What narrows the list."""
    agents = {JUST_CHAT: _("💬 Just Chat")} | names.agents
    status = conv_words.statuses() | {TRASH: _("Trash")}
    with st.container(key="conv_filters", horizontal=True, gap="xsmall"):
        if wanted.status != TRASH:
            _where(wanted, names)
        _choice("status", _("Status"), status, wanted.status, 120)
        if wanted.status == TRASH:
            return
        _choice("agent", _("Agent"), agents, wanted.agent, 120)
        _choice("kind", _("Kind"), conv_words.kinds(), wanted.kind, 100)
        _choice("tag", _("Tag"), names.tags, wanted.tag, 100)
        _choice("person", _("Begun by"), names.people, wanted.person, 115)
        _days(wanted)


def _where(wanted: Asked, names: Names) -> None:
    options = {EVERYWHERE: _("All projects"), OUTSIDE: _("No project")} | names.projects
    _follow("conv_where", wanted.where if wanted.where in options else EVERYWHERE)
    st.selectbox(
        _("Project"),
        list(options),
        key="conv_where",
        format_func=options.__getitem__,
        label_visibility="collapsed",
        width=172,
        on_change=_placed,
    )


def _choice(name: str, title: str, options: dict[str, str], current: str, width: int) -> None:
    key = f"conv_{name}"
    _follow(key, current if current in options else None)
    st.selectbox(
        title,
        list(options),
        index=None,
        key=key,
        format_func=lambda value: options.get(value, value),
        placeholder=title,
        label_visibility="collapsed",
        width=width,
        on_change=_chosen,
        args=(name,),
    )


def _days(wanted: Asked) -> None:
    """Its key has the days, for a range can't be shown by its state without a warning."""
    first, last = wanted.since or wanted.until, wanted.until or wanted.since
    days = (min(first, last), last) if first and last else ()
    key = f"conv_days_{'_'.join(map(str, days))}"
    st.date_input(
        _("Last said between"),
        value=days,
        key=key,
        min_value=date(1970, 1, 1),
        max_value=date(2200, 12, 31),
        format=l10n.grid(),
        label_visibility="collapsed",
        width=235,
        on_change=_dated,
        args=(key,),
    )


def order(wanted: Asked) -> None:
    """In which order the list comes."""
    orders = {"newest": _("Newest first"), "oldest": _("Oldest first"), "title": _("By title")}
    if wanted.q.strip():
        orders = {"best": _("Best first")} | orders
    usual = next(iter(orders))
    _follow("conv_sort", wanted.sort if wanted.sort in orders else usual)
    st.selectbox(
        _("Order"),
        list(orders),
        key="conv_sort",
        format_func=lambda value: orders.get(value, value),
        label_visibility="collapsed",
        width=185,
        on_change=_chosen,
        args=("sort",),
    )


def _follow(key: str, value: object) -> None:
    """Let a widget show what the URL says, without a word to it where it does already: it may be ahead of us."""
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value


def _typed() -> None:
    """What is looked for is never in the trash."""
    status = st.query_params.get("status")
    conv_place.change(q=st.session_state["conv_q"] or None, status=None if status == TRASH else status)


def _chosen(name: str) -> None:
    conv_place.change(**{name: st.session_state[f"conv_{name}"]})


def _placed() -> None:
    value = st.session_state["conv_where"]
    if value in (EVERYWHERE, OUTSIDE):
        chosen = value if value == OUTSIDE or session.project_id() else None
        conv_place.change(**{"in": chosen})
    else:
        conv_place.change(**{"in": None, "project": value})
        st.rerun()  # the frame shows the project, too


def _dated(key: str) -> None:
    days = st.session_state[key]
    if len(days) != 1:  # one day of two: the other one is still being chosen
        since, until = days or (None, None)
        conv_place.change(since=since and since.isoformat(), until=until and until.isoformat())
