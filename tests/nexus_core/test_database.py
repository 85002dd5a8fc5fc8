"""How long the application waits: for a silent connection, and for a statement that takes too long."""

from dataclasses import replace

import pytest
from psycopg.conninfo import make_conninfo

from nexus_core import database
from nexus_core.connections import SILENCE, engine_of
from nexus_core.database import Scope, transaction
from nexus_core.errors import StoreUnavailable


def parameters(url: str) -> dict[str, str]:
    engine = engine_of(url)
    with engine.connect() as connection:
        found: dict[str, str] = connection.connection.driver_connection.info.get_parameters()  # type: ignore[union-attr]
    engine.dispose()
    return found


def test_a_silent_connection_counts_as_dead_after_seconds_unless_the_url_says_otherwise(server_url: str) -> None:
    found = parameters(server_url)
    assert {name: found[name] for name in SILENCE} == {name: str(value) for name, value in SILENCE.items()}
    own = parameters(make_conninfo(server_url, keepalives_idle=7))
    assert (own["keepalives_idle"], own["tcp_user_timeout"]) == ("7", str(SILENCE["tcp_user_timeout"]))


def shown(scope: Scope) -> str:
    with transaction(scope) as tx:
        return str(tx.connection.exec_driver_sql("SHOW statement_timeout").scalar())


def test_a_statement_that_a_person_waits_for_has_its_time_and_a_job_has_the_servers(scope: Scope) -> None:
    assert [shown(replace(scope, door=door)) for door in ("page", "api", "mcp")] == ["1min"] * 3
    assert [shown(replace(scope, door=door)) for door in ("worker", "cli")] == ["0", "0"]


def test_a_statement_that_takes_too_long_says_so(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "PATIENCE", "40ms")
    with pytest.raises(StoreUnavailable, match="too long"), transaction(scope) as tx:
        tx.connection.exec_driver_sql("SELECT pg_sleep(5)")
    with transaction(scope) as tx:
        tx.execute("database.ping")
