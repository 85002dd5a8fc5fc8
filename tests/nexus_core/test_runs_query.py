"""The address of the Runs page: what it asks for, and back."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_core import ranges, runs_query
from nexus_core.errors import Invalid
from nexus_core.filters import NONE, PARAMETERS, Filters
from nexus_core.runs_query import Asked, from_query
from tests.nexus_core.ledger import NOW

ZONE = "Europe/Madrid"
IDS = {"project", "task", "agent", "person", "conversation"}


def test_an_empty_address_is_the_last_thirty_days() -> None:
    asked = from_query({}, ZONE, NOW)
    assert asked == Asked(ranges.make("30d", ZONE, NOW), Filters()) and asked.query() == {}


def test_the_address_of_a_chart_is_a_half_open_stretch_of_instants() -> None:
    asked = from_query({"from": ["2026-03-29T00:00:00+01:00"], "to": ["2026-03-30T00:00:00+02:00"]}, ZONE, NOW)
    assert asked.span.to_at - asked.span.from_at == timedelta(hours=23)
    assert (asked.span.first, asked.span.last, asked.span.name) == (asked.span.first, asked.span.first, "own")
    plus_lost = from_query({"from": ["2026-03-29T00:00:00 01:00"], "to": ["2026-03-29T22:00:00Z"]}, ZONE, NOW)
    assert plus_lost.span == asked.span
    clock = from_query({"from": ["2026-03-29T00:00"], "to": ["2026-03-30"]}, ZONE, NOW)
    assert clock.span == asked.span, "without an offset: on the zone's clock"
    hour = from_query({"from": ["2026-06-17T10:00:00Z"], "to": ["2026-06-17T11:00:00Z"]}, ZONE, NOW)
    assert hour.span.to_at - hour.span.from_at == timedelta(hours=1)
    assert from_query({"from": ["2026-06-01T00:00:00Z"]}, ZONE, NOW).span.to_at == NOW


@pytest.mark.parametrize(
    "query",
    [
        {"from": ["yesterday"]}, {"to": ["2026-13-01"]}, {"from": ["2026-06-02Z"], "to": ["2026-06-01Z"]},
        {"from": ["2026-06-01T00:00:00Z"], "to": ["2026-06-01T00:00:00Z"]}, {"from": ["0001-01-01T00:00:00+23:00"]},
        {"from": ["1990-01-01T00:00:00Z"], "to": ["2026-01-01T00:00:00Z"]}, {"after": ["x"]},
        {"after": ["2026-06-01_1"]}, {"project": ["x"]}, {"unpriced": ["maybe"]},
    ],
)  # fmt: skip
def test_what_can_not_be_read_is_refused(query: dict[str, list[str]]) -> None:
    with pytest.raises(Invalid):
        from_query(query, ZONE, NOW)


def test_keys_and_ranges_of_other_pages_are_left_alone() -> None:
    other = {"workspace": ["w"], "conversation_id": ["x"], "range": ["own"], "grain": ["day"], "message": ["1"]}
    assert from_query(other, ZONE, NOW) == from_query({}, ZONE, NOW)


words = st.text(min_size=1, max_size=5).filter(lambda text: text != NONE)
values = {name: st.none() | (st.builds(uuid4) if name in IDS else words) for name in PARAMETERS}
wanted = st.builds(
    Filters, **{name: st.none() | st.lists(each, min_size=1, max_size=3).map(tuple) for name, each in values.items()}
)
instants = st.datetimes(datetime(2024, 1, 1), datetime(2026, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@given(
    filters=wanted,
    name=st.sampled_from([*runs_query.NAMES, "own"]),
    ends=st.tuples(instants, instants).filter(lambda pair: pair[0] != pair[1]),
    search=st.text(max_size=20).map(str.strip),
    unpriced=st.sampled_from([None, True, False]),
    after=st.none() | st.tuples(instants, st.builds(uuid4)),
)
def test_every_address_reads_back(filters, name, ends, search, unpriced, after) -> None:  # type: ignore[no-untyped-def]
    if name == "own":
        query = {"from": [min(ends).isoformat()], "to": [max(ends).isoformat()]}
        span = from_query(query, ZONE, NOW).span
        assert (span.from_at, span.to_at) == (min(ends), max(ends))
    else:
        span = ranges.make(name, ZONE, NOW)
    asked = Asked(span, filters, search, unpriced, after)
    assert from_query(asked.query(), ZONE, NOW) == asked
