"""The words of the Costs page: ranges, figures, changes, and what a chart shows in one sentence."""

from datetime import date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pandas as pd

from nexus_core import l10n
from nexus_core.cards import Card, Value
from nexus_core.costs import Report
from nexus_core.figures import Figures
from nexus_core.i18n import _, pgettext
from nexus_core.panels import Panel
from nexus_core.ranges import Range
from nexus_core.text import clip
from pages.components import figures

MANY = 1_000_000


def range_names() -> dict[str, str]:
    """The ranges that a person chooses from."""
    return {
        "today": _("Today"), "7d": _("7 d"), "30d": _("30 d"), "90d": _("90 d"), "month": _("Month"),
        "last_month": _("Last month"), "year": _("Year"), "365d": _("12 months"), "own": _("Own"),
    }  # fmt: skip


def days(span: Range) -> str:
    """The days of a range: 2026-06-01, or 2026-06-01 – 2026-06-30."""
    first, last = l10n.day(span.first), l10n.day(span.last)
    return first if span.first == span.last else f"{first} – {last}"


def grain(span: Range) -> str:
    """How the range is cut up."""
    return {"hour": _("by hour"), "day": _("by day"), "week": _("by week"), "month": _("by month")}[span.grain]


def money(amount: Decimal | int | float | None, *, at_least: bool = False) -> str:
    """US dollars: $0.00, $12.30, $1.25M, ≥ $12.30; "unpriced" when unknown."""
    if amount is None:
        return _("unpriced")
    exact = Decimal(str(amount)) if isinstance(amount, float) else Decimal(amount)
    if abs(exact) >= MANY:
        before, after = l10n.sides()
        text = f"{before}{l10n.number(exact / MANY, 2)}M{after}"
    else:
        text = figures.money(exact) if exact else l10n.money(exact)
    return _("≥ {amount}").format(amount=text) if at_least else text


def value(amount: Value, unit: str, *, at_least: bool = False) -> str:
    """A figure in its unit; a dash where nothing tells it."""
    if unit == "money":
        return money(amount, at_least=at_least)
    if amount is None:
        return "–"
    if unit == "ms":
        return _milliseconds(float(amount))
    return share(float(amount)) if unit == "share" else _count(int(amount))


def share(amount: float | None) -> str:
    """1.8 %; a dash where there is no whole."""
    return "–" if amount is None else _("{share} %").format(share=l10n.significant(amount * 100, 3))


def change(card: Card) -> str:
    """The change against the period before: +12 %, −0.3 points, new; empty where both were nothing."""
    if card.is_new:
        return _("new")
    if card.change is None:
        return ""
    if card.unit == "share":
        return _("{points} points").format(points=_signed(card.change * 100, 1))
    return _("{share} %").format(share=_signed(card.change * 100, 0))


def percent(part: float) -> str:
    """A signed share: +12 %, −3.4 %."""
    return _("{share} %").format(share=_signed(part * 100, 1))


def known(amount: Decimal | None) -> str:
    """US dollars, or a dash where no run tells any."""
    return "–" if amount is None else money(amount)


def more(card: Card, report: Report) -> str:
    """What a card adds to its figure."""
    total = report.total
    if card.name == "spend" and total.unpriced:
        return _("{n} runs unpriced").format(n=l10n.number(total.unpriced))
    if card.name == "runs":
        return _("{n} requests").format(n=_count(total.requests))
    if card.name == "tokens":
        return _tokens(total)
    if card.name == "unpriced":
        return _("{n} runs").format(n=l10n.number(total.unpriced))
    return ""


def sentence(panel: Panel, report: Report) -> str:
    """What a chart shows, for people who do not see it: total and largest part, or that there is nothing."""
    span = f"{days(report.range)}, {report.range.zone}"
    frame = panel.frame
    known = frame[[item is not None for item in frame[panel.value]]] if len(frame) else frame
    if known.empty or not report.total.runs:
        return _("{title}, {span}: nothing to show.").format(title=panel.title, span=span)
    if panel.unit == "ms":
        low, high = min(known["p50"]), max(known["p95"])
        text = _("{title}, {span}: medians from {low}, 95th percentiles up to {high}.")
        return text.format(title=panel.title, span=span, low=value(low, "ms"), high=value(high, "ms"))
    if panel.name == "forecast":
        last = frame.iloc[-1]
        text = _("Spend this month: expected {expected} at its end, between {low} and {high} four times in five.")
        return text.format(expected=money(last["expected"]), low=money(last["low"]), high=money(last["high"]))
    return _("{title}, {span}: {largest}.").format(title=panel.title, span=span, largest=_largest(known, panel))


