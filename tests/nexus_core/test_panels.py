"""The Costs page's charts: cards = chart = table = file for any filters and zone, and the runs behind every point."""

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pandas as pd
import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nexus_core import (
    agreement,
    behind,
    cards,
    charts,
    choices,
    costs,
    dashboard,
    exports,
    filters,
    panels,
    ranges,
    rollup,
    runs_list,
    spark,
)
from nexus_core.behind import Query
from nexus_core.cards import Card
from nexus_core.dashboard import Dashboard
from nexus_core.database import Scope, transaction
from nexus_core.filters import Filters
from tests.nexus_core import ledger
from tests.nexus_core.ledger import MODELS, NOW, filled

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe")
SLOW = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def owner(database_url: str) -> Iterator[psycopg.Connection]:
    with ledger.owner(database_url) as connection:
        yield connection


def count(scope: Scope, query: Query) -> int:
    """How many runs the runs page shows for a query."""
    span = ranges.make("today", "UTC", NOW)
    ends = {name: datetime.fromisoformat(query[key][0]) for name, key in (("from_at", "from"), ("to_at", "to"))}
    with transaction(scope) as tx:
        return len(runs_list.page(tx, replace(span, **ends), filters.from_query(query), limit=500).runs)


def load(scope: Scope, name: str = "7d", zone: str = "UTC", **more: Any) -> Dashboard:
    return dashboard.load(scope, ranges.make(name, zone, NOW), **more)


def card(page: Dashboard, name: str) -> Card:
    return next(item for item in cards.of(page) if item.name == name)


@SLOW
@given(
    zone=st.sampled_from(ZONES),
    name=st.sampled_from(ranges.NAMES[:-1]),
    by=st.sampled_from(panels.STACKS),
    picks=st.tuples(*[st.booleans()] * 5),
)
def test_cards_charts_tables_and_files_say_the_same(
    scope: Scope, owner: psycopg.Connection, zone: str, name: str, by: str, picks: tuple[bool, ...]
) -> None:
    found = filled(owner, scope)
    ledger.zone(owner, scope, zone)
    by_model, by_status, by_project, by_agent, by_person = picks
    wanted = Filters(
        model=MODELS[1:] if by_model else None,
        status=("succeeded", "failed") if by_status else None,
        project=(None, found["project"][0]) if by_project else None,
        agent=(found["agent"][1],) if by_agent else None,
        person=(None,) if by_person else None,
    )
    page = load(scope, name, zone, filters=wanted, by=by)
    for check in agreement.checks(page):
        assert check.agrees, check
    assert {check.name for check in agreement.checks(page)} == {"spend", "runs", "tokens"}
    for panel in panels.of(page).values():
        frame = panel.frame
        lines = list(csv.DictReader(io.StringIO(exports.csv(frame).decode("utf-8-sig")))) if len(frame) else []
        assert len(lines) == len(frame)
        if len(frame):
            again = pd.read_parquet(io.BytesIO(exports.parquet(frame)))
            assert [str(value) for value in again["key"]] == list(frame["key"]) if "key" in frame else len(again)
    assert page.waste.either == (sum(panels.of(page)["waste"].frame["cost"]) if page.waste.either is not None else None)


def test_a_lie_in_one_place_is_found(scope: Scope, owner: psycopg.Connection) -> None:
    ledger.add(owner, scope, NOW - timedelta(days=1))
    page = load(scope, by="agent")
    assert all(check.agrees for check in agreement.checks(page))
    lying = replace(page, stack=())
    assert [check.name for check in agreement.checks(lying) if not check.agrees] == ["spend"]


@pytest.mark.parametrize("by", [*panels.STACKS, "status"])
def test_behind_every_layer_are_its_runs(scope: Scope, owner: psycopg.Connection, by: str) -> None:
    filled(owner, scope)
    page = load(scope, "30d", "Europe/Berlin", by="model" if by == "status" else by, filters=Filters(kind=("answer",)))
    panel = panels.of(page)["status" if by == "status" else "spend"]
    assert panel.runs is not None
    seen = 0
    for trace in panel.draw("light").data:
        for point in trace.customdata:
            rows = panel.frame[(panel.frame["key"] == point[0]) & (panel.frame["from_at"].astype(str) == point[1])]
            seen += (found := count(scope, panel.runs([str(item) for item in point])))
            assert found == sum(rows["runs"]) > 0
    assert seen == page.report.total.runs


def test_behind_the_layer_of_all_others_are_all_others(scope: Scope, owner: psycopg.Connection) -> None:
    for n in range(12):
        ledger.add(owner, scope, NOW - timedelta(hours=1), model=f"m/{n}", cost_estimate=Decimal(n))
    panel = panels.of(load(scope))["spend"]
    (others,) = [trace for trace in panel.draw("light").data if trace.meta == charts.rest()]
    assert panel.runs is not None
    query = panel.runs(list(others.customdata[0]))
    assert sorted(query["model"]) == [f"m/{n}" for n in range(5)] and count(scope, query) == 5


