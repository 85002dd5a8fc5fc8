"""From a figure to the runs behind it: the query of the runs page for a bar, a point, a cell or a card; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pandas as pd

from nexus_core import charts, ranges
from nexus_core.costs import Report
from nexus_core.filters import IDS, NONE, Filters
from nexus_core.frames import nothing

Query = dict[str, list[str]]
Narrow = Mapping[str, Sequence[Any]]
LONGEST = 60  # so many values an address bears; of more, the whole bucket is shown


def runs(filters: Filters, from_at: datetime, to_at: datetime, narrow: Narrow | None = None) -> Query:
    """The runs of a stretch of time, narrowed down further by dimension."""
    wanted = replace(filters, **{name: tuple(values) for name, values in (narrow or {}).items()})
    return wanted.query() | {"from": [from_at.isoformat()], "to": [to_at.isoformat()]}


def whole(report: Report, narrow: Narrow | None = None) -> Query:
    """The runs of the whole range."""
    return runs(report.filters, report.range.from_at, report.range.to_at, narrow)


def layer(report: Report, by: str, frame: pd.DataFrame, value: str, point: Sequence[str]) -> Query:
    """The runs of one layer of one bar of a stack by `by`: `point` is its key and the ends of its bucket."""
    key, (from_at, to_at) = point[0], _ends(point[1:])
    named = set(charts.top(frame, value)["key"])
    rows = frame[frame["from_at"] == from_at]
    mine = rows[[row == key or (key == charts.rest() and row not in named) for row in rows["key"]]]
    values = [_value(by, row) for row in mine.to_dict("records")]
    if not values or len(values) > LONGEST:
        return runs(report.filters, from_at, to_at)
    return runs(report.filters, from_at, to_at, {by: values})


def bucket(report: Report, point: Sequence[str], narrow: Narrow | None = None) -> Query:
    """The runs of one bucket: `point` ends with its ends."""
    return runs(report.filters, *_ends(point[-2:]), narrow)


def entity(report: Report, by: str, point: Sequence[str]) -> Query:
    """The runs of one conversation, agent, task, …: `point` begins with its id, empty for those without."""
    return whole(report, {by: (UUID(point[0]) if point[0] else None,)})


def hours(report: Report, weekday: int, hour: int) -> list[tuple[datetime, datetime]]:
    """Each stretch of the range, up to now, that is this hour of this weekday (Monday: 1) on the zone's clock."""
    span, zone = report.range, ranges.zone_of(report.range.zone)
    days = [day for n in range(span.days) if (day := span.first + timedelta(days=n)).isoweekday() == weekday]
    found = [(begin, end) for day in days for begin, end, label in ranges.hours_of(day, zone) if label == hour]
    return [part for part in found if part[0] <= span.now]


def _ends(texts: Sequence[str]) -> tuple[datetime, datetime]:
    begin, end = (datetime.fromisoformat(text) for text in texts)
    return begin, end


def _value(by: str, row: dict[Any, Any]) -> UUID | str | None:
    if by in IDS:
        return UUID(row["id"]) if row["id"] else None
    return None if row["key"] in (NONE, nothing(by)) else str(row["key"])
