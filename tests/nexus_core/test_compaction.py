"""What the window leaves out becomes a summary in the background; nothing said is lost, nothing goes in circles."""

import asyncio
import threading
from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from nexus_core import (
    audit,
    budgets,
    chat,
    compaction,
    conversations,
    extract,
    keeping,
    messages,
    parts,
    runs,
    summaries,
)
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import Busy, Forbidden, Invalid, NotFound
from nexus_core.runs import Run
from nexus_core.summaries import Summary
from tests.nexus_core.conversing import agent, ask, connect, project, receipt, sections, system, until
from tests.nexus_core.model_server import ModelServer
from tests.store import do


def is_summary(body: dict[str, Any]) -> bool:
    return bool(body["messages"][0]["content"] == compaction.INSTRUCTIONS)


def answering(summary: str | None = "SUMMARY", hold: threading.Event | None = None) -> ModelServer:
    """Answers everything with "yes" and, once `hold` is set, every summary with `summary`; None breaks off."""

    def script(body: dict[str, Any], _number: int) -> Iterator[str | bytes]:
        if not is_summary(body):
            yield "yes"
            return
        if hold is not None:
            hold.wait(10)
        if summary is None:
            yield b"nonsense"
        else:
            yield summary

    return ModelServer(script)


def talk(scope: Scope, place: Place, count: int, words: str = "Message {n}") -> UUID:
    with transaction(scope) as tx:
        made = conversations.create(tx, place, title="Long").id
        for n in range(1, count + 1):
            messages.append(tx, made, "user" if n % 2 else "assistant", [parts.text(words.format(n=n))])
    return made


def summary_runs(scope: Scope, conversation_id: UUID) -> list[Run]:
    with transaction(scope) as tx:
        return [run for run in runs.of_conversation(tx, conversation_id) if run.kind == "summary"]


def ended(scope: Scope, conversation_id: UUID, count: int = 1) -> list[Run]:
    def found() -> list[Run] | None:
        made = summary_runs(scope, conversation_id)
        return made if len(made) >= count and all(run.status != "running" for run in made) else None

    done: list[Run] = until(found)
    return done


def held(scope: Scope, conversation_id: UUID) -> list[Summary]:
    with transaction(scope) as tx:
        return summaries.of(tx, conversation_id)


def test_what_the_window_leaves_out_is_summarised_after_the_answer(scope: Scope) -> None:
    place = Place(project(scope), agent(scope, max_messages=5))
    talk_id = talk(scope, place, 14)
    with answering("They counted.") as server:
        connect(scope, server.base)
        ask(scope, "And now?", conversation_id=talk_id)
        [run] = ended(scope, talk_id)
        [made] = held(scope, talk_id)
        sent = [body for body in server.bodies if is_summary(body)]
        assert (made.from_seq, made.to_seq, made.body_md, made.method) == (1, 10, "They counted.", "model")
        assert "[10] " in sent[0]["messages"][1]["content"] and "[11] " not in sent[0]["messages"][1]["content"]
        assert (run.status, run.agent_id, run.project_id, run.input_tokens) == (
            "succeeded", place.agent_id, place.project_id, 11)  # fmt: skip
        assert run.cost_estimate and run.user_id == scope.user_id
        _turn, answer = ask(scope, "Go on", conversation_id=talk_id)
        last = server.bodies[-1]
    assert "They counted." in system(last)
    assert sections(receipt(scope, answer))["summary"]["to_seq"] == 10
    with transaction(scope) as tx:
        found = conversations.get(tx, talk_id)
        assert len(chat.read(tx, talk_id, limit=100)) == 18  # raw messages stay
        entry = next(one for one in audit.latest(tx) if one.action == "summarize")
    assert (found.status, found.summary_md) == ("summarized", "They counted.")
    assert entry.detail == {"from_seq": 1, "to_seq": 10, "method": "model"} and entry.door == "worker"


def test_too_little_left_out_is_no_call(scope: Scope) -> None:
    place = Place(None, agent(scope, max_messages=5))
    talk_id = talk(scope, place, 13)  # nine stay behind
    ask(scope, "And now?", conversation_id=talk_id)
    with transaction(scope) as tx:
        newest = chat.read(tx, talk_id)[-1]
    assert newest.seq == 15 and summary_runs(scope, talk_id) == []


def test_few_messages_with_many_tokens_are_enough(scope: Scope) -> None:
    place = Place(None, agent(scope, max_messages=2))
    talk_id = talk(scope, place, 3, "The budget of the bridge is {n} million. " * 120)
    ask(scope, "And now?", conversation_id=talk_id)
    [run] = ended(scope, talk_id)
    [made] = held(scope, talk_id)
    assert (run.model, run.cost_estimate, made.method, made.to_seq) == ("builtin/recall", 0, "extract", 2)
    assert made.body_md == "- The budget of the bridge is 1 million.\n- The budget of the bridge is 2 million."
    assert run.prompt_summary is None  # a private conversation leaves no words


