"""What stands below the main chart of the Costs page beside plain panels: units, causes, waste, one hour's runs."""

from collections.abc import Sequence
from zoneinfo import ZoneInfo

import streamlit as st

from nexus_core import behind, costs, figures, frames, l10n
from nexus_core.costs import Dear, Unit
from nexus_core.dashboard import Dashboard
from nexus_core.database import Scope
from nexus_core.i18n import _
from pages.components import costs_runs, costs_state, costs_words

MANY = 60


def stacks(by: str, names: dict[str, str]) -> None:
    """The choice of what the main chart is stacked by."""
    st.session_state["costs_by"] = by
    st.segmented_control(
        _("Stacked by"), list(names), key="costs_by", format_func=names.__getitem__, required=True,
        on_change=_stacked, args=(by,), label_visibility="collapsed",
    )  # fmt: skip


def units(page: Dashboard) -> None:
    """What a conversation and what a finished task cost, and how much of the spend that covers."""
    with st.container(border=True, height="stretch", key="costs_units"):
        st.markdown(_("**Cost of each**"))
        grid = st.grid(2, min_column_width=200)
        with grid.container():
            _unit(_("Conversation"), page.per_conversation, _("{n} conversations with a run in this range"))
        with grid.container():
            _unit(_("Finished task"), page.per_task, _("{n} tasks finished in this range, from first run to last"))


def _unit(title: str, unit: Unit, about: str) -> None:
    at_least = unit.each is not None and bool(unit.unpriced)
    st.metric(title, costs_words.money(unit.each, at_least=at_least) if unit.count else "–")
    st.caption(about.format(n=l10n.number(unit.count)))
    if unit.coverage is not None:
        st.caption(_("{share} of the spend has one").format(share=costs_words.share(unit.coverage)))


def without(page: Dashboard, by: str, items: Sequence[Dear]) -> None:
    """What the runs cost that have no agent or task: no entry of a ranking, and not hidden."""
    for item in items:
        if item.id is None:
            cost = costs_words.money(item.cost, at_least=item.cost is not None and item.unpriced > 0)
            text = _("{nothing}: {cost}, {n} runs")
            words = text.format(nothing=frames.nothing(by), cost=cost, n=l10n.number(item.runs)).replace("$", "\\$")
            costs_runs.link(words, behind.whole(page.report, {by: (None,)}))


def why(page: Dashboard) -> None:
    """The causes in one line: Volume +12 % · Tokens per run +4 %."""
    shares = page.why.shares()
    span = costs_words.days(page.report.before)
    if shares is None:
        st.caption(_("Nothing was spent in the period before ({span}).").format(span=span))
        return
    names = {"volume": _("volume"), "tokens": _("tokens per run"), "price": _("price"), "mix": _("model mix")}
    text = " · ".join(f"{name} {costs_words.percent(shares[cause])}" for cause, name in names.items())
    st.caption(_("Against {span}: {causes}").format(span=span, causes=text))


def waste(page: Dashboard) -> None:
    """Sums of the range, nothing counted twice."""
    found = page.waste
    share = costs_words.share(figures.share(found.either, page.report.total.cost))
    text = _("{either} in all, {share} of the spend; failed attempts {failed}, retries {retries}")
    amounts = {name: costs_words.known(getattr(found, name)) for name in ("either", "failed", "retries")}
    st.caption(text.format(share=share, **amounts).replace("$", "\\$"))


def forecast(page: Dashboard) -> None:
    """Where the month is heading, in words."""
    found = page.forecast
    if found is None:
        return
    text = _("{expected} expected at its end, 4 times in 5 between {low} and {high}; {spent} by now, {n} closed days")
    amounts = {name: costs_words.money(getattr(found, name)) for name in ("expected", "low", "high", "spent")}
    st.caption(text.format(n=found.days, **amounts).replace("$", "\\$"))


def hours(scope: Scope, page: Dashboard) -> None:
    """The hours of the range behind the cell that the address names, each with its runs."""
    cell = costs_state.cell()
    if cell is None:
        return
    report = page.report
    spans = behind.hours(report, *cell)
    parts = zip(spans, costs.stretches(scope, report, spans), strict=True)
    found = [(begin, end, part) for (begin, end), part in parts if part.runs]
    zone = ZoneInfo(report.range.zone)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        when = f"{l10n.weekdays()[cell[0] - 1]} {cell[1]:02d}:00"
        st.markdown(_("**{when}: {n} hours with runs**").format(when=when, n=len(found)), width="content")
        st.button(_("Close"), icon=":material/close:", type="tertiary", key="costs_cell_close", help=_("Close"),
                  on_click=costs_state.move, args=({"cell": []},))  # fmt: skip
    with st.container(height=180, border=False, gap=None, key="costs_cell"):
        for begin, end, part in list(reversed(found))[:MANY]:
            text = _("{hour} · {n} runs · {cost}").format(
                hour=costs_words.hour_of(begin, end, zone), n=part.runs,
                cost=costs_words.money(part.cost, at_least=part.at_least and part.cost is not None),
            )  # fmt: skip
            costs_runs.link(text.replace("$", "\\$"), behind.runs(report.filters, begin, end))
        if len(found) > MANY:
            st.caption(_("and {n} earlier ones").format(n=len(found) - MANY))


def _stacked(by: str) -> None:
    costs_state.move({"by": [st.session_state["costs_by"] or by]})