def columns() -> dict[str, str]:
    """What people call the columns of the tables; files keep the names that programs read."""
    return {
        "start": _("From"), "open": _("Still open"), "key": _("Name"), "runs": _("Runs"), "requests": _("Requests"),
        "priced": _("Priced"), "unpriced": _("Unpriced"), "without_usage": _("Without usage"), "cost": _("Spend"),
        "input_tokens": _("Input"), "cached_tokens": _("Cached"), "cache_write_tokens": _("Cache write"),
        "output_tokens": _("Output"), "reasoning_tokens": _("Reasoning"), "priced_tokens": _("Priced tokens"),
        "retries": _("Retries"), "retry_cost": _("Spend on retries"), "stopped": _("Stopped"), "tokens": _("Tokens"),
        "conversation_cost": _("Spend in conversations"), "weekday": _("Weekday"), "hour": _("Hour"),
        "day": _("Day"), "spent": _("Spent"), "expected": _("Expected"), "low": _("At least"), "high": _("At most"),
        "change": pgettext("a figure", "Change"), "share": _("Share"),
    }  # fmt: skip


def hour_of(begin: datetime, end: datetime, zone: ZoneInfo) -> str:
    """One hour of one day: Tue 2026-06-02, 14:00 – 15:00."""
    first, last = begin.astimezone(zone), end.astimezone(zone)
    return f"{l10n.weekday(first)}, {l10n.clock(first)} – {l10n.clock(last)}"


def name_of_file(name: str, first: date, last: date) -> str:
    """The name of a file without its ending: nexus-costs-spend-2026-06-01-2026-06-30."""
    return f"nexus-costs-{name.replace('_', '-')}-{first}-{last}"


def _tokens(total: Figures) -> str:
    """23.2M in, 7.7M cached · 4.8M out, 187k reasoning, as far as it is known."""
    sides = (
        (_("{n} in"), total.input_tokens, _("{n} cached"), total.cached_tokens),
        (_("{n} out"), total.output_tokens, _("{n} reasoning"), total.reasoning_tokens),
    )
    words = []
    for whole, number, part, some in sides:
        if number is not None:
            inner = "" if some is None else ", " + part.format(n=figures.count(some))
            words.append(whole.format(n=figures.count(number)) + inner)
    return " · ".join(words)


def _largest(frame: pd.DataFrame, panel: Panel) -> str:
    if panel.name == "clock":
        top = max(frame.to_dict("records"), key=lambda row: row["runs"])
        return _("most at hour {hour} of weekday {day}, {n} runs").format(
            hour=top["hour"], day=top["weekday"], n=top["runs"]
        )
    sums: dict[str, Decimal] = {}
    for key, amount in zip(frame["key"], frame[panel.value], strict=True):
        sums[key] = sums.get(key, Decimal(0)) + Decimal(amount)
    top = sorted(sums.items(), key=lambda item: -item[1])[:3]
    first = ", ".join(f"{clip(key, 40)} {value(part, panel.unit)}" for key, part in top)
    if panel.name == "why":
        return first
    return _("{total} in all, most {first}").format(
        total=value(sum(sums.values(), Decimal(0)), panel.unit), first=first
    )


def _milliseconds(ms: float) -> str:
    return _("{ms} ms").format(ms=l10n.number(round(ms))) if ms < 1000 else figures.duration(round(ms))


def _count(number: int) -> str:
    return figures.count(number) if number >= 100_000 else l10n.number(number)


def _signed(number: float, digits: int) -> str:
    rounded = round(number, digits)
    if abs(rounded) >= 1000:
        return l10n.signed(rounded)
    return l10n.signed(rounded, digits) if rounded else "±0"
