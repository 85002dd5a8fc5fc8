"""What explains a run: its price line by line, its attempts in time, its span; and the CSV of all of them."""

import csv
import io
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from nexus_core import (
    audit,
    price_lines,
    prices,
    pricing,
    projects,
    ranges,
    run_detail,
    runs,
    runs_export,
    runs_list,
    runs_look,
    telemetry,
)
from nexus_core.database import Scope, transaction
from nexus_core.filters import Filters
from nexus_core.price_lines import Line
from nexus_core.runs import Run
from nexus_core.runs_query import Asked
from nexus_core.stream import Usage
from tests.nexus_core import ledger
from tests.nexus_core.ledger import NOW

SPAN = ranges.make("30d", "Europe/Madrid", NOW)
EMPTY: dict[str, Any] = dict.fromkeys(Run.__dataclass_fields__)


def run(**values: Any) -> Run:
    """A run of which only `values` are known."""
    known = {"id": uuid4(), "request_id": uuid4(), "attempt": 1, "kind": "answer", "model": "openai/gpt-4o-mini",
             "provider": "openai", "status": "succeeded", "usage_source": "provider", "stopped": False, "metadata": {},
             "created_at": NOW}  # fmt: skip
    return Run(**(EMPTY | known | values))


def priced(model: str, calls: list[Usage], **values: Any) -> Run:
    each = [prices.price(model, usage) for usage in calls]
    total = sum((price.amount or Decimal(0) for price in each), Decimal(0))
    tokens = {name: sum(getattr(usage, name) or 0 for usage in calls) for name in Usage.__dataclass_fields__
              if name != "source"}  # fmt: skip
    amount = round(total, 10)
    return run(
        model=model, cost_estimate=amount, cost_source="litellm", price_version=each[0].version, **tokens, **values
    )


def test_the_lines_of_a_call_add_up_to_its_amount() -> None:
    """FIELD-NOTES 39."""
    usage = Usage(input_tokens=12_307, cache_write_tokens=12_304, cached_tokens=0, output_tokens=550)
    told = price_lines.of(priced("anthropic/claude-sonnet-4-5", [usage]))
    assert told.known and told.lines == (
        Line("input", 3, Decimal(3), Decimal("0.000009")),
        Line("cache_write", 12_304, Decimal("3.75"), Decimal("0.04614")),
        Line("output", 550, Decimal(15), Decimal("0.00825")),
    )


def test_a_loop_of_calls_and_a_dearer_tier() -> None:
    small, large = Usage(199_000, 0, 0, 100, 0), Usage(201_000, 0, 0, 100, 0)
    for calls in ([small, small], [large, large]):
        steps = [{"input_tokens": usage.input_tokens} for usage in calls]
        assert price_lines.of(priced("gemini/gemini-2.5-pro", calls), calls=steps).known
    mixed = [small, large]
    told = price_lines.of(
        priced("gemini/gemini-2.5-pro", mixed), calls=[{"input_tokens": u.input_tokens} for u in mixed]
    )
    assert not told.known and {line.amount for line in told.lines} == {None}
    assert [line.tokens for line in told.lines] == [400_000, 200], "tokens are known, prices are not made up"


