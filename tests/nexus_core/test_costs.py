"""Reports: cards, chart, table and file are one sum; the rollup says what the runs say, at every moment."""

import csv
import io
import math
import random
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nexus_core import costs, dashboard, exports, frames, ranges, rollup
from nexus_core.costs import BEFORE, Reader
from nexus_core.database import Scope, transaction
from nexus_core.filters import Filters, from_query
from nexus_core.ranges import Range
from tests.nexus_core import ledger
from tests.nexus_core.ledger import MODELS, NOW, fill, filled

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe")
SLOW = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def owner(database_url: str) -> Iterator[psycopg.Connection]:
    with ledger.owner(database_url) as connection:
        yield connection


def read(scope: Scope, span: Range, filters: Filters, *, raw: bool = False) -> list[Any]:
    """Everything that a page shows, in one order; `raw`: from the runs alone."""
    with transaction(scope, snapshot=True) as tx:
        reader = Reader(tx, span, filters, raw=raw)
        shown = [reader.report().facts, reader.timings(), reader.clock()]
        shown += [sorted(reader.facets(by), key=repr) for by in ("project", "agent", "person", "task")]
        shown += [sorted(reader.dearest(by), key=repr) for by in ("project", "agent", "person", "task")]
        return shown


def directly(owner: psycopg.Connection, span: Range, where: str = "true") -> Any:
    """The plainest possible sums of a range."""
    row = owner.execute(
        "SELECT count(*), sum(cost_estimate), sum(input_tokens), sum(output_tokens),"
        " count(*) FILTER (WHERE attempt = 1),"
        " count(*) FILTER (WHERE cost_estimate IS NULL AND status IN ('succeeded', 'failed'))"
        f" FROM assistant_runs WHERE created_at >= %s AND created_at < %s AND {where}",
        (span.from_at, span.to_at),
    ).fetchone()
    assert row is not None
    return row


@SLOW
@given(
    zone=st.sampled_from(ZONES),
    name=st.sampled_from(ranges.NAMES[:-1]),
    picks=st.tuples(st.booleans(), st.booleans(), st.booleans(), st.booleans(), st.booleans()),
    refreshed=st.booleans(),
)
def test_days_add_up_to_range_cards_table_and_file(
    scope: Scope, owner: psycopg.Connection, zone: str, name: str, picks: tuple[bool, ...], refreshed: bool
) -> None:
    found = filled(owner, scope)
    ledger.zone(owner, scope, zone)
    if refreshed:
        rollup.refresh(scope, NOW)
    by_model, by_status, by_project, by_agent, by_person = picks
    filters = Filters(
        model=MODELS[:2] if by_model else None,
        status=("succeeded", "failed") if by_status else None,
        project=(None, found["project"][0]) if by_project else None,
        agent=(found["agent"][1],) if by_agent else None,
        person=(None,) if by_person else None,
    )
    where = " AND ".join(
        (
            "model <> 'in/house'" if by_model else "true",
            "status IN ('succeeded', 'failed')" if by_status else "true",
            f"(project_id IS NULL OR project_id = '{found['project'][0]}')" if by_project else "true",
            f"agent_id = '{found['agent'][1]}'" if by_agent else "true",
            "user_id IS NULL" if by_person else "true",
        )
    )
    span = ranges.make(name, zone, NOW)
    expected = directly(owner, span, where)
    report = costs.report(scope, span, filters)
    card = report.total
    assert (card.runs, card.cost, card.input_tokens, card.output_tokens, card.requests, card.unpriced) == expected
    for by in ("model", "status", "kind", "profile"):
        assert sum(part.runs for _bucket, _key, part in report.stacked(by)) == card.runs
        table = frames.totals(report, by)
        assert sum(value or 0 for value in table.get("cost", [])) == (card.cost or 0)
    rows = list(csv.DictReader(io.StringIO(exports.csv(frames.over_time(report)).decode("utf-8-sig"))))
    assert len(rows) == len(report.buckets)
    assert sum(int(row["runs"]) for row in rows) == card.runs
    assert sum(Decimal(row["cost"]) for row in rows if row["cost"]) == (card.cost or 0)
    before = directly(owner, report.before, where)
    assert (report.total_before.runs, report.total_before.cost) == before[:2]


