"""The Costs page over a year of runs: its own queries beside the same answers from raw rows, the runs page, inserts."""

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
from uuid6 import uuid7

from bench import ledger_sql
from bench.store import fresh_database
from nexus_core import dashboard, ranges, rollup, runs_list, signin
from nexus_core.database import Scope, transaction

ZONE = "Europe/Madrid"
REPEATS = 9


def fill(url: str, scope: Scope, rows: int, now: datetime) -> None:
    """Write a year of `rows` runs that ends at `now`, by set-based statements without triggers, and sum them up.

    Needs a superuser, as the bundled server's owner is, for the triggers to be left out.
    """
    ids = {"workspace": scope.workspace_id, "user": scope.user_id, "rows": rows, "now": now, "zone": ZONE}
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("SELECT set_config('nexus.workspace_id', %s, false)", (str(scope.workspace_id),))
        admin.execute("SET session_replication_role = replica")
        admin.execute("SET synchronous_commit = off")
        admin.execute("SET work_mem = '256MB'")
        admin.execute("SET maintenance_work_mem = '512MB'")
        kept = admin.execute(ledger_sql.INDEXES).fetchall()
        for name, _definition in kept:
            admin.execute(f"DROP INDEX {name}")
        for statement in ledger_sql.FILL:
            admin.execute(statement, ids)
        for _name, definition in kept:
            admin.execute(definition)
        admin.execute("VACUUM (ANALYZE) assistant_runs")
        admin.execute("VACUUM (ANALYZE) conversations")
    rollup.refresh(scope, now)
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("VACUUM (ANALYZE)")
        admin.execute("CHECKPOINT")


def median_ms(call: Callable[[], Any], repeats: int = REPEATS, warm: int = 2) -> float:
    """Median milliseconds of a call, after some that `warm` caches."""
    times = []
    for number in range(repeats + warm):
        began = time.perf_counter()
        call()
        if number >= warm:
            times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


def dashboard_ms(scope: Scope, days: int, now: datetime) -> float:
    """Every query of the Costs page for the last `days` days, in one snapshot."""
    return median_ms(lambda: dashboard.load(scope, ranges.make(f"{days}d", ZONE, now)))


def raw_ms(url: str, scope: Scope, days: int, now: datetime) -> float:
    """The same answers from raw rows, each by the statement that suits it best, index-only and in parallel."""
    span = ranges.make(f"{days}d", ZONE, now)
    before = span.previous()
    params = {
        "workspace": scope.workspace_id, "from": span.from_at, "to": span.to_at, "zone": ZONE, "grain": span.grain,
        "before_from": before.from_at, "before_to": before.to_at, "history": now - timedelta(days=90),
    }  # fmt: skip
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("SET work_mem = '256MB'")
        admin.execute("SET jit = off")

        def answers() -> None:
            for statement in ledger_sql.RAW:
                admin.execute(statement, params).fetchall()

        return median_ms(answers, 3 if days < 100 else 1, warm=1)


def page_ms(scope: Scope, now: datetime) -> dict[str, float]:
    """The slowest median of the runs page: first page and pages anywhere in the year, without and with filters."""
    span = ranges.make("365d", ZONE, now)
    year = timedelta(days=364)
    found: dict[str, float] = {}
    with transaction(scope) as tx:
        people = [row.user_id for row in runs_list.page(tx, span).runs if row.user_id][:3]
    wanted: dict[str, Any] = {
        "none": {}, "failed": {"status": ("failed",)}, "person": {"person": tuple(people[:1])},
        "people": {"person": tuple(people)}, "model": {"model": ("anthropic/claude-sonnet-4-5",)},
    }  # fmt: skip
    for name, values in wanted.items():
        slowest = 0.0
        for depth in (0.0, 0.3, 0.6, 0.95):
            after = None if not depth else (now - year * depth, uuid7())

            def read(values: Any = values, after: Any = after) -> None:
                with transaction(scope) as tx:
                    runs_list.page(tx, span, runs_list.Filters(**values), after=after)

            slowest = max(slowest, median_ms(read))
        found[name] = slowest
    return found


