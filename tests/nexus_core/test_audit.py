"""The audit: who may read it, its pages, and a chain that tells when something was changed."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

import psycopg
import pytest

from nexus_core import audit, chat, conversations, messages, parts, projects
from nexus_core.audit import Wanted
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import Forbidden, Invalid
from tests.nexus_core import ledger


def note(scope: Scope, action: str = "create", entity: str = "thing") -> None:
    with transaction(scope) as tx:
        audit.record(tx, action, entity, uuid4(), {"words": "ñandú \u2028 $5"})


def numbers(scope: Scope, **wanted: object) -> list[int | None]:
    with transaction(scope) as tx:
        return [entry.number for entry in audit.page(tx, Wanted(**wanted), limit=1000).entries]  # type: ignore[arg-type]


def verdict(scope: Scope) -> audit.Verdict:
    with transaction(scope) as tx:
        return audit.verify(tx)


def test_numbers_have_no_gaps_whoever_writes_at_once_or_gives_up(scope: Scope, other_scope: Scope) -> None:
    def write(number: int) -> None:
        with transaction(scope) as tx:
            audit.record(tx, "create", "thing", None, {"n": number})
            if number % 5 == 0:
                tx.connection.rollback()

    before = verdict(scope)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(40)))
    note(other_scope)
    found = verdict(scope)
    assert found.holds and found.last_number == found.entries == before.entries + 32
    assert sorted(numbers(scope)) == list(range(1, found.entries + 1))
    assert found.last_hash != before.last_hash and len(found.last_hash) == 64


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE audit SET action = 'other' WHERE id = %(id)s",
        "UPDATE audit SET detail = '{}' WHERE id = %(id)s",
        "UPDATE audit SET at = at + interval '1 microsecond' WHERE id = %(id)s",
        "UPDATE audit SET user_id = NULL WHERE id = %(id)s",
        "DELETE FROM audit WHERE id = %(id)s",
        "UPDATE audit_chain SET hash = sha256('x') WHERE audit_id = %(id)s",
    ],
)
def test_a_change_is_found_where_it_was_made(scope: Scope, database_url: str, change: str) -> None:
    for _n in range(5):
        note(scope)
    with transaction(scope) as tx:
        entry = audit.latest(tx)[2]
    assert verdict(scope).holds
    with ledger.owner(database_url) as owner:
        with pytest.raises(psycopg.Error, match="append-only"):
            owner.execute(change, {"id": entry.id})
        for table in ("audit", "audit_chain"):
            owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        owner.execute(change, {"id": entry.id})
    found = verdict(scope)
    assert not found.holds and entry.number is not None
    assert found.broken_at == (entry.number + 1 if change.startswith("DELETE") else entry.number)


def test_an_entry_that_slipped_past_the_chain_is_counted(scope: Scope, database_url: str) -> None:
    with ledger.owner(database_url) as owner:
        owner.execute("ALTER TABLE audit DISABLE TRIGGER audit_sealed")
        owner.execute(
            "INSERT INTO audit (workspace_id, door, action, entity) VALUES (%s, 'page', 'x', 'x')",
            (scope.workspace_id,),
        )
    found = verdict(scope)
    assert (found.holds, found.unsealed, found.broken_at) == (False, 1, None)


def test_the_application_seals_nothing_by_hand(scope: Scope) -> None:
    note(scope)
    with transaction(scope) as tx:
        if tx.connection.exec_driver_sql("SELECT current_user").scalar() != "nexus_app":
            pytest.skip("no role of its own here: the owner works")
        with pytest.raises(Exception, match="permission denied"):
            tx.connection.exec_driver_sql("INSERT INTO audit_chain SELECT * FROM audit_chain")
        tx.connection.rollback()


def test_pages_and_filters(scope: Scope, operator: Scope) -> None:
    with transaction(operator) as tx:
        project = projects.create(tx, "Apollo")
    for _n in range(7):
        note(scope, "poke", "widget")
    with transaction(scope) as tx:
        seen, after = [], None
        for _page in range(3):
            found = audit.page(tx, Wanted(entities=("widget",)), after=after, limit=3)
            seen += [entry.number for entry in found.entries]
            after = found.after
        assert after is None and len(seen) == 7 and seen == sorted(seen, reverse=True)
        assert "widget" in audit.entities(tx) and "project" in audit.entities(tx)
        (entry,) = audit.page(tx, Wanted(entity_id=project.id)).entries
        assert (entry.user_id, entry.user_name, entry.action) == (operator.user_id, "Olga", "create")
        with pytest.raises(Invalid):
            audit.page(tx, limit=1001)
    assert len(numbers(scope, actions=("poke",))) == 7
    assert entry.number in numbers(scope, person=operator.user_id)
    assert numbers(scope, from_at=entry.at, to_at=entry.at + timedelta(microseconds=1)) == [entry.number]
    assert numbers(scope, doors=("mcp",)) == []


def test_it_is_the_admins_of_this_workspace(operator: Scope, scope: Scope, other_scope: Scope) -> None:
    note(scope)
    with transaction(operator) as tx:
        for read in (audit.latest, audit.verify, audit.entities):
            with pytest.raises(Forbidden):
                read(tx)
    assert numbers(other_scope, entities=("thing",)) == []


def test_reading_what_another_began_is_noted_once(operator: Scope, colleague: Scope, scope: Scope) -> None:
    with transaction(operator) as tx:
        place = Place(projects.create(tx, "Apollo").id)
        made = conversations.create(tx, place)
        messages.append(tx, made.id, "user", [parts.text("Where are we?")])
    for reader in (operator, colleague, colleague):
        with transaction(reader) as tx:
            assert chat.read(tx, made.id)
    with transaction(scope) as tx:
        found = audit.page(tx, Wanted(entity_id=made.id, actions=("read",))).entries
    assert [(entry.user_id, entry.entity) for entry in found] == [(colleague.user_id, "conversation")]