def test_the_former_summary_is_folded_into_the_new_one(scope: Scope) -> None:
    place = Place(None, agent(scope, max_messages=5))
    talk_id = talk(scope, place, 14)
    with answering("First.") as server:
        connect(scope, server.base)
        ask(scope, "One", conversation_id=talk_id)
        ended(scope, talk_id)
    with transaction(scope) as tx:
        for n in range(12):
            messages.append(tx, talk_id, "user", [parts.text(f"More {n}")])
    with answering("Second.") as server:
        connect(scope, server.base, slug="second")
        ask(scope, "Two", conversation_id=talk_id)
        ended(scope, talk_id, 2)
        told = next(body for body in server.bodies if is_summary(body))["messages"][1]["content"]
    newest, oldest = held(scope, talk_id)
    assert told.startswith("# Former summary\nFirst.\n# Messages\n[11] ")
    assert (newest.from_seq, newest.to_seq, newest.body_md, oldest.to_seq) == (1, 24, "Second.", 10)


@pytest.mark.parametrize("summary", ["", "   \n ", None, "word " * 5000])
def test_no_summary_changes_nothing(scope: Scope, summary: str | None) -> None:
    place = Place(None, agent(scope, max_messages=5))
    talk_id = talk(scope, place, 14)
    with answering(summary) as server:
        connect(scope, server.base)
        ask(scope, "One", conversation_id=talk_id)
        [run] = ended(scope, talk_id)
        assert (run.status, held(scope, talk_id)) == ("failed", [])
        assert run.error_message
        with transaction(scope) as tx:
            assert conversations.get(tx, talk_id).status == "open"
        assert len([body for body in server.bodies if is_summary(body)]) == 1
        _turn, answer = ask(scope, "Two", conversation_id=talk_id)
        assert answer.status == "complete"  # the conversation goes on


def test_after_a_failure_it_is_tried_more_and_more_rarely_and_on_a_click_at_once(scope: Scope) -> None:
    place = Place(None, agent(scope, max_messages=5))
    talk_id = talk(scope, place, 14)
    age = "UPDATE assistant_runs SET created_at = created_at - interval '301 seconds' WHERE kind = 'summary'"
    with answering("") as server:
        connect(scope, server.base)
        turn, _answer = ask(scope, "One", conversation_id=talk_id)
        assert [run.status for run in ended(scope, talk_id)] == ["failed"]

        def tried() -> int:
            asyncio.run(compaction.after_answer(scope, turn))
            return len(ended(scope, talk_id))

        assert tried() == 1
        do(scope, age)
        assert tried() == tried() == 2
        do(scope, age)
        assert tried() == 2  # twice as long by now
        do(scope, age)
        assert tried() == 3
        assert keeping.summarise(scope, talk_id) and len(ended(scope, talk_id, 4)) == 4
    with answering("They counted.") as server:
        connect(scope, server.base, slug="another", model="openai/gpt-4.1-mini")  # another model has failed at nothing
        assert tried() == 5 and held(scope, talk_id)[0].body_md == "They counted."


def test_a_message_sent_meanwhile_is_neither_lost_nor_held_up(scope: Scope) -> None:
    place = Place(None, agent(scope, max_messages=5))
    talk_id = talk(scope, place, 14)
    hold = threading.Event()
    with answering("They counted.", hold) as server:
        connect(scope, server.base)
        ask(scope, "One", conversation_id=talk_id)
        until(lambda: summary_runs(scope, talk_id))
        _turn, answer = ask(scope, "Meanwhile", conversation_id=talk_id)
        assert answer.status == "complete" and len(summary_runs(scope, talk_id)) == 1
        with pytest.raises(Busy):
            keeping.summarise(scope, talk_id)
        hold.set()
        ended(scope, talk_id)
        ask(scope, "After", conversation_id=talk_id)
        last = [one["content"] for one in server.bodies[-1]["messages"]]
    [made] = held(scope, talk_id)
    assert made.to_seq == 10 and "Meanwhile" in last and "They counted." in last[0]


