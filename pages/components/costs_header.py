"""The head of the Costs page: range, zone, filters, views, live refresh."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from nexus_core import l10n, replica
from nexus_core.choices import Choices
from nexus_core.database import Scope
from nexus_core.i18n import _
from nexus_core.ranges import Range
from pages.components import costs_filters, costs_state, costs_views, costs_words, live
from pages.components.costs_state import State
from pages.components.markdown import label

SECONDS = 10


def draw(scope: Scope, state: State, found: Choices) -> DeltaGenerator:
    """Everything above the cards; returns the place for the export, which needs what is not read yet."""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        with st.container(width="content", gap=None):
            st.title(_("Costs"), anchor=False)
            st.caption(label(_about(state.span)))
        with st.container(horizontal=True, vertical_alignment="center", width="content", gap="small"):
            _live()
            costs_filters.draw(state.filters, found)
            costs_views.draw(scope)
            export = st.container(width="content")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        _ranges(state.span)
    costs_filters.pills(state.filters, found)
    if elsewhere := replica.notice():
        st.caption(f":material/database: {label(elsewhere)}")
    if state.notice:
        st.warning(label(state.notice), icon=":material/link_off:")
    return export


def _ranges(span: Range) -> None:
    names = costs_words.range_names()
    st.session_state["costs_range"] = span.name
    st.segmented_control(
        _("Range"), list(names), key="costs_range", format_func=names.__getitem__, required=True,
        on_change=_range_chosen, args=(span,), label_visibility="collapsed",
    )  # fmt: skip
    if span.name == "own":
        st.session_state["costs_days"] = (span.first, span.last)
        st.date_input(
            _("First and last day"), key="costs_days", format=l10n.grid(), on_change=_days_chosen, width=240,
            min_value=date(2000, 1, 1), max_value=max(span.last, date(2100, 1, 1)), label_visibility="collapsed",
        )  # fmt: skip


def _range_chosen(span: Range) -> None:
    costs_state.choose(st.session_state["costs_range"] or span.name, span)


def _days_chosen() -> None:
    """Only once both ends are chosen."""
    chosen = st.session_state["costs_days"]
    if isinstance(chosen, tuple) and len(chosen) == 2:
        first, last = (day.isoformat() for day in chosen)
        costs_state.move({"range": ["own"], "first": [first], "last": [last], "cell": []})


def _about(span: Range) -> str:
    here: datetime = span.now.astimezone(ZoneInfo(span.zone))
    return " · ".join((costs_words.days(span), span.zone, _("as of {time}").format(time=l10n.clock(here))))


def _live() -> None:
    on = st.query_params.get("live") == "1"
    st.session_state["costs_live"] = on
    about = _("Read anew every {n} seconds while this tab can be seen").format(n=SECONDS)
    st.toggle(_("Live"), key="costs_live", on_change=_live_changed, help=about, width="content")
    if on:
        live.tick("costs_tick", SECONDS)


def _live_changed() -> None:
    costs_state.move({"live": ["1"] if st.session_state["costs_live"] else []})
