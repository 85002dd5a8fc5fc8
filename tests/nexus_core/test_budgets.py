"""Budgets: they warn, they block, and two runs that race for the last cent do not both get it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from threading import Barrier
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from nexus_core import budgets, rollup
from nexus_core.budgets import Decision
from nexus_core.database import Scope, transaction
from nexus_core.errors import Forbidden, Invalid, NotFound
from tests.nexus_core import ledger
from tests.nexus_core.ledger import NOW

CENT = Decimal("0.01")


@pytest.fixture
def owner(database_url: str) -> Iterator[psycopg.Connection]:
    with ledger.owner(database_url) as connection:
        yield connection


def put(scope: Scope, kind: str, amount: str, **rules: Any) -> UUID:
    with transaction(scope) as tx:
        return budgets.put(tx, kind, Decimal(amount), **rules)


def ask(scope: Scope, estimate: Decimal | None, request_id: UUID | None = None, **places: UUID | None) -> Decision:
    where: dict[str, UUID | None] = {"project_id": None, "agent_id": None, "user_id": None} | places
    with transaction(scope) as tx:
        return budgets.reserve(tx, request_id or uuid4(), estimate=estimate, now=NOW, **where)


def test_without_a_budget_everything_may_run(operator: Scope) -> None:
    assert ask(operator, None) == Decision(True)


def test_it_counts_this_month_of_its_target(scope: Scope, owner: psycopg.Connection) -> None:
    found = ledger.places(owner, scope)
    project, agent, person = (found[name][0] for name in ("project", "agent", "person"))
    for at in (NOW, NOW - timedelta(days=10), NOW - timedelta(days=17)):  # the last one is May's
        ledger.add(owner, scope, at, project_id=project, agent_id=agent, user_id=person, cost_estimate=Decimal(1))
    ledger.add(owner, scope, NOW, cost_estimate=Decimal(3))
    ledger.add(owner, scope, NOW, cost_estimate=None)
    put(scope, "workspace", "10")
    for kind, target in (("project", project), ("agent", agent), ("person", person)):
        put(scope, kind, "2.5", target_id=target)
    for _refreshed in (False, True):
        with transaction(scope) as tx:
            found_now = budgets.statuses(tx, NOW)
        assert [(item.budget.scope, item.spent, item.unpriced, item.warned) for item in found_now] == [
            ("workspace", Decimal(5), 1, Decimal("0.5")),
            ("project", Decimal(2), 0, Decimal("0.8")),
            ("agent", Decimal(2), 0, Decimal("0.8")),
            ("person", Decimal(2), 0, Decimal("0.8")),
        ]
        rollup.refresh(scope, NOW)
    assert ask(scope, CENT, project_id=project).warnings
    blocked = ask(scope, Decimal("0.51"), project_id=project)
    assert not blocked.allowed and blocked.reason and "project" in blocked.reason
    assert ask(scope, Decimal("0.51"), project_id=found["project"][1]).allowed


def test_two_that_race_for_the_last_cent(scope: Scope, owner: psycopg.Connection) -> None:
    put(scope, "workspace", "1.00")
    ledger.add(owner, scope, NOW, cost_estimate=Decimal("0.95"))
    together = Barrier(6)

    def run(_n: int) -> bool:
        request_id = uuid4()
        together.wait()
        with transaction(scope) as tx:
            decision = budgets.reserve(
                tx, request_id, estimate=CENT * 3, project_id=None, agent_id=None, user_id=None, now=NOW
            )
            if decision.allowed:
                tx.execute("runs.begin", **_run(request_id))
        return decision.allowed

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(run, range(6))) == [False] * 5 + [True]


def _run(request_id: UUID) -> dict[str, Any]:
    words = dict.fromkeys(("provider", "runtime", "profile_slug", "prompt_summary"), "x")
    nowhere = dict.fromkeys(("project_id", "conversation_id", "task_id", "agent_id"))
    return words | nowhere | {"id": request_id, "kind": "test", "model": "m"}


def test_what_is_held_is_given_back(scope: Scope, owner: psycopg.Connection) -> None:
    put(scope, "workspace", "1")
    first = uuid4()
    assert ask(scope, Decimal("0.9"), first).allowed
    run = ledger.add(owner, scope, NOW, request_id=first, status="running", cost_estimate=None)
    assert not ask(scope, Decimal("0.2")).allowed
    with transaction(scope) as tx:
        assert [(item.held, item.left) for item in budgets.statuses(tx, NOW)] == [(Decimal("0.9"), Decimal("0.1"))]
    owner.execute(
        "UPDATE assistant_runs SET status = 'succeeded', finished_at = started_at, cost_estimate = 0.3 WHERE id = %s",
        (run,),
    )
    assert ask(scope, Decimal("0.7")).allowed, "what it cost counts, not what was held, though nobody settled"
    with transaction(scope) as tx:
        budgets.settle(tx, first)
    assert owner.execute("SELECT count(*) FROM budget_holds WHERE request_id = %s", (first,)).fetchone() == (0,)


def test_holds_that_nobody_settled_are_swept(scope: Scope, owner: psycopg.Connection) -> None:
    put(scope, "workspace", "1")
    ask(scope, CENT)
    with transaction(scope) as tx:
        assert budgets.sweep(tx) == 0
    owner.execute("UPDATE budget_holds SET created_at = created_at - interval '1 hour'")
    with transaction(scope) as tx:
        assert budgets.sweep(tx) == 1


@pytest.mark.parametrize(("policy", "allowed"), [("warn", True), ("block", False)])
def test_an_unknown_price_is_the_policys_to_decide(scope: Scope, policy: str, allowed: bool) -> None:
    put(scope, "workspace", "5", unknown_price=policy)
    decision = ask(scope, None)
    assert decision.allowed is allowed
    assert bool(decision.warnings) is allowed and bool(decision.reason) is not allowed


def test_one_that_only_warns_never_blocks(scope: Scope, owner: psycopg.Connection) -> None:
    put(scope, "workspace", "1", blocks=False)
    ledger.add(owner, scope, NOW, cost_estimate=Decimal(7))
    decision = ask(scope, CENT)
    assert decision.allowed and "700%" in decision.warnings[0]


def test_what_is_free_is_never_blocked(scope: Scope, owner: psycopg.Connection) -> None:
    put(scope, "workspace", "0")
    assert ask(scope, Decimal(0)).allowed
    assert not ask(scope, CENT).allowed
    assert not ask(scope, None).allowed


def test_a_budget_is_the_admins_and_of_this_workspace(scope: Scope, operator: Scope, other_scope: Scope) -> None:
    with transaction(operator) as tx, pytest.raises(Forbidden):
        budgets.put(tx, "workspace", Decimal(1))
    with pytest.raises(NotFound), transaction(scope) as tx:
        budgets.put(tx, "project", Decimal(1), target_id=uuid4())
    for wrong in ({"scope": "project"}, {"scope": "workspace", "target_id": uuid4()}, {"scope": "planet"}):
        with transaction(scope) as tx, pytest.raises(Invalid):
            budgets.put(tx, amount=Decimal(1), **wrong)  # type: ignore[arg-type]
    first, again = put(scope, "workspace", "1"), put(scope, "workspace", "2")
    assert first == again
    with transaction(other_scope) as tx:
        assert budgets.statuses(tx, NOW) == []
        with pytest.raises(NotFound):
            budgets.remove(tx, first)
    with transaction(scope) as tx:
        budgets.remove(tx, first)
        assert budgets.statuses(tx, NOW) == []
