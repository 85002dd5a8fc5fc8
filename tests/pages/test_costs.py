"""The Costs page: its address is its state, cards and tables say what the ledger says, clicks lead to runs."""

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from streamlit.testing.v1 import AppTest

from nexus_core import exports, panels, projects, rollup, views
from nexus_core.database import Scope, transaction
from pages.components import costs_chart, costs_runs, costs_state, costs_words
from tests.nexus_core import ledger

PAGE = "insight/costs.py"


@pytest.fixture
def owner(database_url: str) -> Iterator[psycopg.Connection]:
    with ledger.owner(database_url) as connection:
        yield connection


@pytest.fixture
def some(owner: psycopg.Connection, scope: Scope) -> psycopg.Connection:
    """Three runs in the last hour, one without a price and one failed, and one of long ago."""
    at = datetime.now(UTC) - timedelta(seconds=5)
    ledger.add(owner, scope, at, cost_estimate=Decimal("1204.11"), model="openai/gpt-4o")
    ledger.add(owner, scope, at, cost_estimate=None, model="in/house", provider=None)
    ledger.add(owner, scope, at, cost_estimate=None, status="failed", usage_source="none", duration_ms=None)
    ledger.add(owner, scope, at - timedelta(days=400))
    return owner


def words(page: AppTest) -> str:
    shown = [*page.title, *page.markdown, *page.caption, *page.error, *page.warning]
    return "\n".join([*(element.value for element in shown), *(link.label for link in page.page_link)])


def figure(page: AppTest, place: int) -> str:
    return page.metric[place].value.replace("\\", "")


def address(page: AppTest) -> dict[str, list[str]]:
    found = {key: [values] if isinstance(values, str) else list(values) for key, values in page.query_params.items()}
    return {key: values for key, values in found.items() if key != "workspace"}


def test_an_empty_ledger_says_what_a_run_is(operator: Scope, open_page: Any) -> None:
    page = open_page(operator, PAGE)
    assert "Nothing ran in this range" in words(page) and "Open the chat" in words(page)
    assert not page.metric and "UTC" in words(page)


def test_cards_say_what_the_ledger_says(operator: Scope, open_page: Any, some: psycopg.Connection) -> None:
    page = open_page(operator, PAGE)
    shown = [metric.value.replace("\\", "") for metric in page.metric]
    assert shown[:8] == ["≥ $1,204.11", "3", "3,300", "33.3 %", "993 ms", "993 ms", "200 ms", "66.7 %"]
    said = words(page)
    assert "2 runs unpriced" in said and ":gray-badge[new]" in said
    assert "3 requests" in said and "3k in" in said


@pytest.mark.parametrize("name", list(costs_words.range_names()))
def test_every_range_draws_also_with_one_day_alone(
    name: str, operator: Scope, open_page: Any, some: psycopg.Connection
) -> None:
    page = open_page(operator, PAGE)
    page.segmented_control(key="costs_range").set_value(name).run()
    assert not page.exception and not page.error and not page.warning
    assert address(page).get("range", ["30d"]) == [name]
    if name == "own":
        assert page.date_input(key="costs_days").value[0] == (datetime.now(UTC) - timedelta(days=29)).date()
    assert len(page.get("plotly_chart")) == (0 if name == "last_month" else 12)


def test_the_address_is_the_state(operator: Scope, open_page: Any, some: psycopg.Connection) -> None:
    page = open_page(operator, PAGE, range="7d", by="provider", model="openai/gpt-4o")
    assert page.segmented_control(key="costs_range").value == "7d"
    assert page.segmented_control(key="costs_by").value == "provider"
    assert page.multiselect(key="costs_filter_model").value == ["openai/gpt-4o"]
    assert figure(page, 0) == "≥ $1,204.11" and figure(page, 1) == "2"
    page.multiselect(key="costs_filter_status").set_value(["succeeded"]).run()
    assert figure(page, 0) == "$1,204.11"
    assert address(page) == {
        "range": ["7d"], "by": ["provider"], "model": ["openai/gpt-4o"], "status": ["succeeded"],
    }  # fmt: skip
    page.segmented_control(key="costs_by").set_value("kind").run()
    assert address(page)["by"] == ["kind"]
    page.query_params["range"] = "today"  # as Back does
    page.run()
    assert page.segmented_control(key="costs_range").value == "today"


