"""A trial of a profile: a real call to a real server on loopback, entered in the ledger before and after."""

from decimal import Decimal
from typing import Any

import pytest

from nexus_core import profiles, runs, trial, worker
from nexus_core.database import Scope, transaction
from nexus_core.errors import Forbidden, NotFound
from nexus_core.profiles import Profile
from nexus_core.providers import PROVIDERS
from nexus_core.stream import Usage
from tests.nexus_core import ledger
from tests.nexus_core.faulty_server import FaultyServer, delta, sse, usage


@pytest.fixture(autouse=True)
def closing(monkeypatch: pytest.MonkeyPatch, database_url: str) -> Any:
    for provider in PROVIDERS.values():
        for name in (*provider.keys, *provider.bases):
            monkeypatch.delenv(name, raising=False)
    yield
    worker.close()


def profile(scope: Scope, model: str = "openai/gpt-4o-mini", **fields: Any) -> Profile:
    with transaction(scope) as tx:
        return profiles.save(tx, slug="tried", name="Tried", model=model, **fields)


def test_the_answer_comes_with_its_figures(scope: Scope, operator: Scope) -> None:
    pieces = sse(
        delta("I am "), delta("a model."), delta(finish="stop"), {**delta(), "choices": [], "usage": usage(1000, 100)}
    )
    with FaultyServer(pieces) as server:
        tried = trial.run(
            operator, profile(scope, api_base=server.base, params={"temperature": 0.2}).id, "Who\nare you?"
        )
    body = server.bodies[0]
    assert body["messages"] == [{"role": "user", "content": "Who are you?"}]
    assert body["temperature"] == 0.2
    assert tried.answer == "I am a model."
    run = tried.run
    assert (run.kind, run.status, run.profile_slug, run.runtime) == ("test", "succeeded", "tried", "local")
    assert (run.input_tokens, run.output_tokens, run.usage_source) == (1000, 100, "provider")
    assert run.cost_estimate == Decimal("0.00021")
    assert run.duration_ms >= run.first_token_ms >= 0
    assert (run.prompt_summary, run.response_summary) == ("Who are you?", "I am a model.")
    assert (run.user_id, run.conversation_id) == (operator.user_id, None)
    assert run.started_at <= run.finished_at


def test_two_in_a_row_use_one_loop(scope: Scope) -> None:
    with FaultyServer(sse(delta("Yes."), delta(finish="stop"))) as server:
        tried = profile(scope, api_base=server.base)
        answers = [trial.run(scope, tried.id).answer for _again in range(3)]
    assert answers == ["Yes."] * 3


def test_the_run_is_there_while_the_model_talks(scope: Scope, database_url: str) -> None:
    seen: list[Any] = []

    class Pieces:
        def __iter__(self) -> Any:
            with ledger.owner(database_url) as connection:
                seen.extend(connection.execute("SELECT kind, status FROM assistant_runs").fetchall())
            return iter(sse(delta("Yes."), delta(finish="stop")))

    with FaultyServer(Pieces()) as server:
        trial.run(scope, profile(scope, api_base=server.base).id)
    assert seen == [("test", "running")]


def test_a_model_that_fails_is_a_failed_run_with_a_sentence(scope: Scope) -> None:
    with FaultyServer(status="401 Unauthorized", headers=("Content-Type: application/json",)) as server:
        tried = trial.run(scope, profile(scope, api_base=server.base).id)
    assert tried.answer == ""
    assert (tried.run.status, tried.run.error_type) == ("failed", "authentication")
    assert tried.run.error_message
    assert (tried.run.input_tokens, tried.run.output_tokens, tried.run.cost_estimate) == (None, None, None)


def test_what_came_before_it_broke_off_is_shown_and_estimated(scope: Scope) -> None:
    with FaultyServer(sse(delta("Half of "), done=False)) as server:
        tried = trial.run(scope, profile(scope, api_base=server.base).id)
    assert tried.answer == "Half of "
    assert (tried.run.status, tried.run.usage_source) == ("failed", "estimated")
    assert tried.run.output_tokens


def test_a_price_that_is_unknown_stays_unknown(scope: Scope) -> None:
    with FaultyServer(sse(delta("Yes."), delta(finish="stop"))) as server:
        tried = trial.run(scope, profile(scope, "openai/of-our-own", api_base=server.base).id)
    assert (tried.run.status, tried.run.cost_estimate) == ("succeeded", None)


def test_the_built_in_assistant_says_what_it_is(operator: Scope) -> None:
    with transaction(operator) as tx:
        builtin = profiles.default(tx)
    tried = trial.run(operator, builtin.id)
    assert "not a language model" in tried.answer
    assert (tried.run.status, tried.run.runtime, tried.run.cost_estimate) == ("succeeded", "built in", 0)


def test_it_needs_an_operator_and_a_profile_of_ones_own(
    viewer: Scope, operator: Scope, scope: Scope, other_scope: Scope, database_url: str
) -> None:
    tried = profile(scope)
    with pytest.raises(Forbidden):
        trial.run(viewer, tried.id)
    with pytest.raises(NotFound):
        trial.run(other_scope, tried.id)
    with ledger.owner(database_url) as connection:
        assert connection.execute("SELECT count(*) FROM assistant_runs").fetchone() == (0,)


def test_an_end_is_entered_once(scope: Scope) -> None:
    with transaction(scope) as tx:
        about = {"provider": "openai", "runtime": "remote", "profile_slug": "x", "prompt_summary": "Who?"}
        run_id = runs.begin(tx, "test", "openai/x", **about)
        first = runs.end(tx, run_id, "succeeded", Usage(1, None, None, 2, None, "provider"), duration_ms=5)
        again = runs.end(tx, run_id, "failed", Usage(), error_type="unknown")
    assert first == again
    assert (first.status, first.input_tokens, first.duration_ms, first.error_type) == ("succeeded", 1, 5, None)
