"""What every test may ask for: a database of its own, and people in it."""

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest
from hypothesis import settings
from psycopg import sql
from sqlalchemy import make_url
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

from nexus_core import config, database, migrate, people, signin, worker, workspaces
from nexus_core.database import Scope, transaction
from tests.machine import quick_folder

os.environ["NEXUS_HOME"] = "/dev/null/nowhere"  # nothing here may use the store of whoever works in this folder
settings.register_profile("any machine", deadline=None)  # how long an example takes says how busy the machine is
settings.load_profile("any machine")
_MIGRATING = 6398011  # advisory lock: the roles that a migration makes belong to the whole server
_numbers = count(1)
ROOT = Path(__file__).resolve().parents[1]
# Uses the server in a process of its own until its input ends: no test can let go of it by letting go of all servers.
_HOLD = """
import sys
from pathlib import Path
from nexus_core import embedded
home = Path(sys.argv[1])
print(embedded.start(home), flush=True)
sys.stdin.read()
print(embedded.stop(home), flush=True)
"""


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """A server on which databases may be made: NEXUS_TEST_DATABASE_URL's, or a bundled one for this run.

    The workers of one run share the bundled server; whoever leaves last stops it.
    """
    if url := os.environ.get("NEXUS_TEST_DATABASE_URL"):
        yield config.libpq_url(url)
        return
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or secrets.token_hex(6)
    home = Path(quick_folder() or tempfile.gettempdir(), f"nexus-tests-{run[:12]}")
    command = [sys.executable, "-c", _HOLD, str(home)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdin and holder.stdout
        url = holder.stdout.readline().strip()
        with psycopg.connect(url, autocommit=True) as connection:  # nothing here has to survive a power cut
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
        yield url
        holder.stdin.close()
        if holder.stdout.readline().strip() == "True":
            shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def template(server_url: str) -> Iterator[str]:
    """The name of a migrated, empty database that this worker's tests clone."""
    name = f"nexus_test_{os.getpid()}_template"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", (_MIGRATING,))
        _drop(connection, name)
        make = sql.SQL("CREATE DATABASE {} ENCODING 'UTF8' TEMPLATE template0")
        connection.execute(make.format(sql.Identifier(name)))
        migrate.migrate(_named(server_url, name))
    yield name
    with psycopg.connect(server_url, autocommit=True) as connection:
        _drop(connection, name)


@pytest.fixture
def database_url(server_url: str, template: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """The URL of a migrated, empty database of this test alone, which the settings name, too."""
    name = f"nexus_test_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(
                sql.Identifier(name), sql.Identifier(template)
            )
        )
        url = _named(server_url, name)
        monkeypatch.setenv("NEXUS_DATABASE_URL", url)
        monkeypatch.setenv("NEXUS_HOME", str(tmp_path / "home"))
        monkeypatch.setenv("NEXUS_ENV_FILE", str(tmp_path / "no.env"))
        config.reset()
        database.reset()
        signin.reset()
        yield url
        worker.close()
        database.reset()
        config.reset()
        _drop(connection, name)


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder for a bundled server: another pytest that starts closes pytest's own ones to the server's account."""
    with tempfile.TemporaryDirectory(prefix="nexus-home-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture
def scope(database_url: str) -> Scope:
    """The administrator, owner of this machine, in the workspace `default`, with its built-in profile."""
    return signin.scope_for(signin.local_owner(), None, "page")


@pytest.fixture
def operator(scope: Scope) -> Scope:
    """An operator in the workspace of `scope`."""
    return member(scope, "operator@example.com", "Olga", "operator")


@pytest.fixture
def colleague(scope: Scope) -> Scope:
    """Another operator in the workspace of `scope`."""
    return member(scope, "colleague@example.com", "Carlos", "operator")


@pytest.fixture
def viewer(scope: Scope) -> Scope:
    """A viewer in the workspace of `scope`."""
    return member(scope, "viewer@example.com", "Vera", "viewer")


@pytest.fixture
def other_scope(scope: Scope) -> Scope:
    """The administrator of another workspace, `other`, who is no member of the first."""
    with transaction(Scope.system()) as tx:
        workspace = workspaces.create(tx, "other", "Other")
    admin = member(Scope(workspace.id, None, "admin"), "other@example.com", "Otto", "admin")
    signin.furnish(admin)
    return admin


def member(scope: Scope, email: str, name: str, role: str) -> Scope:
    """A new person with a role in the workspace of `scope`, as a scope."""
    with transaction(Scope(scope.workspace_id, scope.user_id, "system")) as tx:
        person = people.create(tx, email, name, role)
    return Scope(scope.workspace_id, person.id, role)


def _named(url: str, name: str) -> str:
    return make_url(url).set(database=name).render_as_string(hide_password=False)


@retry(  # a managed server lets nobody end its own autovacuum worker, which may be at work there for a moment
    retry=retry_if_exception_type(psycopg.errors.InsufficientPrivilege),
    wait=wait_fixed(0.2),
    stop=stop_after_delay(30),
    reraise=True,
)
def _drop(connection: psycopg.Connection, name: str) -> None:
    connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
