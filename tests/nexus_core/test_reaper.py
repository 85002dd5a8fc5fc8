"""Runs whose process is gone: they end, what they wrote stays, their conversation is free."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from uuid import UUID

import pytest

from nexus_core import chat, conversations, leases, turns
from nexus_core.conversations import Place
from nexus_core.database import ROOT, Scope, transaction
from nexus_core.errors import Busy
from nexus_core.turns import Turn
from tests.nexus_core.conversing import (
    ask,
    bodies,
    connect,
    contents,
    count,
    message,
    owner,
    run_of,
    settled,
    shown,
    until,
)
from tests.nexus_core.model_server import ModelServer, Tap


def accepted(scope: Scope, question: str = "Count") -> Turn:
    """A turn that nobody answers, with "One two " written already."""
    with transaction(scope) as tx:
        turn = turns.accept(tx, conversations.create(tx, Place()).id, question)
        turns.checkpoint(tx, turn, [{"type": "text", "text": "One two "}])
    return turn


def lease(url: str, turn: Turn, holder: str, seconds: int = 15) -> None:
    """Let a lease be `holder`'s, for so many seconds from now."""
    with owner(url) as connection:
        connection.execute(
            "UPDATE conversations SET lease_owner = %s, lease_until = now() + make_interval(secs => %s) WHERE id = %s",
            (holder, seconds, turn.conversation_id),
        )


def reap(*living: UUID) -> int:
    with transaction(Scope.system()) as tx:
        return leases.reap(tx, living=living)


@pytest.fixture
def dead() -> str:
    """A process of this machine that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    owner = f"{leases.HOST}/{process.pid}/0"
    process.wait()
    return owner


def is_ended(scope: Scope, turn: Turn) -> bool:
    answer, run = message(scope, turn.answer_id), run_of(scope, turn.run_id)
    with transaction(scope) as tx:
        place = conversations.get(tx, turn.conversation_id)
    states = (answer.status, answer.metadata.get("error_type"), run.status, run.error_type, place.active_run_id)
    if states == ("streaming", None, "running", None, turn.run_id):
        return False
    assert states == ("failed", "interrupted", "failed", "interrupted", None)
    assert answer.body == "One two "
    assert "What had been written is kept" in answer.metadata["error"]
    assert run.finished_at is not None and run.duration_ms is not None
    assert (run.input_tokens, run.cost_estimate) == (None, None)
    return True


def test_a_dead_processs_conversation_is_free_at_once_for_the_next_send(
    me: Scope, database_url: str, dead: str
) -> None:
    turn = accepted(me)
    with pytest.raises(Busy):
        chat.send(me, "Hello?")
    lease(database_url, turn, dead, 900)
    ask(me, "Hello?")
    assert is_ended(me, turn)
    assert [row.status for row in shown(me, turn.conversation_id)] == ["complete", "failed", "complete", "complete"]


def test_a_dead_processs_answer_can_be_given_again_at_once(me: Scope, database_url: str, dead: str) -> None:
    turn = accepted(me)
    lease(database_url, turn, dead, 900)
    assert settled(me, chat.answer_again(me, turn.answer_id)).status == "complete"
    assert is_ended(me, turn)


def test_reaping_ends_the_dead_and_the_expired_and_nobody_else(scope: Scope, database_url: str, dead: str) -> None:
    gone, expired, silent, ours, elsewhere = (accepted(scope) for _turn in range(5))
    lease(database_url, gone, dead, 900)
    lease(database_url, expired, "elsewhere/1/1", -1)
    lease(database_url, silent, leases.this_process(), -1)
    lease(database_url, ours, leases.this_process(), 15)
    lease(database_url, elsewhere, "elsewhere/1/1", 15)
    assert reap(silent.run_id) == 2
    assert [is_ended(scope, turn) for turn in (gone, expired, silent, ours, elsewhere)] == [
        True, True, False, False, False,
    ]  # fmt: skip
    assert reap() == 1
    assert is_ended(scope, silent)
    assert reap() == 0


def test_the_reaper_of_another_process_gives_the_living_a_moment_after_the_database_was_away(
    scope: Scope, database_url: str, dead: str
) -> None:
    gone, late, silent = (accepted(scope) for _turn in range(3))
    lease(database_url, gone, dead, -1)
    lease(database_url, late, "elsewhere/1/1", -1)
    lease(database_url, silent, "elsewhere/1/1", -1)
    seen: set[UUID] = set()
    with transaction(Scope.system()) as tx:
        assert leases.reap(tx, seen=seen) == 1
    assert is_ended(scope, gone)
    with transaction(scope) as tx:
        assert turns.checkpoint(tx, late, [{"type": "text", "text": "One two "}]) == "held"
    with transaction(Scope.system()) as tx:
        assert leases.reap(tx, seen=seen) == 1
    assert is_ended(scope, silent) and not is_ended(scope, late)


def test_reaping_works_in_every_workspace_and_leaves_the_ended_alone(
    scope: Scope, other_scope: Scope, database_url: str, dead: str
) -> None:
    turns_ = [accepted(one) for one in (scope, other_scope)]
    for turn in turns_:
        lease(database_url, turn, dead)
    assert reap() == 2
    assert is_ended(scope, turns_[0]) and is_ended(other_scope, turns_[1])


def test_a_run_that_no_conversation_holds_ends_after_ten_minutes(scope: Scope, database_url: str) -> None:
    turn = accepted(scope)
    with transaction(scope) as tx:
        conversations.delete(tx, turn.conversation_id)
    assert reap() == 0
    with owner(database_url) as connection:
        connection.execute("UPDATE assistant_runs SET started_at = now() - interval '11 minutes'")
    assert reap() == 1
    run = run_of(scope, turn.run_id)
    assert (run.status, run.error_type) == ("failed", "interrupted")


def test_a_checkpoint_or_an_end_after_the_reaper_changes_nothing(scope: Scope, database_url: str, dead: str) -> None:
    turn = accepted(scope)
    lease(database_url, turn, dead)
    reap()
    with transaction(scope) as tx:
        assert turns.checkpoint(tx, turn, [{"type": "text", "text": "late"}]) == "lost"
    assert is_ended(scope, turn)


def test_who_is_alive() -> None:
    assert leases.alive(leases.this_process())
    assert leases.alive(None) and leases.alive("") and leases.alive("elsewhere/1/1") and leases.alive("odd")
    assert leases.alive(f"{leases.HOST}/x/1")
    host, pid, started = leases.this_process().split("/")
    assert not leases.alive(f"{host}/{pid}/{int(started) - 60}")  # the number was another process's once
    assert not leases.alive(f"{host}/{pid}/never")


def test_a_killed_process_that_nobody_has_waited_for_is_dead() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    created = leases.psutil.Process(process.pid).create_time()
    owner = f"{leases.HOST}/{process.pid}/{created:.0f}"
    assert leases.alive(owner)
    process.kill()
    until(lambda: not leases.alive(owner))
    process.communicate()


# a real process

SERVER = """
import sys, threading
from uuid import UUID
from nexus_core import chat, serve
from nexus_core.database import Scope

