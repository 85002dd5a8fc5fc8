"""A backup is one file that can be restored; it overwrites nothing and gives no password away."""

import os
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from nexus_core import backup, cluster, config, embedded, migrate
from nexus_core.errors import SetupFailed
from tests.nexus_core.test_main import nexus


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty NEXUS_HOME for a bundled server of this test's own."""
    monkeypatch.delenv("NEXUS_DATABASE_URL", raising=False)
    with tempfile.TemporaryDirectory(prefix="nexus-backup-") as folder:
        monkeypatch.setenv("NEXUS_HOME", f"{folder}/home")
        monkeypatch.setenv("NEXUS_ENV_FILE", f"{folder}/no.env")
        config.reset()
        yield Path(folder)
        embedded.stop()
        config.reset()


def test_the_bundled_store_comes_back_out_of_its_backup(home: Path) -> None:
    """Whatever pg_dump stands in PATH: the server's own is taken."""
    url = embedded.start()
    migrate.migrate(url)
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO people (id, email, name) VALUES (gen_random_uuid(), 'ana@example.com', 'Ana')")
    (home / "pg_dump").write_text("#!/bin/sh\nexit 9\n")
    (home / "pg_dump").chmod(0o755)
    target = home / "nexus.dump"
    environment = dict(os.environ) | {"PATH": f"{home}{os.pathsep}{os.environ['PATH']}"}
    done = nexus(environment, "backup", str(target))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{target}: ")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    restored = make_url(url).set(database="again").render_as_string(hide_password=False)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE again TEMPLATE template0 ENCODING 'UTF8'")
    command = [cluster.binaries() / "pg_restore", "--no-owner", "--exit-on-error", f"--dbname={restored}", target]
    subprocess.run(command, check=True)
    with psycopg.connect(restored) as connection:
        assert connection.execute("SELECT name FROM people").fetchall() == [("Ana",)]
    before = target.read_bytes()
    again = nexus(environment, "backup", str(target))
    assert (again.returncode, again.stderr) == (1, f"nexus: {target} exists already: choose another name.\n")
    assert target.read_bytes() == before


def test_no_password_is_shown_and_no_half_backup_stays(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(database_url) as connection:
        version = connection.info.server_version // 10_000
    fake = tmp_path / "pg_dump"
    fake.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo "pg_dump (PostgreSQL) {version}.1" && exit\n'
        'echo half\necho "args: $*" >&2\n[ "$PGPASSWORD" = hunter2 ] && echo known >&2\nexit 1\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    secret = make_url(database_url).set(password="hunter2").render_as_string(hide_password=False)
    monkeypatch.setenv("NEXUS_DATABASE_URL", secret)
    config.reset()
    with pytest.raises(SetupFailed) as caught:
        backup.write(tmp_path / "x.dump")
    assert "args: --format=custom" in caught.value.message
    assert "known" in caught.value.message
    assert "hunter2" not in caught.value.message
    assert not (tmp_path / "x.dump").exists()


def test_a_pg_dump_of_another_version_or_none_is_said(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "pg_dump"
    fake.write_text('#!/bin/sh\necho "pg_dump (PostgreSQL) 12.3 (Debian 12.3-1)"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupFailed, match=r"The server is PostgreSQL 99 and .*pg_dump is of version 12: install .* 99"):
        backup.program(99)
    assert backup.program(12) == str(fake)
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(SetupFailed, match="no pg_dump on this machine for PostgreSQL 99"):
        backup.program(99)


def test_a_store_that_is_away_and_a_folder_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEXUS_DATABASE_URL", "postgresql://nexus:hunter2@127.0.0.1:1/nexus")
    config.reset()
    with pytest.raises(SetupFailed, match="can't be reached") as caught:
        backup.write(tmp_path / "x.dump")
    assert "hunter2" not in caught.value.message
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(SetupFailed, match="can't be written"):
        backup.write(tmp_path / "nowhere" / "x.dump")
    config.reset()
