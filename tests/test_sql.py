"""Every statement of sql/queries is understood by the migrated database."""

import pytest
from sqlalchemy.dialects.postgresql.psycopg import dialect as psycopg_dialect

from nexus_core import database


def test_every_statement_prepares(database_url: str, subtests: pytest.Subtests) -> None:
    assert len(database.queries()) > 50
    with database.engine().connect() as connection:
        for name in database.queries():
            with subtests.test(name):
                connection.exec_driver_sql(_prepare(name), execution_options={"no_parameters": True})
                connection.exec_driver_sql("DEALLOCATE checked")
                connection.rollback()


def _prepare(name: str) -> str:
    """The statement as PostgreSQL numbers its parameters."""
    statement = database.query(name)
    text = str(statement.compile(dialect=psycopg_dialect(paramstyle="named")))
    for number, key in enumerate(sorted(statement._bindparams, key=len, reverse=True), start=1):
        text = text.replace(f":{key}", f"${number}")
    return f"PREPARE checked AS {text}"
