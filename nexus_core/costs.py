"""What runs cost, how many there were and how long they took: the report behind the Costs page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from nexus_core import figures, ranges, replica, rollup
from nexus_core.database import Scope, Transaction
from nexus_core.figures import Figures
from nexus_core.filters import Filters
from nexus_core.ranges import Bucket, Range
from nexus_core.rollup import Clean, Span

BEFORE = -1  # the bucket of the period before
IN_FACTS = frozenset({"kind", "provider", "model", "runtime", "profile", "status"})
BY_ID = frozenset({"project", "agent", "person", "task"})
GAMMA = 1.02 / 0.98  # of nexus.time_slot: percentiles are off by 2 % at most


@dataclass(frozen=True)
class Fact:
    """The figures of the runs of one bucket (BEFORE: of the period before) that share all these."""

    bucket: int
    kind: str
    provider: str | None
    model: str | None
    runtime: str | None
    profile: str | None
    status: str
    figures: Figures


@dataclass(frozen=True)
class Facet:
    """The figures of one bucket's runs of one project, agent, person or task, by id; None: of those without."""

    bucket: int
    facet: UUID | None
    figures: Figures


@dataclass(frozen=True)
class Timing:
    """Percentiles in milliseconds, off by 2 % at most, over `runs` that were timed; bucket None: the whole range."""

    bucket: int | None
    measure: str
    runs: int
    p50: float
    p95: float
    p99: float


@dataclass(frozen=True)
class Slot:
    """Runs and spend at one hour of one weekday (Monday: 1)."""

    weekday: int
    hour: int
    runs: int
    cost: Decimal | None
    unpriced: int


@dataclass(frozen=True)
class Dear:
    """What one conversation, agent, task, … cost. `id` None: the runs that have none; `name` None: gone, or not this
    person's to read."""

    id: UUID | None
    name: str | None
    cost: Decimal | None
    runs: int
    unpriced: int


@dataclass(frozen=True)
class Unit:
    """What one conversation or finished task cost: `cost` / `count`; `coverage` is the share of spend that has one.

    `unpriced`: how many of their runs ended without a price.
    """

    count: int
    cost: Decimal | None
    coverage: float | None
    unpriced: int = 0

    @property
    def each(self) -> Decimal | None:
        """US dollars each; None where there is none, or none has a price."""
        return None if self.cost is None or not self.count else self.cost / self.count


@dataclass(frozen=True)
class Report:
    """The facts of a range and of the period before it; every figure on the page is a sum of these."""

    range: Range
    before: Range
    filters: Filters
    buckets: tuple[Bucket, ...]
    facts: tuple[Fact, ...]

    @cached_property
    def total(self) -> Figures:
        """The figures of the whole range."""
        return figures.total(fact.figures for fact in self.facts if fact.bucket != BEFORE)

    @cached_property
    def total_before(self) -> Figures:
        """The figures of the period before, to the same elapsed part."""
        return figures.total(fact.figures for fact in self.facts if fact.bucket == BEFORE)

    @cached_property
    def series(self) -> tuple[Figures, ...]:
        """The figures of each bucket; those of an empty one are 0, its money unknown."""
        parts: list[list[Figures]] = [[] for _bucket in self.buckets]
        for fact in self.facts:
            if fact.bucket != BEFORE:
                parts[fact.bucket].append(fact.figures)
        return tuple(figures.total(part) for part in parts)

    def by(self, *dimensions: str, before: bool = False) -> dict[tuple[str | None, ...], Figures]:
        """The figures by dimensions of IN_FACTS, of the range or of the period `before`."""
        parts: dict[tuple[str | None, ...], list[Figures]] = {}
        for fact in self.facts:
            if (fact.bucket == BEFORE) == before:
                parts.setdefault(tuple(getattr(fact, name) for name in dimensions), []).append(fact.figures)
        return {key: figures.total(part) for key, part in parts.items()}

    def stacked(self, dimension: str) -> list[tuple[int, str | None, Figures]]:
        """The figures by bucket and one dimension of IN_FACTS, in the order of the buckets."""
        parts: dict[tuple[int, str | None], list[Figures]] = {}
        for fact in self.facts:
            if fact.bucket != BEFORE:
                parts.setdefault((fact.bucket, getattr(fact, dimension)), []).append(fact.figures)
        return [(bucket, value, figures.total(part)) for (bucket, value), part in sorted(parts.items(), key=_by_bucket)]


