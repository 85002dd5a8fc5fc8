"""The messages of a run, made again from what is stored: to the letter, or with the reason why not."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from nexus_core import audit, conversations, memories, messages, parts, people, recall, run_detail, runs
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.messages import Message
from nexus_core.run_detail import Detail
from nexus_core.run_sent import Gap
from tests.nexus_core.conversing import agent, ask, attempts, connect
from tests.nexus_core.faulty_server import delta
from tests.nexus_core.model_server import ModelServer, echo, ending, tool_call
from tests.store import do


def detail(scope: Scope, answer: Message) -> Detail:
    assert answer.run_id
    with transaction(scope) as tx:
        return run_detail.load(tx, answer.run_id)


def looks_up_twice(body: dict[str, Any], number: int) -> Iterator[Any]:
    if number < 3:
        yield delta("I look. ")
        yield tool_call("list_decisions", '{"superseded": true}', "again")  # the same id twice, as some models do
        yield tool_call("list_decisions", "{", "broken", index=1)
        yield from ending("tool_calls", 100, 10)
    else:
        yield "Lisbon."


def test_every_section_and_every_call_of_a_loop_to_the_letter(me: Scope, apollo: Place) -> None:
    with transaction(me) as tx:
        other = conversations.create(tx, apollo, title="Kick\noff 🚀").id
        messages.append(tx, other, "user", [parts.text("The rocket is painted\nturquoise.")])
    while recall.index_pending():
        pass
    place = Place(apollo.project_id, agent(me, instructions="Be brief.  \n", max_messages=3))
    with ModelServer(looks_up_twice) as server:
        connect(me, server.base)
        turn, first = ask(me, "Which colour is the rocket painted?", place=place)
        found = detail(me, first).sent
        assert found is not None and found.exact is True and found.system_exact is True and found.gaps == ()
        assert len(found.calls) == 3 == len(server.bodies)
        for length, body in zip(found.calls, server.bodies, strict=True):
            assert list(found.messages[:length]) == body["messages"]
        assert "turquoise" in found.messages[0]["content"] and "Launch from Lisbon" in found.messages[0]["content"]
        do(me, "INSERT INTO summaries (workspace_id, conversation_id, from_seq, to_seq, body_md, method)"
               " VALUES (:w, :c, 1, 1, 'Colours', 'hand')", w=me.workspace_id, c=turn.conversation_id)  # fmt: skip
        _turn, second = ask(me, "And the engine?", place=place)
    found = detail(me, second).sent
    assert found is not None and found.exact is True and found.gaps == ()
    assert list(found.messages) == server.bodies[-1]["messages"]
    assert "Colours" in found.messages[0]["content"]


def test_a_memory_over_conversations_and_no_memory(me: Scope) -> None:
    with ModelServer(echo) as server:
        connect(me, server.base)
        for mode in ("user", "none"):
            place = Place(None, agent(me, mode, memory_mode=mode))
            answers = [ask(me, f"Hello {n}", place=place, session_id=f"{mode}{n}")[1] for n in range(2)]
            found = detail(me, answers[-1]).sent
            assert found is not None and found.exact is True
            assert list(found.messages) == server.bodies[-1]["messages"]


def test_the_attempts_before_sent_the_same(me: Scope) -> None:
    def script(body: dict[str, Any], number: int) -> Iterator[Any]:
        if number == 1:
            yield b'data: {"error": {"message": "overloaded", "code": 503}}\n\n'
        yield "Here."

    with ModelServer(script) as server:
        connect(me, server.base)
        turn, _answer = ask(me, "Hello")
    with transaction(me) as tx:
        found = [run_detail.load(tx, run.id) for run in attempts(me, turn)]
    assert [one.run.status for one in found] == ["failed", "succeeded"] and len(server.bodies) == 2
    for one, body in zip(found, server.bodies, strict=True):
        assert one.sent is not None and one.sent.exact is True
        assert list(one.sent.messages) == body["messages"]
        assert one.answer and one.answer.body == "Here."


def test_what_was_changed_or_is_gone_since_is_named(me: Scope, apollo: Place) -> None:
    with ModelServer(echo) as server:
        connect(me, server.base)
        ask(me, "One", place=apollo)
        turn, answer = ask(me, "Two", place=apollo)

    def found() -> Any:
        sent = detail(me, answer).sent
        return sent and (sent.exact, sent.system_exact, sent.gaps)

    assert found() == (True, True, ())
    with transaction(me) as tx:  # a newer memory is not the one that was sent
        assert apollo.project_id
        memories.replace(tx, apollo.project_id, version=2, summary_md="To Mars.")
    assert found() == (True, True, ())
    where = {"c": turn.conversation_id}
    do(me, "UPDATE project_conversation_messages SET body = 'Uno' WHERE conversation_id = :c AND body = 'One'", **where)
    assert found() == (False, True, (Gap("window", "changed", (1,)),))
    do(me, "DELETE FROM messages WHERE conversation_id = :c AND seq = 1", **where)
    assert found() == (False, True, (Gap("window", "gone", (1,)),))
    do(me, "DELETE FROM project_memory_revisions WHERE version = 2")
    assert found() == (False, False, (Gap("memory", "gone"), Gap("window", "gone", (1,))))
    do(me, "DELETE FROM messages WHERE conversation_id = :c AND seq = 3", **where)
    assert found() is None


def test_another_name_for_the_quoted_person_is_told_by_the_digest(me: Scope, apollo: Place) -> None:
    with transaction(me) as tx:
        other = conversations.create(tx, apollo, title="Kick-off").id
        messages.append(tx, other, "user", [parts.text("The rocket is painted turquoise.")])
        people.describe(tx, me.user_id, email="ana@example.com", name="Ana")  # type: ignore[arg-type]
    while recall.index_pending():
        pass
    with ModelServer(echo) as server:
        connect(me, server.base)
        _turn, answer = ask(me, "Which colour is the rocket painted?", place=apollo, session_id="new")
    assert "Ana]" in server.bodies[0]["messages"][0]["content"]
    with transaction(me) as tx:
        people.describe(tx, me.user_id, email="ana@example.com", name="Anna")  # type: ignore[arg-type]
    sent = detail(me, answer).sent
    assert sent is not None and (sent.exact, sent.system_exact) == (False, False)


def test_the_built_in_assistant_is_sent_no_messages(me: Scope) -> None:
    _turn, answer = ask(me, "My name is Ana")
    sent = detail(me, answer).sent
    assert sent is not None and (sent.exact, sent.system_exact) == (None, None)
    assert sent.messages[-1] == {"role": "user", "content": "My name is Ana"}


def test_words_of_another_persons_conversation_are_withheld(me: Scope, colleague: Scope) -> None:
    with ModelServer(echo) as server:
        connect(me, server.base)
        _turn, answer = ask(me, "My secret is blue")
    mine, theirs = detail(me, answer), detail(colleague, answer)
    assert not mine.withheld and mine.sent is not None and mine.answer is not None
    assert theirs.withheld and theirs.run.input_tokens == mine.run.input_tokens
    assert (theirs.title, theirs.receipt, theirs.answer, theirs.sent, theirs.provider_error) == (None,) * 5
    assert "secret" not in str(run_detail.document(theirs)) and "secret" in str(run_detail.document(mine))


def test_reading_anothers_words_in_a_run_is_in_the_audit_once(me: Scope, colleague: Scope, apollo: Place) -> None:
    turn, answer = ask(me, "Hello", place=apollo)

    def reads() -> list[Any]:
        with transaction(me) as tx:
            return [(one.user_id, one.entity_id) for one in audit.latest(tx) if one.action == "read"]

    detail(me, answer)
    assert reads() == []
    for _time in range(2):
        assert detail(colleague, answer).answer is not None
    assert reads() == [(colleague.user_id, turn.conversation_id)]
    with transaction(colleague) as tx:
        assert conversations.get(tx, turn.conversation_id).unread


@pytest.fixture
def talk(scope: Scope, apollo: Place) -> Any:
    with transaction(scope) as tx:
        return conversations.create(tx, apollo, title="Talk")


def test_what_a_program_told_goes_when_its_conversation_becomes_private_or_goes(
    scope: Scope, colleague: Scope, apollo: Place, talk: Any, database_url: str
) -> None:
    told = {"conversation_id": talk.id, "error_message": "words", "metadata": {"words": 1}, "prompt_summary": "words"}
    with transaction(scope) as tx:
        assert apollo.project_id
        run = runs.record(tx, apollo.project_id, model="m", status="planned", **told)
        assert (run.error_message, run.metadata) == ("words", {"words": 1})
    with psycopg.connect(database_url, autocommit=True) as owner:
        owner.execute("SELECT set_config('nexus.role', 'system', false)")
        owner.execute("UPDATE conversations SET project_id = NULL WHERE id = %s", (talk.id,))
    with transaction(colleague) as tx:
        run = runs.get(tx, run.id)
        assert (run.prompt_summary, run.error_message, run.metadata) == (None, None, {})
        run = runs.advance(tx, run.id, "running", metadata={"words": 2}, error_message="words")
        assert (run.error_message, run.metadata, run.status) == (None, {}, "running")
