"""The ways in which a database's user may stand to its tables."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url

MODES = ["as given", "owner without rights", "owner who may make roles", "owner on Debian's PostgreSQL 15"]


@contextmanager
def empty_database(server: str, mode: str) -> Iterator[str]:
    """The URL of an empty database: the server's user's own, or that of a role without a superuser's rights."""
    name = f"nexus_isolation_{os.getpid()}"
    role = sql.Identifier(name)
    with psycopg.connect(server, autocommit=True) as connection:
        able = connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone() == (True,)
        if mode == MODES[0]:
            connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'").format(role))
            yield make_url(server).set(database=name).render_as_string(False)
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(role))
            return
        if not able:
            pytest.skip("this server's user is such an owner already, and can make no other")
        rights = sql.SQL("CREATEDB CREATEROLE" if mode == MODES[2] else "CREATEDB NOCREATEROLE")
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN {} PASSWORD 'x'").format(role, rights))
        if mode == MODES[2]:  # the roles are there already: as if this one had made them
            connection.execute(sql.SQL("GRANT nexus_app TO {} WITH ADMIN OPTION").format(role))
        connection.execute(sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE template0 ENCODING 'UTF8'").format(role, role))
        yield make_url(server).set(username=name, password="x", database=name).render_as_string(False)
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(role))
        connection.execute(sql.SQL("DROP ROLE {}").format(role))
