"""Sending, sending again, sending at once; real database, real model server on loopback."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID, uuid4

import pytest

from nexus_core import chat, conversations, messages
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import Busy, Conflict, Forbidden, Invalid, NexusError, NotFound
from nexus_core.turns import Turn
from nexus_core.worker import worker
from tests.nexus_core.conversing import (
    ask,
    bodies,
    connect,
    count,
    project,
    run_of,
    settled,
    shown,
    until,
)
from tests.nexus_core.model_server import ModelServer, Tap

# sending


def test_the_question_is_stored_before_the_model_is_called(me: Scope, database_url: str) -> None:
    stored: list[int] = []

    def script(body: dict[str, Any], number: int) -> Iterator[str]:
        stored.append(count(database_url, "messages", "role = 'user' AND body = 'Which city?'"))
        stored.append(count(database_url, "assistant_runs", "status = 'running'"))
        yield "Lisbon."

    with ModelServer(script) as server:
        connect(me, server.base)
        turn, answer = ask(me, "Which city?")
    assert stored == [1, 1]
    assert (answer.body, answer.status) == ("Lisbon.", "complete")
    question, answered = shown(me, turn.conversation_id)
    assert (question.seq, question.role, question.body, question.user_id) == (1, "user", "Which city?", me.user_id)
    assert (answered.seq, answered.parent_seq, answered.role) == (2, 1, "assistant")
    assert answered.parts == [{"type": "text", "text": "Lisbon."}]
    run = run_of(me, answered.run_id)
    assert (run.status, run.model, run.served_model, run.runtime) == (
        "succeeded", "openai/gpt-4o-mini", "served-1", "local",
    )  # fmt: skip
    assert (run.input_tokens, run.output_tokens, run.usage_source) == (11, 7, "provider")


def test_a_first_look_waits_for_the_first_words_and_no_longer_than_it_may(me: Scope) -> None:
    tap = Tap(first="")
    with ModelServer(tap) as server:
        connect(me, server.base)
        turn = chat.send(me, "Count")
        with transaction(me) as tx:
            answer = messages.get(tx, turn.answer_id)
        begun = time.monotonic()
        assert chat.live(answer, 0.2).version == 0 and time.monotonic() - begun >= 0.2
        assert tap.flowing.wait(15)
        tap.opened.set()
        assert chat.live(answer, 15).version or settled(me, turn).body == "three."


def test_an_answer_without_any_model_remembers(me: Scope) -> None:
    turn, _noted = ask(me, "My name is Ana")
    _turn, answer = ask(me, "What is my name?")
    assert answer.conversation_id == turn.conversation_id
    assert "Ana" in answer.body
    run = run_of(me, answer.run_id)
    assert (run.runtime, run.cost_estimate, run.cost_source) == ("built in", 0, "built in")


def test_what_can_not_be_stored_is_made_storable_and_nothing_is_refused_as_nothing(me: Scope) -> None:
    turn, _answer = ask(me, "nul \0 here, lone \ud83d there, \\u0000 stays")
    assert bodies(me, turn.conversation_id)[0] == "nul  here, lone � there, \\u0000 stays"
    for nothing in ("", "  \n", "\0\0"):
        with pytest.raises(Invalid, match="Write something"):
            chat.send(me, nothing, conversation_id=turn.conversation_id)
    with pytest.raises(Invalid, match="two million"):
        chat.send(me, "x" * 2_000_001)


def test_the_first_question_gives_the_title_and_never_over_a_persons(me: Scope) -> None:
    def title(turn: Turn) -> str:
        with transaction(me) as tx:
            return conversations.get(tx, turn.conversation_id).title

    turn, _answer = ask(me, "**Which** city?\nAnd when?")
    assert title(turn) == "Which city? And when?"
    ask(me, "Another question", conversation_id=turn.conversation_id)
    assert title(turn) == "Which city? And when?"
    with transaction(me) as tx:
        mine = conversations.create(tx, Place(), title="Mine")
    turn, _answer = ask(me, "Which city?", conversation_id=mine.id)
    assert title(turn) == "Mine"


def test_a_viewer_neither_sends_nor_answers_again_nor_edits_nor_stops(me: Scope, viewer: Scope) -> None:
    place = Place(project(me))
    turn, answer = ask(me, "Which city?", place=place)
    question = shown(me, turn.conversation_id)[0]
    before = bodies(me, turn.conversation_id)
    for forbidden in (
        lambda: chat.send(viewer, "Hello", place=place),
        lambda: chat.send(viewer, "Hello", conversation_id=turn.conversation_id),
        lambda: chat.answer_again(viewer, answer.id),
        lambda: chat.edit(viewer, question.id, "Which town?"),
        lambda: chat.stop(viewer, turn.conversation_id),
        lambda: chat.show_version(viewer, answer.id),
    ):
        with pytest.raises(Forbidden, match="operator"):
            forbidden()
    assert bodies(viewer, turn.conversation_id) == before


def test_a_foreign_conversation_is_not_found_like_a_missing_one(
    me: Scope, colleague: Scope, other_scope: Scope
) -> None:
    turn, answer = ask(me, "My secret")
    said = set()
    for stranger in (colleague, other_scope):
        for conversation_id, message_id in ((turn.conversation_id, answer.id), (uuid4(), uuid4())):
            for attempt in (
                lambda where=conversation_id, who=stranger: chat.send(who, "Hello", conversation_id=where),
                lambda what=message_id, who=stranger: chat.answer_again(who, what),
                lambda what=message_id, who=stranger: chat.edit(who, what, "Hello"),
                lambda what=message_id, who=stranger: chat.show_version(who, what),
            ):
                with pytest.raises(NotFound) as caught:
                    attempt()
                said.add(caught.value.message)
            assert not chat.stop(stranger, conversation_id)
    assert said == {"There is no such conversation here.", "There is no such message here."}


# the same send again


@pytest.mark.parametrize("named", [True, False])
def test_the_same_send_twice_is_one_message_and_one_run(me: Scope, database_url: str, named: bool) -> None:
    turn, _answer = ask(me, "Hello")
    where = {"conversation_id": turn.conversation_id} if named else {}
    first, _answer = ask(me, "yes", client_message_id="c1", **where)
    again = chat.send(me, "yes", client_message_id="c1", **where)
    assert again.repeated
    assert (again.run_id, again.answer_id) == (first.run_id, first.answer_id)
    assert bodies(me, turn.conversation_id).count("yes") == 1
    assert count(database_url, "assistant_runs") == 2
    ask(me, "yes", client_message_id="c2", **where)
    ask(me, "yes", **where)
    ask(me, "yes", client_message_id="", **where)
    ask(me, "yes", client_message_id="", **where)
    assert bodies(me, turn.conversation_id).count("yes") == 5


def test_an_id_that_another_message_has_is_refused_and_nothing_is_stored(me: Scope, database_url: str) -> None:
    turn, _answer = ask(me, "yes", client_message_id="1", session_id="monday")
    other, _answer = ask(me, "Hello", session_id="wednesday")
    for text, where in (
        ("no", {"session_id": "monday"}),
        ("yes", {"session_id": "tuesday"}),
        ("yes", {"conversation_id": other.conversation_id}),
    ):
        with pytest.raises(Conflict, match="another message"):
            chat.send(me, text, client_message_id="1", **where)
    assert chat.send(me, "yes", client_message_id="1", session_id="monday").run_id == turn.run_id
    assert count(database_url, "conversations") == 2 and count(database_url, "assistant_runs") == 2


def test_the_nil_id_is_nobody(me: Scope) -> None:
    for place in ({"project_id": UUID(int=0)}, {"agent_id": UUID(int=0)}):
        with pytest.raises(NotFound):
            chat.send(me, "Hello", place=Place(**place))


@pytest.mark.parametrize("named", [True, False])
def test_the_same_send_many_times_at_once_is_one_message_and_one_run(me: Scope, database_url: str, named: bool) -> None:
    with transaction(me) as tx:
        where = {"conversation_id": conversations.create(tx, Place()).id} if named else {}
    barrier = threading.Barrier(6)

    def send(_number: int) -> Turn:
        barrier.wait()
        return chat.send(me, "yes", client_message_id="c1", **where)

    with ThreadPoolExecutor(6) as pool:
        turns = list(pool.map(send, range(6)))
    assert len({turn.run_id for turn in turns}) == 1
    assert [turn.repeated for turn in turns].count(False) == 1
    settled(me, turns[0])
    assert count(database_url, "messages") == 2
    assert count(database_url, "assistant_runs") == 1
    assert count(database_url, "conversations") == 1


def test_two_people_may_choose_the_same_id(me: Scope, colleague: Scope) -> None:
    mine, _answer = ask(me, "yes", client_message_id="c1")
    theirs, _answer = ask(colleague, "no", client_message_id="c1")
    assert mine.conversation_id != theirs.conversation_id
    assert not theirs.repeated


def test_an_edit_sent_twice_is_one_version(me: Scope) -> None:
    turn, _answer = ask(me, "Which city?")
    question = shown(me, turn.conversation_id)[0]
    first = chat.edit(me, question.id, "Which town?", client_message_id="e1")
    settled(me, first)
    again = chat.edit(me, question.id, "Which town?", client_message_id="e1")
    assert again.repeated and again.answer_id == first.answer_id
    assert shown(me, turn.conversation_id)[0].versions == 2


# several at once


def test_two_tabs_at_once_one_is_told_and_nothing_is_lost(me: Scope) -> None:
    tap = Tap()
    with ModelServer(tap) as server:
        connect(me, server.base)
        with transaction(me) as tx:
            where = conversations.create(tx, Place()).id
        barrier = threading.Barrier(2)

        def send(text: str) -> Turn | NexusError:
            barrier.wait()
            try:
                return chat.send(me, text, conversation_id=where)
            except NexusError as error:
                return error

        with ThreadPoolExecutor(2) as pool:
            outcomes = dict(zip(("left", "right"), pool.map(send, ("left", "right")), strict=True))
        refused = next(text for text, outcome in outcomes.items() if isinstance(outcome, Busy))
        taken = next(text for text, outcome in outcomes.items() if isinstance(outcome, Turn))
        assert "your text is kept" in str(outcomes[refused])
        tap.opened.set()
        settled(me, outcomes[taken])
        ask(me, refused, conversation_id=where)
    assert bodies(me, where) == [taken, "One two three.", refused, "One two three."]


def test_numbers_are_unique_and_without_gaps_under_eight_writers(me: Scope) -> None:
    with transaction(me) as tx:
        where = conversations.create(tx, Place()).id
    barrier = threading.Barrier(8)

    def write(writer: int) -> int:
        barrier.wait()
        sent = 0
        for number in range(6):
            try:
                if writer % 2:
                    chat.send(me, f"{writer}/{number}", conversation_id=where)
                else:
                    with transaction(me) as tx:
                        messages.append(tx, where, "user", [{"type": "text", "text": f"{writer}/{number}"}])
            except Busy:
                continue
            sent += 1
        return sent

    with ThreadPoolExecutor(8) as pool:
        sent = list(pool.map(write, range(8)))
    until(lambda: not worker().count())
    rows = shown(me, where)
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
    assert sent[0::2] == [6, 6, 6, 6]
    assert sum(row.role == "user" for row in rows) == sum(sent)


def test_pages_look_less_often_where_many_answers_are_written(me: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    paces = []
    for answers in (0, 15, 16, 50):
        monkeypatch.setattr(worker(), "count", lambda written=answers: written)
        paces.append(chat.pace(0.3))
    assert paces == [0.3, 0.3, 0.3, 1.0]