@pytest.mark.parametrize("zone", ZONES)
def test_the_rollup_says_what_the_runs_say(scope: Scope, owner: psycopg.Connection, zone: str) -> None:
    found = fill(owner, scope, 11, 250, days=16)
    ledger.zone(owner, scope, zone)
    rollup.refresh(scope, NOW)
    span = ranges.make("7d", zone, NOW)
    with transaction(scope) as tx:
        clean = rollup.clean(tx, ranges.zone_of(zone), span.first, span.last)
    closed = [bucket for bucket in span.buckets() if not bucket.open]
    assert len(closed) == 6 and all(clean[bucket.from_at, bucket.to_at] for bucket in closed), "read from the rollup"
    for filters in (
        Filters(),
        Filters(model=("in/house",), status=("failed", "succeeded")),
        Filters(project=(found["project"][0], None)),
        Filters(agent=(None,)),
        Filters(person=(found["person"][0],), kind=("answer",)),
        Filters(conversation=(found["conversation"][1],)),
        Filters(model=()),
    ):
        assert read(scope, span, filters) == read(scope, span, filters, raw=True)


def test_it_does_so_after_every_kind_of_change(scope: Scope, owner: psycopg.Connection) -> None:
    found = fill(owner, scope, 3, 150, days=16)
    span = ranges.make("7d", "UTC", NOW)
    chance = random.Random(5)
    late = NOW - timedelta(days=4)
    changes = (
        lambda: ledger.add(owner, scope, late, cost_estimate=Decimal("1.25"), conversation_id=found["conversation"][0]),
        lambda: owner.execute("UPDATE assistant_runs SET cost_estimate = cost_estimate * 2 WHERE model = 'in/house'"),
        lambda: owner.execute(
            "UPDATE assistant_runs SET created_at = created_at - interval '3 days' WHERE attempt = 2"
        ),
        lambda: owner.execute("DELETE FROM assistant_runs WHERE status = 'blocked'"),
        lambda: owner.execute("DELETE FROM people WHERE id = %s", (found["person"][0],)),
        lambda: owner.execute("DELETE FROM conversations WHERE id = %s", (found["conversation"][1],)),
        lambda: owner.execute(
            "UPDATE assistant_runs SET status = 'failed', finished_at = started_at WHERE status = 'running'"
        ),
    )
    for change in changes:
        if chance.random() < 0.7:
            rollup.refresh(scope, NOW)
        change()
        for filters in (Filters(), Filters(status=("succeeded",))):
            assert read(scope, span, filters) == read(scope, span, filters, raw=True)
        _check_conversations(scope, owner, span)
        rollup.refresh(scope, NOW)
        assert owner.execute("SELECT count(*) FROM run_marks").fetchone() == (0,)
        assert read(scope, span, Filters()) == read(scope, span, Filters(), raw=True)
        _check_conversations(scope, owner, span)


def _check_conversations(scope: Scope, owner: psycopg.Connection, span: Range) -> None:
    plain = owner.execute(
        "SELECT conversation_id, sum(cost_estimate) FROM assistant_runs WHERE created_at >= %s AND created_at < %s"
        " AND conversation_id IS NOT NULL GROUP BY 1 HAVING sum(cost_estimate) IS NOT NULL ORDER BY 2 DESC, 1",
        (span.from_at, span.to_at),
    ).fetchall()
    count = owner.execute(
        "SELECT count(DISTINCT conversation_id) FROM assistant_runs WHERE created_at >= %s AND created_at < %s",
        (span.from_at, span.to_at),
    ).fetchone()
    with transaction(scope, snapshot=True) as tx:
        reader = Reader(tx, span, Filters())
        assert [(item.id, item.cost) for item in dashboard.dearest_conversations(reader, 10)] == plain
        assert (dashboard.per_conversation(reader, reader.report().total).count,) == count


