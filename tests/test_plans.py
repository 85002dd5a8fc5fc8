"""In a workspace of 200,000 messages the statements of a turn read what they need, under row-level security."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url
from sqlalchemy.dialects.postgresql.psycopg import dialect

from nexus_core import config, database, signin
from nexus_core.database import Scope, Transaction, transaction
from tests.conftest import member
from tests.store import run

CONVERSATIONS = 2_000
LONG = 10_095  # messages of one conversation; the others have 95 each

GENERATE = """
ALTER TABLE messages DISABLE TRIGGER USER;
INSERT INTO projects (workspace_id, id, name) VALUES (:w, :project, 'Large');
INSERT INTO agents (workspace_id, id, name) VALUES (:w, :agent, 'Large');
INSERT INTO conversations (workspace_id, id, user_id, project_id, agent_id, title, next_seq, last_message_at)
  SELECT :w, CAST(lpad(to_hex(n), 32, '0') AS uuid), CASE n % 2 WHEN 1 THEN :u ELSE :colleague END,
         CASE WHEN n % 10 = 1 THEN :project END, CASE WHEN n % 4 = 1 THEN :agent END, 'Number ' || n,
         CASE n WHEN 5 THEN :long ELSE 95 END + 1, now() - make_interval(mins => n)
  FROM generate_series(1, :conversations) n;
INSERT INTO messages (workspace_id, id, conversation_id, private_to, place, seq, parent_seq, role, parts, body, tokens,
                      created_at)
  SELECT c.workspace_id, gen_random_uuid(), c.id, c.private_to, c.place, s, nullif(s - 1, 0),
         CASE s % 2 WHEN 1 THEN 'user' ELSE 'assistant' END, '[{"type": "text", "text": "some words"}]', 'some words',
         50, c.last_message_at - make_interval(secs => c.next_seq - s)
  FROM conversations c, generate_series(1, c.next_seq - 1) s;
INSERT INTO assistant_runs (workspace_id, conversation_id, project_id, user_id, model, created_at)
  SELECT workspace_id, id, project_id, user_id, 'm', last_message_at - make_interval(days => k)
  FROM conversations, generate_series(1, 10) k;
