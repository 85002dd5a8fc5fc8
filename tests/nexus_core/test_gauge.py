"""The gauge of a conversation's memory, beside what a turn really takes along."""

import time
from collections.abc import Iterator
from uuid import UUID

import pytest

from nexus_core import agents, chat, conversations, gauge, messages, parts, runs, signin, worker
from nexus_core.agents import Agent
from nexus_core.conversations import Conversation, Place
from nexus_core.database import Scope, transaction


@pytest.fixture(autouse=True)
def _no_worker_left(database_url: str) -> Iterator[None]:
    yield
    worker.close()


def _agent(scope: Scope, **fields: object) -> Agent:
    with transaction(scope) as tx:
        return agents.create(tx, "Analyst", **fields)


def _conversation(scope: Scope, agent_id: UUID | None, title: str, said: int) -> Conversation:
    with transaction(scope) as tx:
        made = conversations.create(tx, Place(None, agent_id), title=title)
        for number in range(said):
            role = "assistant" if number % 2 else "user"
            messages.append(tx, made.id, role, [parts.text(f"said {number}")])
        return conversations.get(tx, made.id)


def test_gauge_says_what_stays_behind(scope: Scope) -> None:
    agent = _agent(scope, max_messages=6, max_tokens=None)
    talk = _conversation(scope, agent.id, "small", 4)
    with transaction(scope) as tx:
        before = gauge.of(tx, talk, agent)
        for number in range(4):
            messages.append(tx, talk.id, "user", [parts.text(f"more {number}")])
        after = gauge.of(tx, conversations.get(tx, talk.id), agent)
    assert (before.messages, before.left_out, before.first_seq, before.is_near) == (4, 0, 1, True)
    assert (after.messages, after.left_out, after.first_seq, after.first_words) == (5, 3, 4, "said 3")


def test_the_nearer_limit_is_the_one_to_tell() -> None:
    assert gauge.Gauge("session", 3, 900, max_messages=40, max_tokens=1000).bound == "tokens"
    assert gauge.Gauge("session", 30, 100, max_messages=40, max_tokens=1000).bound == "messages"
    assert gauge.Gauge("session", 30, 100, max_messages=40, max_tokens=0).bound == "tokens"
    assert gauge.Gauge("session", 30, 100).bound == ""


def test_gauge_agrees_with_the_receipt(scope: Scope) -> None:
    signin.furnish(scope)
    agent = _agent(scope, max_messages=None, max_tokens=60)
    talk = _conversation(scope, agent.id, "tokens", 12)
    with transaction(scope) as tx:
        expected = gauge.of(tx, talk, agent)
    turn = chat.send(scope, "x", conversation_id=talk.id)
    deadline = time.monotonic() + 15
    receipt = None
    while receipt is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
        with transaction(scope) as tx:
            receipt = runs.receipt(tx, turn.run_id)
    window = next(section for section in receipt["sections"] if section["section"] == "window")
    sent = sum(len(group["seqs"]) for group in window["messages"])
    assert expected.messages - 1 <= sent <= expected.messages  # the new message takes room, too


def test_user_memory_gauge_counts_all_conversations_of_the_place(scope: Scope) -> None:
    agent = _agent(scope, memory_mode="user")
    _conversation(scope, agent.id, "one", 3)
    _conversation(scope, None, "elsewhere", 3)
    two = _conversation(scope, agent.id, "two", 2)
    with transaction(scope) as tx:
        assert gauge.of(tx, two, agent).messages == 5
