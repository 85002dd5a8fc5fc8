"""Own prices from a day on, and new prices for past runs with a way back."""

from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal

import psycopg
import pytest

from nexus_core import audit, costs, pricing, ranges, repricing, rollup
from nexus_core.database import Scope, transaction
from nexus_core.errors import Conflict, Forbidden, Invalid, NotFound
from nexus_core.stream import Usage
from tests.nexus_core import ledger
from tests.nexus_core.ledger import NOW

MODEL = "openai/in-house"
WEEK = ranges.make("7d", "UTC", NOW)


@pytest.fixture
def owner(database_url: str) -> Iterator[psycopg.Connection]:
    with ledger.owner(database_url) as connection:
        yield connection


def set_price(scope: Scope, valid_from: date, into: str | None, out: str | None, **rates: Decimal) -> pricing.OwnPrice:
    prices = {"input_price": into and Decimal(into), "output_price": out and Decimal(out)}
    with transaction(scope) as tx:
        return pricing.set_price(tx, MODEL, valid_from, **prices, **rates)  # type: ignore[arg-type]


def test_a_price_holds_from_its_day_on(scope: Scope, owner: psycopg.Connection) -> None:
    ledger.zone(owner, scope, "Asia/Kolkata")
    set_price(scope, date(2026, 6, 1), "1", "2")
    set_price(scope, date(2026, 6, 10), "3", "4")
    set_price(scope, date(2026, 6, 10), "5", "6")
    set_price(scope, date(2026, 6, 15), None, None)
    usage = Usage(1_000_000, None, None, 1_000_000)
    with transaction(scope) as tx:
        own = pricing.load(tx)
    day = timedelta(days=1)
    midnight = ranges.start_of(date(2026, 6, 10), own.zone)
    found = {
        name: pricing.price(own, MODEL, usage, at)
        for name, at in {
            "before any": midnight - 20 * day,
            "first": midnight - timedelta(microseconds=1),
            "second, as corrected": midnight,
            "given up": midnight + 5 * day,
        }.items()
    }
    assert [item.amount for item in found.values()] == [None, Decimal(3), Decimal(11), None]
    assert [item.version for item in found.values()] == [None, "own 1", "own 3", None]
    assert found["first"].source == "own"


def test_the_bundled_table_answers_where_there_is_no_own_price(scope: Scope) -> None:
    with transaction(scope) as tx:
        own = pricing.load(tx)
    found = pricing.price(own, "openai/gpt-4o-mini", Usage(1000, 0, None, 100), NOW)
    assert found.source == "litellm" and found.amount is not None and found.amount > 0


def test_cached_and_written_tokens_are_priced_apart() -> None:
    """FIELD-NOTES 39: 12,307 in of which 12,304 cache-write, 550 out, at 3/15/3.75 per million."""
    rates = (Decimal(3), None, Decimal("3.75"), Decimal(15))
    own = pricing.OwnPrice(WEEK_ID, 1, MODEL, date(2026, 1, 1), *rates, None, NOW)
    amount = own.amount(Usage(12_307, 0, 12_304, 550))
    assert amount == Decimal("0.054399")
    assert own.amount(Usage(None, None, None, 550)) is None


WEEK_ID = ledger.uuid4()


@pytest.mark.parametrize(
    "rates",
    [
        {"input_price": Decimal(1), "output_price": None},
        {"input_price": Decimal(-1), "output_price": Decimal(1)},
        {"input_price": Decimal("NaN"), "output_price": Decimal(1)},
        {"input_price": None, "output_price": None, "cached_price": Decimal(1)},
        {"input_price": Decimal(2_000_000), "output_price": Decimal(1)},
    ],
)
def test_what_is_no_price_is_refused(scope: Scope, rates: dict[str, Decimal | None]) -> None:
    with transaction(scope) as tx, pytest.raises(Invalid):
        pricing.set_price(tx, MODEL, date(2026, 1, 1), **rates)  # type: ignore[arg-type]


def test_prices_are_the_admins(operator: Scope) -> None:
    with transaction(operator) as tx, pytest.raises(Forbidden):
        pricing.set_price(tx, MODEL, date(2026, 1, 1), input_price=Decimal(1), output_price=Decimal(1))
    with transaction(operator) as tx, pytest.raises(Forbidden):
        repricing.apply(tx, WEEK)


