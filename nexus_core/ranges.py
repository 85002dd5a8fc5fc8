"""Ranges of time as people name them: half-open, in the days of a time zone, cut into buckets."""

from calendar import monthrange
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from nexus_core.errors import Invalid
from nexus_core.i18n import _

NAMES = ("today", "7d", "30d", "90d", "365d", "month", "last_month", "year", "own")
GRAINS = ("hour", "day", "week", "month")
_LENGTHS = {"today": 1, "7d": 7, "30d": 30, "90d": 90, "365d": 365}
_LONGEST = 3660  # days
_CLOCK = timedelta(hours=1)


@dataclass(frozen=True)
class Bucket:
    """One column of a chart: [`from_at`, `to_at`) in UTC; `start` is the same beginning on the zone's clock.

    `open`: the bucket is not over, or the range cuts it short, so it is not to be compared with the others.
    """

    start: datetime
    from_at: datetime
    to_at: datetime
    open: bool


@dataclass(frozen=True)
class Range:
    """[`from_at`, `to_at`) in UTC, from `first` to `last` (both included) in the days of `zone`, an IANA name.

    `now` is the moment that the range was made for; `grain` is hour, day, week (from Monday) or month.
    """

    name: str
    zone: str
    first: date
    last: date
    from_at: datetime
    to_at: datetime
    grain: str
    now: datetime

    @property
    def days(self) -> int:
        """How many days of the calendar it has."""
        return (self.last - self.first).days + 1

    @property
    def is_open(self) -> bool:
        """Whether it holds the present moment."""
        return self.from_at <= self.now < self.to_at

    def buckets(self) -> list[Bucket]:
        """Its buckets, oldest first, without a gap; those at the ends are cut off by the range."""
        return [self._bucket(*cut) for cut in self._cuts()]

    def previous(self) -> "Range":
        """The range just before: as many days (or the month or year before), to the same elapsed part when open."""
        zone = zone_of(self.zone)
        first, last = (_back(self, day) for day in (self.first, self.last))
        if self.name in ("month", "last_month"):
            last = first.replace(day=monthrange(first.year, first.month)[1])
        to_at = start_of(last + timedelta(days=1), zone)
        if self.is_open:
            here = self.now.astimezone(zone)
            there = datetime.combine(_back(self, here.date()), here.time(), zone).replace(fold=here.fold)
            to_at = min(to_at, there.astimezone(UTC))
        return replace(self, first=first, last=last, from_at=start_of(first, zone), to_at=to_at)

    def _bucket(self, start: datetime, end: datetime) -> Bucket:
        begin, stop = max(start, self.from_at), min(end, self.to_at)
        is_open = begin != start or stop != end or begin <= self.now < stop
        return Bucket(begin.astimezone(zone_of(self.zone)), begin, stop, is_open)

    def _cuts(self) -> list[tuple[datetime, datetime]]:
        zone = zone_of(self.zone)
        if self.grain == "hour":
            days = [self.first + timedelta(days=n) for n in range(self.days)]
            return [(begin, end) for day in days for begin, end, _hour in hours_of(day, zone) if begin < self.to_at]
        cuts, at = [], _floor(self.first, self.grain)
        while at <= self.last:
            after = _next(at, self.grain)
            cuts.append((start_of(at, zone), start_of(after, zone)))
            at = after
        return [(begin, end) for begin, end in cuts if begin < min(end, self.to_at) and end > self.from_at]


def make(
    name: str,
    zone: str,
    now: datetime,
    *,
    first: date | None = None,
    last: date | None = None,
    grain: str | None = None,
) -> Range:
    """The range `name` as seen at `now`, an aware instant; `first` and `last` (both included) are those of "own".

    Raises Invalid for an unknown name, zone or grain and for days that are missing, reversed or more than ten years.
    """
    info = zone_of(zone)
    today = now.astimezone(info).date()
    first, last = _days(name, today, first, last)
    length = (last - first).days + 1
    fitting = "hour" if length <= 2 else "day" if length <= 92 else "week" if length <= 366 else "month"
    if grain not in (None, *GRAINS) or (grain == "hour" and length > 31):
        raise Invalid(_("This grain does not fit the range."), field="grain")
    ends = start_of(first, info), start_of(last + timedelta(days=1), info)
    return Range(name, zone, first, last, *ends, grain or fitting, now.astimezone(UTC))


def zone_of(name: str) -> ZoneInfo:
    """The time zone with this IANA name; raises Invalid."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise Invalid(_("There is no time zone {name}.").format(name=name), field="time_zone") from error


@lru_cache(maxsize=4096)
def start_of(day: date, zone: ZoneInfo) -> datetime:
    """The first instant of a day, in UTC; where its midnight is skipped, the instant of the skip."""
    return datetime.combine(day, time(), zone).astimezone(UTC)


def day_of(instant: datetime, zone: ZoneInfo) -> date:
    """The day that holds an instant, by the days' first instants: unlike the clock, it never goes back."""
    day = instant.astimezone(zone).date()
    return day + timedelta(days=1) if instant >= start_of(day + timedelta(days=1), zone) else day


@lru_cache(maxsize=4096)
def hours_of(day: date, zone: ZoneInfo) -> tuple[tuple[datetime, datetime, int], ...]:
    """A day's hours by the zone's clock as (from, to, hour): 24, or 23 or 25 where the clock is moved."""
    at, end = start_of(day, zone), start_of(day + timedelta(days=1), zone)
    found = []
    while at < end:
        local = at.astimezone(zone)
        after = min(end, at + _CLOCK - timedelta(minutes=local.minute, seconds=local.second))
        found.append((at, after, local.hour))
        at = after
    return tuple(found)


def _days(name: str, today: date, first: date | None, last: date | None) -> tuple[date, date]:
    if name in _LENGTHS:
        return today - timedelta(days=_LENGTHS[name] - 1), today
    if name == "month":
        return today.replace(day=1), today.replace(day=monthrange(today.year, today.month)[1])
    if name == "last_month":
        end = today.replace(day=1) - timedelta(days=1)
        return end.replace(day=1), end
    if name == "year":
        return today.replace(month=1, day=1), today.replace(month=12, day=31)
    if name != "own" or first is None or last is None:
        raise Invalid(_("Choose a range, or its first and last day."), field="range")
    if last < first or (last - first).days >= _LONGEST:
        raise Invalid(_("A range ends after it begins and has ten years at most."), field="range")
    return first, last


def _back(span: Range, day: date) -> date:
    """The day of the range before that answers to `day`."""
    if span.name == "year":
        return day.replace(year=day.year - 1, day=28 if (day.month, day.day) == (2, 29) else day.day)
    if span.name in ("month", "last_month"):
        before = day.replace(day=1) - timedelta(days=1)
        return before.replace(day=min(day.day, before.day))
    return day - timedelta(days=span.days)


def _floor(day: date, grain: str) -> date:
    if grain == "month":
        return day.replace(day=1)
    return day - timedelta(days=day.weekday()) if grain == "week" else day


def _next(day: date, grain: str) -> date:
    if grain == "month":
        return (day.replace(day=28) + timedelta(days=4)).replace(day=1)
    return day + timedelta(days=7 if grain == "week" else 1)
