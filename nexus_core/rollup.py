"""Sums of closed days and hours, exact at every moment: what changed since is read from the runs."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from nexus_core import ranges
from nexus_core.database import Scope, Transaction, transaction
from nexus_core.errors import NotFound
from nexus_core.i18n import _

FOLD = 20_000  # marks taken away in one transaction

# The dimensions that each cube of the rollup keeps, the smallest first.
_MODEL = frozenset({"kind", "status", "provider", "model", "runtime", "profile"})
CUBES: dict[str, frozenset[str]] = {
    "all": frozenset(),
    "clock": frozenset({"hour"}),
    "model": _MODEL,
    "agent": frozenset({"agent"}),
    "task": frozenset({"project", "task"}),
    "person": frozenset({"person"}),
    "project": _MODEL | {"project"},
    "work": frozenset({"kind", "status", "project", "agent"}),
}
TIMINGS: dict[str, frozenset[str]] = {"all": frozenset(), "model": _MODEL, "project": frozenset({"project"})}
_HOURLY = (("costs", "model"), ("timings", "all"))  # what hours of closed days keep

Span = tuple[datetime, datetime, int]
Clean = Mapping[tuple[datetime, datetime], bool]


@dataclass(frozen=True)
class Cover:
    """Where a report is read: whole units from the rollup, other stretches from the runs, each with its bucket."""

    units: list[Span] = field(default_factory=list)
    rest: list[Span] = field(default_factory=list)

    def params(self) -> dict[str, Any]:
        """As parameters of the statements that read `nexus.run_pieces`."""
        names = ("unit_from", "unit_to", "unit_buckets", "from_at", "to_at", "buckets")
        columns = [[item[n] for item in part] for part in (self.units, self.rest) for n in range(3)]
        return dict(zip(names, columns, strict=True))


def cube_for(dimensions: Iterable[str], cubes: dict[str, frozenset[str]] = CUBES) -> str | None:
    """The smallest cube that keeps all `dimensions`; None: only the runs know them together."""
    wanted = set(dimensions)
    return next((name for name, kept in cubes.items() if wanted <= kept), None)


def clean(tx: Transaction, zone: ZoneInfo, first: date, last: date, *, hours: Collection[date] | None = None) -> Clean:
    """The units from `first` to `last` whose sums hold, as this transaction's snapshot sees them; True: all cubes.

    Hours are many: given `hours`, those of these days alone, at the price of reading runs where another day is void.
    """
    ends = None if hours is None else [_ends(day, zone) for day in hours]
    rows = tx.execute(
        "rollup.clean",
        from_at=ranges.start_of(first, zone),
        to_at=_ends(last, zone)[1],
        hours_from=None if ends is None else [begin for begin, _end in ends],
        hours_to=None if ends is None else [end for _begin, end in ends],
    )
    return {(row.from_at, row.to_at): row.whole for row in rows}


def usable(clean: Clean, cube: str | None, *, kind: str = "costs") -> Clean:
    """Of the clean units those that keep `cube`; None: there is no such cube."""
    if cube is None:
        return {}
    return clean if (kind, cube) in _HOURLY else {unit: True for unit, whole in clean.items() if whole}


def cover(spans: Sequence[Span], clean: Clean, zone: ZoneInfo) -> Cover:
    """Take each span (from, to, bucket) apart: its clean days, clean hours of its other days, and what is left."""
    found = Cover()
    for span in spans:
        at, day = span[0], ranges.day_of(span[0], zone)
        while (ends := _ends(day, zone))[0] < span[1]:
            units = (
                [ends] if ends in clean and _within(ends, span) else [hour[:2] for hour in ranges.hours_of(day, zone)]
            )
            for unit in units:
                if unit in clean and _within(unit, span):
                    _add(found.rest, at, unit[0], span[2])
                    found.units.append((*unit, span[2]))
                    at = unit[1]
            day += timedelta(days=1)
        _add(found.rest, at, span[1], span[2])
    return found


def hourly(found: Cover, zone: ZoneInfo) -> Cover:
    """A cover by weekday and hour: buckets are weekday × 100 (+ hour, unless the cube tells it), Monday being 1."""
    units = [(*unit[:2], ranges.day_of(unit[0], zone).isoweekday() * 100) for unit in found.units]
    return Cover(units, [part for stretch in found.rest for part in by_hour(stretch[0], stretch[1], zone)])


def by_hour(from_at: datetime, to_at: datetime, zone: ZoneInfo) -> list[Span]:
    """A stretch of time cut at the hours of the zone's clock, each part with weekday × 100 + hour as its bucket."""
    parts: list[Span] = []
    day = ranges.day_of(from_at, zone)
    while ranges.start_of(day, zone) < to_at:
        for begin, end, hour in ranges.hours_of(day, zone):
            _add(parts, max(begin, from_at), min(end, to_at), day.isoweekday() * 100 + hour)
        day += timedelta(days=1)
    return parts


