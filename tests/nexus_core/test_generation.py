"""Faults of providers, retries, and ends that nobody planned; real HTTP on loopback."""

import gc
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock
from llmock.scenarios import Fail

from nexus_core import chat, generation, runs, tokens, worker
from nexus_core.database import Scope, transaction
from tests.nexus_core.conversing import (
    ask,
    attempts,
    bodies,
    connect,
    contents,
    count,
    message,
    receipt,
    run_of,
    sections,
    settled,
    shown,
    until,
)
from tests.nexus_core.faulty_server import FaultyServer, delta, sse
from tests.nexus_core.model_server import ModelServer, Tap, ending

# faults of providers

FAULTS = [
    (Fail(401, times=None), "authentication", "refused the key", 1),
    (Fail(403, times=None), "authentication", "does not let this key", 1),
    (Fail(404, times=None), "not_found", "does not know the model", 1),
    (Fail(429, retry_after=0.01, times=None), "rate_limit", "too many requests", 3),
    (Fail(429, retry_after=60, times=None), "rate_limit", "try again in 60 seconds", 1),
    (Fail(429, message="insufficient_quota", times=None), "rate_limit", "credit or quota", 1),
    (Fail(503, retry_after=0.01, times=None), "unavailable", "has trouble of its own", 3),
    (Fail(400, code="context_length_exceeded", times=None), "context_length", "The conversation is too long", 2),
    (Fail(400, code="content_filter", times=None), "content_filter", "content rules", 1),
    (Fail(400, message="no such parameter", times=None), "bad_request", "did not accept the request", 1),
]


@pytest.mark.parametrize(("fault", "kind", "sentence", "tries"), FAULTS)
def test_a_refused_call_is_one_clear_sentence_and_can_be_tried_again(
    me: Scope, llmock: LLMock, fault: Fail, kind: str, sentence: str, tries: int
) -> None:
    connect(me, None)
    llmock.add(fault)
    turn, answer = ask(me, "Which city?")
    assert len(llmock.requests) == tries
    assert (answer.status, answer.body, answer.metadata["error_type"]) == ("failed", "", kind)
    assert sentence in answer.metadata["error"]
    ledger = attempts(me, turn)
    assert [run.attempt for run in ledger] == list(range(1, tries + 1))
    assert {run.status for run in ledger} == {"failed"}
    assert {run.error_type for run in ledger} == {kind}
    assert {(run.input_tokens, run.cost_estimate, run.usage_source) for run in ledger} == {(None, None, "none")}
    assert ledger[-1].id == answer.run_id

    llmock.reset().reply("Lisbon.")
    again = settled(me, chat.answer_again(me, answer.id))
    assert bodies(me, turn.conversation_id) == ["Which city?", "Lisbon."]
    assert (again.status, again.metadata) == ("complete", {})


def fails_midway(me: Scope, kind: str, sentence: str, kept: str) -> None:
    turn, answer = ask(me, "Which city?")
    assert (answer.status, answer.body, answer.metadata["error_type"]) == ("failed", kept, kind)
    assert sentence in answer.metadata["error"]
    (run,) = attempts(me, turn)
    assert (run.status, run.error_type, run.usage_source) == ("failed", kind, "estimated")
    assert run.output_tokens == tokens.count(kept)


@pytest.mark.parametrize(
    ("fault", "kind", "sentence"),
    [("disconnect", "connection", "broke off"), ("truncate", "connection", "broke off"),
     ("corrupt", "malformed", "can't be read")],
)  # fmt: skip
def test_a_stream_that_breaks_keeps_what_came_and_is_not_tried_again(
    me: Scope, llmock: LLMock, fault: str, kind: str, sentence: str
) -> None:
    connect(me, None)
    llmock.reply("one two three four five six")
    getattr(llmock, fault)(after_chunks=4)
    fails_midway(me, kind, sentence, "one two three ")
    assert len(llmock.requests) == 1
    _turn, answer = ask(me, "Go on")
    assert answer.status == "complete"
    assert [one["content"] for one in llmock.last_request.body["messages"]][1:] == [
        "Which city?", "one two three ", "Go on",
    ]  # fmt: skip


