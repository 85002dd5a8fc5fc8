"""The self-check: each thing it looks at is made wrong once, and found."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import psycopg
import pytest

from nexus_core import conversations, messages, parts, ranges, rollup, selfcheck, worker
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import Forbidden
from nexus_core.selfcheck import Check
from tests.nexus_core import ledger
from tests.nexus_core.conversing import until


def examined(scope: Scope) -> dict[str, Check]:
    span = ranges.make("7d", "UTC", datetime.now(UTC))
    return {check.title: check for check in selfcheck.examine(scope, span)}


def proved(scope: Scope) -> dict[str, Check]:
    span = ranges.make("7d", "UTC", datetime.now(UTC))
    return {check.title: check for check in selfcheck.prove(scope, span)}


def test_all_is_well_in_an_empty_workspace(scope: Scope) -> None:
    until(lambda: worker.worker().last("reap"))
    assert {check.state for check in examined(scope).values()} == {"well"}
    assert {check.state for check in proved(scope).values()} == {"well"}
    assert not any(check.do for check in examined(scope).values())


def test_what_is_wrong_is_found_and_says_what_to_do(scope: Scope, database_url: str) -> None:
    now = datetime.now(UTC)
    with ledger.owner(database_url) as owner:
        ledger.add(owner, scope, now - timedelta(hours=2), status="running", cost_estimate=None)
        ledger.add(owner, scope, now - timedelta(hours=2), cost_estimate=None)
        ledger.add(
            owner, scope, now - timedelta(hours=2), status="failed", cost_estimate=None, input_tokens=None,
            output_tokens=None, usage_source="none",
        )  # fmt: skip
        with transaction(scope) as tx:
            conversation = conversations.create(tx, Place())
            messages.append(tx, conversation.id, "user", [parts.text("Where are we?")])
        owner.execute("UPDATE search_queue SET queued_at = now() - interval '1 hour'")
        found = examined(scope)
    assert found["Stuck runs"].state == "bad" and "1 run has hung" in found["Stuck runs"].found
    assert found["Unpriced runs"].found == "2 runs have no price."
    assert found["Runs without tokens"].found == "1 run tells no tokens."
    assert found["Search index"].state == "look"
    assert all(check.do for title, check in found.items() if check.state != "well"), found


def test_a_reaper_that_never_ran_is_bad(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker.Worker, "last", lambda _worker, _job: None)
    assert examined(scope)["Reaper of lost answers"].state == "bad"


def test_growth_is_told_once_days_are_known(scope: Scope, database_url: str) -> None:
    with ledger.owner(database_url) as owner:
        owner.execute("INSERT INTO nexus.sizes (day, bytes) VALUES (CAST(now() AS date) - 10, 1000)")
    assert "in 10 days" in examined(scope)["Database"].found
    with transaction(Scope.system()) as tx:
        tx.execute("selfcheck.keep_size")
    with ledger.owner(database_url) as owner:
        (count,) = owner.execute("SELECT count(*) FROM nexus.sizes").fetchone() or (0,)
    assert count == 2


def test_sums_and_audit_that_lie_are_found(scope: Scope, database_url: str) -> None:
    with ledger.owner(database_url) as owner:
        ledger.add(owner, scope, datetime.now(UTC) - timedelta(days=2), cost_estimate=Decimal(1))
        rollup.refresh(scope, datetime.now(UTC))
        assert {check.state for check in proved(scope).values()} == {"well"}
        owner.execute("UPDATE run_rollup SET cost = cost + 1 WHERE cost IS NOT NULL")
        owner.execute("ALTER TABLE audit DISABLE TRIGGER USER")
        owner.execute("UPDATE audit SET action = 'x'")
    found = proved(scope)
    assert found["Sums and runs"].state == "bad" and found["Audit"].state == "bad"


def test_slow_statements_are_the_administrators(operator: Scope, scope: Scope, database_url: str) -> None:
    with transaction(operator) as tx, pytest.raises(Forbidden):
        selfcheck.slow_statements(tx)
    with psycopg.connect(database_url) as connection:
        kept = connection.execute("SELECT count(*) FROM nexus.slow_statements(5)").fetchone()
    with transaction(scope) as tx:
        found = selfcheck.slow_statements(tx, 5)
    assert kept is not None and bool(found) <= bool(kept[0])
    assert "Audit" not in {
        check.title for check in selfcheck.prove(operator, ranges.make("7d", "UTC", datetime.now(UTC)))
    }
