"""Saved views, and the walls around everything that reports are made from."""

from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from uuid import uuid4

import psycopg
import pytest

from nexus_core import budgets, pricing, ranges, repricing, rollup, views
from nexus_core.database import Scope, transaction
from nexus_core.errors import Forbidden, Invalid, NotFound
from tests.nexus_core import ledger
from tests.nexus_core.ledger import NOW

TABLES = (
    "run_marks", "run_units", "run_rollup", "run_timings", "run_conversations", "model_prices", "repricings",
    "repriced_runs", "budgets", "budget_holds", "saved_views",
)  # fmt: skip


@pytest.fixture
def owner(database_url: str) -> Iterator[psycopg.Connection]:
    with ledger.owner(database_url) as connection:
        yield connection


def test_views_are_ones_own_or_shared(operator: Scope, colleague: Scope, scope: Scope) -> None:
    with transaction(operator) as tx:
        mine = views.save(tx, "costs", "  My\nmonth ", {"range": ["month"], "model": ["a", "b"]})
        shared = views.save(tx, "costs", "Team", {"range": ["7d"]}, shared=True)
        assert views.save(tx, "costs", "my month", {"range": ["90d"]}).id == mine.id
    with transaction(operator) as tx:
        assert [(view.name, view.query) for view in views.of_page(tx, "costs")] == [
            ("my month", {"range": ["90d"]}), ("Team", {"range": ["7d"]}),
        ]  # fmt: skip
        assert views.of_page(tx, "runs") == []
    with transaction(colleague) as tx:
        assert [view.id for view in views.of_page(tx, "costs")] == [shared.id]
        for view in (mine, shared):
            with pytest.raises(NotFound):
                views.remove(tx, view.id)
    with transaction(scope) as tx:
        views.remove(tx, shared.id)
    with transaction(operator) as tx:
        views.remove(tx, mine.id)
        assert views.of_page(tx, "costs") == []


def test_what_is_no_view_is_refused(viewer: Scope) -> None:
    with transaction(viewer) as tx:
        for page, name in (("costs", " "), ("home", "x")):
            with pytest.raises(Invalid):
                views.save(tx, page, name, {})
        with pytest.raises(Forbidden):
            views.save(tx, "costs", "x", {}, shared=True)
        views.save(tx, "costs", "mine", {})


def furnish(scope: Scope, owner: psycopg.Connection) -> None:
    """A row in every table of reports."""
    day = NOW - timedelta(days=2)
    talk = ledger.places(owner, scope)["conversation"][0]
    ledger.add(owner, scope, day, model="in/house", cost_estimate=None, conversation_id=talk)
    rollup.refresh(scope, NOW)
    with transaction(scope) as tx:
        pricing.set_price(tx, "in/house", date(2026, 1, 1), input_price=Decimal(1), output_price=Decimal(1))
        repricing.apply(tx, ranges.make("7d", "UTC", NOW))
        budgets.put(tx, "workspace", Decimal(9))
        places = dict.fromkeys(("project_id", "agent_id", "user_id"))
        budgets.reserve(tx, uuid4(), estimate=Decimal(1), now=NOW, **places)
        views.save(tx, "costs", "mine", {})


def exists(connection: psycopg.Connection, role: str) -> bool:
    """Whether the role could be made; where not, the owner itself is under the policies."""
    return connection.execute("SELECT FROM pg_roles WHERE rolname = %s", (role,)).fetchone() is not None


def enter(connection: psycopg.Connection, role: str, scope: Scope) -> None:
    settings = {
        "nexus.workspace_id": scope.workspace_id,
        "nexus.user_id": scope.user_id or "",
        "nexus.role": scope.role,
    }
    for name, value in (settings | ({"role": role} if exists(connection, role) else {})).items():
        connection.execute("SELECT set_config(%s, %s, true)", (name, str(value)))


def seen(connection: psycopg.Connection, role: str, scope: Scope) -> dict[str, int]:
    """How many rows of each table a role sees in the scope of a workspace."""
    counts = {}
    with connection.transaction(force_rollback=True):
        enter(connection, role, scope)
        for table in TABLES:
            row = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
            counts[table] = row[0] if row else 0
    return counts


def test_every_table_has_its_walls(
    scope: Scope, operator: Scope, other_scope: Scope, owner: psycopg.Connection
) -> None:
    furnish(scope, owner)
    assert all(count > 0 for count in seen(owner, "nexus_app", scope).values())
    assert set(seen(owner, "nexus_app", other_scope).values()) == {0}
    theirs = {table for table, count in seen(owner, "nexus_app", operator).items() if not count}
    assert theirs == {"saved_views"}, "a colleague sees the figures, not the private view"
    if not exists(owner, "nexus_reader"):
        return
    reader = {table for table, count in seen(owner, "nexus_reader", scope).items() if not count}
    assert reader == {"saved_views"}
    assert set(seen(owner, "nexus_reader", Scope(other_scope.workspace_id, None, "system")).values()) == {0}


def test_nothing_is_written_into_another_workspace(scope: Scope, other_scope: Scope, owner: psycopg.Connection) -> None:
    with owner.transaction(force_rollback=True):
        enter(owner, "nexus_app", scope)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            owner.execute("INSERT INTO run_marks (workspace_id, at) VALUES (%s, now())", (other_scope.workspace_id,))


def test_prices_that_were_set_stay(scope: Scope, owner: psycopg.Connection) -> None:
    if not exists(owner, "nexus_app"):
        pytest.skip("the owner works itself; only the application's role can be kept from a table")
    with owner.transaction(force_rollback=True):
        enter(owner, "nexus_app", scope)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            owner.execute("UPDATE model_prices SET input_price = 0")


def test_primary_keys_begin_with_the_workspace(owner: psycopg.Connection) -> None:
    rows = owner.execute(
        "SELECT c.relname, a.attname FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid"
        " JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]"
        " WHERE i.indisunique AND c.relname = ANY(%s)",
        (list(TABLES),),
    ).fetchall()
    assert {table for table, _column in rows} == set(TABLES)
    assert {column for _table, column in rows} == {"workspace_id"}
