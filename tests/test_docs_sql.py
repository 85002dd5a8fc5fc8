"""docs/sql.md tells the truth: its statements and commands are run as they stand."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest
from sqlalchemy import make_url

from nexus_core import chat, cluster, config, conversations, database, migrate, recall, signin, worker
from nexus_core.database import ROOT, Scope, transaction
from tests import debian
from tests.modes import MODES, empty_database
from tests.nexus_core.conversing import settled
from tests.store import RELATIONS, Corner, ask, do, fill

PAGE = (ROOT / "docs" / "sql.md").read_text("utf-8")
QUERIES = ("cost", "tokens", "slowest", "decisions", "waiting")
RESTORED = "nexus_restored"


def blocks(heading: str, language: str) -> list[str]:
    """The code blocks of a section of the page."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)


@pytest.fixture
def corner(scope: Scope) -> Corner:
    do(scope, "UPDATE workspaces SET time_zone = 'Pacific/Auckland' WHERE id = :w", w=scope.workspace_id)
    return fill(scope)


def reader(url: str) -> psycopg.Connection:
    """A reader's connection; where no such role may be made, its owner's under the same scope."""
    connection = psycopg.connect(url, autocommit=True, row_factory=psycopg.rows.dict_row)
    if connection.execute("SELECT to_regrole('nexus_reader') AS it").fetchone() != {"it": None}:
        connection.execute("SET ROLE nexus_reader")
    return connection


def answers(url: str, scope: Scope) -> dict[str, list[dict[str, Any]]]:
    """What the five queries find."""
    written = blocks("Five queries", "sql")
    assert len(written) == len(QUERIES)
    with reader(url) as connection:
        assert [connection.execute(query).fetchall() for query in written] == [[]] * len(QUERIES)
        connection.execute(f"SET nexus.workspace_id = '{scope.workspace_id}'")
        return {name: connection.execute(query).fetchall() for name, query in zip(QUERIES, written, strict=True)}


def test_five_queries(database_url: str, scope: Scope, other_scope: Scope, corner: Corner) -> None:
    fill(other_scope, "theirs")
    do(scope, "UPDATE assistant_runs SET status = 'failed' WHERE id = :private_run", **vars(corner))
    with transaction(scope) as tx:
        place = conversations.Place(corner.project, None)
        waiting = conversations.create(tx, place, title="Waiting")
    do(scope, "INSERT INTO system.ai_messages (chat_id, role, parts) VALUES (:id, 'user', '[]')", id=waiting.id)
    found = answers(database_url, scope)
    assert found["cost"] == [
        {"model": "m", "runs": 2, "input_tokens": 10, "output_tokens": 5, "dollars": Decimal("0.25"), "unpriced": 1}
    ]
    today = datetime.now(ZoneInfo("Pacific/Auckland")).date()
    assert found["tokens"] == [{"day": today, "agent": "Ada", "input_tokens": 10, "output_tokens": 5}]
    assert [(row["title"], row["duration_ms"]) for row in found["slowest"]] == [("Open", 900)]
    assert [(row["project"], row["decision"], row["who"]) for row in found["decisions"]] == [
        ("Apollo mine", "We ship on Friday", "Ana"),
        ("Apollo mine", "No logo", None),
    ]
    assert [(row["title"], row["last_role"], row["failed_runs"]) for row in found["waiting"]] == [
        ("Waiting", "user", 0)
    ]


def test_a_login_that_only_reads(database_url: str, scope: Scope, corner: Corner) -> None:
    make, find = blocks("A login that only reads", "sql")
    with psycopg.connect(database_url) as connection:
        if not user_may_make_others(database_url):
            pytest.skip("this server's user can make no logins")
        connection.execute(make)
        scoped, listed = find.strip().split("\n")
        connection.execute(scoped)
        assert [row[:2] for row in connection.execute(listed)] == [(scope.workspace_id, "default")]
        connection.execute("SET SESSION AUTHORIZATION bi")
        connection.execute(f"SET nexus.workspace_id = '{scope.workspace_id}'")
        assert connection.execute("SELECT title FROM conversations").fetchall() == [("Open",)]
        connection.rollback()  # and with it the login, which belongs to the whole server


