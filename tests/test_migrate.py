"""A database is brought to the schema whole or not at all, and what stands in the way is said in one line."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url

from nexus_core import database, migrate
from nexus_core.errors import SetupFailed

NAMES = sorted(path.stem for path in (database.ROOT / "sql" / "migrations").glob("*.sql"))
_numbers = count()


@pytest.fixture
def empty(server_url: str, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database."""
    yield from _made(server_url, tmp_path, "UTF8")


@pytest.fixture
def latin(server_url: str, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database in another encoding."""
    yield from _made(server_url, tmp_path, "LATIN1")


def _made(server_url: str, tmp_path: Path, encoding: str) -> Iterator[str]:
    name = f"nexus_migrate_{abs(hash(tmp_path))}_{next(_numbers)}"
    make = "CREATE DATABASE {} TEMPLATE template0 ENCODING '" + encoding + "' LC_COLLATE 'C' LC_CTYPE 'C'"
    with psycopg.connect(server_url, autocommit=True) as connection:
        provider = "" if connection.info.server_version < 170000 else " LOCALE_PROVIDER libc"
        connection.execute(sql.SQL(make + provider).format(sql.Identifier(name)))
        yield make_url(server_url).set(database=name).render_as_string(hide_password=False)
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of migrations of another version of this code, which begins as a copy of this one's."""
    folder = tmp_path / "sql" / "migrations"
    shutil.copytree(database.ROOT / "sql" / "migrations", folder)
    monkeypatch.setattr(migrate, "files", lambda: sorted(folder.glob("*.sql")))
    return folder


def everything(url: str) -> list[tuple[object, ...]]:
    """What the schema is made of, by name and definition."""
    with psycopg.connect(url) as connection:
        return connection.execute("""
          SELECT 'relation', CAST(CAST(c.oid AS regclass) AS text), CAST(c.relkind AS text) FROM pg_class c
          WHERE c.relnamespace IN ('public'::regnamespace, 'nexus'::regnamespace, 'system'::regnamespace)
          UNION ALL SELECT 'constraint', conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid > 0
          UNION ALL SELECT 'policy', polname || ' on ' || polrelid::regclass, pg_get_expr(polqual, polrelid)
          FROM pg_policy
          UNION ALL SELECT 'trigger', tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
          UNION ALL SELECT 'function', proname, prosrc FROM pg_proc WHERE pronamespace = 'nexus'::regnamespace
          ORDER BY 1, 2, 3""").fetchall()


def test_fresh_and_twice(empty: str) -> None:
    assert migrate.status(empty) == migrate.Status([], NAMES, [])
    assert migrate.migrate(empty) == NAMES
    assert migrate.status(empty) == migrate.Status(NAMES, [], [])
    first = everything(empty)
    assert len(first) > 200
    assert migrate.migrate(empty) == []
    assert everything(empty) == first


def test_two_processes_at_once(empty: str) -> None:
    program = "import sys; from nexus_core import migrate; print(*migrate.migrate(sys.argv[1]))"
    both = [
        subprocess.Popen([sys.executable, "-c", program, empty], cwd=database.ROOT, stdout=subprocess.PIPE, text=True)
        for _process in range(2)
    ]
    said = [process.communicate(timeout=60)[0].split() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sorted([*said[0], *said[1]]) == NAMES  # each by one of them


def test_a_migration_that_fails_leaves_nothing(empty: str, code: Path) -> None:
    migrate.migrate(empty)
    before = everything(empty)
    broken = code / "9000_broken.sql"
    broken.write_text("CREATE TABLE half (id int); INSERT INTO half VALUES (1); SELECT 1 / 0;")
    (code / "9001_later.sql").write_text("CREATE TABLE later (id int);")
    with pytest.raises(SetupFailed, match=r"^Migration 9000_broken failed: division by zero$"):
        migrate.migrate(empty)
    assert everything(empty) == before
    assert migrate.status(empty) == migrate.Status(NAMES, ["9000_broken", "9001_later"], [])
    broken.write_text("CREATE TABLE whole (id int, price numeric CHECK (price % 2 = 0)); -- 100 %")
    assert migrate.migrate(empty) == ["9000_broken", "9001_later"]


def test_a_changed_file(empty: str, code: Path) -> None:
    migrate.migrate(empty)
    with (code / f"{NAMES[2]}.sql").open("a") as file:
        file.write("-- one more word\n")
    with pytest.raises(SetupFailed, match=f"^Migration {NAMES[2]} was changed after it was applied: restore the file"):
        migrate.migrate(empty)


def test_a_newer_database(empty: str, code: Path) -> None:
    (code / "9000_future.sql").write_text("SELECT 1;")
    migrate.migrate(empty)
    (code / "9000_future.sql").unlink()
    assert migrate.status(empty).unknown == ["9000_future"]
    with pytest.raises(SetupFailed, match=r"newer than this Nexus \(it has 9000_future\): install the newer Nexus"):
        migrate.migrate(empty)


def test_a_server_that_is_too_old(empty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrate, "SUPPORTED", range(99, 100))
    with pytest.raises(SetupFailed, match=r"^Nexus needs PostgreSQL 99 or newer; this server is \d\d\.$"):
        migrate.migrate(empty)
    assert migrate.status(empty).applied == []


def test_the_wrong_encoding(latin: str) -> None:
    with pytest.raises(SetupFailed, match="encoding is LATIN1; make one with ENCODING 'UTF8'"):
        migrate.migrate(latin)


@pytest.mark.parametrize("change", [{"host": "127.0.0.1", "port": 1, "query": {}}, {"database": "nexus_is_not_here"}])
def test_out_of_reach(server_url: str, change: dict[str, object]) -> None:
    url = make_url(server_url).set(**change).render_as_string(hide_password=False)
    with pytest.raises(
        SetupFailed, match=r"^The database can't be reached \(.*\)\. Check NEXUS_DATABASE_URL"
    ) as caught:
        migrate.migrate(url)
    assert "\n" not in caught.value.message


def test_a_user_without_rights(empty: str) -> None:
    name = f"nexus_guest_{next(_numbers)}"
    with psycopg.connect(empty, autocommit=True) as connection:
        if connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone() != (True,):
            pytest.skip("this server's user can make no other")
        connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'x'")
        guest = make_url(empty).set(username=name, password="x").render_as_string(hide_password=False)
        try:
            with pytest.raises(SetupFailed, match=r"^Migration 0001_people failed: permission denied for database"):
                migrate.migrate(guest)
            migrate.migrate(empty)
            with pytest.raises(SetupFailed, match="permission denied"):
                migrate.migrate(guest)
        finally:
            connection.execute(f"DROP ROLE {name}")


def test_a_database_without_the_roles_rights_gets_them(empty: str) -> None:
    """As after a restore on another server."""
    migrate.migrate(empty)
    with psycopg.connect(empty, autocommit=True) as connection:
        if connection.execute("SELECT to_regrole('nexus_app')").fetchone() == (None,):
            pytest.skip("this server's user may not make roles")
        connection.execute("DROP OWNED BY nexus_app, nexus_reader")  # rights and policies, in this database alone
        lost = everything(empty)
        assert migrate.migrate(empty) == []
        assert len(everything(empty)) > len(lost)
        connection.execute("SET ROLE nexus_app")
        assert connection.execute("SELECT count(*) FROM messages").fetchone() == (0,)