def ask():
    turn = chat.send(Scope(UUID(sys.argv[1]), UUID(sys.argv[2]), "admin"), "Count", session_id="s1")
    print(turn.conversation_id, turn.answer_id, turn.run_id, flush=True)

threading.Thread(target=ask).start()
serve.serve()
"""


@pytest.fixture
def tap(me: Scope) -> Iterator[Tap]:
    tap = Tap()

    def script(body: dict, number: int) -> Iterator[str]:  # type: ignore[type-arg]
        return tap(body, number) if len(contents(body)) == 1 else iter(["Good."])

    with ModelServer(script) as server:
        connect(me, server.base)
        yield tap
        tap.opened.set()


@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_that_is_killed_in_mid_answer_loses_nothing(
    me: Scope, database_url: str, tap: Tap, way: signal.Signals
) -> None:
    argv = [sys.executable, "-c", SERVER, str(me.workspace_id), str(me.user_id)]
    environment = os.environ | {"PORT": "0", "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        argv, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            until(lambda: count(database_url, "messages", "body = 'One two '") or server.poll() is not None, 60)
            assert server.stdout is not None
            first = server.stdout.readline()
        finally:
            server.send_signal(way)
        told, noise = server.communicate(timeout=20)
    lines = [line for line in (first + told).splitlines() if "http" not in line]
    assert lines, noise
    conversation, answer_id, run_id = map(UUID, lines[0].split())
    assert "Traceback" not in noise and "asyncio" not in noise
    if way == signal.SIGTERM:
        assert message(me, answer_id).status == "failed"  # by the server itself, on its way out
    _turn, answer = ask(me, "Go on", conversation_id=conversation)
    assert answer.body == "Good."
    assert bodies(me, conversation) == ["Count", "One two ", "Go on", "Good."]
    cut = message(me, answer_id)
    assert (cut.status, cut.metadata["error_type"]) == ("failed", "interrupted")
    run = run_of(me, run_id)
    assert (run.status, run.error_type) == ("failed", "interrupted")
