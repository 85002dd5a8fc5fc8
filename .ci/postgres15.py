"""Run a command with NEXUS_TEST_DATABASE_URL on a temporary PostgreSQL 15 that is like a managed server.

TCP, and a role that is no superuser, owns its database and may create others. PG_BIN names another folder of
programs, and so another version.
"""

import os
import subprocess
import sys
from pathlib import Path

import psycopg

from tests import debian

ROLE = "nexus"


def install() -> None:
    """Debian's package, when it is missing and can be had; else one line and exit code 1."""
    if (debian.BINARIES / "initdb").exists():
        return
    if "PG_BIN" in os.environ or not Path("/etc/debian_version").exists() or os.geteuid() != 0:
        sys.exit(f"There is no PostgreSQL in {debian.BINARIES}: install it, or name its folder with PG_BIN.")
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "install", "-y", "-qq", "postgresql-15"], check=True, env=quiet)


def main(command: list[str]) -> int:
    """The command's exit code."""
    install()
    with debian.cluster() as admin:
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {ROLE} LOGIN CREATEDB")
            connection.execute(f"CREATE DATABASE {ROLE} OWNER {ROLE}")
            port = connection.info.port
        url = f"postgresql://{ROLE}@127.0.0.1:{port}/{ROLE}"
        environment = {**os.environ, "NEXUS_TEST_DATABASE_URL": url}
        return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
