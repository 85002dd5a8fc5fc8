"""A database of its own for a measurement, on the store that NEXUS_DATABASE_URL names or on a bundled server."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import psycopg
from psycopg import sql
from sqlalchemy import make_url

from nexus_core import config, database, migrate


@contextmanager
def fresh_database() -> Iterator[str]:
    """Make and migrate a database, let the process's engine use it, and drop it at the end; yields its URL."""
    with tempfile.TemporaryDirectory(prefix="nexus-bench-") as home:
        os.environ.setdefault("NEXUS_HOME", home)
        server = database.url()
        name = f"nexus_bench_{uuid4().hex[:12]}"
        url = make_url(server).set(database=name).render_as_string(hide_password=False)
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(
                sql.SQL("CREATE DATABASE {} ENCODING 'UTF8' TEMPLATE template0").format(sql.Identifier(name))
            )
            os.environ["NEXUS_DATABASE_URL"] = url
            config.reset()
            database.reset()
            try:
                migrate.migrate(url)
                yield url
            finally:
                del os.environ["NEXUS_DATABASE_URL"]
                config.reset()
                database.reset()
                connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
