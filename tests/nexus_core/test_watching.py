"""Watching an answer that another process writes: from its row, to its end."""

import asyncio
import threading

import pytest

from nexus_core import conversations, parts, turns, watching
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import ModelFailed, NotFound
from nexus_core.ledger import Outcome
from nexus_core.stream import Usage
from nexus_core.turns import Turn
from nexus_core.watching import Sight


@pytest.fixture
def turn(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> Turn:
    """A turn that was accepted by a process which is not this one: no worker here knows it."""
    monkeypatch.setattr(watching, "ELSEWHERE_SECONDS", 0.02)
    with transaction(scope) as tx:
        return turns.accept(tx, conversations.create(tx, Place()).id, "Hello")


def end(scope: Scope, turn: Turn, status: str = "succeeded") -> None:
    failed = status == "failed"
    outcome = Outcome(
        status, [parts.text("One two")], Usage(), 5, 1, None, None, None, None, {},
        error_type="timeout" if failed else None, error_message="Too slow." if failed else None,
    )  # fmt: skip
    with transaction(scope) as tx:
        assert turns.finish(tx, turn, outcome)


def test_every_checkpoint_is_seen(scope: Scope, turn: Turn) -> None:
    async def watch() -> list[Sight]:
        seen = []
        async for sight in watching.watch(scope, turn.answer_id):
            seen.append(sight)
            if sight.parts == []:
                with transaction(scope) as tx:
                    assert turns.checkpoint(tx, turn, [parts.text("One")]) == "held"
            elif sight.ended is None:
                end(scope, turn)
        return seen

    seen = asyncio.run(watch())
    assert [parts.body(sight.parts) for sight in seen] == ["", "One", "One two"]
    assert [sight.ended is not None for sight in seen] == [False, False, True]
    assert seen[-1].ended and seen[-1].ended.status == "complete"


def test_an_exchange_waits_for_the_end(scope: Scope, turn: Turn) -> None:
    threading.Timer(0.2, end, (scope, turn)).start()
    ended = asyncio.run(watching.exchange(scope, turn.answer_id))
    assert (ended.question.body, ended.answer.body) == ("Hello", "One two")
    assert ended.run is not None and ended.run.id == turn.run_id


def test_a_failure_names_what_was_stored(scope: Scope, turn: Turn) -> None:
    end(scope, turn, "failed")
    with pytest.raises(ModelFailed, match="Too slow") as failed:
        asyncio.run(watching.exchange(scope, turn.answer_id))
    assert failed.value.error_type == "timeout" and failed.value.detail["message_id"] == str(turn.answer_id)


def test_what_is_deleted_can_not_be_watched_on(scope: Scope, turn: Turn, other_scope: Scope) -> None:
    async def watch(who: Scope) -> None:
        async for _sight in watching.watch(who, turn.answer_id):
            with transaction(scope) as tx:
                conversations.delete(tx, turn.conversation_id)

    for who in (other_scope, scope, scope):
        with pytest.raises(NotFound):
            asyncio.run(watch(who))
