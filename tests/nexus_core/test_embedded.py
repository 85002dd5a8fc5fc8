"""The bundled server through real kills: of the application, of the postmaster, of both at once."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from nexus_core import cluster, embedded
from nexus_core.errors import SetupFailed

ROOT = Path(__file__).resolve().parents[2]

# An application: uses the server, says where it is, and ends when its input does (or when it is killed).
APPLICATION = """
import sys
from pathlib import Path
from nexus_core import embedded
print(embedded.start(Path(sys.argv[1])), flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="session")
def pristine() -> Iterator[Path]:
    """A stopped home with a database in it, to be copied: initdb is the slow part."""
    with tempfile.TemporaryDirectory(prefix="nexus-pristine-") as folder:
        home = Path(folder)
        with psycopg.connect(embedded.start(home), autocommit=True) as connection:
            connection.execute("CREATE TABLE said (words text)")
        embedded.stop(home)
        yield home


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Not pytest's: any other pytest that starts closes the folder above that to the server's account."""
    with tempfile.TemporaryDirectory(prefix="nexus-embedded-") as folder:
        yield Path(folder)


@pytest.fixture
def home(pristine: Path, tmp_path: Path) -> Iterator[Path]:
    """A home of this test's own, stopped afterwards."""
    home = tmp_path / "home"
    copy(pristine, home)
    yield home
    embedded.stop(home)
    assert cluster.postmaster(home / "postgres") is None


@pytest.fixture
def application(home: Path) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Starts applications on that home; whoever still runs is killed afterwards."""
    started: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", APPLICATION, home],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline().startswith("postgresql://")
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def copy(source: Path, target: Path) -> None:
    """Copy a home with its owners, as a person's `cp -a` would."""
    subprocess.run(["cp", "-a", source, target], check=True)


def end(process: subprocess.Popen[str]) -> None:
    """End an application in the ordinary way."""
    process.communicate(timeout=30)
    assert process.returncode == 0


def postmaster(home: Path) -> psutil.Process:
    """The running server's process."""
    process = cluster.postmaster(home / "postgres")
    assert process is not None
    return process


def say(home: Path, words: str) -> None:
    """Store something, committed, in a server that is started when it does not run."""
    with psycopg.connect(embedded.start(home)) as connection:
        connection.execute("INSERT INTO said VALUES (%s)", [words])


def said(home: Path) -> list[str]:
    """All that was stored."""
    with psycopg.connect(embedded.start(home)) as connection:
        return [row[0] for row in connection.execute("SELECT words FROM said ORDER BY words")]


@pytest.mark.parametrize("name", ["plain", "with space ñ", "here, it's 100% 'new'; $HOME"])
def test_a_new_home_gets_a_utf8_database_on_a_socket_alone(tmp_path: Path, name: str) -> None:
    home = tmp_path / "made" / name
    url = embedded.start(home)
    try:
        with psycopg.connect(url) as connection:
            assert connection.info.dbname == "nexus"
            assert connection.info.host.startswith("/")
            assert connection.execute("SHOW server_encoding").fetchone() == ("UTF8",)
            assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
            for name in ("pg_trgm", "unaccent", "vector", "pg_stat_statements"):
                connection.execute(f"CREATE EXTENSION {name}")  # type: ignore[call-overload]
            assert connection.execute("SELECT count(*) FROM pg_stat_statements").fetchone() is not None
    finally:
        assert embedded.stop(home)


def test_stopped_and_started_again_nothing_is_lost(home: Path) -> None:
    say(home, "before")
    assert embedded.stop(home)
    assert not (home / "postgres" / "postmaster.pid").exists()
    assert said(home) == ["before"]


def test_a_second_start_joins_the_first_at_once(home: Path) -> None:
    first = embedded.start(home)
    process = postmaster(home)
    begun = time.monotonic()
    assert embedded.start(home) == first
    assert time.monotonic() - begun < 0.5
    assert postmaster(home) == process