def test_own_prices_free_models_and_what_is_unknown(scope: Scope) -> None:
    with transaction(scope) as tx:
        mine = pricing.set_price(tx, "m", NOW.date(), input_price=Decimal(2), output_price=Decimal(8))
    usage = Usage(1_000, 400, None, 100, 60)
    own = run(model="m", input_tokens=1_000, cached_tokens=400, output_tokens=100, reasoning_tokens=60,
              cost_estimate=mine.amount(usage), cost_source="own", price_version="own 1")  # fmt: skip
    told = price_lines.of(own, [mine])
    assert told.known and [(line.kind, line.tokens, line.amount) for line in told.lines] == [
        ("input", 600, Decimal("0.0012")), ("cached", 400, Decimal("0.0008")), ("output", 40, Decimal("0.00032")),
        ("reasoning", 60, Decimal("0.00048")),
    ]  # fmt: skip
    free = run(input_tokens=5, output_tokens=5, cost_estimate=Decimal(0), cost_source="local")
    assert price_lines.of(free).known and {line.amount for line in price_lines.of(free).lines} == {Decimal(0)}
    older = run(
        input_tokens=5, output_tokens=5, cost_estimate=Decimal(1), cost_source="litellm", price_version="litellm 1"
    )
    nothing = run(status="failed")
    for unknown in (
        older,
        nothing,
        run(input_tokens=5, output_tokens=5),
        run(cost_estimate=Decimal(1), cost_source="recorded"),
    ):
        told = price_lines.of(unknown)
        assert not told.known and {line.amount for line in told.lines} == {None}
    assert [line.tokens for line in price_lines.of(nothing).lines] == [None, None]


def test_attempts_in_time() -> None:
    at = {"started_at": NOW, "finished_at": NOW + timedelta(seconds=2)}
    first = run(status="failed", duration_ms=2_000, **at)
    later = NOW + timedelta(seconds=3)
    second = run(attempt=2, duration_ms=900, first_token_ms=250, started_at=later, finished_at=later)
    third = run(attempt=3, status="running", started_at=NOW + timedelta(seconds=5))
    found = run_detail.timeline([first, second, third, run(status="planned")], NOW + timedelta(seconds=6))
    assert [(one.begin, one.waited, one.wrote, one.over) for one in found] == [
        (0, 2_000, 0, True), (3_000, 250, 650, True), (5_000, 1_000, 0, False),
    ]  # fmt: skip


def test_a_span_has_what_is_known() -> None:
    done = run(served_model="gpt-4o-mini-2024-07-18", input_tokens=812, cached_tokens=0, output_tokens=164,
               first_token_ms=431, cost_estimate=Decimal("0.0000210"), started_at=NOW, finished_at=NOW)  # fmt: skip
    found = telemetry.span(done, {"steps": [{"reason": "tool_calls"}, {"reason": "stop"}]}, "Analyst")
    assert found["name"] == "chat gpt-4o-mini" and found["schema_url"] == "https://opentelemetry.io/schemas/1.41.1"
    told = found["attributes"]
    assert told["gen_ai.provider.name"] == "openai" and told["gen_ai.request.model"] == "gpt-4o-mini"
    assert told["gen_ai.usage.cache_read.input_tokens"] == 0 and told["gen_ai.usage.input_tokens"] == 812
    assert told["gen_ai.response.finish_reasons"] == ["stop"] and told["gen_ai.response.time_to_first_chunk"] == 0.431
    assert told["nexus.cost.usd"] == "0.0000210" and told["gen_ai.agent.name"] == "Analyst"
    assert not {"gen_ai.usage.reasoning.output_tokens", "gen_ai.conversation.id", "error.type"} & set(told)
    failed = telemetry.span(run(status="failed", provider="mistral", model="mistral/small", error_type="rate_limit"))
    assert failed["attributes"]["error.type"] == "rate_limit" and failed["status"] == {"code": "ERROR"}
    assert failed["attributes"]["gen_ai.provider.name"] == "mistral_ai" and "end_time" not in failed


