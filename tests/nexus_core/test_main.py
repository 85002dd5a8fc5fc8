"""The command line as a person meets it: real processes, exit codes, one line for each thing gone wrong."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from nexus_core import cluster

ROOT = Path(__file__).resolve().parents[2]
NOWHERE = "postgresql://nexus:hunter2@127.0.0.1:1/nexus"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment without any setting of Nexus but a home, a free port and no .env."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NEXUS_")}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    return kept | {
        "NEXUS_HOME": str(tmp_path / "home"),
        "NEXUS_ENV_FILE": str(tmp_path / "no.env"),
        "PORT": port,
    }


@pytest.fixture
def bundled(environment: dict[str, str]) -> Iterator[dict[str, str]]:
    """The same; the bundled server that a command left running is stopped afterwards.

    Not in pytest's folder: any other pytest that starts closes the one above to the server's account.
    """
    with tempfile.TemporaryDirectory(prefix="nexus-main-") as folder:
        environment |= {"NEXUS_HOME": f"{folder}/home"}
        yield environment
        assert nexus(environment, "stop").returncode == 0


def nexus(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m nexus_core` to its end."""
    command = [sys.executable, "-m", "nexus_core", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)


def refusal(environment: dict[str, str], *arguments: str) -> str:
    """The one line with which a command refuses."""
    done = nexus(environment, *arguments)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("nexus: ")
    assert done.stderr.count("\n") == 1
    assert "hunter2" not in done.stderr
    return done.stderr


def test_a_port_in_use(environment: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", int(environment["PORT"]))):
        assert f"Port {environment['PORT']} is in use" in refusal(environment, "serve")


def test_an_address_of_another_machine(environment: dict[str, str]) -> None:
    assert "can't listen on 192.0.2.1" in refusal(environment, "serve", "--host", "192.0.2.1")
    assert "is not an address" in refusal(environment, "serve", "--host", "no.such.host.invalid")


@pytest.mark.parametrize("command", ["serve", "migrate"])
def test_an_unreachable_database(environment: dict[str, str], command: str) -> None:
    assert "can't be reached" in refusal(environment | {"NEXUS_DATABASE_URL": NOWHERE}, command)


@pytest.mark.parametrize("command", ["serve", "migrate", "url"])
def test_a_wrong_url(environment: dict[str, str], command: str) -> None:
    wrong = environment | {"NEXUS_DATABASE_URL": "mysql://root:hunter2@localhost/nexus"}
    assert "NEXUS_DATABASE_URL can't be used" in refusal(wrong, command)


@pytest.mark.parametrize("command", ["serve", "migrate", "url"])
def test_a_data_folder_that_cannot_be(environment: dict[str, str], tmp_path: Path, command: str) -> None:
    (tmp_path / "file").touch()
    assert "can't hold the data" in refusal(environment | {"NEXUS_HOME": str(tmp_path / "file" / "home")}, command)


@pytest.mark.parametrize("command", ["serve", "migrate"])
def test_a_database_newer_than_the_code(environment: dict[str, str], database_url: str, command: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("INSERT INTO nexus.migrations (name, checksum) VALUES ('9999_future', 'x')")
    assert "newer than this Nexus" in refusal(environment | {"NEXUS_DATABASE_URL": database_url}, command)


def test_url_of_the_bundled_server_answers_after_the_command(bundled: dict[str, str]) -> None:
    url = nexus(bundled, "url").stdout.strip()
    with psycopg.connect(url) as connection:
        assert connection.info.dbname == "nexus"
    assert nexus(bundled, "migrate").stdout.startswith("0001_")
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) > 0 FROM nexus.migrations").fetchone() == (True,)
    assert nexus(bundled, "migrate").stdout == "Nothing to apply: the schema is current.\n"
    assert nexus(bundled, "stop").stdout == "The bundled server is stopped.\n"
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)


def test_url_of_ones_own_server_is_that(environment: dict[str, str]) -> None:
    done = nexus(environment | {"NEXUS_DATABASE_URL": NOWHERE.replace("postgresql:", "postgres:")}, "url")
    assert (done.returncode, done.stdout) == (0, NOWHERE + "\n")


def test_doctor_finds_nothing_wrong(environment: dict[str, str], database_url: str) -> None:
    done = nexus(environment | {"NEXUS_DATABASE_URL": database_url}, "doctor")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {line[0] for line in done.stdout.splitlines()} == {"✓"}
    for what in (
        "Python",
        "Settings",
        "Database",
        "Encoding",
        "pg_trgm",
        "Schema",
        "Clock",
        "Disk",
        "Models",
        "Port",
    ):
        assert what in done.stdout


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"NEXUS_DATABASE_URL": NOWHERE}, "✗ Database: "),
        ({"NEXUS_DATABASE_URL": "nonsense"}, "✗ Settings: NEXUS_DATABASE_URL can't be used"),
        ({"NEXUS_HOME": "/dev/null/home"}, "✗ Database: /dev/null/home can't hold the data"),
    ],
)
def test_doctor_says_what_is_wrong(environment: dict[str, str], wrong: dict[str, str], line: str) -> None:
    done = nexus(environment | wrong, "doctor")
    assert done.returncode == 1
    assert done.stderr == ""
    assert any(each.startswith(line) for each in done.stdout.splitlines()), done.stdout


def test_doctor_sees_a_taken_port_and_an_old_schema(environment: dict[str, str], database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("DELETE FROM nexus.migrations WHERE name = (SELECT max(name) FROM nexus.migrations)")
    with socket.create_server(("127.0.0.1", int(environment["PORT"]))):
        done = nexus(environment | {"NEXUS_DATABASE_URL": database_url}, "doctor")
    assert done.returncode == 1
    assert "✗ Schema: 1 migration to apply" in done.stdout
    assert f"✗ Port {environment['PORT']}: " in done.stdout


def test_an_unknown_command_shows_the_known_ones(environment: dict[str, str]) -> None:
    done = nexus(environment, "dance")
    assert done.returncode == 2
    assert "serve" in done.stderr


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_serve_says_where_it_is_answers_and_ends_cleanly(bundled: dict[str, str], ending: signal.Signals) -> None:
    """From an empty home to an answer, and to the end of application and server, with an open connection."""
    command = [sys.executable, "-m", "nexus_core", "serve", "--port", "0"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=bundled, stdout=pipe, stderr=pipe, text=True, cwd=ROOT) as server:
        try:
            assert server.stdout is not None
            assert server.stderr is not None
            line = server.stdout.readline()
            assert line.startswith("Nexus is at http://127.0.0.1:"), server.stderr.read()
            port = line.strip().rpartition(":")[2]
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health") as answer:
                assert json.load(answer)["data"]["database"] == "ok"
            assert nexus(bundled, "stop").stdout.startswith("Nothing to stop")
            assert "in use" in refusal(bundled, "serve", "--port", port)
            with socket.create_connection(("127.0.0.1", int(port))):
                server.send_signal(ending)
                assert server.wait(timeout=60) == 0
            out, err = server.communicate()
            assert out == ""
            assert [said for said in err.splitlines() if not said.startswith("Other accounts may")] == []
        finally:
            server.kill()
    assert cluster.postmaster(Path(bundled["NEXUS_HOME"]) / "postgres") is None