def run(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    with psycopg.connect(config.settings().database_url or "") as connection:
        own = connection.info.server_version // 10000 != 15  # Debian's has its own programs
    programs = cluster.binaries() if own else debian.BINARIES
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        ["sh", "-e", "-c", script], cwd=folder, capture_output=True, text=True,
        env=os.environ | environment | {"PATH": path, "PYTHONPATH": str(ROOT)})  # fmt: skip


def counts(url: str) -> dict[str, int]:
    """How many rows each table and view has."""
    with psycopg.connect(url) as connection:
        connection.execute("SET nexus.role = 'system'")
        names = [row[0] for row in connection.execute(RELATIONS.encode())]
        return {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names}


@pytest.fixture
def new_url(server_url: str) -> Iterator[str]:
    """The URL of the database that the page restores into; it is gone before and afterwards."""
    drop = f"DROP DATABASE IF EXISTS {RESTORED} WITH (FORCE)"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(drop)
        yield make_url(server_url).set(database=RESTORED).render_as_string(hide_password=False)
        database.reset()
        connection.execute(drop)


def restored(url: str, new_url: str, server: str, dump: str, folder: Path) -> None:
    """Dump, restore, and use what came out."""
    recall.index_pending()
    before = counts(url)
    assert before["messages"] == 4
    done = run(dump, folder, NEXUS_DATABASE_URL=url)
    assert (done.returncode, done.stderr) == (0, "")
    (restore,) = blocks("Restore", "sh")
    done = run(restore, folder, SERVER=server, RESTORED=new_url)
    assert done.returncode == 0, done.stderr
    assert counts(new_url) == before


def use(scope: Scope, new_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The application works on it, as the same people, under the same policies."""
    point(monkeypatch, new_url)
    assert migrate.migrate(new_url) == []
    assert signin.scope_for(signin.local_owner(), None, "page") == scope
    turn = chat.send(scope, "And the next engine?", place=conversations.Place())
    assert settled(scope, turn).status == "complete"
    worker.close()
    assert ask(Scope(scope.workspace_id, None, "viewer"), "SELECT FROM messages WHERE private_to IS NOT NULL") == []


def point(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Let the settings name this database."""
    monkeypatch.setenv("NEXUS_DATABASE_URL", url)
    config.reset()
    database.reset()


def test_back_up_and_restore(
    database_url: str,
    new_url: str,
    server_url: str,
    scope: Scope,
    corner: Corner,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with psycopg.connect(database_url) as connection:
        query = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
        if connection.execute(query).fetchone() != (True,):
            pytest.skip("this server's user is bound by the policies: the next test is about that")
    command, _by_hand = blocks("Back up", "sh")
    restored(database_url, new_url, server_url, command, tmp_path)
    use(scope, new_url, monkeypatch)


@pytest.mark.parametrize("way", [0, 1], ids=["command", "by hand"])
def test_back_up_and_restore_where_the_owner_is_bound_by_the_policies(
    database_url: str, new_url: str, server_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: int
) -> None:
    mode = MODES[1] if user_may_make_others(server_url) else MODES[0]
    with empty_database(server_url, mode) as url:
        point(monkeypatch, url)
        migrate.migrate(url)
        scope = signin.scope_for(signin.local_owner(), None, "page")
        fill(scope)
        unscoped = run(f"pg_dump --file=unscoped '{url}'", tmp_path)
        assert "query would be affected by row-level security policy" in unscoped.stderr
        written = blocks("Back up", "sh")[way]
        owned = make_url(url).set(database=RESTORED).render_as_string(hide_password=False)
        maintenance = make_url(url).set(database="postgres").render_as_string(hide_password=False)
        restored(url, owned, maintenance, written, tmp_path)
        use(scope, owned, monkeypatch)
        with psycopg.connect(server_url, autocommit=True) as connection:
            database.reset()
            connection.execute(f"DROP DATABASE {RESTORED} WITH (FORCE)")  # or its owner could not go


def user_may_make_others(url: str) -> bool:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone() == (True,)
