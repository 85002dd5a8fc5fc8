"""Everything that the Costs page shows, read in one snapshot so that all its figures agree."""

from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID

from nexus_core import costs, figures, outlook, ranges, replica, rollup
from nexus_core.costs import BEFORE, Dear, Facet, Reader, Report, Slot, Timing, Unit
from nexus_core.database import Scope, Transaction
from nexus_core.figures import Figures
from nexus_core.filters import Filters
from nexus_core.outlook import Forecast, Why
from nexus_core.ranges import Range
from nexus_core.rollup import Span

_LOOKED_AT = 200


@dataclass(frozen=True)
class Waste:
    """Spend on attempts that `failed`, on `retries` (attempts after the first), on `either`, nothing counted twice."""

    failed: Decimal | None
    retries: Decimal | None
    either: Decimal | None


@dataclass(frozen=True)
class Dashboard:
    """The report with all that stands beside it. `by` is the dimension of the main chart; `stack` is the spend by
    bucket and agent, project, person or task where that was asked for, with `names` for its ids."""

    report: Report
    by: str
    timings: tuple[Timing, ...]
    clock: tuple[Slot, ...]
    conversations: tuple[Dear, ...]
    agents: tuple[Dear, ...]
    tasks: tuple[Dear, ...]
    per_conversation: Unit
    per_task: Unit
    forecast: Forecast | None
    why: Why
    waste: Waste
    stack: tuple[Facet, ...]
    names: dict[UUID, str]


def load(scope: Scope, span: Range, filters: Filters | None = None, *, by: str = "model", top: int = 10) -> Dashboard:
    """Read the page for a range; `by` is the dimension of its main chart, `top` how many dearest ones are named."""

    def read(tx: Transaction) -> Dashboard:
        reader = Reader(tx, span, filters or Filters())
        report = reader.report()
        agents, tasks = reader.dearest("agent"), reader.dearest("task")
        stack = reader.facets(by) if by in costs.BY_ID else []
        named = costs.names(tx, [*(item.id for item in agents[:top] + tasks[:top]), *{item.facet for item in stack}])
        return Dashboard(
            report=report,
            by=by,
            timings=tuple(reader.timings()),
            clock=tuple(reader.clock()),
            conversations=tuple(dearest_conversations(reader, top)),
            agents=_named(agents[:top], named),
            tasks=_named(tasks[:top], named),
            per_conversation=per_conversation(reader, report.total),
            per_task=per_task(reader, report.total, tasks),
            forecast=month_end(reader),
            why=outlook.why(report.by("provider", "model", before=True), report.by("provider", "model")),
            waste=waste(report),
            stack=tuple(stack),
            names=named,
        )

    return replica.read(scope, read)


def dearest_conversations(reader: Reader, top: int) -> list[Dear]:
    """The conversations that cost most in the range, the dearest first; exact, with ties in the order of their ids.

    Candidates are taken by what they cost as a whole, which bounds what they cost in the range (the threshold
    algorithm of Fagin, Lotem and Naor, PODS 2001): more are looked at only while one not seen could be dearer.
    """
    ends = {"from_at": reader.range.from_at, "to_at": reader.range.to_at, "limit": top}
    if reader.filters.dimensions():
        rows = reader.tx.execute("costs.conversations_filtered", **ends, **reader.filters.params()).all()
        return [Dear(row.id, row.name, row.cost, row.runs, row.unpriced) for row in rows]
    looked_at = _LOOKED_AT
    while True:
        rows = reader.tx.execute("costs.conversations", **ends, looked_at=looked_at).all()
        bound = rows[0].bound if rows else None
        if bound is None or (len(rows) == top and rows[-1].cost > bound):
            return [Dear(row.id, row.name, row.cost, row.runs, row.unpriced) for row in rows]
        looked_at *= 8


