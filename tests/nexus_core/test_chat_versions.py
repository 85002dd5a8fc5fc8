"""Versions, stopping, leaving and coming back; real database, real model server on loopback."""

import time

import pytest

from nexus_core import chat, conversations, messages
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import Busy, Invalid, NotFound
from nexus_core.worker import worker
from tests.nexus_core.conversing import (
    ask,
    bodies,
    connect,
    contents,
    count,
    message,
    run_of,
    settled,
    shown,
    until,
)
from tests.nexus_core.model_server import ModelServer, Tap, echo

# versions


def test_edit_and_answer_again_keep_versions_and_they_can_be_shown_back_and_forth(me: Scope) -> None:
    with ModelServer(echo) as server:
        connect(me, server.base)
        turn, first = ask(me, "Q1")
        where = turn.conversation_id
        ask(me, "Q2", conversation_id=where)
        ask(me, "Q3", conversation_id=where)
        long = ["Q1", "Answer 1", "Q2", "Answer 2", "Q3", "Answer 3"]
        assert bodies(me, where) == long

        again = chat.answer_again(me, first.id)
        settled(me, again)
        assert bodies(me, where) == ["Q1", "Answer 4"]
        assert contents(server.bodies[-1]) == ["Q1"]
        _question, newest = shown(me, where)
        assert (newest.version, newest.versions, newest.previous_id, newest.next_id) == (2, 2, first.id, None)

        chat.show_version(me, first.id)
        assert bodies(me, where) == long
        oldest = shown(me, where)[1]
        assert (oldest.version, oldest.versions, oldest.previous_id, oldest.next_id) == (1, 2, None, newest.id)

        second = shown(me, where)[2]
        edited = chat.edit(me, second.id, "Q2 in other words")
        settled(me, edited)
        assert bodies(me, where) == ["Q1", "Answer 1", "Q2 in other words", "Answer 5"]
        assert contents(server.bodies[-1]) == ["Q1", "Answer 1", "Q2 in other words"]

        chat.show_version(me, second.id)
        assert bodies(me, where) == long
        chat.show_version(me, newest.id)
        assert bodies(me, where) == ["Q1", "Answer 4"]
        _turn, _answer = ask(me, "Q4", conversation_id=where)
        assert contents(server.bodies[-1]) == ["Q1", "Answer 4", "Q4"]
        chat.show_version(me, first.id)
        chat.show_version(me, newest.id)
        assert bodies(me, where) == ["Q1", "Answer 4", "Q4", "Answer 6"]


def test_a_version_deep_in_a_hidden_path_is_shown_with_what_leads_to_it(me: Scope) -> None:
    with ModelServer(echo) as server:
        connect(me, server.base)
        turn, _answer = ask(me, "Q1")
        where = turn.conversation_id
        _turn, deep = ask(me, "Q2", conversation_id=where)
        settled(me, chat.edit(me, shown(me, where)[0].id, "Q1 in other words"))
        assert bodies(me, where) == ["Q1 in other words", "Answer 3"]
        with pytest.raises(Invalid, match="not shown"):
            chat.answer_again(me, deep.id)
        chat.show_version(me, deep.id)
        assert bodies(me, where) == ["Q1", "Answer 1", "Q2", "Answer 2"]


def test_only_an_answer_to_a_question_is_given_again_and_only_a_question_is_edited(me: Scope) -> None:
    with transaction(me) as tx:
        where = conversations.create(tx, Place()).id
        greeting = messages.append(tx, where, "assistant", [{"type": "text", "text": "Welcome!"}])
        question = messages.append(tx, where, "user", [{"type": "text", "text": "Thanks"}])
    with pytest.raises(Invalid, match="no question"):
        chat.answer_again(me, greeting.id)
    with pytest.raises(NotFound):
        chat.answer_again(me, question.id)
    with pytest.raises(NotFound):
        chat.edit(me, greeting.id, "Hello")
    assert bodies(me, where) == ["Welcome!", "Thanks"]


def test_versions_are_not_switched_while_an_answer_is_written(me: Scope) -> None:
    tap = Tap()
    with ModelServer(tap) as server:
        connect(me, server.base)
        turn = chat.send(me, "Q1")
        assert tap.flowing.wait(8)
        for refused in (
            lambda: chat.show_version(me, turn.answer_id),
            lambda: chat.answer_again(me, turn.answer_id),
            lambda: chat.send(me, "Q2"),
        ):
            with pytest.raises(Busy):
                refused()
        tap.opened.set()
        assert settled(me, turn).body == "One two three."


# stop


