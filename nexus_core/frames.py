"""The report as tables: what a chart draws, what a table shows and what a file holds are the same frame."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

import pandas as pd

from nexus_core import figures
from nexus_core.costs import Dear, Facet, Report, Slot, Timing, Unit
from nexus_core.figures import Figures
from nexus_core.i18n import _
from nexus_core.outlook import Forecast, Why
from nexus_core.ranges import Bucket

FIGURES = (*figures.NAMES,)
Row = dict[str, Any]


def over_time(report: Report) -> pd.DataFrame:
    """A row per bucket: `start` on the zone's clock, `from_at` and `to_at` in UTC, `open`, and every figure.

    Money is Decimal; what no run of the bucket tells is None; an empty bucket has 0 runs and costs 0.
    """
    return _frame([_place(bucket) | _row(part) for bucket, part in zip(report.buckets, report.series, strict=True)])


def stacked(report: Report, by: str) -> pd.DataFrame:
    """A row per bucket and value of a dimension of the facts, in column `key`; runs without one are shown as such."""
    rows = report.stacked(by)
    return _frame([_place(report.buckets[n]) | {"key": value or nothing(by)} | _row(part) for n, value, part in rows])


def stacked_by_id(report: Report, by: str, facets: Sequence[Facet], names: dict[UUID, str]) -> pd.DataFrame:
    """The same for agents, projects, people or tasks; `key` is the name, `id` tells two of one name apart."""
    return _frame(
        [
            _place(report.buckets[item.bucket])
            | {"id": str(item.facet or ""), "key": _name(by, item.facet, names)}
            | _row(item.figures)
            for item in facets
        ]
    )


def totals(report: Report, by: str) -> pd.DataFrame:
    """A row per value of a dimension of the facts, the dearest first."""
    parts = sorted(report.by(by).items(), key=lambda item: (-(item[1].cost or 0), str(item[0][0])))
    return _frame([{"key": key[0] or nothing(by)} | _row(part) for key, part in parts])


def timings(report: Report, items: Iterable[Timing], measure: str) -> pd.DataFrame:
    """A row per bucket with the percentiles of a measure in milliseconds; None, a gap, where nothing was timed."""
    known = {item.bucket: item for item in items if item.measure == measure}
    rows = []
    for n, bucket in enumerate(report.buckets):
        item = known.get(n)
        values = {"runs": item.runs, "p50": item.p50, "p95": item.p95, "p99": item.p99} if item else {"runs": 0}
        rows.append(_place(bucket) | {"p50": None, "p95": None, "p99": None} | values)
    return _frame(rows)


def clock(slots: Iterable[Slot]) -> pd.DataFrame:
    """A row for each hour of each weekday (Monday: 1), 168 in all."""
    known = {(slot.weekday, slot.hour): slot for slot in slots}
    rows = []
    for weekday in range(1, 8):
        for hour in range(24):
            slot = known.get((weekday, hour), Slot(weekday, hour, 0, Decimal(0), 0))
            rows.append(
                {"weekday": weekday, "hour": hour, "runs": slot.runs, "cost": slot.cost, "unpriced": slot.unpriced}
            )
    return _frame(rows)


def dearest(items: Iterable[Dear], by: str) -> pd.DataFrame:
    """A row for each of the dearest, in their order."""
    return _frame(
        [
            {
                "id": str(item.id or ""),
                "key": item.name or (nothing(by) if item.id is None else _("Not yours to read, or gone")),
                "cost": item.cost,
                "runs": item.runs,
                "unpriced": item.unpriced,
            }
            for item in items
        ]
    )


def tokens(report: Report) -> pd.DataFrame:
    """A row per bucket and sort of token, each counted once: together they are input and output."""
    return _frame(
        [
            _place(bucket) | {"key": key, "tokens": count}
            for bucket, part in zip(report.buckets, report.series, strict=True)
            for key, count in _sorts(part).items()
        ]
    )


def waste(report: Report) -> pd.DataFrame:
    """A row per bucket with what failed attempts cost, and what further attempts did that did not fail."""
    rows = []
    for n, status, part in report.stacked("status"):
        failed = status == "failed"
        cost = part.cost if failed else part.retry_cost
        if cost is not None:
            key = failed_attempts() if failed else _("Other retries")
            rows.append(_place(report.buckets[n]) | {"key": key, "cost": cost})
    return _frame(_added(rows, "cost"))


def failed_attempts() -> str:
    """What the layer of failed attempts is called."""
    return _("Failed attempts")


def forecast(found: Forecast | None) -> pd.DataFrame:
    """A row for each day of the present month: US dollars from its first day to the end of that one."""
    return _frame([vars(point) for point in found.course] if found else [])


def why(found: Why) -> pd.DataFrame:
    """A row for each cause of the change of spend, in US dollars and as a share of the spend before."""
    shares = found.shares() or {}
    names = {
        "volume": _("Volume"),
        "tokens": _("Tokens per run"),
        "price": _("Price"),
        "mix": _("Model mix"),
    }
    return _frame(
        [{"key": name, "change": getattr(found, cause), "share": shares.get(cause)} for cause, name in names.items()]
    )


def units(each: Mapping[str, Unit]) -> pd.DataFrame:
    """A row for conversations and one for finished tasks: how many, their cost, and what share of spend has one."""
    return _frame(
        [
            {"key": name, "count": unit.count, "cost": unit.cost, "each": unit.each, "coverage": unit.coverage}
            for name, unit in each.items()
        ]
    )


def nothing(by: str) -> str:
    """What the runs that have none of a dimension are called."""
    names = {
        "project": _("No project"),
        "agent": _("No agent"),
        "person": _("Nobody"),
        "task": _("No task"),
        "conversation": _("No conversation"),
        "profile": _("No profile"),
    }
    return names.get(by) or _("Unknown")


def _name(by: str, item: UUID | None, names: dict[UUID, str]) -> str:
    return nothing(by) if item is None else names.get(item) or _("Removed")


def _place(bucket: Bucket) -> Row:
    return {
        "start": bucket.start.replace(tzinfo=None),
        "from_at": bucket.from_at,
        "to_at": bucket.to_at,
        "open": bucket.open,
    }


def _sorts(part: Figures) -> dict[str, int | None]:
    """Tokens by sort; the parts of input and output that nobody told are in the other part."""
    fresh = None if part.input_tokens is None else part.input_tokens - (part.cached_tokens or 0)
    said = None if part.output_tokens is None else part.output_tokens - (part.reasoning_tokens or 0)
    return {
        _("New input"): fresh,
        _("Cached input"): part.cached_tokens,
        _("Output"): said,
        _("Reasoning"): part.reasoning_tokens,
    }


def _added(rows: list[Row], value: str) -> list[Row]:
    """The rows of one bucket and key as one."""
    found: dict[tuple[Any, str], Row] = {}
    for row in rows:
        known = found.setdefault((row["from_at"], row["key"]), row | {value: Decimal(0)})
        known[value] += row[value]
    return list(found.values())


def _row(part: Figures) -> Row:
    row = {name: getattr(part, name) for name in FIGURES}
    # Nothing ran: nothing was spent. Something ran and none of it has a price: unknown.
    return row if part.runs else row | {"cost": Decimal(0)}


def _frame(rows: list[Row]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(rows[0]) if rows else None, dtype=object)  # whole numbers stay whole