ALTER TABLE messages ENABLE TRIGGER USER;
ANALYZE
"""


@dataclass(frozen=True)
class Large:
    """The scope of who asks, and where: an agent's and the person's own longest conversation is number 5."""

    scope: Scope
    project: UUID
    agent: UUID
    long: UUID


@pytest.fixture(scope="module")
def large(server_url: str, template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Large]:
    """A database with 200,000 messages in one workspace, made once; no test here changes it."""
    name = sql.Identifier(f"nexus_plans_{os.getpid()}")
    home = tmp_path_factory.mktemp("home")
    with psycopg.connect(server_url, autocommit=True) as connection, pytest.MonkeyPatch.context() as patch:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(name, sql.Identifier(template)))
        url = make_url(server_url).set(database=name.as_string().strip('"')).render_as_string(hide_password=False)
        patch.setenv("NEXUS_DATABASE_URL", url)
        patch.setenv("NEXUS_HOME", str(home))
        patch.setenv("NEXUS_ENV_FILE", str(home / "no.env"))
        config.reset()
        database.reset()
        yield _generated()
        database.reset()
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))
    config.reset()


def _generated() -> Large:
    scope = signin.scope_for(signin.local_owner(), None, "page")
    colleague = member(scope, "colleague@example.com", "Carlos", "operator")
    made = Large(scope, UUID(int=1), UUID(int=2), UUID(int=5))
    values = vars(made) | {"w": scope.workspace_id, "u": scope.user_id, "colleague": colleague.user_id}
    with transaction(Scope(scope.workspace_id, scope.user_id, "system")) as tx:
        run(tx, "RESET ROLE")  # the tables' owner: a trigger for each row would take longer than the rest
        for statement in GENERATE.split(";\n"):
            run(tx, statement, **(values | {"long": LONG, "conversations": CONVERSATIONS}))
    return made


BIG = ("messages", "conversations", "assistant_runs")


def read(tx: Transaction, name: str, params: dict[str, Any]) -> int:
    """How many rows of the big tables a statement touches, thrown away or not; fails where it scans a whole table."""
    values = {"workspace_id": tx.scope.workspace_id, "user_id": tx.scope.user_id} | params
    statement = database.query(name)
    keys = sorted(statement._bindparams, key=len, reverse=True)
    words = str(statement.compile(dialect=dialect(paramstyle="named")))
    for number, key in enumerate(keys, start=1):
        words = words.replace(f":{key}", f"${number}")
    given = ", ".join(sql.Literal(None if values[key] is None else str(values[key])).as_string() for key in keys)
    tx.connection.exec_driver_sql(f"PREPARE planned AS {words}", execution_options={"no_parameters": True})
    explain = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE planned ({given})"
    nodes = [tx.connection.exec_driver_sql(explain).scalar_one()[0]["Plan"]]
    tx.connection.exec_driver_sql("DEALLOCATE planned")
    touched = 0
    while nodes:
        node = nodes.pop()
        nodes += node.get("Plans", [])
        if node.get("Relation Name") in BIG and node["Actual Loops"]:
            assert node["Node Type"] in ("Index Scan", "Index Only Scan", "Bitmap Heap Scan"), node
            thrown = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
            touched += round((node["Actual Rows"] + thrown) * node["Actual Loops"])
    return touched


LISTS = {"archived": False, "own": False, "limit": 25}
EARLIER = datetime.now(UTC) - timedelta(minutes=900)
WINDOW = {"upto": LONG, "rows": 41, "max_tokens": 16_000}


def cases(large: Large) -> list[tuple[str, dict[str, Any], int]]:
    """Statement, parameters, and the most rows that it may touch."""
    nowhere = {"project_id": None, "agent_id": None}
    somewhere = {"project_id": large.project, "agent_id": large.agent}
    alone = {"project_id": None, "agent_id": large.agent}
    long = {"conversation_id": large.long}
    first, last = {"before_at": None, "before_id": None}, {"before_at": EARLIER, "before_id": UUID(int=900)}
    return [
        ("conversations.list", LISTS | nowhere | first, 25),
        ("conversations.list", LISTS | nowhere | last, 25),
        ("conversations.list", LISTS | somewhere | first, 25),
        ("conversations.recent", {"project_id": large.project, "limit": 10}, 10),
        ("conversations.recent", {"project_id": None, "limit": 10}, 10),
        ("conversations.latest", {"project_id": None}, 1),
        ("conversations.reusable", nowhere | {"session_id": None, "title": ""}, 1),
        ("conversations.reusable", nowhere | {"session_id": "s", "title": ""}, 1),
        ("messages.page", long | {"before": None, "limit": 40}, 40),
        ("messages.page", long | {"before": 5_000, "limit": 40}, 40),
        ("messages.session_window", long | WINDOW | {"after": 0}, 41),
        ("messages.session_window", long | WINDOW | {"after": 0, "rows": 4_002, "max_tokens": 4_000}, 81 + 64),
        ("messages.session_window", long | WINDOW | {"after": LONG - 5}, 5),
        # Each row of a user's window looks at its conversation too.
        ("messages.user_window", long | alone | WINDOW, 2 * 42),
        ("messages.user_window", long | alone | WINDOW | {"rows": 4_002, "max_tokens": 4_000}, 2 * (81 + 64)),
        ("messages.user_window", long | nowhere | WINDOW, 2 * (41 + 41)),
        ("programs.after", nowhere | {"heard": "nothing"}, 0),
        ("turns.load", long | {"profile_id": None}, 1),
        ("runs.recent", {"project_id": large.project, "task_id": None, "limit": 50}, 50),
    ]


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
def test_a_turn_reads_what_it_needs(large: Large, mode: str, subtests: pytest.Subtests) -> None:
    """Both with a plan for these values and with the one for any values that an often asked statement gets."""
    with transaction(large.scope) as tx:
        assert run(tx, "SELECT count(*) FROM messages").scalar_one() > 100_000
        run(tx, f"SET LOCAL plan_cache_mode = {mode}")
        for name, params, most in cases(large):
            with subtests.test(name, **params):
                assert read(tx, name, params) <= most
