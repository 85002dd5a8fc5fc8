"""What the address of the Costs page says: range, filters, main dimension; the only place where they are kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

import streamlit as st

from nexus_core import filters, panels, ranges
from nexus_core.errors import Invalid
from nexus_core.filters import Filters
from nexus_core.ranges import Range

DEFAULT = "30d"
VIEW = ("range", "first", "last", "by", *filters.PARAMETERS)  # what a saved view keeps


@dataclass(frozen=True)
class State:
    """A range, its filters, and the dimension of the main chart; `notice` says what of the address was not usable."""

    span: Range
    filters: Filters
    by: str
    notice: str = ""


def query() -> dict[str, list[str]]:
    """The query of the address."""
    return {key: st.query_params.get_all(key) for key in st.query_params}


def read(zone: str, now: datetime) -> State:
    """The state that the address asks for; what is broken in it is left out, and said."""
    notice = ""
    try:
        wanted = filters.from_query(query())
    except Invalid as error:
        wanted, notice = Filters(), error.message
    try:
        span = ranges.make(st.query_params.get("range", DEFAULT), zone, now, first=_day("first"), last=_day("last"))
    except Invalid as error:
        span, notice = ranges.make(DEFAULT, zone, now), error.message
    by = st.query_params.get("by", "")
    return State(span, wanted, by if by in panels.STACKS else panels.STACKS[0], notice)


def move(changes: Mapping[str, Sequence[str]]) -> None:
    """Change these keys of the address; those without a value go."""
    for key, values in changes.items():
        if values:
            st.query_params[key] = list(values)
        else:
            st.query_params.pop(key, None)


def choose(name: str, span: Range) -> None:
    """Another range; one's own begins with the days that were shown."""
    own = name == "own"
    first, last = ([day.isoformat()] if own else [] for day in (span.first, min(span.last, _today(span))))
    move({"range": [] if name == DEFAULT else [name], "first": first, "last": last, "cell": []})


def cell() -> tuple[int, int] | None:
    """Weekday (Monday: 1) and hour of the cell that the address names."""
    weekday, _dash, hour = st.query_params.get("cell", "").partition("-")
    if weekday.isdecimal() and hour.isdecimal() and 1 <= int(weekday) <= 7 and int(hour) <= 23:
        return int(weekday), int(hour)
    return None


def _today(span: Range) -> date:
    return max(span.first, ranges.day_of(span.now, ranges.zone_of(span.zone)))


def _day(key: str) -> date | None:
    try:
        return date.fromisoformat(st.query_params.get(key, ""))
    except ValueError:
        return None
