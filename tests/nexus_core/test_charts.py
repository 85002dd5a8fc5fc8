"""Charts and files: the same numbers as the frame, one colour per entity, no cell that a spreadsheet runs."""

import csv
import io
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal

import pandas as pd
import plotly.graph_objects as go
import psycopg
import pytest

from nexus_core import charts, costs, dashboard, exports, frames, ranges, spark
from nexus_core.database import Scope
from tests.nexus_core import ledger
from tests.nexus_core.ledger import NOW

MODES = ("light", "dark")


@pytest.fixture
def owner(database_url: str) -> Iterator[psycopg.Connection]:
    with ledger.owner(database_url) as connection:
        yield connection


def heights(figure: go.Figure) -> float:
    return sum(float(value) for trace in figure.data for value in trace.y if value == value)


def test_chart_table_and_file_say_the_same(scope: Scope, owner: psycopg.Connection) -> None:
    found = ledger.places(owner, scope)
    for n in range(12):
        agent = found["agent"][n % 2] if n % 3 else None
        ledger.add(owner, scope, NOW - timedelta(days=n % 5), model=f"m/{n}", agent_id=agent, cost_estimate=Decimal(n))
    page = dashboard.load(scope, ranges.make("7d", "UTC", NOW), by="agent")
    table = frames.stacked(page.report, "model")
    chart = charts.stack(table, "cost")
    assert heights(chart) == pytest.approx(float(page.report.total.cost or 0)) == 66
    assert len(chart.data) == charts.TOP + 1 and "All others" in {trace.name for trace in chart.data}
    by_agent = frames.stacked_by_id(page.report, "agent", page.stack, page.names)
    assert set(by_agent["key"]) == {"Agent 1", "Agent 2", "No agent"}
    assert heights(charts.stack(by_agent, "cost")) == 66
    rows = list(csv.DictReader(io.StringIO(exports.csv(table).decode("utf-8-sig"))))
    assert sum(Decimal(row["cost"]) for row in rows) == 66
    read = pd.read_parquet(io.BytesIO(exports.parquet(table)))
    assert list(read["cost"]) == list(table["cost"]) and list(read["runs"]) == list(table["runs"])
    assert list(read["from_at"]) == list(table["from_at"])


def test_one_day_alone_draws(scope: Scope, owner: psycopg.Connection) -> None:
    """FIELD-NOTES 44."""
    ledger.add(owner, scope, NOW)
    page = dashboard.load(scope, ranges.make("today", "UTC", NOW, grain="day"))
    figure = charts.lines(frames.timings(page.report, page.timings, "duration"), {"p50": "p50", "p95": "p95"})
    assert all(len(trace.x) == 1 and "markers" in trace.mode and trace.marker.size >= 6 for trace in figure.data)
    bars = charts.stack(frames.stacked(page.report, "model"), "cost")
    assert bars.data[0].marker.pattern.shape == ("/",), "the day is not over"


def test_gaps_are_gaps(scope: Scope, owner: psycopg.Connection) -> None:
    ledger.add(owner, scope, NOW - timedelta(days=3))
    page = dashboard.load(scope, ranges.make("7d", "UTC", NOW))
    figure = charts.lines(frames.timings(page.report, page.timings, "duration"), {"p95": "p95"})
    assert sum(value == value for value in figure.data[0].y) == 1 and figure.data[0].connectgaps is False
    assert len(charts.heat(frames.clock(page.clock), "runs").data[0].z) == 7


@pytest.mark.parametrize("mode", MODES)
def test_nothing_is_said_and_drawn(mode: str, scope: Scope) -> None:
    report = costs.report(scope, ranges.make("7d", "UTC", NOW))
    for figure in (
        charts.stack(frames.stacked(report, "model"), "cost", mode=mode),
        charts.ranking(frames.dearest([], "agent"), "cost", mode=mode),
        charts.statuses(frames.stacked(report, "status"), mode=mode),
    ):
        assert "Nothing ran" in figure.layout.annotations[0].text
    assert "<svg" in spark.draw([None, Decimal(1), 2], mode=mode)


def test_a_colour_belongs_to_a_name() -> None:
    alone = charts.colours(["openai/gpt-4o"])["openai/gpt-4o"]
    assert charts.colours(["openai/gpt-4o", "zz/other"])["openai/gpt-4o"] == alone
    eight = charts.colours([f"model {n}" for n in range(8)])
    assert len(set(eight.values())) == 8
    for mode in MODES:
        assert set(charts.colours(["a", "b"], mode).values()) <= set(charts.theme(mode)["chartCategoricalColors"])


def test_cells_are_safe_and_numbers_stay_numbers() -> None:
    """FIELD-NOTES 35."""
    risky = ["=1+1", "+1", "-1", "@x", "\tx", "plain", "Łąka"]
    frame = pd.DataFrame(
        {"=name": risky, "amount": [Decimal("-0.0000000001"), -1, None, 2.5, float("nan"), 10**15, 0]}, dtype=object
    )
    rows = list(csv.reader(io.StringIO(exports.csv(frame).decode("utf-8-sig"))))
    assert rows[0] == ["'=name", "amount"]
    assert [row[0] for row in rows[1:]] == [f"'{text}" for text in risky[:5]] + ["plain", "Łąka"]
    assert [row[1] for row in rows[1:]] == ["-0.0000000001", "-1", "", "2.5", "", "1000000000000000", "0"]


def test_names_are_no_markup() -> None:
    frame = pd.DataFrame({"id": ["1"], "key": ["<b>%{x}</b>"], "cost": [1]})
    assert "<b>" not in charts.ranking(frame, "cost").layout.yaxis.ticktext[0]


def test_attempts_stand_one_after_the_other_and_an_end_without_a_token_is_all_waiting() -> None:
    rows = [
        {"name": "<b>1", "begin": 0.0, "waited": 2.0, "wrote": 0.0, "status": "failed"},
        {"name": "2", "begin": 3.0, "waited": 0.25, "wrote": 0.75, "status": "succeeded"},
    ]
    for mode in ("light", "dark"):
        waited, wrote = charts.attempts(pd.DataFrame(rows), mode=mode).data
        assert (list(waited.base), list(waited.x)) == ([0.0, 3.0], [2.0, 0.25])
        assert (list(wrote.base), list(wrote.x)) == ([2.0, 3.25], [0.0, 0.75])
        assert list(waited.y) == ["&lt;b&gt;1", "2"] and len(set(waited.marker.color)) == 2
