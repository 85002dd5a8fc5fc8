"""Figures as people read them: money, durations, tokens, times; what is unknown is said to be so."""

from datetime import UTC, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from nexus_core.i18n import _


def money(amount: Decimal | None) -> str:
    """US dollars with as many digits as tell something: $12.30, $0.0021, $0.000014; "unpriced" when unknown."""
    if amount is None:
        return _("unpriced")
    if amount == 0:
        return _("free")
    if abs(amount) >= 1:
        return f"${amount:,.2f}"
    digits = max(2, 1 - amount.adjusted())
    return f"${amount:.{digits}f}"


def duration(milliseconds: int | None) -> str:
    """0.3 s, 12 s, 2 min 5 s; empty when unknown."""
    if milliseconds is None:
        return ""
    seconds = milliseconds / 1000
    if seconds < 10:
        return _("{seconds} s").format(seconds=f"{max(seconds, 0.1):.1f}")
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
            scaled = f"{number / size:.1f}".removesuffix(".0") if number < 100 * size else f"{number / size:.0f}"
            return f"{scaled}{unit}"
    return str(number)


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
        return f"{local:%H:%M}"
    return _("Yesterday") if days == 1 else f"{local:%Y-%m-%d}"


def moment(at: datetime) -> str:
    """Time of day, with the date unless it is today, in the browser's time zone."""
    local = at.astimezone(zone())
    return f"{local:%H:%M}" if local.date() == datetime.now(local.tzinfo).date() else f"{local:%Y-%m-%d %H:%M}"
