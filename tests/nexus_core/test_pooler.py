"""Nexus behind a real pgbouncer that gives every transaction another connection, with the file that ships."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import make_url

from nexus_core import config, conversations, dashboard, database, messages, migrate, osaccount, ranges, signin, turns
from nexus_core.conversations import Place
from nexus_core.database import ROOT, Scope, transaction
from nexus_core.ledger import Outcome
from nexus_core.parts import text
from nexus_core.stream import Usage
from tests.nexus_core.conversing import until
from tests.nexus_core.ledger import NOW

PGBOUNCER = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin")
SHIPPED = ROOT / "docs" / "deploy" / "pgbouncer.ini"
TURNS, AT_ONCE = 40, 12


@pytest.fixture
def pooled(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of this test's database behind a pgbouncer of three connections, which the settings name."""
    if PGBOUNCER is None:
        pytest.skip("no pgbouncer on this machine: its file in docs/deploy is not tried")
    server = {name: str(value) for name, value in conninfo_to_dict(database_url).items()}
    home = Path(tempfile.mkdtemp(prefix="nexus-pooler-"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    changes = {
        "nexus = host=127.0.0.1 port=5432": f"* = host={server['host']} port={server.get('port', '5432')}",
        "listen_port = 6432": f"listen_port = {port}\nunix_socket_dir =",
        "auth_type = scram-sha-256": "auth_type = trust",
        "/etc/pgbouncer/userlist.txt": f"{home}/userlist.txt",
        "default_pool_size = 20": "default_pool_size = 3",
    }
    ini = SHIPPED.read_text("utf-8")
    for former, latter in changes.items():
        assert former in ini
        ini = ini.replace(former, latter)
    (home / "pgbouncer.ini").write_text(ini)
    (home / "userlist.txt").write_text(f'"{server["user"]}" "{server.get("password", "")}"\n')
    process = subprocess.Popen([PGBOUNCER, "-q", home / "pgbouncer.ini"], **_account(home, server["host"]))
    url = f"postgresql://{quote(server['user'])}@127.0.0.1:{port}/{server['dbname']}"
    monkeypatch.setenv("NEXUS_DATABASE_URL", url)
    monkeypatch.setenv("NEXUS_DATABASE_POOLED", "1")
    config.reset()
    database.reset()
    try:
        until(lambda: process.poll() is not None or _answers(url))
        yield url
    finally:
        database.reset()
        process.terminate()
        process.wait(20)
        shutil.rmtree(home)


def _account(home: Path, host: str) -> dict[str, object]:
    """pgbouncer does not run as root: as the server's own account, whose socket it has to reach, else as nobody."""
    if os.geteuid():
        return {}
    found = Path(host).stat() if host.startswith("/") else None
    nobody = pwd.getpwnam("nobody")
    user, group = (found.st_uid, found.st_gid) if found else (nobody.pw_uid, nobody.pw_gid)
    for path in (home, *home.iterdir()):
        os.chown(path, user, group)
    return osaccount.identity((user, group))


def _answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def test_many_turns_share_three_connections(pooled: str) -> None:
    scope = signin.scope_for(signin.local_owner(), None, "page")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda number: _turn(scope, f"Question {number}"), range(TURNS)))
    assert sorted(answers) == sorted(f"Answer to Question {number}" for number in range(TURNS))
    assert dashboard.load(scope, ranges.make("30d", "UTC", NOW)).report.total.runs == 0  # in a snapshot of its own
    with psycopg.connect(pooled) as connection:
        found = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'nexus' AND datname = current_database()"
        ).fetchone()
    assert found is not None and 0 < found[0] <= 3


def _turn(scope: Scope, question: str) -> str:
    """A question and its answer, in the transactions of chat and worker; the answer as it is stored."""
    with transaction(scope) as tx:
        turn = turns.accept(tx, conversations.create(tx, Place()).id, question)
    for _second in range(8):  # psycopg prepares what it has run five times
        with transaction(scope) as tx:
            assert turns.checkpoint(tx, turn, [text("Answer")]) == "held"
    usage = Usage(input_tokens=1, output_tokens=1, source="estimated")
    outcome = Outcome("succeeded", [text(f"Answer to {question}")], usage, 9, 2, "m", None, None, None, {})
    with transaction(scope) as tx:
        assert turns.finish(tx, turn, outcome)
    with transaction(scope) as tx:
        return messages.get(tx, turn.answer_id).body


def test_two_processes_that_migrate_behind_it_wait_for_each_other(pooled: str, server_url: str) -> None:
    name = f"nexus_pooler_{os.getpid()}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
        try:
            url = make_url(pooled).set(database=name).render_as_string(hide_password=False)
            with ThreadPoolExecutor(2) as pool:
                done = list(pool.map(migrate.migrate, (url, url)))
            assert sorted([*done[0], *done[1]]) == [path.stem for path in migrate.files()]
            assert migrate.status(url).pending == []
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