def zone(tx: Transaction) -> ZoneInfo:
    """The time zone of the scope's workspace; raises NotFound."""
    name = tx.execute("rollup.zone").scalar()
    if name is None:
        raise NotFound(_("There is no such workspace here."))
    return ranges.zone_of(name)


def refresh(scope: Scope, now: datetime, *, limit: int | None = None) -> int:
    """Sum up what changed in the scope's workspace: today's hours that are over and at most `limit` days, the newest
    first; returns how many units were made.

    For the worker's timer and after large changes. Reports are right without it, only slower. Each step is a short
    transaction of its own that may be repeated or left undone.
    """
    while fold(scope) == FOLD:
        pass
    with transaction(scope) as tx:
        info = zone(tx)
        oldest = tx.execute("rollup.oldest").scalar()
        if oldest is None:
            return 0
        today, first = ranges.day_of(now, info), ranges.day_of(oldest, info)
        known = clean(tx, info, first, today)
    hours = [hour[:2] for hour in ranges.hours_of(today, info) if hour[1] <= now and hour[:2] not in known]
    days = [today - timedelta(days=n) for n in range(1, (today - first).days + 1)]
    missing = [day for day in days if _ends(day, info) not in known and _ends(day, info)[0] < _ends(day, info)[1]]
    for unit in hours:
        with transaction(scope) as tx:
            _sum_unit(tx, *unit, info)
    for day in missing[:limit]:
        with transaction(scope) as tx:
            sum_day(tx, day, info)
    return len(hours) + len(missing[:limit])


def refresh_all(now: datetime, *, limit: int | None = None) -> int:
    """`refresh` for every workspace, `limit` days of each; for the worker's timer."""
    with transaction(Scope.system()) as tx:
        found: list[UUID] = [row.id for row in tx.execute("rollup.workspaces")]
    return sum(refresh(Scope(workspace_id, None, "system", "worker"), now, limit=limit) for workspace_id in found)


def fold(scope: Scope) -> int:
    """Take up to FOLD marks away: their units are summed up anew later, their conversations at once."""
    with transaction(scope) as tx:
        tx.execute("rollup.lock")
        row = tx.execute("rollup.fold", limit=FOLD).one()
        if row.ids:
            tx.execute("rollup.sum_conversations", ids=row.ids)
        return int(row.marks)


def sum_day(tx: Transaction, day: date, zone: ZoneInfo) -> None:
    """Sum up one closed day and each of its hours from its runs, in place of earlier sums."""
    ends = _ends(day, zone)
    hours = _sum_unit(tx, *ends, zone)
    tx.execute("rollup.add_hours", **hours)
    tx.execute("rollup.sum_hours", **hours)
    tx.execute("rollup.time_hours", **hours)


def _sum_unit(tx: Transaction, from_at: datetime, to_at: datetime, zone: ZoneInfo) -> dict[str, Any]:
    """Sum up one unit in every cube; returns what its hours are to the statements."""
    hours = [hour for hour in ranges.hours_of(ranges.day_of(from_at, zone), zone) if from_at <= hour[0] < to_at]
    starts, ends, labels = (list(column) for column in zip(*hours, strict=True))
    unit = {"from_at": from_at, "to_at": to_at, "starts": starts, "ends": ends, "hours": labels}
    tx.execute("rollup.lock")
    tx.execute("rollup.plan")
    for step in _STEPS:
        tx.execute(step, **unit)
    return unit


_STEPS = ("rollup.forget_units", "rollup.add_unit", "rollup.sum_unit", "rollup.time_unit")


def _ends(day: date, zone: ZoneInfo) -> tuple[datetime, datetime]:
    return ranges.start_of(day, zone), ranges.start_of(day + timedelta(days=1), zone)


def _within(unit: tuple[datetime, datetime], span: Span) -> bool:
    return span[0] <= unit[0] and unit[1] <= span[1]


def _add(rest: list[Span], from_at: datetime, to_at: datetime, bucket: int) -> None:
    if from_at < to_at:
        rest.append((from_at, to_at, bucket))