def test_the_dearest_are_exact_though_others_cost_more_as_a_whole(scope: Scope, owner: psycopg.Connection) -> None:
    """250 conversations that were dear last year and are cheap now hide the one that is dear now."""
    person = scope.user_id
    owner.execute(
        "INSERT INTO conversations (workspace_id, id, user_id)"
        " SELECT %s, md5('c' || n)::uuid, %s FROM generate_series(0, 250) n",
        (scope.workspace_id, person),
    )
    owner.execute(
        "INSERT INTO assistant_runs (workspace_id, conversation_id, model, status, cost_estimate, created_at,"
        " finished_at)"
        " SELECT %(ws)s, md5('c' || n)::uuid, 'm', 'succeeded', CASE WHEN n = 0 THEN 0 ELSE 50 + n END,"
        " %(now)s - interval '200 days', %(now)s FROM generate_series(0, 250) n UNION ALL"
        " SELECT %(ws)s, md5('c' || n)::uuid, 'm', 'succeeded', CASE WHEN n = 0 THEN 5 ELSE 1 END,"
        " %(now)s - interval '2 days', %(now)s FROM generate_series(0, 250) n",
        {"ws": scope.workspace_id, "now": NOW},
    )
    rollup.refresh(scope, NOW)
    with transaction(scope, snapshot=True) as tx:
        top = dashboard.dearest_conversations(Reader(tx, ranges.make("7d", "UTC", NOW), Filters()), 1)
    row = owner.execute("SELECT md5('c0')::uuid").fetchone()
    assert row is not None
    assert [(item.id, item.cost) for item in top] == [(row[0], Decimal(5))]


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("Europe/Berlin", date(2026, 3, 29)),
        ("Europe/Berlin", date(2025, 10, 26)),
        ("America/New_York", date(2026, 3, 8)),
        ("America/New_York", date(2025, 11, 2)),
        ("Asia/Kolkata", date(2026, 3, 29)),
        ("Asia/Kolkata", date(2025, 10, 26)),
    ],
)
def test_weekends_where_the_clock_is_moved(scope: Scope, owner: psycopg.Connection, zone: str, day: date) -> None:
    """One run each half hour of three days: no day gets another's, whether summed up or not."""
    ledger.zone(owner, scope, zone)
    info = ranges.zone_of(zone)
    span = ranges.make("own", zone, NOW, first=day - timedelta(days=1), last=day + timedelta(days=1), grain="day")
    at, hours = span.from_at, []
    while at < span.to_at:
        ledger.add(owner, scope, at)
        hours.append(at.astimezone(info))
        at += timedelta(minutes=30)
    for _refreshed in (False, True):
        report = costs.report(scope, span)
        lengths = [(bucket.to_at - bucket.from_at) / timedelta(minutes=30) for bucket in report.buckets]
        assert [part.runs for part in report.series] == lengths
        assert sum(lengths) == len(hours)
        with transaction(scope, snapshot=True) as tx:
            clock = Reader(tx, span, Filters()).clock()
        assert {(slot.weekday, slot.hour): slot.runs for slot in clock} == {
            (weekday, hour): sum((item.isoweekday(), item.hour) == (weekday, hour) for item in hours)
            for weekday, hour in {(item.isoweekday(), item.hour) for item in hours}
        }
        rollup.refresh(scope, NOW)


def test_ranges_are_half_open(scope: Scope, owner: psycopg.Connection) -> None:
    span = ranges.make("own", "UTC", NOW, first=date(2026, 6, 10), last=date(2026, 6, 10))
    for at in (
        span.from_at - timedelta(microseconds=1),
        span.from_at,
        span.to_at - timedelta(microseconds=1),
        span.to_at,
    ):
        ledger.add(owner, scope, at)
    for _refreshed in (False, True):
        assert costs.report(scope, span).total.runs == 2
        rollup.refresh(scope, NOW)


def test_unknown_is_not_nothing(scope: Scope, owner: psycopg.Connection) -> None:
    """FIELD-NOTES 38, 45, 46: no price is unpriced and never 0; an empty bucket is 0 spent and a gap in percentiles."""
    at = NOW - timedelta(days=2)
    ledger.add(owner, scope, at, cost_estimate=None)
    ledger.add(owner, scope, at, cost_estimate=None, input_tokens=None, output_tokens=None, usage_source="none")
    ledger.add(owner, scope, at, cost_estimate=Decimal(0), model="builtin/recall")
    span = ranges.make("7d", "UTC", NOW)
    for _refreshed in (False, True):
        report = costs.report(scope, span)
        assert (report.total.cost, report.total.unpriced, report.total.without_usage) == (Decimal(0), 2, 1)
        assert report.total.at_least
        by_model = report.by("model")
        assert by_model[("openai/gpt-4o",)].cost is None
        table = frames.over_time(report)
        assert list(table["cost"]) == [Decimal(0)] * 7
        assert list(frames.stacked(report, "model")["cost"]) == [Decimal(0), None]
        with transaction(scope, snapshot=True) as tx:
            reader = Reader(tx, span, Filters())
            times = frames.timings(report, reader.timings(), "duration")
            agents = frames.dearest(reader.dearest("agent"), "agent")
        assert [value is None for value in times["p95"]] == [True, True, True, True, False, True, True]
        assert (list(agents["key"]), list(agents["runs"])) == (["No agent"], [3])
        rollup.refresh(scope, NOW)


def test_requests_are_counted_once_and_attempts_paid(scope: Scope, owner: psycopg.Connection) -> None:
    """FIELD-NOTES 43."""
    first = ledger.add(owner, scope, NOW - timedelta(hours=1), status="failed", cost_estimate=Decimal("0.01"))
    again = {"attempt": 2, "cost_estimate": Decimal("0.02")}
    ledger.add(owner, scope, NOW - timedelta(minutes=59), request_id=_request(owner, first), **again)
    page = dashboard.load(scope, ranges.make("today", "UTC", NOW))
    total = page.report.total
    assert (total.runs, total.requests, total.retries, total.cost) == (2, 1, 1, Decimal("0.03"))
    assert (page.waste.failed, page.waste.retries, page.waste.either) == (
        Decimal("0.01"), Decimal("0.02"), Decimal("0.03"),
    )  # fmt: skip