def test_behind_points_cards_rows_and_cells(scope: Scope, owner: psycopg.Connection) -> None:
    found = filled(owner, scope)
    page = load(scope, "30d", "America/New_York", filters=Filters(model=MODELS[:2]))
    shown = panels.of(page)
    report = page.report
    for name in ("tokens", "duration", "first_token"):
        runs = shown[name].runs
        assert runs is not None
        for bucket, part in zip(report.buckets, report.series, strict=True):
            assert count(scope, runs(["New input", str(bucket.from_at), str(bucket.to_at)])) == part.runs
    failed = card(page, "failed")
    assert count(scope, behind.whole(report, failed.narrow)) == report.by("status")[("failed",)].runs
    for name, items in (("agents", page.agents), ("tasks", page.tasks), ("conversations", page.conversations)):
        runs = shown[name].runs
        assert runs is not None and items
        for item in items:
            assert count(scope, runs([str(item.id or ""), "x"])) == item.runs
    for slot in page.clock:
        hours = behind.hours(report, slot.weekday, slot.hour)
        assert sum(count(scope, behind.runs(report.filters, *ends)) for ends in hours) == slot.runs
        assert [part.runs for part in costs.stretches(scope, report, hours)] == [
            count(scope, behind.runs(report.filters, *ends)) for ends in hours
        ]
    assert found["agent"]


def test_the_hour_that_comes_twice_is_two_stretches(scope: Scope) -> None:
    span = ranges.make("own", "Europe/Berlin", NOW, first=date(2025, 10, 26), last=date(2025, 10, 26))
    report = costs.report(scope, span)
    assert len(behind.hours(report, 7, 2)) == 2 and len(behind.hours(report, 7, 3)) == 1


def test_cards_compare_with_the_period_before(scope: Scope, owner: psycopg.Connection) -> None:
    for days in (1, 1, 1, 9):
        ledger.add(owner, scope, NOW - timedelta(days=days), cost_estimate=Decimal(2), duration_ms=1000 * days)
    ledger.add(owner, scope, NOW - timedelta(days=1), status="failed", cost_estimate=None, duration_ms=None)
    page = load(scope)
    assert (card(page, "spend").now, card(page, "spend").change) == (6, 2.0)
    assert (card(page, "failed").now, card(page, "failed").before, card(page, "failed").change) == (0.25, 0, 0.25)
    assert card(page, "unpriced").now == 0.25
    assert card(page, "median").change == pytest.approx(-8 / 9, abs=0.01)
    assert [value for value in card(page, "spend").course if value] == [6]
    assert card(page, "median").course.count(None) == 6, "a day without a run has no median"


def test_what_was_nothing_before_is_new(scope: Scope, owner: psycopg.Connection) -> None:
    ledger.add(owner, scope, NOW - timedelta(days=1))
    page = load(scope)
    assert card(page, "spend").is_new and card(page, "runs").is_new and card(page, "median").is_new
    assert not card(page, "unpriced").is_new, "nothing is unpriced, now or then"
    assert not any(item.is_new for item in cards.of(load(scope, "last_month")))


def test_spend_nobody_knows_is_not_nothing(scope: Scope, owner: psycopg.Connection) -> None:
    ledger.add(owner, scope, NOW - timedelta(days=1), cost_estimate=None)
    page = load(scope)
    assert (card(page, "spend").now, card(page, "spend").before, page.report.total.unpriced) == (None, 0, 1)


def test_the_month_ahead_is_drawn_to_its_end(scope: Scope, owner: psycopg.Connection) -> None:
    for days in range(20):
        ledger.add(owner, scope, NOW - timedelta(days=days), cost_estimate=Decimal(1))
    page = load(scope)
    frame = panels.of(page)["forecast"].frame
    assert page.forecast is not None
    assert list(frame["day"]) == [date(2026, 6, n) for n in range(1, 31)]
    assert list(frame["spent"][:17]) == list(range(1, 18)) and frame["spent"][17] is None
    assert (frame["expected"].iloc[-1], frame["low"].iloc[-1]) == (page.forecast.expected, page.forecast.low)
    assert list(frame["expected"][16:]) == sorted(frame["expected"][16:]) and frame["expected"][15] is None


def test_choices_are_what_occurs_and_names_tell_two_apart(scope: Scope, owner: psycopg.Connection) -> None:
    ledger.add(owner, scope, NOW - timedelta(days=1), model="a/b", profile_slug=None)
    ledger.places(owner, scope)
    ledger.places(owner, scope)
    rollup.refresh(scope, NOW)
    span = ranges.make("7d", "UTC", NOW)
    with transaction(scope) as tx:
        found = choices.of(tx, span, Filters())
    assert found.values["model"] == ("a/b",) and found.values["profile"] == (filters.NONE,)
    names = [found.names[value] for value in found.values["agent"] if value != filters.NONE]
    assert len(names) == len(set(names)) == 4


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_panel_draws_also_nothing_and_hostile_names(scope: Scope, owner: psycopg.Connection, mode: str) -> None:
    for panel in panels.of(load(scope)).values():
        panel.draw(mode)
    name = '<a href="javascript:alert(1)">%{x}</a> $5 👨‍👩‍👧‍👦' + "long" * 40
    ledger.add(owner, scope, NOW, model=name)
    found = ledger.places(owner, scope)
    owner.execute("UPDATE conversations SET title = %s", (name,))
    ledger.add(owner, scope, NOW, conversation_id=found["conversation"][0])
    shown = panels.of(load(scope, "today"))
    for panel in shown.values():
        figure = panel.draw(mode)
        texts = [text for trace in figure.data for text in (trace.name, trace.hovertemplate)]
        texts += figure.layout.yaxis.ticktext or ()
        texts += [point[1] for point in figure.data[0].customdata] if panel.name == "conversations" else []
        assert not [text for text in texts if text and "<a" in text]
    assert shown["conversations"].frame["key"][0] == name, "the table and the file keep it as it is"


def test_a_course_is_a_small_drawing() -> None:
    assert spark.draw([]).startswith("<svg")
    assert spark.draw([1, None, Decimal(2), 3]).count("M") == 2
    assert "NaN" not in spark.draw([None, 0, 0, float("nan")])