@pytest.mark.parametrize("page", [3, 500])
def test_every_run_is_in_the_csv_once_and_no_cell_runs(
    scope: Scope, database_url: str, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    monkeypatch.setattr(runs_export, "LIMIT", page)
    words = ['=HYPERLINK("http://evil")', "+1", "-1", "@x", "\t=1", 'a "b", c\nd', "łąka 🚀"]
    with ledger.owner(database_url) as owner:
        places = ledger.places(owner, scope)
        ids = {ledger.add(owner, scope, NOW - timedelta(hours=1), prompt_summary=text, user_id=places["person"][0],
                          cost_estimate=None if n else Decimal("0.0000001"))
               for n, text in enumerate(words)}  # fmt: skip
        ledger.add(owner, scope, NOW + timedelta(hours=1))  # entered after the file was begun
        ledger.add(owner, scope, NOW - timedelta(hours=1), status="failed")
    asked = Asked(SPAN, Filters(status=("succeeded",)))
    text = b"".join(runs_export.begin(scope, asked)).decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert {row["id"] for row in rows} == {str(item) for item in ids} and len(rows) == len(words)
    by_words = {row["prompt_summary"]: row for row in rows}
    assert set(by_words) == {f"'{one}" if one[0] in "=+-@\t" else one for one in words}
    first = by_words["'" + words[0]]
    assert (first["cost_estimate"], first["person"], first["project"]) == ("0.0000001000", "Person 1", "")
    assert first["created_at"] == "2026-06-17T16:30:00+02:00" and rows[-1]["error_message"] == ""
    assert sum(row["cost_estimate"] == "" for row in rows) == len(words) - 1
    with transaction(scope) as tx:
        (entry,) = [one for one in audit.latest(tx) if one.action == "export"]
    assert (entry.entity, entry.detail) == ("run", {"query": {"status": ["succeeded"]}})


def test_pages_that_no_index_leads_to_are_short_and_together_whole(
    scope: Scope, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ledger.owner(database_url) as owner:
        person = ledger.places(owner, scope)["person"][0]
        for n in range(60):
            ledger.add(owner, scope, NOW - timedelta(minutes=n // 7), prompt_summary="needle" if n % 9 == 0 else "hay",
                       user_id=person if n % 2 else None)  # fmt: skip
    monkeypatch.setattr(runs_list, "STRETCH", 5)
    for patience in (-1.0, 60.0):
        monkeypatch.setattr(runs_list, "PATIENCE", patience)
        for filters, number in ((Filters(), 7), (Filters(person=(person,)), 3), (Filters(person=(None,)), 4)):
            found, after, pages = [], None, 0
            while after or not pages:
                with transaction(scope) as tx:
                    page = runs_list.page(tx, SPAN, filters, search="needle", after=after, limit=4)
                found, after, pages = found + page.runs, page.after, pages + 1
                assert page.reached is None or len(page.runs) < 4
            assert len(found) == len({one.id for one in found}) == number
            assert [one.created_at for one in found] == sorted((one.created_at for one in found), reverse=True)
            assert (pages > 3) == (patience < 0)
            steps = list(runs_look.look(scope, Asked(SPAN, filters, "needle"), limit=10, patience=60))
            assert [one.id for one in steps[-1].runs] == [one.id for one in found] and steps[-1].after is None
            assert (len(steps) > 3) == (patience < 0) and sorted(steps, key=lambda one: len(one.runs)) == steps
            (first,) = runs_look.look(scope, Asked(SPAN, filters, "needle"), limit=10, patience=-1)
            assert first == steps[0] and (first.reached is None) == (patience > 0)


def test_a_run_moves_on_by_its_states_alone(scope: Scope, operator: Scope) -> None:
    with transaction(scope) as tx:
        project = projects.create(tx, "Apollo").id
    with transaction(operator) as tx:
        planned = runs.record(tx, project, model="m", status="planned", metadata={"ci": 1})
        running = runs.advance(tx, planned.id, "running")
        done = runs.advance(tx, planned.id, "succeeded", input_tokens=10, output_tokens=2, cost_estimate=Decimal("0.1"),
                            response_summary="Done.", metadata={"job": 7})  # fmt: skip
    assert running.started_at and running.finished_at is None and running.duration_ms is None
    assert done.finished_at and done.duration_ms is not None and done.started_at == running.started_at
    assert (done.usage_source, done.cost_source, done.metadata) == ("provider", "recorded", {"ci": 1, "job": 7})