def test_unpriced_models_are_listed(scope: Scope, owner: psycopg.Connection) -> None:
    at = NOW - timedelta(days=1)
    for _n in range(2):
        ledger.add(owner, scope, at, model=MODEL, cost_estimate=None)
    ledger.add(
        owner, scope, at, model=MODEL, cost_estimate=None, usage_source="none", input_tokens=None, status="failed"
    )
    ledger.add(owner, scope, at)
    with transaction(scope) as tx:
        found = pricing.unpriced(tx, WEEK)
    assert [(item.model, item.runs, item.input_tokens) for item in found] == [(MODEL, 2, 2000)]


def test_past_runs_are_priced_anew_and_back(scope: Scope, owner: psycopg.Connection) -> None:
    days = [NOW - timedelta(days=n) for n in (1, 1, 2, 30)]
    runs = [ledger.add(owner, scope, at, model=MODEL, cost_estimate=None, cost_source=None) for at in days]
    ledger.add(owner, scope, days[0])
    ledger.add(owner, scope, days[0], model=MODEL, cost_estimate=None, input_tokens=None, usage_source="none")
    rollup.refresh(scope, NOW)
    untouched = costs.report(scope, WEEK).total
    set_price(scope, date(2026, 1, 1), "2", "20")
    with transaction(scope) as tx:
        changes = repricing.preview(tx, WEEK, models=[MODEL])
    each = Decimal("0.0040000000")
    assert [(item.runs, item.before, item.after) for item in changes] == [(1, None, each), (2, None, 2 * each)]
    with transaction(scope) as tx:
        batch = repricing.apply(tx, WEEK, models=[MODEL])
    assert batch.runs == 3
    after = costs.report(scope, WEEK).total
    assert (after.cost, after.unpriced) == ((untouched.cost or 0) + 3 * each, untouched.unpriced - 3)
    rows = owner.execute(
        "SELECT cost_estimate, cost_source, price_version FROM assistant_runs WHERE id = ANY(%s)", (runs,)
    ).fetchall()
    assert sorted(rows, key=str) == sorted([(each, "own", "own 1")] * 3 + [(None, None, "litellm 1")], key=str)

    set_price(scope, date(2026, 1, 1), "4", "40")
    with transaction(scope) as tx:
        later = repricing.apply(tx, WEEK, models=[MODEL])
    with transaction(scope) as tx, pytest.raises(Conflict):
        repricing.undo(tx, batch.id)
    for item in (later, batch):
        with transaction(scope) as tx:
            assert repricing.undo(tx, item.id).undone_at is not None
    assert costs.report(scope, WEEK).total == untouched
    with transaction(scope) as tx:
        with pytest.raises(Conflict):
            repricing.undo(tx, batch.id)
        with pytest.raises(NotFound):
            repricing.undo(tx, runs[0])
        told = [(item.entity, item.action) for item in audit.latest(tx) if item.entity in ("price", "repricing")]
        assert len(repricing.batches(tx)) == 2
    assert told == [("repricing", "undo")] * 2 + [("repricing", "apply"), ("price", "set")] * 2


def test_nothing_to_price_anew_leaves_no_batch(scope: Scope) -> None:
    with pytest.raises(Invalid), transaction(scope) as tx:
        repricing.apply(tx, WEEK)
    with transaction(scope) as tx:
        assert repricing.batches(tx) == []


def test_a_sum_of_calls_of_a_tiered_model_is_left_alone(scope: Scope, owner: psycopg.Connection) -> None:
    """FIELD-NOTES 40: tiers reprice a whole call, so the sum of a loop's calls tells no price."""
    model = "gemini/gemini-2.5-pro"
    assert pricing.has_tiers(model)
    run = ledger.add(owner, scope, NOW - timedelta(days=1), model=model, input_tokens=300_000, cost_estimate=Decimal(1))
    owner.execute("UPDATE assistant_runs SET metadata = '{\"steps\": 3}' WHERE id = %s", (run,))
    with transaction(scope) as tx:
        assert repricing.preview(tx, WEEK) == []
    owner.execute("UPDATE assistant_runs SET metadata = '{}' WHERE id = %s", (run,))
    with transaction(scope) as tx:
        assert [item.runs for item in repricing.preview(tx, WEEK)] == [1]
