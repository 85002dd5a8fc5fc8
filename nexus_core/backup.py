"""A backup of the whole store, made by the pg_dump of its server's own version."""

import contextlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from nexus_core import cluster, database
from nexus_core.config import settings
from nexus_core.errors import SetupFailed
from nexus_core.i18n import _

DEBIAN = "/usr/lib/postgresql/{major}/bin/pg_dump"


def write(target: Path) -> int:
    """Dump the store into `target`, a new file in pg_dump's custom format that its owner alone may read; its bytes.

    The password is passed in the environment, where no list of processes shows it. Raises SetupFailed: when the file
    exists already or can't be written, when the store can't be reached or no pg_dump fits it, and with pg_dump's words.
    """
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise SetupFailed(_("{file} exists already: choose another name.").format(file=target)) from None
    except OSError as error:
        raise SetupFailed(_("{file} can't be written: {reason}.").format(file=target, reason=error.strerror)) from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            _dump(database.url(), file.fileno())
    except BaseException:
        with contextlib.suppress(OSError):
            target.unlink()
        raise
    return target.stat().st_size


def _dump(url: str, into: int) -> None:
    try:
        with psycopg.connect(url, connect_timeout=10) as connection:
            major = connection.info.server_version // 10_000
            unbound = connection.execute(database.queries()["database.bypasses_policies"].encode()).fetchone()
    except psycopg.Error as error:
        reason = str(error).strip().splitlines()[0]
        raise SetupFailed(_("The database can't be reached: {reason}.").format(reason=reason)) from None
    where = {name: str(value) for name, value in conninfo_to_dict(url).items() if value is not None}
    options = ["--format=custom"]
    if unbound != (True,):  # under the policies itself: in the scope that sees every row, or the dump would be empty
        given = where.get("options") or os.environ.get("PGOPTIONS", "")
        where["options"] = f"{given} -c nexus.role=system".strip()
        options.append("--enable-row-security")
    password = where.pop("password", None)
    done = subprocess.run(
        [program(major), *options, f"--dbname={make_conninfo(**where)}"],
        stdin=subprocess.DEVNULL,
        stdout=into,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
        env=os.environ | ({"PGPASSWORD": password} if password else {}),
    )
    if done.returncode:
        said = " ".join(done.stderr.split()) or str(done.returncode)
        raise SetupFailed(_("pg_dump could not make the backup: {reason}").format(reason=said))


def program(major: int) -> str:
    """The pg_dump of this major version: the bundled server's own, else one of this machine; SetupFailed without one.

    A newer one reads an older server, too, but what it writes can't be restored there.
    """
    bundled = str(cluster.binaries() / "pg_dump")
    if settings().database_url is None:
        return bundled
    first = shutil.which("pg_dump")
    for found in (first, DEBIAN.format(major=major), bundled):
        if found and os.access(found, os.X_OK) and _major(found) == major:
            return found
    wish = _("install PostgreSQL's client programs of version {major} and put them first in PATH").format(major=major)
    if first is None:
        raise SetupFailed(
            _("There is no pg_dump on this machine for PostgreSQL {n}: {wish}.").format(n=major, wish=wish)
        )
    raise SetupFailed(
        _("The server is PostgreSQL {n} and {program} is of version {other}: {wish}.").format(
            n=major, program=first, other=_major(first) or "?", wish=wish
        )
    )


def _major(program: str) -> int | None:
    done = subprocess.run([program, "--version"], capture_output=True, text=True, errors="replace", check=False)
    found = re.search(r"(\d+)(?:\.|devel|beta|rc)", done.stdout)
    return int(found[1]) if found else None