def test_a_silence_ends_in_the_time_that_the_profile_gives(me: Scope, llmock: LLMock) -> None:
    connect(me, None, params={"timeout": 0.3})
    llmock.reply("one two three four five six").stall(after_chunks=4, seconds=20)
    fails_midway(me, "timeout", "nothing came for 0.3 seconds", "one two three ")
    llmock.reset().slow_first_token(20, times=None)
    turn, answer = ask(me, "Again")
    assert "sent nothing for 0.3 seconds" in answer.metadata["error"]
    assert [run.error_type for run in attempts(me, turn)] == ["timeout"] * 3


def test_a_content_filter_in_mid_answer_is_said_and_the_text_kept(me: Scope) -> None:
    with FaultyServer(sse(delta("Take two "), *ending("content_filter"))) as server:
        connect(me, server.base)
        _turn, answer = ask(me, "How?")
    assert (answer.status, answer.body, answer.metadata["error_type"]) == ("failed", "Take two ", "content_filter")
    assert "content rules" in answer.metadata["error"]
    assert run_of(me, answer.run_id).usage_source == "provider"


@pytest.mark.parametrize("chunks", [[], [delta(reasoning_content="hmm")], [delta("  \n")]])
def test_an_answer_of_nothing_is_a_failure_and_says_so(me: Scope, chunks: list[dict[str, Any]]) -> None:
    with FaultyServer(sse(*chunks, *ending())) as server:
        connect(me, server.base)
        _turn, answer = ask(me, "How?")
    assert (answer.status, answer.metadata["error"]) == ("failed", "The model ended without an answer. Try again.")


def test_the_providers_words_are_in_the_receipt_of_each_attempt(me: Scope, llmock: LLMock, database_url: str) -> None:
    connect(me, None)
    llmock.fail(503, message="we are moving", times=3, retry_after=0.01)
    turn, _answer = ask(me, "Which city?")
    assert count(database_url, "receipts", "provider_error = 'we are moving'") == 3
    for run in attempts(me, turn):
        with transaction(me) as tx:
            found = runs.receipt(tx, run.id)
        assert found is not None and sections(found)["message"]["seq"] == 1


# retries


def test_a_fault_that_passes_is_tried_again_the_question_stored_once(
    me: Scope, llmock: LLMock, database_url: str
) -> None:
    connect(me, None)
    llmock.fail(503, retry_after=0.01).rate_limit(retry_after=0.05).reply("Lisbon.")
    turn, answer = ask(me, "Which city?")
    assert bodies(me, turn.conversation_id) == ["Which city?", "Lisbon."]
    ledger = attempts(me, turn)
    assert [(run.attempt, run.status, run.error_type) for run in ledger] == [
        (1, "failed", "unavailable"), (2, "failed", "rate_limit"), (3, "succeeded", None),
    ]  # fmt: skip
    assert len({run.request_id for run in ledger}) == 1
    assert answer.run_id == ledger[-1].id
    assert all(run.finished_at and run.started_at and run.duration_ms is not None for run in ledger)
    assert count(database_url, "messages") == 2


def test_a_new_attempt_comes_after_a_pause_that_grows(
    me: Scope, llmock: LLMock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generation, "FIRST_WAIT", 0.2)
    connect(me, None)
    llmock.fail(503, times=2, retry_after=0).reply("Lisbon.")
    ask(me, "Which city?")
    first, second, third = llmock.requests
    assert second.started_at - first.ended_at >= 0.2
    assert third.started_at - second.ended_at >= 0.4
    llmock.reset().rate_limit(retry_after=0.5).reply("Lisbon.")
    ask(me, "Which city?")
    first, second = llmock.requests
    assert second.started_at - first.ended_at >= 0.5


def test_while_it_waits_for_the_next_attempt_it_says_why_and_stop_ends_it(me: Scope, llmock: LLMock) -> None:
    connect(me, None)
    llmock.rate_limit(retry_after=15)
    turn = chat.send(me, "Which city?")
    until(lambda: "too many requests" in chat.live(message(me, turn.answer_id)).note)
    until(lambda: len(attempts(me, turn)) == 2)
    chat.stop(me, turn.conversation_id)
    answer = settled(me, turn)
    assert (answer.status, answer.metadata) == ("stopped", {})
    assert [run.status for run in attempts(me, turn)] == ["failed", "succeeded"]
    assert attempts(me, turn)[1].stopped
    llmock.reset().reply("Lisbon.")
    assert ask(me, "Again")[1].body == "Lisbon."


