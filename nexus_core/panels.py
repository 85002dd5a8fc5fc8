"""The charts of the Costs page: each with the one frame that chart, table and file show, and the runs behind it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import pandas as pd
import plotly.graph_objects as go

from nexus_core import behind, charts, costs, frames
from nexus_core.behind import Query
from nexus_core.costs import Dear, Report
from nexus_core.dashboard import Dashboard
from nexus_core.i18n import _
from nexus_core.plots import Ends

STACKS = ("model", "provider", "agent", "project", "profile", "person", "runtime", "kind")
PERCENTILES = {"p50": "p50", "p95": "p95", "p99": "p99"}


@dataclass(frozen=True)
class Panel:
    """One chart: `frame` holds its data, `value` the column that it draws, in `unit` (money, count, ms).

    `draw` makes the figure for a colour mode; `runs` leads from the customdata of a clicked point to the runs behind.
    """

    name: str
    title: str
    frame: pd.DataFrame
    value: str
    unit: str
    draw: Callable[[str], go.Figure]
    runs: Callable[[Sequence[str]], Query] | None = None


def of(page: Dashboard) -> dict[str, Panel]:
    """Every panel of the page, by name."""
    report, ends = page.report, axis(page.report)
    found = [_spend(page, ends), _tokens(page, ends), *_times(page, ends), _statuses(report, ends), _clock(page)]
    for by, title, items in (
        ("conversation", _("Dearest conversations"), page.conversations),
        ("agent", _("Dearest agents"), page.agents),
        ("task", _("Dearest tasks"), page.tasks),
    ):
        found.append(_dearest(report, by, title, items))
    found += [_waste(report, ends), _why(page), _forecast(page)]
    return {panel.name: panel for panel in found}


def axis(report: Report) -> Ends:
    """From where to where the axis of time goes: half a bucket around the first and the last one."""
    buckets = report.buckets
    first, last = buckets[0].start.replace(tzinfo=None), buckets[-1].start.replace(tzinfo=None)
    step = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7)}
    half = step.get(report.range.grain, timedelta(days=30)) * 0.6
    return first - half, last + half


def dimensions() -> dict[str, str]:
    """What people call the dimensions, those of the main chart first."""
    return {
        "model": _("Model"), "provider": _("Provider"), "agent": _("Agent"), "project": _("Project"),
        "profile": _("Profile"), "person": _("Person"), "runtime": _("Runtime"), "kind": _("Kind"),
        "status": _("Status"), "task": _("Task"), "conversation": _("Conversation"),
    }  # fmt: skip


def statuses() -> dict[str, str]:
    """What people call the states of a run."""
    return {
        "planned": _("Planned"), "running": _("Running"), "succeeded": _("Succeeded"), "failed": _("Failed"),
        "blocked": _("Blocked"),
    }  # fmt: skip


def _spend(page: Dashboard, ends: Ends) -> Panel:
    by, report = page.by, page.report
    if by in costs.BY_ID:
        frame = frames.stacked_by_id(report, by, page.stack, page.names)
    else:
        frame = frames.stacked(report, by)
    draw = partial(_stack, frame, "cost", "$", ends)
    return Panel("spend", _("Spend"), frame, "cost", "money", draw, partial(behind.layer, report, by, frame, "cost"))


def _tokens(page: Dashboard, ends: Ends) -> Panel:
    frame = frames.tokens(page.report)
    shown = frame if page.report.total.runs else frame.head(0)
    draw = partial(_stack, shown, "tokens", "", ends)
    return Panel("tokens", _("Tokens"), frame, "tokens", "count", draw, partial(behind.bucket, page.report))


def _times(page: Dashboard, ends: Ends) -> list[Panel]:
    titles = {"duration": _("Duration"), "first_token": _("Time to first token")}
    found = []
    for measure, title in titles.items():
        frame = frames.timings(page.report, page.timings, measure)
        draw = partial(_lines, frame if page.report.total.runs else frame.head(0), ends)
        found.append(Panel(measure, title, frame, "p50", "ms", draw, partial(behind.bucket, page.report)))
    return found


def _statuses(report: Report, ends: Ends) -> Panel:
    frame = frames.stacked(report, "status")

    def draw(mode: str) -> go.Figure:
        return charts.statuses(frame, mode=mode, ends=ends, names=statuses())

    runs = partial(behind.layer, report, "status", frame, "runs")
    return Panel("status", _("Runs by status"), frame, "runs", "count", draw, runs)


def _clock(page: Dashboard) -> Panel:
    frame = frames.clock(page.clock)
    shown = frame if page.report.total.runs else frame.head(0)

    def draw(mode: str) -> go.Figure:
        return charts.heat(shown, "runs", mode=mode)

    return Panel("clock", _("Runs by hour and weekday"), frame, "runs", "count", draw)


def _dearest(report: Report, by: str, title: str, items: Sequence[Dear]) -> Panel:
    frame = frames.dearest([item for item in items if item.id], by)

    def draw(mode: str) -> go.Figure:
        return charts.ranking(frame, "cost", mode=mode, unit="$")

    return Panel(f"{by}s", title, frame, "cost", "money", draw, partial(behind.entity, report, by))


def _waste(report: Report, ends: Ends) -> Panel:
    frame = frames.waste(report)
    draw = partial(_stack, frame, "cost", "$", ends)

    def runs(point: Sequence[str]) -> Query:
        failed = {"status": ("failed",)} if point[0] == frames.failed_attempts() else None
        return behind.bucket(report, point, failed)

    return Panel("waste", _("Spend on failures and retries"), frame, "cost", "money", draw, runs)


def _why(page: Dashboard) -> Panel:
    frame = frames.why(page.why)
    shown = frame if page.why.before or page.why.after else frame.head(0)

    def draw(mode: str) -> go.Figure:
        return charts.causes(shown, mode=mode)

    return Panel("why", _("Why did spend change?"), frame, "change", "money", draw)


def _forecast(page: Dashboard) -> Panel:
    frame = frames.forecast(page.forecast)

    def draw(mode: str) -> go.Figure:
        return charts.course(frame, mode=mode)

    return Panel("forecast", _("This month"), frame, "expected", "money", draw)


def _stack(frame: pd.DataFrame, value: str, unit: str, ends: Ends, mode: str) -> go.Figure:
    return charts.stack(frame, value, mode=mode, unit=unit, ends=ends)


def _lines(frame: pd.DataFrame, ends: Ends, mode: str) -> go.Figure:
    return charts.lines(frame, PERCENTILES, mode=mode, unit=" s", ends=ends, scale=1000)