def _request(owner: psycopg.Connection, run_id: Any) -> Any:
    row = owner.execute("SELECT request_id FROM assistant_runs WHERE id = %s", (run_id,)).fetchone()
    assert row is not None
    return row[0]


def test_percentiles_are_off_by_two_per_cent_at_most(scope: Scope, owner: psycopg.Connection) -> None:
    chance = random.Random(2)
    span = ranges.make("7d", "UTC", NOW)
    times = sorted(int(chance.lognormvariate(7, 1.3)) for _n in range(600))
    for ms in times:
        ledger.add(
            owner, scope, NOW - timedelta(seconds=chance.randrange(6 * 86400)), duration_ms=ms, first_token_ms=None
        )
    for _refreshed in (False, True):
        with transaction(scope, snapshot=True) as tx:
            whole = dashboard.whole(tuple(Reader(tx, span, Filters()).timings()), "duration")
        assert whole is not None and whole.runs == 600
        for share, found in ((0.5, whole.p50), (0.95, whole.p95), (0.99, whole.p99)):
            exact = times[int(share * 600) - 1]
            assert abs(found - exact) <= 0.0201 * exact
        rollup.refresh(scope, NOW)


@given(ms=st.integers(1, 10**9))
def test_a_slot_is_read_back_within_two_per_cent(ms: int) -> None:
    slot = math.ceil(math.log(ms) / math.log(costs.GAMMA)) + 1
    assert abs(costs.milliseconds(slot) - ms) <= 0.020001 * ms


def test_a_change_under_way_is_never_lost(scope: Scope, owner: psycopg.Connection, database_url: str) -> None:
    """A run that is written while its day is summed up makes the day void as soon as it is seen."""
    at = NOW - timedelta(days=3)
    ledger.add(owner, scope, at)
    rollup.refresh(scope, NOW)
    span = ranges.make("7d", "UTC", NOW)
    with ledger.owner(database_url) as writer, writer.transaction():
        ledger.add(writer, scope, at)
        ledger.add(owner, scope, at)
        rollup.refresh(scope, NOW)  # sees the second run, not the first
        assert costs.report(scope, span).total.runs == 2
    assert costs.report(scope, span).total.runs == 3
    rollup.refresh(scope, NOW)
    assert costs.report(scope, span).total.runs == 3


def test_a_workspace_goes_with_its_sums(scope: Scope, other_scope: Scope, owner: psycopg.Connection) -> None:
    for mine in (scope, other_scope):
        ledger.add(owner, mine, NOW - timedelta(days=2))
        rollup.refresh(mine, NOW)
    ledger.add(owner, other_scope, NOW - timedelta(days=2))
    owner.execute("ALTER TABLE audit DISABLE TRIGGER audit_append_only")
    owner.execute("DELETE FROM workspaces WHERE id = %s", (other_scope.workspace_id,))
    for table in ("run_marks", "run_units", "run_rollup", "run_timings", "run_conversations", "assistant_runs"):
        row = owner.execute(
            f"SELECT count(*) FROM {table} WHERE workspace_id = %s", (other_scope.workspace_id,)
        ).fetchone()
        assert row == (0,), table
    assert costs.report(scope, ranges.make("7d", "UTC", NOW)).total.runs == 1


def test_the_self_check_finds_a_rollup_that_lies(scope: Scope, owner: psycopg.Connection) -> None:
    ledger.add(owner, scope, NOW - timedelta(days=2))
    rollup.refresh(scope, NOW)
    span = ranges.make("7d", "UTC", NOW)
    assert costs.agrees(scope, span)
    owner.execute("UPDATE run_rollup SET runs = runs + 1")
    assert not costs.agrees(scope, span)


def test_one_snapshot_for_all_figures(scope: Scope, owner: psycopg.Connection) -> None:
    ledger.add(owner, scope, NOW - timedelta(days=1))
    with transaction(scope, snapshot=True) as tx:
        reader = Reader(tx, ranges.make("7d", "UTC", NOW), Filters())
        assert reader.report().total.runs == 1
        ledger.add(owner, scope, NOW - timedelta(days=1))
        assert reader.report().total.runs == 1


def test_filters_live_in_the_address(scope: Scope) -> None:
    """FIELD-NOTES 47."""
    filters = Filters(model=("openai/gpt-4o",), project=(None, scope.workspace_id), status=("failed",))
    assert from_query(filters.query()) == filters
    assert from_query({"range": ["7d"]}) == Filters()


def test_before_is_a_bucket_of_its_own(scope: Scope, owner: psycopg.Connection) -> None:
    ledger.add(owner, scope, NOW - timedelta(days=8))
    report = costs.report(scope, ranges.make("7d", "UTC", NOW))
    assert (report.total.runs, report.total_before.runs, {fact.bucket for fact in report.facts}) == (0, 1, {BEFORE})
