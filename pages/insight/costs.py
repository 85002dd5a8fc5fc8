"""Costs: what runs cost, how many there were, how long they took, and why; every figure leads to its runs."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

import streamlit as st

from nexus_core import behind, cards, choices, costs, dashboard, panels
from nexus_core.dashboard import Dashboard
from nexus_core.database import Scope, transaction
from nexus_core.i18n import _
from nexus_core.panels import Panel
from pages.components import (
    costs_below,
    costs_cards,
    costs_chart,
    costs_export,
    costs_header,
    costs_runs,
    costs_state,
    session,
)


def main() -> None:
    """The report that the address asks for."""
    scope = session.scope()
    now = datetime.now(UTC)
    costs_runs.returned()
    with transaction(scope) as tx:
        state = costs_state.read(costs.zone(tx).key, now)
        found = choices.of(tx, state.span, state.filters)
    export = costs_header.draw(scope, state, found)
    with st.skeleton(height=640):
        page = dashboard.load(scope, state.span, state.filters, by=state.by)
        shown = panels.of(page)
    _follow(page, shown)
    if page.report.total.runs or page.report.total_before.runs:
        figures = cards.of(page)
        costs_export.draw(export, page, figures, shown)
        mode = st.context.theme.type or "light"
        costs_cards.draw(figures, page.report, mode)
        _charts(scope, page, shown, mode)
    else:
        _nothing(page)


def _charts(scope: Scope, page: Dashboard, shown: dict[str, Panel], mode: str) -> None:
    draw = partial(costs_chart.draw, report=page.report, mode=mode)
    names = {name: title for name, title in panels.dimensions().items() if name in panels.STACKS}
    draw(shown["spend"], height=320, beside=partial(costs_below.stacks, page.by, names))
    grid = st.grid(2, min_column_width=420)
    for name in ("tokens", "status", "duration", "first_token"):
        with grid.container(height="stretch"):
            draw(shown[name])
    with grid.container(height="stretch"):
        draw(shown["clock"], below=partial(costs_below.hours, scope, page))
    with grid.container(height="stretch"):
        draw(shown["conversations"])
    for name, by, items in (("agents", "agent", page.agents), ("tasks", "task", page.tasks)):
        with grid.container(height="stretch"):
            draw(shown[name], below=partial(costs_below.without, page, by, items))
    below = {"why": costs_below.why, "waste": costs_below.waste, "forecast": costs_below.forecast}
    for name, words in below.items():
        with grid.container(height="stretch"):
            draw(shown[name], below=partial(words, page))
    with grid.container(height="stretch"):
        costs_below.units(page)


def _follow(page: Dashboard, shown: dict[str, Panel]) -> None:
    """Open the runs behind the point that was clicked."""
    clicked = costs_chart.clicked()
    if clicked is None or clicked[0] not in shown:
        return
    name, point = clicked
    runs = shown[name].runs
    if runs is not None:
        costs_runs.open_(runs(point))
    elif name == "clock":
        _cell(page, point)


def _cell(page: Dashboard, point: Sequence[str]) -> None:
    """One hour: its runs. Several, such as all Tuesdays from two to three: the hours to choose from."""
    hours = behind.hours(page.report, int(point[0]), int(point[1]))
    if len(hours) == 1:
        costs_runs.open_(behind.runs(page.report.filters, *hours[0]))
    costs_state.move({"cell": [f"{point[0]}-{point[1]}"]})


def _nothing(page: Dashboard) -> None:
    with st.container(border=True, key="costs_nothing"):
        st.markdown(_("**Nothing ran in this range.**"))
        filtered = page.report.filters.dimensions()
        if filtered:
            st.caption(_("Take filters away, or choose a longer range."))
        else:
            st.caption(_("Every answer in a chat is a run, with its tokens, its time and what it cost."))
            st.page_link("pages/work/chat.py", label=_("Open the chat"), query_params=session.here())


main()