def test_a_long_conversation_takes_several_calls_and_ends(scope: Scope) -> None:
    talk_id = talk(scope, Place(), 12, "Number {n}. " + "Some words about the bridge. " * 60)
    with answering("Shorter.") as server:
        connect(scope, server.base, context_tokens=2_500)
        assert keeping.summarise(scope, talk_id)
        until(lambda: held(scope, talk_id) and held(scope, talk_id)[0].to_seq == 8)
        made = ended(scope, talk_id)
    ends = [one.to_seq for one in held(scope, talk_id)]
    assert len(made) == len(ends) > 1 and ends == sorted(ends, reverse=True)
    assert {one.from_seq for one in held(scope, talk_id)} == {1}


def test_a_summary_of_a_version_that_is_hidden_stands_for_nothing(scope: Scope) -> None:
    talk_id = talk(scope, Place(), 10)
    keeping.summarise(scope, talk_id)
    ended(scope, talk_id)
    [made] = held(scope, talk_id)
    with transaction(scope) as tx:
        assert summaries.latest(tx, talk_id, before=99) == made
    do(scope, "UPDATE messages SET active = seq <= 3 WHERE conversation_id = :id", id=talk_id)
    with transaction(scope) as tx:
        assert summaries.latest(tx, talk_id, before=99) is None


def test_a_spent_budget_makes_no_summary(scope: Scope) -> None:
    talk_id = talk(scope, Place(), 10)
    with answering() as server:
        connect(scope, server.base)
        with transaction(scope) as tx:
            budgets.put(tx, "workspace", Decimal(0))
        assert not keeping.summarise(scope, talk_id)
        assert [run.status for run in summary_runs(scope, talk_id)] == ["blocked"] and server.bodies == []


def test_who_may_summarise_what(scope: Scope, viewer: Scope, operator: Scope) -> None:
    talk_id = talk(scope, Place(), 10)
    short = talk(scope, Place(), 4)
    with pytest.raises(Forbidden):
        keeping.summarise(viewer, talk_id)
    with pytest.raises(NotFound):
        keeping.summarise(operator, talk_id)
    with pytest.raises(Invalid):
        keeping.summarise(scope, short)


def test_a_persons_own_summary_text_stays(scope: Scope) -> None:
    talk_id = talk(scope, Place(), 10)
    with transaction(scope) as tx:
        conversations.update(tx, talk_id, summary_md="Mine")
    keeping.summarise(scope, talk_id)
    ended(scope, talk_id)
    with transaction(scope) as tx:
        assert conversations.get(tx, talk_id).summary_md == "Mine"


def test_the_conversation_goes_while_it_is_summarised(scope: Scope) -> None:
    talk_id = talk(scope, Place(), 10)
    hold = threading.Event()
    with answering("Late.", hold) as server:
        connect(scope, server.base)
        keeping.summarise(scope, talk_id)
        [run] = summary_runs(scope, talk_id)
        until(lambda: server.bodies)
        with transaction(scope) as tx:
            conversations.delete(tx, talk_id)
        hold.set()

        def done() -> Run | None:
            with transaction(scope) as tx:
                now = runs.get(tx, run.id)
            return now if now.status != "running" else None

        assert until(done).input_tokens == 11
    assert held(scope, talk_id) == []


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["Hello!", "The venue in Lisbon costs 4,000 euros.", "Is it far?", "We like the venue near the river."],
         "The venue in Lisbon costs 4,000 euros."),
        (["Hola.", "El presupuesto del puente es de mil euros.", "El puente tiene poco presupuesto."],
         "El presupuesto del puente es de mil euros."),
        (["我们决定在里斯本。", "好的。"], "我们决定在里斯本。"),
        (["Is it far?", "Who knows?"], "Is it far?"),
    ],
)  # fmt: skip
def test_the_sentences_that_say_most(texts: list[str], said: str) -> None:
    lines = extract.summary(texts, 100).splitlines()
    assert f"- {said}" in lines and ("- Is it far?" in lines) == (said == "Is it far?")
    assert extract.summary([extract.summary(texts, 100)], 100) == extract.summary(texts, 100)


def test_an_extract_is_bounded_and_total() -> None:
    assert extract.summary([], 100) == extract.summary(["", "…", "?!"], 100) == ""
    many = [f"Sentence number {n} speaks of bridge {n % 7}." for n in range(3000)]
    assert 0 < len(extract.summary(many, 100).splitlines()) < 15
    assert len(extract.summary(many[:60], 10_000).splitlines()) == 15  # it shortens, whatever there is room for
    assert len(extract.summary(many, 10_000).splitlines()) == 20


def test_many_are_summarised_where_there_is_something_to(scope: Scope) -> None:
    long, short = talk(scope, Place(), 10), talk(scope, Place(project(scope)), 2)
    assert keeping.summarise_all(scope, [long, short]) == 1
    assert ended(scope, long) and summary_runs(scope, short) == []
    with pytest.raises(Invalid):
        keeping.summarise_all(scope, [short])
