"""The plans that search and recall stand on: indexes do the work, however many messages there are."""

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from uuid6 import uuid7

from bench import corpus
from nexus_core import search
from nexus_core.database import Scope, queries, transaction
from nexus_core.search import Filter

SIZE = 12_000
SCANNED = """
SELECT coalesce(sum(seq_scan), 0), coalesce(sum(seq_tup_read + idx_tup_fetch), 0) FROM pg_stat_user_tables
WHERE relname IN ('message_search', 'messages')
"""


@pytest.fixture
def filled(scope: Scope, database_url: str) -> Iterator[psycopg.Connection[Any]]:
    """Twelve thousand messages, and the owner's connection."""
    with psycopg.connect(database_url, autocommit=True) as admin:
        corpus.fill(admin, scope, SIZE, [scope.user_id])  # type: ignore[list-item]
        yield admin


def plan(admin: psycopg.Connection[Any], statement: str) -> str:
    row = admin.execute(f"EXPLAIN (FORMAT JSON) {statement}").fetchone()
    assert row
    return json.dumps(row[0])


def read(admin: psycopg.Connection[Any], scope: Scope, text: str, filter: Filter = Filter()) -> tuple[int, int]:  # noqa: B008
    """Sequential scans and rows that a search cost in the messages' tables."""
    before = _scanned(admin)
    with transaction(scope) as tx:
        assert search.find(tx, text, filter).total >= 0
        tx.connection.exec_driver_sql("SELECT pg_stat_force_next_flush()")
    after = _scanned(admin)
    return after[0] - before[0], after[1] - before[1]


def _scanned(admin: psycopg.Connection[Any]) -> tuple[int, int]:
    admin.execute("SELECT pg_stat_force_next_flush()")  # else what this connection filled is counted a second later
    admin.execute("SELECT pg_stat_clear_snapshot()")
    row = admin.execute(SCANNED).fetchone()
    assert row
    return int(row[0]), int(row[1])


def test_searches_read_a_bounded_part(filled: psycopg.Connection[Any], scope: Scope) -> None:
    for text in ("the", "calibration sensor", "contr", "no such word anywhere", '"price list"'):
        scans, rows = read(filled, scope, text)
        assert scans == 0 and rows < SIZE, (text, scans, rows)


def test_the_sieve_answers_from_the_index_of_words(filled: psycopg.Connection[Any]) -> None:
    filled.execute("SET enable_seqscan = off; SET enable_indexscan = off")
    found = plan(filled, "SELECT * FROM message_search WHERE words @@ '''oslo''' LIMIT 3001")
    assert "message_search_words_idx" in found and "Seq Scan" not in found


def test_a_list_comes_from_its_index_under_row_level_security(filled: psycopg.Connection[Any], scope: Scope) -> None:
    values = dict.fromkeys(("project_id", "outside", "agent_id", "just_chat", "kind", "status", "tag_id", "person_id",
                            "since", "until", "after_at", "after_id"))  # fmt: skip
    statement = queries()["search.newest"].replace(":limit", "26")
    with transaction(scope) as tx:
        for name in sorted(values, key=len, reverse=True):
            statement = (
                statement.replace(f":{name} ", "NULL ").replace(f":{name})", "NULL)").replace(f":{name}\n", "NULL\n")
            )
        statement = statement.replace(":workspace_id", f"'{scope.workspace_id}'")
        rows = tx.connection.exec_driver_sql(
            f"EXPLAIN {statement}", execution_options={"no_parameters": True}
        ).scalars().all()  # fmt: skip
    found = "\n".join(rows)
    assert "conversations_recent_idx" in found and "Seq Scan on conversations c" not in found, found


def test_another_project_s_messages_cost_nothing(filled: psycopg.Connection[Any], scope: Scope) -> None:
    scans, rows = read(filled, scope, "the", Filter(project_id=uuid7()))
    assert scans == 0 and rows < 10