def test_what_came_before_stop_stays_and_is_in_the_next_context(me: Scope) -> None:
    tap = Tap()
    with ModelServer(tap) as server:
        connect(me, server.base)
        turn = chat.send(me, "Count")
        assert tap.flowing.wait(8)
        until(lambda: chat.live(message(me, turn.answer_id)).parts)
        assert chat.stop(me, turn.conversation_id)
        chat.stop(me, turn.conversation_id)
        answer = settled(me, turn)
        assert (answer.status, answer.body) == ("stopped", "One two ")
        assert not chat.stop(me, turn.conversation_id)
        tap.opened.set()
        run = run_of(me, answer.run_id)
        assert (run.status, run.stopped, run.usage_source, run.error_type) == ("succeeded", True, "estimated", None)
        assert run.output_tokens == 3 and run.input_tokens
        ask(me, "Go on")
        assert contents(server.bodies[-1]) == ["Count", "One two ", "Go on"]
        assert message(me, turn.answer_id).body == "One two "


def test_stop_before_the_first_chunk_is_at_once_and_the_conversation_free(me: Scope) -> None:
    tap = Tap(first="")
    with ModelServer(tap) as server:
        connect(me, server.base)
        turn = chat.send(me, "Count")
        assert tap.flowing.wait(8)
        began = time.monotonic()
        assert chat.stop(me, turn.conversation_id)
        answer = settled(me, turn)
        assert time.monotonic() - began < 0.3
        assert (answer.status, answer.parts) == ("stopped", [])
        run = run_of(me, answer.run_id)
        assert (run.stopped, run.first_token_ms, run.usage_source, run.cost_estimate) == (True, None, "none", None)
        tap.opened.set()
        _turn, _answer = ask(me, "Again")
        assert contents(server.bodies[-1]) == ["Count", "Again"]


def test_stop_in_the_same_moment_as_the_send(me: Scope) -> None:
    tap = Tap(first="")
    with ModelServer(tap) as server:
        connect(me, server.base)
        turn = chat.send(me, "Count")
        assert chat.stop(me, turn.conversation_id)
        assert settled(me, turn).status == "stopped"
        tap.opened.set()


def test_another_process_is_told_to_stop_by_the_row(me: Scope, database_url: str) -> None:
    tap = Tap()
    with ModelServer(tap) as server:
        connect(me, server.base)
        turn = chat.send(me, "Count")
        assert tap.flowing.wait(8)
        with transaction(me) as tx:
            tx.execute("turns.request_stop", conversation_id=turn.conversation_id)
        answer = settled(me, turn)
        assert (answer.status, answer.body) == ("stopped", "One two ")
        tap.opened.set()


# leaving, coming back, deleting


def test_who_comes_late_sees_the_answer_from_its_first_chunk(me: Scope) -> None:
    tap = Tap()
    with ModelServer(tap) as server:
        connect(me, server.base)
        turn = chat.send(me, "Count")
        assert tap.flowing.wait(8)
        live = until(lambda: chat.live(shown(me, turn.conversation_id)[-1]) if worker().count() else None)
        live = until(lambda: found if (found := chat.live(message(me, turn.answer_id))).parts else None)
        assert live.parts == [{"type": "text", "text": "One two "}]
        until(lambda: message(me, turn.answer_id).body == "One two ")  # other processes watch the row
        tap.opened.set()
        settled(me, turn)
        final = chat.live(message(me, turn.answer_id))
        assert final.parts == [{"type": "text", "text": "One two three."}]


def test_a_conversation_deleted_while_it_streams_stays_deleted(me: Scope, database_url: str) -> None:
    tap = Tap()
    with ModelServer(tap) as server:
        connect(me, server.base)
        turn = chat.send(me, "Count")
        assert tap.flowing.wait(8)
        until(lambda: message(me, turn.answer_id).body)
        with transaction(me) as tx:
            conversations.delete(tx, turn.conversation_id)
        until(lambda: not worker().count())
        tap.opened.set()
        for table in ("conversations", "messages", "receipts", "search_queue", "message_search"):
            assert count(database_url, table) == 0
        run = run_of(me, turn.run_id)
        assert (run.status, run.error_type, run.conversation_id) == ("failed", "interrupted", None)
        assert "deleted" in (run.error_message or "")
        assert (run.prompt_summary, run.response_summary) == (None, None)
        assert run.output_tokens == 3


def test_a_late_chunk_never_overwrites_a_final_state(me: Scope) -> None:
    tap = Tap()
    with ModelServer(tap) as server:
        connect(me, server.base)
        turn = chat.send(me, "Count")
        assert tap.flowing.wait(8)
        until(lambda: message(me, turn.answer_id).body)
        with transaction(Scope.system()) as tx:  # as the reaper of another process would, had this one hung
            tx.execute(
                "turns.end_interrupted",
                workspace_id=me.workspace_id,
                conversation_id=turn.conversation_id,
                run_id=turn.run_id,
                message="gone",
            )
        tap.opened.set()
        until(lambda: not worker().count())
        answer = message(me, turn.answer_id)
        assert (answer.status, answer.body, answer.metadata["error"]) == ("failed", "One two ", "gone")
        run = run_of(me, turn.run_id)
        assert (run.status, run.error_message) == ("failed", "gone")