def test_a_filter_is_taken_away_where_it_is_shown(operator: Scope, open_page: Any, some: psycopg.Connection) -> None:
    page = open_page(operator, PAGE, model="openai/gpt-4o", provider="none")
    assert "Take filters away" in words(page)
    page.pills(key="costs_pills").set_value(["model=openai/gpt-4o"]).run()
    assert address(page) == {"model": ["openai/gpt-4o"]} and figure(page, 1) == "2"


@pytest.mark.parametrize(
    "query",
    [
        {"range": "yesterday"},
        {"range": "own"},
        {"range": "own", "first": "2026-02-30", "last": "2026-03-01"},
        {"range": "own", "first": "2026-03-02", "last": "2026-03-01"},
        {"project": "no-uuid"},
    ],
)
def test_a_broken_address_is_said_and_the_page_stays(
    query: dict[str, str], operator: Scope, open_page: Any, some: psycopg.Connection
) -> None:
    page = open_page(operator, PAGE, **query)
    assert len(page.warning) == 1 and figure(page, 1) == "3"
    page.segmented_control(key="costs_range").set_value("7d").run()
    assert "project" in query or not page.warning


def test_unknown_keys_of_the_address_are_left_alone(operator: Scope, open_page: Any, some: psycopg.Connection) -> None:
    page = open_page(operator, PAGE, by="nonsense", cell="9-99", conversationx="1")
    assert not page.warning and page.segmented_control(key="costs_by").value == "model"


def test_the_projects_selector_is_a_filter(scope: Scope, open_page: Any, owner: psycopg.Connection) -> None:
    with transaction(scope) as tx:
        project = projects.create(tx, "=Pricing $5 :red[x]")
    ledger.add(owner, scope, datetime.now(UTC), project_id=project.id)
    ledger.add(owner, scope, datetime.now(UTC))
    page = open_page(scope, PAGE, project=project.id, by="project")
    assert figure(page, 1) == "1"
    assert page.get("button_group") and not page.exception


def test_views_are_saved_shown_and_removed(operator: Scope, open_page: Any, some: psycopg.Connection) -> None:
    page = open_page(operator, PAGE, range="7d", by="kind", live="1")
    page.text_input(key="costs_views_name").set_value(":red[Kinds] $1")
    page.checkbox(key="costs_views_shared").set_value(True)
    page.button(key="costs_views_save").click().run()
    with transaction(operator) as tx:
        (view,) = views.of_page(tx, "costs")
    assert (view.query, view.shared) == ({"range": ["7d"], "by": ["kind"]}, True)
    page.segmented_control(key="costs_range").set_value("90d").run()
    page.button(key=f"costs_views_{view.id}").click().run()
    assert address(page) == {"range": ["7d"], "by": ["kind"], "live": ["1"]}
    page.button(key=f"costs_views_{view.id}_remove").click().run()
    with transaction(operator) as tx:
        assert views.of_page(tx, "costs") == []


def test_viewers_keep_views_for_themselves(viewer: Scope, scope: Scope, open_page: Any) -> None:
    with transaction(scope) as tx:
        shared = views.save(tx, "costs", "Ours", {"range": ["7d"]}, shared=True)
        views.save(tx, "costs", "Mine", {"range": ["90d"]})
    page = open_page(viewer, PAGE)
    keys = {button.key for button in page.button if button.key and button.key.startswith("costs_views_")}
    assert keys == {"costs_views_save", f"costs_views_{shared.id}"}
    page.button(key="costs_views_save").click().run()
    assert [error.value for error in page.error] == ["A view needs a name."]