def insert_ratio(url: str, scope: Scope, rounds: int = 1500) -> dict[str, float]:
    """What a run costs to enter with everything on, beside the bare table: without triggers, foreign keys and policies.

    A run is a transaction of its own, as in the product; both sides by one connection, in turns.
    """
    with psycopg.connect(url) as connection:
        connection.execute(ledger_sql.BARE)
        conversations = connection.execute(ledger_sql.SOME, {"workspace": scope.workspace_id}).fetchall()
        connection.commit()
        connection.execute("SELECT set_config('nexus.workspace_id', %s, false), set_config('nexus.user_id', %s, false),"
                           " set_config('nexus.role', %s, false), set_config('role', 'nexus_app', false)",
                           (str(scope.workspace_id), str(scope.user_id), scope.role))  # fmt: skip
        connection.commit()
        times: dict[str, list[float]] = {"public": [], "bare": []}
        for number in range(rounds + 50):
            for schema in ("public", "bare") if number % 2 else ("bare", "public"):
                row = _run(scope, random.choice(conversations))
                began = time.perf_counter()
                connection.execute(ledger_sql.INSERT[schema], row)
                connection.commit()
                if number >= 50:
                    times[schema].append(time.perf_counter() - began)
        single = statistics.median(times["public"]) / statistics.median(times["bare"])
        connection.execute("RESET role")
        connection.execute(ledger_sql.UNDO, {"workspace": scope.workspace_id})
    return {"ratio": single, "bare_ms": statistics.median(times["bare"]) * 1000}


def _run(scope: Scope, place: tuple[UUID, UUID | None, UUID | None, UUID]) -> dict[str, Any]:
    conversation, project, agent, user = place
    return {
        "workspace": scope.workspace_id, "id": uuid7(), "request": uuid4(), "conversation": conversation,
        "project": project, "agent": agent, "user": user, "at": datetime.now(UTC),
    }  # fmt: skip


def measure(rows: int) -> dict[str, Any]:
    """All figures over a fresh database of `rows` runs."""
    with fresh_database() as url:
        scope = signin.scope_for(signin.local_owner(), None, "cli")
        now = datetime.now(UTC)
        began = time.perf_counter()
        fill(url, scope, rows, now)
        found: dict[str, Any] = {"rows": rows, "fill_s": time.perf_counter() - began}
        found |= {"dash30_ms": dashboard_ms(scope, 30, now), "dash365_ms": dashboard_ms(scope, 365, now)}
        pages = page_ms(scope, now)
        found |= {"page_ms": max(pages.values()), "pages": pages}
        inserts = insert_ratio(url, scope)
        found |= {"insert_ratio": inserts["ratio"], "inserts": inserts}
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute("SET maintenance_work_mem = '1GB'")
            admin.execute(ledger_sql.COVERING)
            admin.execute("VACUUM (ANALYZE) assistant_runs")
        found |= {"raw30_ms": raw_ms(url, scope, 30, now), "raw365_ms": raw_ms(url, scope, 365, now)}
        return found


def main() -> None:
    """Print the figures, or with --json the promised ones as JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.ledger", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="runs to write (the full measure: 10000000)")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args()
    found = measure(arguments.rows)
    if arguments.json:
        promised = ("dash30_ms", "raw30_ms", "dash365_ms", "raw365_ms", "page_ms", "insert_ratio")
        print(json.dumps({"rows": found["rows"]} | {key: round(found[key], 3) for key in promised}))
        return
    print(f"{found['rows']:,} runs of a year, written and summed up in {found['fill_s']:.0f} s")
    for days in (30, 365):
        ours, raw = found[f"dash{days}_ms"], found[f"raw{days}_ms"]
        print(f"Costs page, {days} days: {ours:,.0f} ms; from raw rows {raw:,.0f} ms, {raw / ours:.1f} times as long")
    for name, slowest in found["pages"].items():
        print(f"runs page, filter {name}: {slowest:.1f} ms")
    print(f"insert: {found['insert_ratio']:.2f} times the bare table's {found['inserts']['bare_ms']:.2f} ms")


if __name__ == "__main__":
    main()