class Reader:
    """Reads reports in one transaction, which should be a snapshot so that all figures agree to the last run.

    `raw`: from the runs alone, which is slow and says the same.
    """

    def __init__(self, tx: Transaction, span: Range, filters: Filters, *, raw: bool = False) -> None:
        tx.execute("rollup.plan")
        self.tx = tx
        self.range = span
        self.before = span.previous()
        self.filters = filters
        self.zone = ranges.zone_of(span.zone)
        self.buckets = span.buckets()
        self._spans: list[Span] = [(item.from_at, item.to_at, n) for n, item in enumerate(self.buckets)]
        self._raw = raw
        # Hours are needed of the open day, and of the day on which the period before ends.
        self._clean = self._load({ranges.day_of(at, self.zone) for at in (span.now, self.before.to_at)})

    def _load(self, hours: set[date] | None) -> Clean:
        day = timedelta(days=1)
        first, last = min(self.before.first, self.range.first) - day, self.range.last + day
        return {} if self._raw else rollup.clean(self.tx, self.zone, first, last, hours=hours)

    def report(self) -> Report:
        """The facts of the range and of the period before."""
        rows = self.rows("costs.facts", IN_FACTS, [(self.before.from_at, self.before.to_at, BEFORE), *self._spans])
        facts = tuple(
            Fact(
                row.bucket, row.kind, row.provider, row.model, row.runtime, row.profile, row.status, figures.of_row(row)
            )
            for row in rows
        )
        return Report(self.range, self.before, self.filters, tuple(self.buckets), facts)

    def facets(self, by: str) -> list[Facet]:
        """The figures by bucket and one dimension of BY_ID."""
        rows = self.rows("costs.facets", {by}, self._spans, by=by)
        return [Facet(row.bucket, row.facet, figures.of_row(row)) for row in rows]

    def dearest(self, by: str) -> list[Dear]:
        """What each project, agent, person or task of the range cost, the dearest first; without names."""
        rows = self.rows("costs.dearest", {by}, [(self.range.from_at, self.range.to_at, 0)], by=by)
        return [Dear(row.id, None, row.cost, row.runs, row.unpriced) for row in rows]

    def timings(self) -> list[Timing]:
        """How long runs took and when their first token came: the whole range, the time BEFORE, and each bucket.

        `measure` is duration or first_token; a bucket without a timed run is left out, which a chart draws as a gap.
        """
        cube = rollup.cube_for(self.filters.dimensions(), rollup.TIMINGS)
        spans = [(self.before.from_at, self.before.to_at, BEFORE), *self._spans]
        cover = rollup.cover(spans, rollup.usable(self._clean, cube, kind="timings"), self.zone)
        rows = self.tx.execute("costs.timings", cube=cube, **cover.params(), **self.filters.params())
        return [
            Timing(row.bucket, row.measure, row.runs, *(milliseconds(slot) for slot in (row.p50, row.p95, row.p99)))
            for row in rows
        ]

    def clock(self) -> list[Slot]:
        """Runs and spend by weekday and hour of the zone."""
        filtered = self.filters.dimensions()
        cube = rollup.cube_for({"hour", *filtered}) or rollup.cube_for(filtered)
        if filtered:
            spans = rollup.by_hour(self.range.from_at, self.range.to_at, self.zone)
            clean = self._load(None)
            hours = rollup.cover(spans, rollup.usable(clean, cube), self.zone)
        else:
            spans = [(self.range.from_at, self.range.to_at, 0)]
            hours = rollup.hourly(rollup.cover(spans, rollup.usable(self._clean, cube), self.zone), self.zone)
        rows = self.tx.execute("costs.clock", cube=cube, **hours.params(), **self.filters.params())
        return [Slot(row.slot // 100, row.slot % 100, row.runs, row.cost, row.unpriced) for row in rows]

    def stretches(self, spans: Sequence[tuple[datetime, datetime]]) -> list[Figures]:
        """The figures of stretches of the range, such as hours, in their order."""
        parts: list[list[Figures]] = [[] for _span in spans]
        self._clean = self._load(None)
        for row in self.rows("costs.facts", IN_FACTS, [(begin, end, n) for n, (begin, end) in enumerate(spans)]):
            parts[row.bucket].append(figures.of_row(row))
        return [figures.total(part) for part in parts]

    def rows(
        self, name: str, dimensions: frozenset[str] | set[str], spans: Sequence[Span], **params: Any
    ) -> Iterator[Any]:
        """The rows of a statement that reads `nexus.run_pieces` over `spans` and needs these dimensions."""
        cube = rollup.cube_for({*dimensions, *self.filters.dimensions()})
        cover = rollup.cover(spans, rollup.usable(self._clean, cube), self.zone)
        yield from self.tx.execute(name, cube=cube, **cover.params(), **(self.filters.params() | params))


def report(scope: Scope, span: Range, filters: Filters | None = None) -> Report:
    """The report of a range in a snapshot of its own."""
    return replica.read(scope, lambda tx: Reader(tx, span, filters or Filters()).report())


def stretches(scope: Scope, report: Report, spans: Sequence[tuple[datetime, datetime]]) -> list[Figures]:
    """The figures of stretches of a report's range, in their order."""
    return replica.read(scope, lambda tx: Reader(tx, report.range, report.filters).stretches(spans))


def agrees(scope: Scope, span: Range) -> bool:
    """Whether the rollup says what the runs say, for the self-check: every fact and percentile of a range."""

    def agree(tx: Transaction) -> bool:
        readers = [Reader(tx, span, Filters(), raw=raw) for raw in (False, True)]
        return readers[0].report() == readers[1].report() and readers[0].timings() == readers[1].timings()

    return replica.read(scope, agree)


def spent(reader: Reader) -> tuple[Decimal, int]:
    """US dollars of the priced runs of the reader's whole range, and how many of its runs ended without a price."""
    span = (reader.range.from_at, reader.range.to_at, 0)
    row = next(reader.rows("costs.daily", frozenset(), [span]), None)
    return (Decimal(0), 0) if row is None else (row.cost or Decimal(0), row.unpriced)


def milliseconds(slot: int) -> float:
    """The middle of a slot of `nexus.time_slot`: at most 2 % from every time in it."""
    return 2 * GAMMA ** (slot - 1) / (GAMMA + 1) if slot else 0.0


def names(tx: Transaction, ids: Sequence[UUID | None]) -> dict[UUID, str]:
    """What people call these projects, agents, people, tasks, conversations; those that are gone have no name."""
    return {row.id: row.name for row in tx.execute("costs.names", ids=[item for item in ids if item is not None])}


def zone(tx: Transaction) -> ZoneInfo:
    """The time zone of the scope's workspace."""
    return rollup.zone(tx)


def _by_bucket(item: tuple[tuple[int, str | None], list[Figures]]) -> tuple[int, str]:
    (bucket, value), _parts = item
    return bucket, value or ""
