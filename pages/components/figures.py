"""Figures as people read them: money, durations, tokens, times; what is unknown is said to be so."""

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from nexus_core import l10n
from nexus_core.i18n import _


def money(amount: Decimal | None) -> str:
    """US dollars with as many digits as tell something: $12.30, $0.0021, $0.000014; "unpriced" when unknown."""
    if amount is None:
        return _("unpriced")
    if amount == 0:
        return _("free")
    return l10n.money(amount, 2 if abs(amount) >= 1 else max(2, 1 - amount.adjusted()))


def duration(milliseconds: int | None) -> str:
    """0.3 s, 12 s, 2 min 5 s; empty when unknown."""
    if milliseconds is None:
        return ""
    seconds = milliseconds / 1000
    if seconds < 10:
        return _("{seconds} s").format(seconds=l10n.number(max(seconds, 0.1), 1))
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return _("{seconds} s").format(seconds=rest)
    return _("{minutes} min {seconds} s").format(minutes=minutes, seconds=rest)


def count(number: int | None) -> str:
    """812, 6.2k, 41.3M; "?" when unknown."""
    if number is None:
        return "?"
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            scaled = round(number / size, 1 if number < 100 * size else 0)
            return f"{l10n.number(scaled, 0 if scaled.is_integer() else 1)}{unit}"
    return str(number)


def fixed(digits: int, unit: str = "") -> Callable[[float | None], str]:
    """How a table writes numbers of so many digits after the point, for pandas' Styler: in US dollars for "$"."""

    def write(number: float | None) -> str:
        if number is None or number != number:
            return ""
        return l10n.money(Decimal(repr(number)), digits) if unit == "$" else f"{l10n.number(number, digits)}{unit}"

    return write


def zone() -> ZoneInfo:
    """The time zone of the browser; UTC where it tells none."""
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


def when(at: datetime, now: datetime | None = None) -> str:
    """The time of today, "Yesterday", or the date, in the browser's time zone."""
    local = at.astimezone(zone())
    today = (now or datetime.now(UTC)).astimezone(local.tzinfo).date()
    days = (today - local.date()).days
    if days == 0:
        return l10n.clock(local)
    return _("Yesterday") if days == 1 else l10n.day(local)


def moment(at: datetime) -> str:
    """Time of day, with the date unless it is today, in the browser's time zone."""
    local = at.astimezone(zone())
    return l10n.clock(local) if local.date() == datetime.now(local.tzinfo).date() else l10n.instant(local)