def test_too_long_is_tried_once_more_with_half_and_the_receipt_says_so(me: Scope, llmock: LLMock) -> None:
    connect(me, None)
    for number in range(4):
        llmock.reply(f"answer {number}")
        ask(me, f"question {number}")
    llmock.reset().context_overflow().reply("Short.")
    turn, answer = ask(me, "question 4")
    assert answer.body == "Short."
    whole, half = (contents(request.body) for request in llmock.requests)
    assert (len(whole), half) == (9, whole[-4:])
    first, second = attempts(me, turn)
    assert (first.status, first.error_type, second.status) == ("failed", "context_length", "succeeded")
    saw = receipt(me, answer)
    assert "smaller_window" in saw["notes"]
    assert {row["reason"] for row in saw["left_out"]} == {"tokens"}
    assert len(saw["left_out"]) == 5


# whatever happens


def test_something_unexpected_ends_the_run_and_the_conversation_is_free(
    me: Scope, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("a bug")

    with monkeypatch.context() as patched:
        patched.setattr(generation.context, "build", broken)
        turn, answer = ask(me, "Hello")
    assert (answer.status, answer.metadata["error_type"]) == ("failed", "unknown")
    assert "a bug" not in answer.metadata["error"] and "a bug" in caplog.text
    assert settled(me, chat.answer_again(me, answer.id)).status == "complete"
    assert len(shown(me, turn.conversation_id)) == 2


def test_a_checkpoint_that_fails_in_an_unexpected_way_does_not_cost_the_answer(
    me: Scope, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("a bug")

    monkeypatch.setattr(generation.turns, "checkpoint", broken)
    tap = Tap()
    with ModelServer(tap) as server:
        connect(me, server.base)
        turn = chat.send(me, "Count")
        until(lambda: "was not checkpointed" in caplog.text)
        tap.opened.set()
        assert settled(me, turn).body == "One two three."


def test_closing_ends_running_answers_with_what_came_and_leaves_no_thread_and_no_warning(
    me: Scope, caplog: pytest.LogCaptureFixture, recwarn: pytest.WarningsRecorder
) -> None:
    gc.collect()  # what earlier tests left open is not this one's
    recwarn.clear()
    taps = [Tap(), Tap(first="")]

    def script(body: dict[str, Any], number: int) -> Iterator[Any]:
        yield from taps[0 if "early" in contents(body)[-1] else 1](body, number)

    with ModelServer(script) as server:
        connect(me, server.base)
        early = chat.send(me, "early", session_id="a")
        late = chat.send(me, "late", session_id="b")
        assert taps[0].flowing.wait(30) and taps[1].flowing.wait(30)
        until(lambda: chat.live(message(me, early.answer_id)).parts)
        worker.close()
        for turn, kept in ((early, "One two "), (late, "")):
            answer = message(me, turn.answer_id)
            assert (answer.status, answer.body, answer.metadata["error_type"]) == ("failed", kept, "interrupted")
            assert run_of(me, turn.run_id).error_type == "interrupted"
            taps[0].opened.set()
            taps[1].opened.set()
    assert ask(me, "early again", session_id="a")[1].status == "failed"  # the server is gone: it works, and says so
    worker.close()
    left = [one.name for one in threading.enumerate() if one.name.startswith(("nexus-worker", "asyncio_"))]
    until(lambda: not [one for one in threading.enumerate() if one.name == "nexus-worker"])
    assert "nexus-worker" not in left
    assert not [one for one in caplog.records if one.name == "asyncio"]
    assert not [one for one in recwarn if issubclass(one.category, (RuntimeWarning, ResourceWarning))]


def test_closing_waits_for_a_job_that_is_at_work(me: Scope) -> None:
    begun, ended = threading.Event(), threading.Event()

    def job() -> int:
        begun.set()
        time.sleep(0.3)
        ended.set()
        return 0

    worker.worker().begin(worker.worker()._guarded(job))  # type: ignore[arg-type]
    assert begun.wait(30)
    worker.close()
    assert ended.is_set()


def test_threads_do_not_grow_with_the_number_of_workers(me: Scope) -> None:
    ask(me, "Hello")
    worker.close()
    before = threading.active_count()
    for _time in range(3):
        ask(me, "Hello")
        worker.close()
    until(lambda: threading.active_count() <= before)