def test_a_click_leads_to_the_runs_behind_it(
    operator: Scope, open_page: Any, some: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[dict[str, list[str]]] = []
    monkeypatch.setattr(costs_runs, "open_", opened.append)
    page = open_page(operator, PAGE, range="today", by="model")
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    ends = [str(hour), str(hour + timedelta(hours=1))]
    page.session_state[costs_chart.CLICKED] = ("spend", ["in/house", *ends])
    page.run()
    assert opened == [
        {"model": ["in/house"], "from": [hour.isoformat()], "to": [(hour + timedelta(hours=1)).isoformat()]}
    ]
    page.run()
    assert len(opened) == 1, "a click counts once"


def test_back_from_the_runs_finds_the_page_as_it_was_left(
    operator: Scope, open_page: Any, some: psycopg.Connection
) -> None:
    """Streamlit leaves the next page's query in the history of this one."""
    page = open_page(operator, PAGE, kind="summary", **{"from": "2026-01-01", "to": "2026-01-02"})
    assert address(page) == {"kind": ["summary"]}, "nothing known of a former address: what is not ours goes"
    page.session_state[costs_runs.LEFT] = {"range": ["7d"], "by": ["kind"]}
    page.query_params["from"], page.query_params["to"] = "2026-01-01", "2026-01-02"
    page.run()
    assert address(page) == {"range": ["7d"], "by": ["kind"]} and figure(page, 1) == "3"


def test_a_cell_of_several_hours_shows_them(operator: Scope, open_page: Any, some: psycopg.Connection) -> None:
    at = datetime.now(UTC) - timedelta(seconds=5)
    page = open_page(operator, PAGE)
    page.session_state[costs_chart.CLICKED] = ("clock", [str(at.isoweekday()), str(at.hour), "3"])
    page.run()
    assert address(page) == {"cell": [f"{at.isoweekday()}-{at.hour}"]}
    assert "1 hours with runs" in words(page) and f"{at:%Y-%m-%d, %H}:00" in words(page)
    page.button(key="costs_cell_close").click().run()
    assert address(page) == {}


def test_tables_and_files_are_the_charts_frame(operator: Scope, open_page: Any, some: psycopg.Connection) -> None:
    page = open_page(operator, PAGE)
    page.session_state["costs_data_spend"] = True
    page.run()
    shown = page.dataframe[0].value
    assert sorted(shown["key"]) == ["in/house", "openai/gpt-4o"] and "from_at" not in shown
    assert sum(value for value in shown["cost"] if value is not None) == Decimal("1204.11")
    assert {button.label for button in page.get("download_button")} >= {"CSV", "Parquet"}


def test_a_table_hides_nothing_but_ids_and_empty_columns() -> None:
    frame = costs_chart.table(
        panels.pd.DataFrame({"id": ["x"], "key": ["=1"], "cost": [None], "runs": [0]}, dtype=object)
    )
    assert list(frame) == ["key", "runs"]
    assert list(csv.reader(io.StringIO(exports.csv(frame).decode("utf-8-sig"))))[1] == ["'=1", "0"]


def test_live_is_in_the_address_and_off_by_default(operator: Scope, open_page: Any, some: psycopg.Connection) -> None:
    page = open_page(operator, PAGE)
    assert not page.get("bidi_component")
    page.toggle(key="costs_live").set_value(True).run()
    assert address(page) == {"live": ["1"]} and page.get("bidi_component")


def test_hostile_names_draw(operator: Scope, scope: Scope, open_page: Any, owner: psycopg.Connection) -> None:
    name = "<img src=x onerror=alert(1)> :red[x] $5 " + "👨‍👩‍👧‍👦" * 40
    agent = uuid4()
    owner.execute("INSERT INTO agents (workspace_id, id, name) VALUES (%s, %s, %s)", (scope.workspace_id, agent, name))
    ledger.add(owner, scope, datetime.now(UTC), agent_id=agent, model=name)
    rollup.refresh(scope, datetime.now(UTC))
    page = open_page(operator, PAGE, by="agent", agent=agent, model=name)
    assert not page.exception and figure(page, 1) == "1"
    assert "<img" not in words(page)


def test_moving_leaves_other_keys(operator: Scope, open_page: Any) -> None:
    assert set(costs_state.VIEW) >= {"range", "first", "last", "by", "project", "model"}
    assert "live" not in costs_state.VIEW and "workspace" not in costs_state.VIEW
