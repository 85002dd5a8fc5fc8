"""Runs: every call of a model in a table, and one of them opened to see what happened."""

from datetime import UTC, datetime
from uuid import UUID
from zoneinfo import ZoneInfo

import streamlit as st

from nexus_core import l10n, replica, rollup, run_detail, runs_choices
from nexus_core.database import transaction
from nexus_core.errors import Invalid, NotFound
from nexus_core.i18n import _
from nexus_core.run_detail import Detail
from nexus_core.runs_query import Asked
from pages.components import run_body, run_head, run_price, runs_filters, runs_state, runs_table, session
from pages.components.markdown import label

LIVE = 2.0
"""Seconds between two drawings of a run that is running."""


def main() -> None:
    """The run of the URL, or the table."""
    with transaction(session.scope()) as tx:
        zone = rollup.zone(tx)
    chosen = st.query_params.get("run")
    if chosen:
        _open(chosen, zone)
        return
    try:
        asked = runs_state.asked(zone.key, datetime.now(UTC))
    except Invalid as error:
        st.title(_("Runs"), anchor=False)
        st.error(label(error.message), icon=":material/link_off:")
        st.button(_("All runs of the last 30 days"), key="runs_reset", on_click=runs_state.reset)
        return
    _table(asked)


def _table(asked: Asked) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        st.title(_("Runs"), anchor=False, width="content")
        runs_filters.export_link(asked)
    zone = ZoneInfo(asked.span.zone)
    begin, end = (l10n.instant(at.astimezone(zone)) for at in (asked.span.from_at, asked.span.to_at))
    st.caption(_("Every call of a model, {begin} to {end}, {zone}.").format(begin=begin, end=end, zone=label(zone.key)))
    choices = replica.read(session.scope(), lambda tx: runs_choices.of(tx, asked))
    if elsewhere := replica.notice():
        st.caption(f":material/database: {label(elsewhere)}")
    runs_filters.draw(asked, choices)
    runs_table.draw(asked, runs_state.shown_columns())


def _open(chosen: str, zone: ZoneInfo) -> None:
    run_head.back()
    detail = _load(chosen)
    if detail.run.status == "running":
        st.fragment(run_every=LIVE)(_followed)(chosen, zone)
    else:
        _draw(detail, zone)


def _followed(chosen: str, zone: ZoneInfo) -> None:
    """A run while it is running; its end draws the whole page, which follows no more."""
    detail = _load(chosen)
    if detail.run.status != "running":
        st.rerun()
    _draw(detail, zone)


def _load(chosen: str) -> Detail:
    try:
        run_id = UUID(chosen)
    except ValueError:
        raise NotFound(_("There is no such run here.")) from None
    with transaction(session.scope()) as tx:
        return run_detail.load(tx, run_id)


def _draw(detail: Detail, zone: ZoneInfo) -> None:
    run_head.draw(detail, zone)
    left, right = st.columns([5, 4], gap="large")
    with left:
        run_body.timeline(detail)
        run_body.came_back(detail)
        run_body.sent(detail)
    with right:
        run_price.draw(detail)
        run_price.raw(detail)


main()
