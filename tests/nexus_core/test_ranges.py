"""Ranges: half-open, right where the clock is moved, without a gap between buckets."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nexus_core import ranges
from nexus_core.errors import Invalid

ZONES = (
    "UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe",
    "America/Sao_Paulo", "Asia/Beirut", "Pacific/Apia", "America/St_Johns",
)  # fmt: skip
NOW = datetime(2026, 6, 17, 15, 30, tzinfo=UTC)
instants = st.integers(0, 25 * 366 * 86400).map(lambda n: datetime(2005, 1, 1, tzinfo=UTC) + timedelta(seconds=n))


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Berlin", date(2026, 3, 29), 23),
        ("Europe/Berlin", date(2026, 10, 25), 25),
        ("America/New_York", date(2026, 3, 8), 23),
        ("America/New_York", date(2026, 11, 1), 25),
        ("Asia/Kolkata", date(2026, 3, 29), 24),
        ("Asia/Kolkata", date(2026, 10, 25), 24),
    ],
)
def test_days_where_the_clock_is_moved(zone: str, day: date, hours: int) -> None:
    span = ranges.make("own", zone, NOW, first=day, last=day)
    assert span.to_at - span.from_at == timedelta(hours=hours)
    assert span.grain == "hour" and len(span.buckets()) == hours
    weekend = ranges.make("own", zone, NOW, first=day - timedelta(days=1), last=day + timedelta(days=1), grain="day")
    assert [bucket.start.replace(tzinfo=None).hour for bucket in weekend.buckets()] == [0, 0, 0]


def test_india_begins_its_day_at_half_past_six_in_the_evening_of_utc() -> None:
    span = ranges.make("today", "Asia/Kolkata", NOW)
    assert span.from_at == datetime(2026, 6, 16, 18, 30, tzinfo=UTC)
    assert span.buckets()[1].from_at == datetime(2026, 6, 16, 19, 30, tzinfo=UTC)


def test_a_skipped_midnight_begins_the_day_at_the_skip() -> None:
    assert ranges.start_of(date(2018, 11, 4), ZoneInfo("America/Sao_Paulo")) == datetime(2018, 11, 4, 3, tzinfo=UTC)


def test_a_day_that_never_was_has_no_bucket() -> None:
    span = ranges.make("own", "Pacific/Apia", NOW, first=date(2011, 12, 29), last=date(2011, 12, 31), grain="day")
    assert [bucket.start.day for bucket in span.buckets()] == [29, 31]


@given(
    now=instants,
    zone=st.sampled_from(ZONES),
    name=st.sampled_from(ranges.NAMES[:-1]),
    grain=st.sampled_from(ranges.GRAINS[1:]),
)
def test_buckets_fill_the_range(now: datetime, zone: str, name: str, grain: str) -> None:
    span = ranges.make(name, zone, now, grain=grain)
    buckets = span.buckets()
    assert (buckets[0].from_at, buckets[-1].to_at) == (span.from_at, span.to_at)
    assert all(a.to_at == b.from_at for a, b in pairwise(buckets))
    assert all(bucket.from_at < bucket.to_at for bucket in buckets)
    if name in ("today", "7d", "30d", "90d", "365d", "month", "year"):
        assert span.is_open
        assert next(bucket for bucket in buckets if bucket.from_at <= now < bucket.to_at).open


@given(now=instants, zone=st.sampled_from(ZONES), name=st.sampled_from(ranges.NAMES[:-1]))
def test_the_period_before_ends_where_the_range_begins_or_earlier(now: datetime, zone: str, name: str) -> None:
    span = ranges.make(name, zone, now)
    before = span.previous()
    assert before.from_at <= before.to_at <= span.from_at
    if span.is_open:
        elapsed = now - span.from_at
        assert abs((before.to_at - before.from_at) - elapsed) <= timedelta(days=3 if "month" in name else 1, hours=2)


@given(instant=instants, zone=st.sampled_from(ZONES))
def test_an_instant_lies_in_its_day_and_in_one_hour_of_it(instant: datetime, zone: str) -> None:
    info = ZoneInfo(zone)
    day = ranges.day_of(instant, info)
    assert ranges.start_of(day, info) <= instant < ranges.start_of(day + timedelta(days=1), info)
    hours = ranges.hours_of(day, info)
    assert sum(begin <= instant < end for begin, end, _hour in hours) == 1
    assert hours[-1][1] == ranges.start_of(day + timedelta(days=1), info)


def test_the_same_elapsed_part() -> None:
    month = ranges.make("month", "UTC", NOW).previous()
    assert (month.from_at, month.to_at) == (datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 5, 17, 15, 30, tzinfo=UTC))
    march = ranges.make("month", "UTC", datetime(2026, 3, 31, 8, tzinfo=UTC)).previous()
    assert march.to_at == datetime(2026, 2, 28, 8, tzinfo=UTC)
    closed = ranges.make("last_month", "UTC", NOW).previous()
    assert (closed.first, closed.last) == (date(2026, 4, 1), date(2026, 4, 30))


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "own"},
        {"name": "fortnight"},
        {"name": "own", "first": date(2026, 2, 2), "last": date(2026, 2, 1)},
        {"name": "own", "first": date(2000, 1, 1), "last": date(2026, 1, 1)},
        {"name": "90d", "grain": "hour"},
        {"name": "7d", "zone": "Mars/Olympus"},
        {"name": "7d", "zone": "../etc/passwd"},
    ],
)
def test_what_is_no_range_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(Invalid):
        ranges.make(**({"zone": "UTC", "now": NOW} | wrong))  # type: ignore[arg-type]
