"""Where this month's spend is heading, and why spend changed; pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from math import isclose, log, sqrt

from nexus_core.figures import Figures

HISTORY = 56  # closed days that a forecast looks back on: eight of each weekday
LEAST = 14
BAND = 1.2816  # standard deviations on either side that hold 80 % of a normal distribution


@dataclass(frozen=True)
class Point:
    """US dollars from the first of the month to the end of `day`: what was `spent`, or, for today and the days to come,
    what is expected, with its band."""

    day: date
    spent: Decimal | None = None
    expected: Decimal | None = None
    low: Decimal | None = None
    high: Decimal | None = None


@dataclass(frozen=True)
class Forecast:
    """US dollars at the end of the month of `today`: `spent` by now, `expected`, and the band that holds 4 times in 5.

    `days` is how many closed days it rests on; `course` leads to the end of the month, a point for each of its days.
    """

    spent: Decimal
    expected: Decimal
    low: Decimal
    high: Decimal
    days: int
    course: tuple[Point, ...] = ()


@dataclass(frozen=True)
class Why:
    """How much of the change of priced spend (US dollars) comes from what; the four add up to `after` - `before`."""

    before: Decimal
    after: Decimal
    volume: float
    mix: float
    tokens: float
    price: float

    def shares(self) -> dict[str, float] | None:
        """Each cause as a share of the spend before (0.1: 10 % more); None when there was none."""
        if not self.before:
            return None
        return {name: getattr(self, name) / float(self.before) for name in ("volume", "mix", "tokens", "price")}


def forecast(daily: Mapping[date, Decimal | None], today: date) -> Forecast | None:
    """This month's spend at its end, from the spend of each day; None with fewer than 14 closed days before today.

    Each day to come is expected to cost the mean of the last closed days (56 at most) of its weekday, today at least
    what it has cost by now. Band: ±1.2816 s √(n + n² / N), the prediction interval of a sum of n days whose weekday
    means were estimated from N days with a pooled standard deviation s (about seven degrees of freedom are spent).
    """
    first_known = min(daily, default=today)
    closed = [today - timedelta(days=n) for n in range(1, HISTORY + 1) if today - timedelta(days=n) >= first_known]
    if len(closed) < LEAST:
        return None
    spent = {day: float(daily.get(day) or 0) for day in (*closed, today)}
    means = {}
    for weekday in range(7):
        values = [spent[day] for day in closed if day.weekday() == weekday]
        means[weekday] = sum(values) / len(values)
    squares = sum((spent[day] - means[day.weekday()]) ** 2 for day in closed)
    deviation = sqrt(squares / max(len(closed) - 7, 1))
    *course, now = _past(daily, today)
    by_now = low = high = now.spent or Decimal(0)
    expected = float(by_now) + max(means[today.weekday()] - spent[today], 0.0)
    for ahead, day in enumerate((today, *_month_after(today)), start=1):
        expected += means[day.weekday()] if ahead > 1 else 0.0
        spread = BAND * deviation * sqrt(ahead + ahead**2 / len(closed))
        low, high = max(by_now, _money(expected - spread)), _money(expected + spread)
        course.append(Point(day, by_now if day == today else None, _money(expected), low, high))
    return Forecast(by_now, _money(expected), low, high, len(closed), tuple(course))


def why(before: Mapping[tuple[str | None, ...], Figures], after: Mapping[tuple[str | None, ...], Figures]) -> Why:
    """Take the change of spend apart by cause, exactly: spend = Σ runs × share × tokens per run × price per token.

    Additive LMDI-I (B. W. Ang, "The LMDI approach to decomposition analysis: a practical guide", Energy Policy 33,
    2005): each cause x of model m adds L(c1, c0) · ln(x1 / x0), where L(a, b) = (a - b) / (ln a - ln b). A model that
    is new or gone is a change of mix (the limit of the formula for a share of 0), one that began or ceased to be free
    a change of price. Runs without a price are left out on both sides.
    """
    runs0, runs1 = (sum(item.priced for item in side.values()) for side in (before, after))
    cost0, cost1 = (sum((item.cost or Decimal(0) for item in side.values()), Decimal(0)) for side in (before, after))
    effects = dict.fromkeys(("volume", "mix", "tokens", "price"), 0.0)
    if not runs0 or not runs1:
        effects["volume"] = float(cost1 - cost0)
        return Why(cost0, cost1, **effects)
    for key in before.keys() | after.keys():
        old, new = before.get(key, Figures()), after.get(key, Figures())
        c0, c1 = float(old.cost or 0), float(new.cost or 0)
        if not c0 or not c1:
            effects["price" if old.priced and new.priced else "mix"] += c1 - c0
            continue
        weight = c0 if isclose(c0, c1, rel_tol=1e-12) else (c1 - c0) / log(c1 / c0)
        told = old.priced_tokens > 0 and new.priced_tokens > 0
        per_run0, per_run1 = ((item.priced_tokens / item.priced if told else 1.0) for item in (old, new))
        effects["volume"] += weight * log(runs1 / runs0)
        effects["mix"] += weight * log((new.priced / runs1) / (old.priced / runs0))
        effects["tokens"] += weight * log(per_run1 / per_run0)
        effects["price"] += weight * log((c1 / (new.priced * per_run1)) / (c0 / (old.priced * per_run0)))
    return Why(cost0, cost1, **effects)


def _money(value: float) -> Decimal:
    return Decimal(repr(round(value, 10)))


def _past(daily: Mapping[date, Decimal | None], today: date) -> Iterator[Point]:
    """What was spent from the first of the month to the end of each of its days, up to now."""
    together = Decimal(0)
    for n in range(1, today.day + 1):
        together += daily.get(today.replace(day=n)) or Decimal(0)
        yield Point(today.replace(day=n), together)


def _month_after(today: date) -> list[date]:
    days = [today + timedelta(days=n) for n in range(1, 32)]
    return [day for day in days if (day.year, day.month) == (today.year, today.month)]
