"""Runs: the table by its address, and one run opened."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from streamlit.testing.v1 import AppTest

from nexus_core import pricing, projects, runs, runs_list, runs_look
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from pages.components import runs_table
from tests.nexus_core import ledger
from tests.nexus_core.conversing import agent, ask, project
from tests.store import do

PAGE = "insight/runs.py"
HOSTILE = ':red[x] **b** ![x](https://evil.example/p) $5 and $10 <img src=x onerror=1> =1+1 "'


def words(page: AppTest) -> str:
    shown = [*page.title, *page.subheader, *page.markdown, *page.caption, *page.error, *page.warning, *page.info]
    shown += [*page.code, *page.text]
    return "\n".join([*(str(one.value) for one in shown), *(link.label for link in page.page_link)])


def rows(page: AppTest) -> list[dict[str, Any]]:
    return list(page.dataframe[0].value.to_dict("records")) if page.dataframe else []


def figures(page: AppTest) -> dict[str, str]:
    return {one.label: one.value for one in page.metric}


@pytest.fixture
def some(scope: Scope, database_url: str) -> dict[str, Any]:
    """Five states, two projects, a hostile text, one run of last year; newest last."""
    now = datetime.now(UTC)
    with ledger.owner(database_url) as owner:
        places = ledger.places(owner, scope)
        first = {"project_id": places["project"][0], "user_id": places["person"][0]}
        made: dict[str, Any] = {"places": places}
        for n, status in enumerate(("planned", "running", "succeeded", "failed", "blocked")):
            at = now - timedelta(minutes=9 - n)
            made[status] = ledger.add(owner, scope, at, status=status, prompt_summary=status, **first)
        made["hostile"] = ledger.add(owner, scope, now - timedelta(minutes=3), prompt_summary=HOSTILE, model=HOSTILE,
                                     project_id=places["project"][1], cost_estimate=None)  # fmt: skip
        made["old"] = ledger.add(owner, scope, now - timedelta(days=200), prompt_summary="old", model="x/old")
    return made


def test_every_state_is_there_and_what_is_unknown_stays_unknown(viewer: Scope, some: Any, open_page: Any) -> None:
    found = rows(open_page(viewer, PAGE))
    assert [row["status"] for row in found] == [
        ["Succeeded"], ["Blocked"], ["Failed"], ["Succeeded"], ["Running"], ["Planned"],
    ]  # fmt: skip
    assert found[0]["what"] == HOSTILE, "cells are not parsed"
    assert found[0]["cost"] == "unpriced" and found[3]["cost"] == "$0.0035"
    assert found[3]["person"] == "Person 1"


def test_the_address_says_what_is_shown(viewer: Scope, some: Any, open_page: Any) -> None:
    """The query of a chart: filters with from and to."""
    one = str(some["places"]["project"][0])
    at = datetime.now(UTC) - timedelta(days=1)
    query = {"project": one, "status": "failed", "from": at.isoformat(), "to": datetime.now(UTC).isoformat()}
    page = open_page(viewer, PAGE, **query)
    assert [row["what"] for row in rows(page)] == ["failed"]
    assert any("Project: Project" in (button.label or "") for button in page.button)
    assert [row["what"] for row in rows(open_page(viewer, PAGE, q="HOST"))] == []
    assert [row["what"] for row in rows(open_page(viewer, PAGE, q="![X]("))] == [HOSTILE]
    assert [row["what"] for row in rows(open_page(viewer, PAGE, unpriced="1"))] == [HOSTILE]
    assert [row["what"] for row in rows(open_page(viewer, PAGE, range="365d", model="x/old"))] == ["old"]
    page = open_page(viewer, PAGE, columns="status,id")
    assert set(rows(page)[0]) == {"status", "id"}


def test_choices_change_the_address(viewer: Scope, some: Any, open_page: Any) -> None:
    page = open_page(viewer, PAGE, after=f"{datetime.now(UTC).isoformat()}_{uuid4()}")
    page.button_group(key="runs_status").set_value(["failed"]).run()
    assert page.query_params["status"] == "failed" and "after" not in page.query_params
    assert [row["what"] for row in rows(page)] == ["failed"]
    page.multiselect(key="runs_filter_model").set_value(["openai/gpt-4o"]).run()
    page.text_input(key="runs_search").set_value("fail").run()
    assert (page.query_params["model"], page.query_params["q"]) == ("openai/gpt-4o", "fail")
    page.button(key="runs_without_model_openai/gpt-4o").click().run()
    assert "model" not in page.query_params
    page.multiselect(key="runs_columns").set_value(["status", "cost"]).run()
    assert page.query_params["columns"] == "status,cost" and set(rows(page)[0]) == {"status", "cost"}
    page.text_input(key="runs_search").set_value("nothing like it").run()
    assert "No run fits" in words(page)
    page.button(key="runs_reset").click().run()
    assert len(rows(page)) == 6


def test_pages_by_cursor_show_every_run_once(
    viewer: Scope, scope: Scope, database_url: str, open_page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs_table, "ROWS", 3)
    with ledger.owner(database_url) as owner:
        at = datetime.now(UTC) - timedelta(minutes=1)
        made = {str(ledger.add(owner, scope, at)) for _n in range(8)}
    page = open_page(viewer, PAGE, columns="id")
    found = [row["id"] for row in rows(page)]
    while any(button.key == "runs_older" for button in page.button):
        page.button(key="runs_older").click().run()
        found += [row["id"] for row in rows(page)]
    assert len(found) == 8 and set(found) == made and page.query_params["after"]
    page.button(key="runs_newest").click().run()
    assert [row["id"] for row in rows(page)] == found[:3]
    assert "error" not in rows(open_page(viewer, PAGE))[0], "nothing went wrong, so there is nothing to tell"


def test_a_rare_word_is_one_search_that_says_how_far_it_came(
    viewer: Scope, some: Any, open_page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in ((runs_list, "PATIENCE"), (runs_list, "FIRST_STRETCH"), (runs_list, "STRETCH")):
        monkeypatch.setattr(module, name, -1.0 if name == "PATIENCE" else 1)
    page = open_page(viewer, PAGE, q="old", range="365d")
    assert [row["what"] for row in rows(page)] == ["old"] and not page.warning
    monkeypatch.setattr(runs_look, "PATIENCE", -1.0)
    page = open_page(viewer, PAGE, q="old", range="365d")
    assert not rows(page) and "older runs were not looked at" in page.warning[0].value
    monkeypatch.setattr(runs_look, "PATIENCE", 20.0)
    page.button(key="runs_older").click().run()
    assert [row["what"] for row in rows(page)] == ["old"]


def test_an_empty_ledger_and_broken_addresses_are_kind(viewer: Scope, open_page: Any) -> None:
    page = open_page(viewer, PAGE)
    assert "No runs in these days" in words(page) and not page.dataframe
    for query in ({"from": "x"}, {"project": "x"}, {"after": "x"}):
        page = open_page(viewer, PAGE, **query)
        assert len(page.error) == 1
        page.button(key="runs_reset").click().run()
        assert not page.error
    for guess in (uuid4(), "x"):
        assert "There is no such run here." in words(open_page(viewer, PAGE, run=guess))


def test_a_run_tells_what_happened(operator: Scope, open_page: Any) -> None:
    place = Place(project(operator, "Apollo"), agent(operator, "Analyst"))
    _turn, answer = ask(operator, f"Which city? {HOSTILE}", place=place)
    page = open_page(operator, PAGE, run=answer.run_id)
    said = words(page)
    assert figures(page)["Cost"] == "free" and "[x](https" not in page.title[0].value
    assert {"Analyst", "Apollo"} <= {link.label for link in page.page_link}
    assert {"Timeline", "What came back", "What was sent", "Price", "For programs"} <= {
        one.value for one in page.subheader
    }
    assert "Instructions" in said and "The built-in assistant costs nothing." in said
    page.button(key="run_back").click().run()
    assert "run" not in page.query_params and page.title[0].value == "Runs"


def test_the_words_of_anothers_private_conversation_are_not_shown(
    operator: Scope, colleague: Scope, open_page: Any
) -> None:
    _turn, answer = ask(operator, "My secret is blue")
    assert "secret" in words(open_page(operator, PAGE, run=answer.run_id))
    page = open_page(colleague, PAGE, run=answer.run_id)
    said = words(page)
    assert "secret" not in said and "private conversation of Olga" in said and figures(page)["Tokens in"] != "unknown"
    assert "secret" not in str(rows(open_page(colleague, PAGE)))


def test_an_error_in_full_and_prices_that_add_up(
    viewer: Scope, scope: Scope, database_url: str, open_page: Any
) -> None:
    now = datetime.now(UTC)
    with transaction(scope) as tx:
        mine = pricing.set_price(tx, "m", now.date(), input_price=Decimal("0.5"), output_price=Decimal(8))
    with ledger.owner(database_url) as owner:
        failed = ledger.add(
            owner, scope, now, status="failed", cost_estimate=None, input_tokens=None, output_tokens=None
        )
        owner.execute("UPDATE assistant_runs SET error_type = 'rate_limit', error_message = %s WHERE id = %s",
                      (HOSTILE * 20, failed))  # fmt: skip
        priced = ledger.add(owner, scope, now, model="m", cost_source="own", price_version=f"own {mine.version}",
                            input_tokens=1000, output_tokens=100, cost_estimate=Decimal("0.0013"))  # fmt: skip
    page = open_page(viewer, PAGE, run=failed)
    (error,) = page.error
    assert "`rate_limit`" in error.value and error.value.count("red&#91;x&#93;") == 20 and "![x](" not in error.value
    assert figures(page)["Tokens in"] == "unknown" and "how many tokens it used is not known" in words(page)
    page = open_page(viewer, PAGE, run=priced)
    (table,) = [one.value for one in page.dataframe]
    assert list(table["amount"]) == ["$0.00050000", "$0.00080000", "$0.00130000"]
    assert list(table["price"]) == ["$0.50", "$8.00", ""] and "own price, version 1" in words(page)


def test_a_planned_run_is_cancelled_by_operators_alone(operator: Scope, viewer: Scope, open_page: Any) -> None:
    with transaction(operator) as tx:
        where = projects.create(tx, "Apollo").id
        planned = runs.record(tx, where, model="m", status="planned", prompt_summary="Nightly")
    key = f"run_cancel_{planned.id}"
    assert not [button for button in open_page(viewer, PAGE, run=planned.id).button if button.key == key]
    page = open_page(operator, PAGE, run=planned.id)
    assert "It has not begun." in words(page)
    page.button(key=key).click().run()
    assert "It was cancelled." in words(page)
    with transaction(operator) as tx:
        assert (runs.get(tx, planned.id).status, runs.get(tx, planned.id).error_type) == ("failed", "cancelled")
    do(operator, "UPDATE assistant_runs SET status = 'planned', finished_at = NULL WHERE id = :id", id=planned.id)
    page = open_page(operator, PAGE, run=planned.id)
    do(operator, "UPDATE assistant_runs SET status = 'succeeded', finished_at = now() WHERE id = :id", id=planned.id)
    page.button(key=key).click().run()
    assert "This run is succeeded" in words(page), "somebody was faster"