def test_the_server_outlives_a_killed_application_and_the_next_one_joins(
    home: Path, application: Callable[[], subprocess.Popen[str]]
) -> None:
    killed = application()
    say(home, "kept")
    embedded.leave(home)
    process = postmaster(home)
    killed.kill()
    killed.wait()
    assert postmaster(home) == process
    assert said(home) == ["kept"]
    assert postmaster(home) == process
    assert embedded.stop(home), "the killed application must not count as a user"


def test_the_last_of_two_applications_stops_the_server(
    home: Path, application: Callable[[], subprocess.Popen[str]]
) -> None:
    first, second = application(), application()
    process = postmaster(home)
    end(first)
    assert postmaster(home) == process
    end(second)
    assert cluster.postmaster(home / "postgres") is None
    assert not (home / "postgres" / "postmaster.pid").exists()


def test_two_applications_that_start_at_once_share_one_server(home: Path) -> None:
    command = [sys.executable, "-c", APPLICATION, str(home)]
    pipe = subprocess.PIPE
    both = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) for _number in range(2)]
    said_by = [process.communicate(timeout=30)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert said_by[0] == said_by[1] == cluster.url(home / "postgres") + "\n"
    assert cluster.postmaster(home / "postgres") is None


def test_a_killed_postmaster_is_started_anew_and_nothing_is_lost(home: Path) -> None:
    say(home, "committed")
    killed = postmaster(home)
    killed.send_signal(signal.SIGKILL)
    assert said(home) == ["committed"]
    assert postmaster(home).pid != killed.pid


def test_a_postmaster_killed_with_its_application_is_started_anew(
    home: Path, application: Callable[[], subprocess.Popen[str]]
) -> None:
    killed = application()
    say(home, "committed")
    embedded.leave(home)
    postmaster(home).send_signal(signal.SIGKILL)
    killed.kill()
    killed.wait()
    assert said(home) == ["committed"]


@pytest.mark.parametrize("foreign", ["this process", "another server", "nobody", "nonsense"])
def test_an_old_pid_file_names_somebody_else(home: Path, pristine: Path, tmp_path: Path, foreign: str) -> None:
    say(home, "committed")
    other = tmp_path / "other"
    pids = {"this process": str(os.getpid()), "nobody": "4194304", "nonsense": ""}
    if foreign == "another server":
        copy(pristine, other)
        embedded.start(other)
        pids[foreign] = str(postmaster(other).pid)
    marks = home / "postgres" / "postmaster.pid"
    lines = marks.read_text().split("\n")
    postmaster(home).send_signal(signal.SIGKILL)
    marks.write_text("\n".join([pids[foreign], *lines[1:]]) if pids[foreign] else "")
    (home / "postgres" / ".s.PGSQL.5432.lock").write_text(pids[foreign])
    assert said(home) == ["committed"]
    if foreign == "another server":
        assert said(other) == []
        assert embedded.stop(other)


def test_a_copy_of_a_running_home_is_another_server(home: Path, tmp_path: Path) -> None:
    say(home, "in the original")
    with psycopg.connect(embedded.start(home), autocommit=True) as connection:
        connection.execute("CHECKPOINT")
    copied = tmp_path / "copied"
    copy(home, copied)
    try:
        say(copied, "in the copy")
        assert said(home) == ["in the original"]
        assert postmaster(copied) != postmaster(home)
    finally:
        embedded.stop(copied)


def test_a_path_too_long_for_a_socket_has_it_elsewhere(pristine: Path, tmp_path: Path) -> None:
    home = tmp_path / ("long" * 25) / "home"
    home.parent.mkdir()
    copy(pristine, home)
    try:
        say(home, "here")
        folder = cluster.sockets(home / "postgres")
        assert not folder.is_relative_to(home)
        assert folder.stat().st_mode & 0o077 == 0
    finally:
        assert embedded.stop(home)
    assert not folder.exists()


def test_what_a_killed_setup_left_half_made_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "postgres.new").mkdir()
    (tmp_path / "postgres.new" / "PG_VERSION").write_text("18\n")
    try:
        with psycopg.connect(embedded.start(tmp_path)) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    finally:
        embedded.stop(tmp_path)


