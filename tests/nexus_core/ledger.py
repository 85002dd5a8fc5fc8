"""Runs written straight into the ledger, for the tests of reports."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import psycopg

from nexus_core.database import Scope

MODELS = ("openai/gpt-4o", "anthropic/claude-sonnet-4-5", "in/house")
NOW = datetime(2026, 6, 17, 15, 30, tzinfo=UTC)  # a Wednesday
_DEFAULTS: dict[str, Any] = {
    "kind": "answer", "attempt": 1, "project_id": None, "task_id": None, "conversation_id": None, "agent_id": None,
    "user_id": None, "model": "openai/gpt-4o", "provider": "openai", "runtime": "remote", "profile_slug": "fast",
    "status": "succeeded", "input_tokens": 1000, "cached_tokens": None, "cache_write_tokens": None,
    "output_tokens": 100, "reasoning_tokens": None, "usage_source": "provider", "cost_estimate": Decimal("0.0035"),
    "cost_source": "litellm",
    "price_version": "litellm 1", "duration_ms": 1000, "first_token_ms": 200, "prompt_summary": None,
}  # fmt: skip


@contextmanager
def owner(url: str) -> Iterator[psycopg.Connection]:
    """The database's owner in the system's scope, for what no person may do."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SELECT set_config('nexus.role', 'system', false)")
        yield connection


def add(connection: psycopg.Connection, scope: Scope, at: datetime, **values: Any) -> UUID:
    """Write one run as the server's owner does; what is not given is an ordinary run's."""
    run = _DEFAULTS | values
    run |= {"id": uuid4(), "workspace_id": scope.workspace_id, "created_at": at, "started_at": at}
    run["request_id"] = values.get("request_id") or uuid4()
    ended = run["status"] in ("succeeded", "failed")
    run["finished_at"] = at + timedelta(milliseconds=run["duration_ms"] or 0) if ended else None
    names = ", ".join(run)
    places = ", ".join(f"%({name})s" for name in run)
    connection.execute(f"INSERT INTO assistant_runs ({names}) VALUES ({places})", run)
    return UUID(str(run["id"]))


def zone(connection: psycopg.Connection, scope: Scope, name: str) -> None:
    """Give the scope's workspace another time zone."""
    connection.execute("UPDATE workspaces SET time_zone = %s WHERE id = %s", (name, scope.workspace_id))


def places(connection: psycopg.Connection, scope: Scope) -> dict[str, Any]:
    """Two projects, two agents, two tasks, two conversations and two people to hang runs on, by dimension."""
    found: dict[str, Any] = {name: [] for name in ("project", "agent", "task", "conversation", "person")}
    for n in (1, 2):
        ids = {name: uuid4() for name in found}
        given = {"ws": scope.workspace_id, "n": n, "mail": f"{uuid4()}@example.com"} | ids
        for statement in (
            "INSERT INTO people (id, email, name) VALUES (%(person)s, %(mail)s, 'Person ' || %(n)s)",
            "INSERT INTO memberships (workspace_id, user_id, role) VALUES (%(ws)s, %(person)s, 'operator')",
            "INSERT INTO projects (workspace_id, id, name) VALUES (%(ws)s, %(project)s, 'Project ' || %(mail)s)",
            "INSERT INTO agents (workspace_id, id, name) VALUES (%(ws)s, %(agent)s, 'Agent ' || %(n)s)",
            "INSERT INTO tasks (workspace_id, id, project_id, title) VALUES (%(ws)s, %(task)s, %(project)s, 'Task')",
            "INSERT INTO conversations (workspace_id, id, user_id, project_id, title) VALUES"
            " (%(ws)s, %(conversation)s, %(person)s, %(project)s, 'Talk ' || %(n)s)",
        ):
            connection.execute(statement, given)
        for name, value in ids.items():
            found[name].append(value)
    return found


def fill(connection: psycopg.Connection, scope: Scope, seed: int, count: int, *, days: int = 40) -> dict[str, Any]:
    """Random runs over the `days` before NOW, some without price, usage, project, agent or person."""
    with connection.transaction():
        return _fill(connection, scope, random.Random(seed), count, days)


def _fill(connection: psycopg.Connection, scope: Scope, chance: random.Random, count: int, days: int) -> dict[str, Any]:
    found = places(connection, scope)
    for _n in range(count):
        place = chance.choice((None, 0, 1))
        status = chance.choice(("succeeded",) * 8 + ("failed", "running", "planned", "blocked"))
        told = status in ("succeeded", "failed") and chance.random() < 0.85
        add(
            connection,
            scope,
            NOW - timedelta(seconds=chance.randrange(days * 86400)),
            kind=chance.choice(("answer", "summary")),
            model=chance.choice(MODELS),
            status=status,
            attempt=chance.choice((1, 1, 1, 2)),
            project_id=None if place is None else found["project"][place],
            task_id=None if place is None or chance.random() < 0.5 else found["task"][place],
            conversation_id=None if place is None else found["conversation"][place],
            agent_id=chance.choice((None, *found["agent"])),
            user_id=chance.choice((None, *found["person"])),
            input_tokens=chance.randrange(10_000) + 500 if told else None,
            cached_tokens=chance.choice((None, 0, 400)) if told else None,
            output_tokens=chance.randrange(1000) if told else None,
            usage_source="provider" if told else "none",
            cost_estimate=Decimal(chance.randrange(10**9)) / 10**10 if told and chance.random() < 0.8 else None,
            duration_ms=chance.choice((0, 1, 7, 950, 60_000)) + chance.randrange(500) if told else None,
            first_token_ms=0 if told else None,
        )
    return found


def filled(connection: psycopg.Connection, scope: Scope) -> dict[str, Any]:
    """The same runs for every example of a test."""
    row = connection.execute(
        "SELECT array_agg(DISTINCT project_id), array_agg(DISTINCT agent_id) FROM assistant_runs"
    ).fetchone()
    if row is None or row[0] is None:
        fill(connection, scope, 7, 400)
        return filled(connection, scope)
    return {"project": [item for item in row[0] if item], "agent": [item for item in row[1] if item]}
