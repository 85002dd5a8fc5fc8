"""Budgets and own prices in a real turn: who may begin, what is held meanwhile, what it cost in the end."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import psycopg
import pytest

from nexus_core import admission, budgets, chat, pricing, profiles, runs, trial, worker
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.messages import Message
from nexus_core.runs import Run
from nexus_core.stream import Usage
from tests.nexus_core import ledger
from tests.nexus_core.conversing import ask, connect, message, project, settled
from tests.nexus_core.faulty_server import FaultyServer, delta, sse, usage

ANSWER = sse(delta("Twelve per cent."), delta(finish="stop"), {**delta(), "choices": [], "usage": usage(1000, 100)})


@pytest.fixture(autouse=True)
def closing(database_url: str) -> Iterator[None]:
    yield
    worker.close()


@pytest.fixture
def owner(database_url: str) -> Iterator[psycopg.Connection]:
    with ledger.owner(database_url) as connection:
        yield connection


def budget(scope: Scope, amount: str, kind: str = "workspace", target_id: UUID | None = None) -> UUID:
    with transaction(scope) as tx:
        return budgets.put(tx, kind, Decimal(amount), target_id=target_id)


def run_of(scope: Scope, answer: Message) -> Run:
    with transaction(scope) as tx:
        return runs.get(tx, answer.run_id)  # type: ignore[arg-type]


def test_a_used_up_budget_blocks_kindly_and_loses_nothing(scope: Scope, operator: Scope) -> None:
    place = project(operator)
    made = budget(scope, "0.0001", "project", place)
    with FaultyServer(ANSWER) as server:
        connect(scope, server.base)
        turn = chat.send(operator, "Where are we with the discount?", place=Place(place))
        assert turn.blocked
        answer, run = message(operator, turn.answer_id), run_of(operator, message(operator, turn.answer_id))
        assert answer.status == "failed" and "budget of the project" in answer.metadata["error"]
        assert (run.status, run.error_type, run.started_at) == ("blocked", "budget", None)
        assert run.error_message == answer.metadata["error"] and "administrator" in answer.metadata["error"]
        assert run.cost_estimate is None and run.input_tokens is None
        assert server.bodies == []
        with transaction(scope) as tx:
            budgets.remove(tx, made)
        again = settled(operator, chat.answer_again(operator, turn.answer_id))
        assert (again.body, again.status) == ("Twelve per cent.", "complete")
        assert [one["content"] for one in server.bodies[0]["messages"] if one["role"] == "user"] == [
            "Where are we with the discount?"
        ]


def test_another_project_goes_on(scope: Scope, operator: Scope) -> None:
    budget(scope, "0", "project", project(operator))
    with FaultyServer(ANSWER) as server:
        connect(scope, server.base)
        assert ask(operator, "And here?", place=Place(project(operator, "Borealis")))[1].status == "complete"


def test_what_was_held_is_settled_with_the_answer(scope: Scope, operator: Scope) -> None:
    budget(scope, "1")
    with FaultyServer(ANSWER) as server:
        connect(scope, server.base)
        _turn, answer = ask(operator, "Where are we?")
    with transaction(scope) as tx:
        (status,) = budgets.statuses(tx, datetime.now(UTC))
    assert status.held == 0 and status.spent == run_of(operator, answer).cost_estimate == Decimal("0.00021")


def test_while_one_answer_runs_the_rest_is_too_little_for_another(scope: Scope, operator: Scope) -> None:
    expected = admission.expected(0, "", {})
    with transaction(scope) as tx:
        profiles.save(tx, slug="x", name="x", model="openai/gpt-4o-mini")
        first = runs.begin(
            tx, "test", "openai/gpt-4o-mini", provider="openai", runtime="remote", profile_slug="x", prompt_summary=""
        )
        estimate = pricing.price(None, "openai/gpt-4o-mini", expected, datetime.now(UTC)).amount
    assert estimate
    budget(scope, str(estimate * Decimal("1.5")))
    with transaction(scope) as tx:
        assert admission.ask(tx, first, first, "openai/gpt-4o-mini", expected) is None
    turn = chat.send(operator, "Where are we?") if connect(scope, "http://127.0.0.1:9") else None
    assert turn is not None and turn.blocked


def test_a_share_that_is_spent_is_said_under_the_answer(
    scope: Scope, operator: Scope, owner: psycopg.Connection
) -> None:
    budget(scope, "1")
    ledger.add(owner, scope, datetime.now(UTC), cost_estimate=Decimal("0.6"))
    with FaultyServer(ANSWER) as server:
        connect(scope, server.base)
        _turn, answer = ask(operator, "Where are we?")
    assert run_of(operator, answer).metadata["budget_warnings"] == [
        "60% of this month's budget of the workspace is spent."
    ]


def test_the_workspaces_own_price_comes_first(scope: Scope, operator: Scope) -> None:
    today = datetime.now(UTC).date()
    with transaction(scope) as tx:
        pricing.set_price(
            tx, "openai/gpt-4o-mini", today - timedelta(days=2), input_price=Decimal(3), output_price=Decimal(10)
        )
    with FaultyServer(ANSWER) as server:
        connected = connect(scope, server.base)
        _turn, answer = ask(operator, "Where are we?")
        tried = trial.run(operator, connected.id)
    for run in (run_of(operator, answer), tried.run):
        assert (run.cost_estimate, run.cost_source, run.price_version) == (Decimal("0.004"), "own", "own 1")


def test_a_test_call_is_blocked_too(scope: Scope, operator: Scope) -> None:
    budget(scope, "0")
    with FaultyServer(ANSWER) as server:
        connected = connect(scope, server.base)
        tried = trial.run(operator, connected.id)
        assert server.bodies == []
    assert tried.run.status == "blocked" and "budget of the workspace" in (tried.run.error_message or "")


def test_what_is_expected_of_a_call() -> None:
    found = admission.expected(5000, "Be brief.", {"max_tokens": 300})
    assert found == Usage(input_tokens=5000 + 3 + admission.ADDED_TOKENS, output_tokens=300, source="estimated")
    assert admission.expected(0, "", {}).output_tokens == admission.ANSWER_TOKENS
