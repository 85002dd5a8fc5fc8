"""The figures on top of the Costs page, each with its course and what it was in the period before."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import pandas as pd

from nexus_core import dashboard, figures
from nexus_core.costs import Timing
from nexus_core.dashboard import Dashboard
from nexus_core.figures import Figures
from nexus_core.i18n import _, pgettext

Value = Decimal | int | float | None


@dataclass(frozen=True)
class Card:
    """One figure: `now` for the range, `before` for the period before, `course` by bucket; None is unknown.

    `unit` is money (US dollars), count, ms or share (0 … 1). `worse`: whether more of it is bad; None: neither.
    `narrow` are the dimensions that lead to the runs behind it; `unpriced`: only those without a price are.
    """

    name: str
    title: str
    unit: str
    now: Value
    before: Value
    course: tuple[Value, ...]
    worse: bool | None = None
    narrow: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unpriced: bool = False

    @property
    def change(self) -> float | None:
        """How much more than before: as a share of it, for shares as their difference; None: nothing to compare."""
        if self.unit != "share":
            return figures.change(self.now, self.before)
        return None if self.now is None or self.before is None else float(self.now) - float(self.before)

    @property
    def is_new(self) -> bool:
        """Whether there is something now where there was nothing before."""
        return bool(self.now) and self.change is None


def of(page: Dashboard) -> tuple[Card, ...]:
    """The cards of the page, in their order."""
    return (
        _sum(page, "spend", _("Spend"), "money", _spent),
        _sum(page, "runs", _("Runs"), "count", lambda part: part.runs),
        _sum(page, "tokens", _("Tokens"), "count", lambda part: part.tokens),
        _failures(page),
        _time(page, "median", _("Median duration"), "duration", lambda item: item.p50),
        _time(page, "p95", _("95 % within"), "duration", lambda item: item.p95),
        _time(page, "first_token", _("First token"), "first_token", lambda item: item.p50),
        _sum(page, "unpriced", _("Unpriced"), "share", unpriced_share, worse=True, unpriced=True),
    )


def table(found: Sequence[Card]) -> pd.DataFrame:
    """A row per card, for files."""
    return pd.DataFrame(
        [{"name": card.name, "unit": card.unit, "now": card.now, "before": card.before} for card in found],
        dtype=object,
    )


def unpriced_share(part: Figures) -> float | None:
    """Of the runs that ended, the share that has no price."""
    return figures.share(part.unpriced, part.priced + part.unpriced)


def failure_rate(by_status: dict[str | None, Figures]) -> float | None:
    """Of the runs that ended, the share that failed."""
    failed, succeeded = (by_status.get(status, Figures()).runs for status in ("failed", "succeeded"))
    return figures.share(failed, failed + succeeded)


def _spent(part: Figures) -> Decimal | None:
    return part.cost if part.runs else Decimal(0)


def _sum(
    page: Dashboard,
    name: str,
    title: str,
    unit: str,
    take: Callable[[Figures], Value],
    *,
    worse: bool | None = None,
    unpriced: bool = False,
) -> Card:
    report = page.report
    course = tuple(take(part) for part in report.series)
    return Card(name, title, unit, take(report.total), take(report.total_before), course, worse, unpriced=unpriced)


def _failures(page: Dashboard) -> Card:
    now, before = (
        {key[0]: part for key, part in page.report.by("status", before=past).items()} for past in (False, True)
    )
    by_bucket: list[dict[str | None, Figures]] = [{} for _bucket in page.report.buckets]
    for bucket, status, part in page.report.stacked("status"):
        by_bucket[bucket][status] = part
    course = tuple(failure_rate(part) for part in by_bucket)
    rates = failure_rate(now), failure_rate(before)
    return Card(
        "failed", pgettext("runs", "Failed"), "share", *rates, course, worse=True, narrow={"status": ("failed",)}
    )


def _time(page: Dashboard, name: str, title: str, measure: str, take: Callable[[Timing], float]) -> Card:
    known = {item.bucket: take(item) for item in page.timings if item.measure == measure}
    ends = (dashboard.whole(page.timings, measure), dashboard.before(page.timings, measure))
    now, before = (None if item is None else take(item) for item in ends)
    return Card(
        name, title, "ms", now, before, tuple(known.get(n) for n in range(len(page.report.buckets))), worse=True
    )