def test_release_leaves_a_server_that_was_found_running(
    home: Path, application: Callable[[], subprocess.Popen[str]]
) -> None:
    running = application()
    embedded.start(home)
    running.kill()
    running.wait()
    embedded.release()
    assert postmaster(home).is_running()


def test_release_stops_a_server_that_was_launched_here(home: Path) -> None:
    embedded.start(home)
    embedded.release()
    assert cluster.postmaster(home / "postgres") is None


def test_stopping_what_never_ran_is_no_error(tmp_path: Path) -> None:
    assert not embedded.stop(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def broken_file_in_the_way(home: Path) -> None:
    shutil.rmtree(home)
    home.write_text("a file")


def broken_other_version(home: Path) -> None:
    (home / "postgres" / "PG_VERSION").write_text("14\n")


def broken_other_things(home: Path) -> None:
    shutil.rmtree(home / "postgres")
    (home / "postgres").mkdir()
    (home / "postgres" / "holiday.jpg").touch()


def broken_configuration(home: Path) -> None:
    with (home / "postgres" / "postgresql.conf").open("a") as configuration:
        configuration.write("\nshared_buffers = 'plenty'\n")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (broken_file_in_the_way, "can't hold the data"),
        (broken_other_version, "made by PostgreSQL 14"),
        (broken_other_things, "something else"),
        (broken_configuration, "did not start"),
    ],
)
def test_data_that_cannot_be_used_is_one_sentence(
    pristine: Path, tmp_path: Path, spoil: Callable[[Path], None], words: str
) -> None:
    home = tmp_path / "home"
    copy(pristine, home)
    spoil(home)
    with pytest.raises(SetupFailed, match=words) as caught:
        embedded.start(home)
    assert "\n" not in caught.value.message


def test_a_folder_without_rights_is_one_sentence(tmp_path: Path) -> None:
    """As another user when these tests run as root, whom no rights stop."""
    home = tmp_path / "closed"
    home.mkdir(mode=0o500)
    code = (
        "import os, sys\nfrom pathlib import Path\n"
        "from nexus_core import embedded\nfrom nexus_core.errors import SetupFailed\n"
        "if os.geteuid() == 0: os.setgid(65534); os.setuid(65534)\n"
        "try: embedded.start(Path(sys.argv[1]) / 'home')\n"
        "except SetupFailed as error: print(error.message)\n"
    )
    command = [sys.executable, "-c", code, str(home)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert "can't hold the data" in done.stdout
    assert "Permission denied" in done.stdout
    assert done.stdout.count("\n") == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as somebody else")
def test_under_root_the_folders_above_may_be_passed_and_not_listed(pristine: Path, tmp_path: Path) -> None:
    above = tmp_path / "private"
    above.mkdir(mode=0o700)
    copy(pristine, above / "home")
    try:
        say(above / "home", "here")
        assert above.stat().st_mode & 0o777 == 0o701
        assert postmaster(above / "home").username() != "root"
    finally:
        embedded.stop(above / "home")


def test_ctrl_c_in_the_terminal_does_not_reach_the_server(home: Path) -> None:
    embedded.start(home)
    assert os.getsid(postmaster(home).pid) != os.getsid(0)


def test_the_server_does_not_get_keys(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("PGPORT", "1")
    embedded.start(home)
    assert "OPENAI_API_KEY" not in postmaster(home).environ()


def test_a_dead_socket_of_the_name_is_no_server(home: Path) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(home / "postgres" / ".s.PGSQL.5432"))
    assert said(home) == []