def per_conversation(reader: Reader, total: Figures) -> Unit:
    """What a conversation with a run in the range cost there."""
    ends = {"from_at": reader.range.from_at, "to_at": reader.range.to_at}
    if reader.filters.dimensions():
        count = reader.tx.execute("costs.count_conversations_filtered", **ends, **reader.filters.params()).scalar_one()
    else:
        count = reader.tx.execute("costs.count_conversations", **ends).scalar_one()
    coverage = figures.share(total.conversation_cost, total.cost)
    return Unit(count, total.conversation_cost, coverage, total.unpriced)


def per_task(reader: Reader, total: Figures, tasks: list[Dear]) -> Unit:
    """What a task that was finished in the range cost from its first run to its last, whenever they were."""
    with_task = sum((item.cost for item in tasks if item.id and item.cost), Decimal(0))
    coverage = figures.share(with_task, total.cost)
    ends = {"from_at": reader.range.from_at, "to_at": reader.range.to_at}
    params = reader.filters.params()
    done = [row.id for row in reader.tx.execute("costs.finished_tasks", **ends, **params)]
    oldest = reader.tx.execute("costs.oldest_run").scalar() if done else None
    if oldest is None:
        return Unit(len(done), None, coverage)
    first = ranges.day_of(oldest, reader.zone)
    last = max(reader.range.last, ranges.day_of(reader.range.now, reader.zone))
    spent, unpriced = _cost_by_bucket(reader, [(first, last, 0)], {"task"}, tasks=done).get(0, (None, 0))
    return Unit(len(done), spent, coverage, unpriced)


def month_end(reader: Reader) -> Forecast | None:
    """The forecast for the present month, whatever the range; with the report's filters."""
    today = ranges.day_of(reader.range.now, reader.zone)
    first = min(today.replace(day=1), today - timedelta(days=outlook.HISTORY))
    days = [first + timedelta(days=n) for n in range((today - first).days + 1)]
    found = _cost_by_bucket(reader, [(day, day, n) for n, day in enumerate(days)], set())
    spent = {n: cost for n, (cost, _unpriced) in found.items()}
    begun = min(spent, default=len(days))
    return outlook.forecast({day: spent.get(n) for n, day in enumerate(days) if n >= begun}, today)


def waste(report: Report) -> Waste:
    """What failures and retries of the range cost."""
    by_status = report.by("status")
    failed = by_status.get(("failed",), Figures()).cost
    others = figures.total(item for key, item in by_status.items() if key != ("failed",)).retry_cost
    known = [amount for amount in (failed, others) if amount is not None]
    return Waste(failed, report.total.retry_cost, sum(known, Decimal(0)) if known else None)


def before(timings: tuple[Timing, ...], measure: str) -> Timing | None:
    """The percentiles of a measure in the period before."""
    return next((item for item in timings if item.bucket == BEFORE and item.measure == measure), None)


def whole(timings: tuple[Timing, ...], measure: str) -> Timing | None:
    """The percentiles of a measure over the whole range."""
    return next((item for item in timings if item.bucket is None and item.measure == measure), None)


def _cost_by_bucket(
    reader: Reader, days: list[tuple[date, date, int]], dimensions: set[str], **params: list[UUID]
) -> dict[int, tuple[Decimal | None, int]]:
    """Spend, and runs without a price, of stretches of days (first, last, bucket) within and without the range."""
    zone, day = reader.zone, timedelta(days=1)
    clean = rollup.clean(reader.tx, zone, days[0][0], days[-1][1], hours={days[-1][1]})
    spans: list[Span] = [
        (ranges.start_of(first, zone), ranges.start_of(last + day, zone), bucket) for first, last, bucket in days
    ]
    cube = rollup.cube_for({*dimensions, *reader.filters.dimensions()})
    cover = rollup.cover(spans, rollup.usable(clean, cube), zone)
    rows = reader.tx.execute("costs.daily", cube=cube, **cover.params(), **(reader.filters.params() | params))
    return {row.bucket: (row.cost, row.unpriced) for row in rows}


def _named(items: list[Dear], named: dict[UUID, str]) -> tuple[Dear, ...]:
    return tuple(replace(item, name=named.get(item.id) if item.id else None) for item in items)
