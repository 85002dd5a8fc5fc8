"""A temporary cluster of Debian's PostgreSQL 15, on loopback alone: the nearest thing to a managed server."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nexus_core import osaccount
from tests.machine import free_port, quick_folder

BINARIES = Path(os.environ.get("PG_BIN", "/usr/lib/postgresql/15/bin"))


@contextmanager
def cluster() -> Iterator[str]:
    """The URL of the superuser's database on a new cluster, which is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="nexus-debian-", dir=quick_folder()))
    owner = osaccount.of(folder)
    if owner:
        os.chown(folder, *owner)
    data = str(folder / "data")
    port = free_port()
    options = f"-c listen_addresses=127.0.0.1 -p {port} -c unix_socket_directories='' -c fsync=off"

    def call(program: str, *arguments: str) -> None:
        words = [str(BINARIES / program), "-D", data, *arguments]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, cwd="/", **osaccount.identity(owner))

    try:
        call("initdb", "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
        call("pg_ctl", "-w", "-l", str(folder / "log"), "-o", options, "start")
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
    finally:
        if (folder / "data" / "postmaster.pid").exists():
            call("pg_ctl", "-w", "-m", "immediate", "stop")
        shutil.rmtree(folder)
