"""Runs written straight into the ledger, for the tests of reports."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import psycopg

from nexus_core.database import Scope

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
