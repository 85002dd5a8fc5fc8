"""Numbers, money, days and times as the current language writes them, by Unicode's data (Babel).

English keeps ISO 8601 days and 24 hours, which all who read it write alike; what
programs read goes through none of this.
"""

from datetime import date, datetime
from decimal import Decimal
from functools import cache
from typing import Any

from babel import Locale, dates, numbers

from nexus_core.i18n import language

_DAYS = {"en": "yyyy-MM-dd", "es": "d MMM y"}
_JOINS = {"en": " ", "es": ", "}
_GRID_DAYS = {"en": "YYYY-MM-DD", "es": "DD/MM/YYYY"}


def number(value: Decimal | float, digits: int = 0) -> str:
    """1,234 or 1.234; with `digits` after the point, however many are 0."""
    return numbers.format_decimal(value, _digits(digits), locale=language())


def signed(value: Decimal | float, digits: int = 0) -> str:
    """+1,234 or −1,234."""
    return f"{'−' if value < 0 else '+'}{number(value if value > 0 else -value, digits)}"


def significant(value: float, digits: int) -> str:
    """So many digits that tell something, without zeros at the end: 0.123, 12.3, 1.23e+05."""
    text = f"{value:.{digits}g}"
    return text if "e" in text else number(Decimal(text), len(text.partition(".")[2]))


def percent(value: float) -> str:
    """80% or 80 %, of a share from 0 to 1."""
    return numbers.format_percent(value, locale=language())


def money(amount: Decimal, digits: int = 2) -> str:
    """US dollars: $1,234.50 or 1.234,50 US$."""
    before, after = sides()
    return f"{'-' if amount < 0 else ''}{before}{number(abs(amount), digits)}{after}"


def sides() -> tuple[str, str]:
    """What stands before and after an amount of US dollars."""
    pattern = _locale(language()).currency_formats["standard"].pattern
    symbol = numbers.get_currency_symbol("USD", locale=language())
    return (symbol, "") if pattern.startswith("¤") else ("", f"\xa0{symbol}")


def point() -> str:
    """What stands before the fraction of a number."""
    return numbers.get_decimal_symbol(language())


def grouping() -> str:
    """What stands between thousands."""
    return numbers.get_group_symbol(language())


def day(at: date) -> str:
    """2026-06-01 or 1 jun 2026; of an instant, in its own zone."""
    return dates.format_date(at, _DAYS[language()], locale=language())


def written_day(text: str) -> str:
    """A day that somebody wrote as 2026-06-01; as they wrote it where it is none."""
    try:
        return day(date.fromisoformat(text))
    except ValueError:
        return text


def weekday(at: date) -> str:
    """Mon 2026-06-01 or lun 1 jun 2026."""
    return dates.format_date(at, f"EEE {_DAYS[language()]}", locale=language())


def clock(at: datetime, *, seconds: bool = False) -> str:
    """14:03, or 14:03:09, in the instant's own zone."""
    return f"{at:%H:%M:%S}" if seconds else f"{at:%H:%M}"


def instant(at: datetime, *, seconds: bool = False) -> str:
    """2026-06-01 14:03 or 1 jun 2026, 14:03, in the instant's own zone."""
    return f"{day(at)}{_JOINS[language()]}{clock(at, seconds=seconds)}"


def grid(time: str = "", *, year: bool = True) -> str:
    """How Streamlit's tables and date inputs are told to write days, followed by `time` (HH:mm)."""
    if not year:
        return {"en": "MMM D, {}", "es": "DD/MM {}"}[language()].format(time)
    return f"{_GRID_DAYS[language()]} {time}".rstrip()


def weekdays() -> list[str]:
    """The names of the days in short, Monday first."""
    names = _locale(language()).days["stand-alone"]["abbreviated"]
    return [names[n] for n in range(7)]


def plotly() -> dict[str, Any]:
    """The language for a chart's config: its locale, and the names and marks that plotly does not bring along."""
    found = _locale(language())
    sunday_first = (6, 0, 1, 2, 3, 4, 5)
    months, days = found.months["stand-alone"], found.days["stand-alone"]
    names = {
        "months": [months["wide"][n] for n in range(1, 13)],
        "shortMonths": [months["abbreviated"][n] for n in range(1, 13)],
        "days": [days["wide"][n] for n in sunday_first],
        "shortDays": [days["abbreviated"][n] for n in sunday_first],
        "decimal": point(),
        "thousands": grouping(),
    }
    return {"locale": language(), "locales": {language(): {"dictionary": {}, "format": names}}}


@cache
def _locale(code: str) -> Locale:
    return Locale.parse(code)


@cache
def _digits(digits: int) -> str:
    return "#,##0" + ("." + "0" * digits if digits else "")
