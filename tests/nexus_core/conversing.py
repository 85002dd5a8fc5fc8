"""What the tests of the chat core say again and again: connect a model, ask, wait, look at the rows."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg

from nexus_core import agents, chat, messages, profiles, projects, runs
from nexus_core.context import EARLIER
from nexus_core.database import Scope, transaction
from nexus_core.messages import Message
from nexus_core.profiles import Profile
from nexus_core.runs import Run
from nexus_core.turns import Turn
from nexus_core.worker import worker

MODEL = "openai/gpt-4o-mini"


def connect(scope: Scope, base: str | None, *, model: str = MODEL, slug: str = "loopback", **fields: Any) -> Profile:
    """Let everybody in this workspace be answered by the server at `base`."""
    with transaction(scope) as tx:
        made = profiles.save(tx, slug=slug, name="Loopback", model=model, api_base=base, **fields)
        profiles.make_default(tx, made.id)
    return made


def project(scope: Scope, name: str = "Apollo") -> UUID:
    with transaction(scope) as tx:
        return projects.create(tx, name).id


def agent(scope: Scope, name: str = "Ada", **fields: Any) -> UUID:
    with transaction(scope) as tx:
        return agents.create(tx, name, **fields).id


def until(true: Callable[[], Any], seconds: float = 15.0) -> Any:
    """What `true` gives once it is true; fails when it does not become so in time."""
    deadline = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < deadline, "it did not become so in time"
        time.sleep(0.005)
    return found


def settled(scope: Scope, turn: Turn) -> Message:
    """The answer of a turn once it has ended."""

    def ended() -> Message | None:
        answer = message(scope, turn.answer_id)
        return answer if answer.status != "streaming" else None

    found: Message = until(ended)
    until(lambda: worker().live(turn.answer_id) is None)
    return found


def ask(scope: Scope, text: str, **where: Any) -> tuple[Turn, Message]:
    """Send, and wait for the end of the answer."""
    turn = chat.send(scope, text, **where)
    return turn, settled(scope, turn)


def message(scope: Scope, message_id: UUID) -> Message:
    with transaction(scope) as tx:
        return messages.get(tx, message_id)


def shown(scope: Scope, conversation_id: UUID) -> list[Message]:
    with transaction(scope) as tx:
        return chat.read(tx, conversation_id, limit=1000)


def bodies(scope: Scope, conversation_id: UUID) -> list[str]:
    return [one.body for one in shown(scope, conversation_id)]


def run_of(scope: Scope, run_id: UUID | None) -> Run:
    assert run_id is not None
    with transaction(scope) as tx:
        return runs.get(tx, run_id)


def attempts(scope: Scope, turn: Turn) -> list[Run]:
    with transaction(scope) as tx:
        return runs.attempts(tx, turn.request_id)


def receipt(scope: Scope, answer: Message) -> dict[str, Any]:
    assert answer.run_id is not None
    with transaction(scope) as tx:
        found = runs.receipt(tx, answer.run_id)
    assert found is not None
    return found


def sections(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """A receipt's sections by name."""
    return {section["section"]: section for section in found["sections"]}


def contents(body: dict[str, Any]) -> list[str]:
    """The texts that a request sent, in order, the system's and the note on what is not shown left out."""
    first, *said = body["messages"]
    assert first["role"] == "system"
    assert said[0]["role"] == "user"
    return [one["content"] for one in said if one["content"] != EARLIER]


def system(body: dict[str, Any]) -> str:
    return "\n\n".join(one["content"] for one in body["messages"] if one["role"] == "system")


@contextmanager
def owner(url: str) -> Iterator[psycopg.Connection]:
    """A connection of whoever owns the tables, who sees every workspace."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SELECT set_config('nexus.role', 'system', false)")
        yield connection


def count(url: str, table: str, where: str = "true") -> int:
    """Rows of a table, whosesoever they are."""
    with owner(url) as connection:
        row = connection.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone()  # type: ignore[arg-type]
    assert row is not None
    return int(row[0])
