"""What is sent to a model, byte for byte, and the receipt that says so; real HTTP on loopback."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import psycopg

from nexus_core import conversations, messages, recall, tokens
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from tests.nexus_core.conversing import (
    agent,
    ask,
    connect,
    contents,
    project,
    receipt,
    run_of,
    sections,
    system,
)
from tests.nexus_core.faulty_server import delta
from tests.nexus_core.model_server import ModelServer, echo, ending

# what is sent


def test_the_order_of_what_is_sent_and_a_receipt_that_says_so(me: Scope, apollo: Place) -> None:
    with transaction(me) as tx:
        other = conversations.create(tx, apollo, title="Kick-off").id
        messages.append(tx, other, "user", [{"type": "text", "text": "The rocket is painted turquoise."}])
    while recall.index_pending():
        pass
    with ModelServer(echo) as server:
        connect(me, server.base)
        place = Place(apollo.project_id, agent(me, instructions="Be brief.", max_messages=3))
        ask(me, "Hello", place=place)
        ask(me, "Good", place=place)
        turn, answer = ask(me, "What colour is the rocket painted?", place=place)
    sent = [(one["role"], one["content"]) for one in server.bodies[-1]["messages"]]
    said = system(server.bodies[-1])
    marks = ["Be brief.", "version 2", "We go to the moon.", "Launch from Lisbon", "turquoise"]
    places = [said.index(mark) for mark in marks]
    assert places == sorted(places)
    assert "Oslo" not in said
    assert [one for one in sent if one[0] != "system"] == [
        ("user", "Good"), ("assistant", "Answer 2"), ("user", "What colour is the rocket painted?"),
    ]  # fmt: skip
    saw = receipt(me, answer)
    parts_of = sections(saw)
    assert list(parts_of) == ["instructions", "memory", "recall", "window", "message"]
    assert parts_of["memory"]["version"] == 2
    assert parts_of["message"]["seq"] == 5
    (hit,) = parts_of["recall"]["passages"]
    assert (hit["conversation_id"], hit["title"], hit["seq"]) == (str(other), "Kick-off", 1)
    assert all(section["tokens"] > 0 for section in saw["sections"])
    assert saw["memory_left_out"] == [{"list": "decisions", "index": 1, "reason": "closed"}]
    assert {(row["seq"], row["reason"]) for row in saw["left_out"]} == {(2, "messages")}
    assert saw["tokens"] == run_of(me, answer.run_id).metadata["estimated_input_tokens"]
    assert turn.setup.instructions == "Be brief."


def test_the_beginning_of_the_prompt_is_the_same_bytes_from_turn_to_turn(me: Scope, apollo: Place) -> None:
    with ModelServer(echo) as server:
        connect(me, server.base)
        place = Place(apollo.project_id, agent(me, instructions="Be brief.", recall=False))
        for number in range(4):
            ask(me, f"Question {number}", place=place)
    beginnings = [raw[: raw.index(b'"Question 0"')] for raw in server.raw]
    assert len(set(beginnings)) == 1
    assert b"version 2" in beginnings[0]
    for earlier, later in zip(server.bodies, server.bodies[1:], strict=False):
        assert later["messages"][: len(earlier["messages"])] == earlier["messages"]
        assert later["tools"] == earlier["tools"]
    today = datetime.now(UTC)
    assert f"{today:%Y-%m-%d}".encode() not in beginnings[0]


def test_the_newest_alone_over_the_budget_is_sent_whole_and_noted(me: Scope) -> None:
    with ModelServer(echo) as server:
        connect(me, server.base)
        place = Place(agent_id=agent(me, max_tokens=50))
        ask(me, "Hello", place=place)
        long = "word " * 500
        _turn, answer = ask(me, long, place=place)
    assert contents(server.bodies[-1]) == [long]
    assert "oversize" in receipt(me, answer)["notes"]


def test_a_fact_of_another_conversation_of_the_project_is_recalled_and_never_one_of_another_project(
    me: Scope, colleague: Scope, other_scope: Scope
) -> None:
    here, there = project(me, "Apollo"), project(me, "Hermes")
    foreign = project(other_scope, "Apollo")
    places = [
        (me, Place(here), "The budget of the rocket is 4711 euros."),
        (colleague, Place(here), "The rocket's budget was signed by Carlos."),
        (me, Place(there), "The budget of the rocket is 815 crowns."),
        (me, Place(), "The budget of the rocket is 99 secrets."),
        (colleague, Place(), "The budget of the rocket is 88 secrets."),
        (other_scope, Place(foreign), "The budget of the rocket is 77 roubles."),
    ]
    for scope, place, fact in places:
        with transaction(scope) as tx:
            where = conversations.create(tx, place).id
            messages.append(tx, where, "user", [{"type": "text", "text": fact}])
    while recall.index_pending():
        pass
    with ModelServer(echo) as server:
        connect(me, server.base)
        with transaction(me) as tx:
            asking = conversations.create(tx, Place(here), title="Asking").id
        ask(me, "What is the budget of the rocket?", conversation_id=asking)
        said = system(server.bodies[-1])
        assert "4711" in said and "signed by Carlos" in said
        for secret in ("815", "99", "88", "77"):
            assert f" {secret} " not in said
        ask(me, "What is the budget of the rocket?", place=Place(there), session_id="other")
        said = system(server.bodies[-1])
        assert "815" in said and "4711" not in said
        ask(me, "What is the budget of the rocket?", session_id="outside")
        assert "euros" not in system(server.bodies[-1]) and "crowns" not in system(server.bodies[-1])
        ask(me, "What is the budget of the rocket?", place=Place(here, agent(me, recall=False)))
        assert "4711" not in system(server.bodies[-1])


def test_estimates_are_calibrated_on_what_the_provider_reported_last(me: Scope) -> None:
    long = "word " * 700

    def script(body: dict[str, Any], number: int) -> Iterator[Any]:
        estimated = sum(tokens.count(one["content"]) for one in body["messages"])
        yield delta("Good.")
        yield from ending("stop", 2 * estimated, 2)

    with ModelServer(script) as server:
        connect(me, server.base)
        place = Place(agent_id=agent(me, max_tokens=2500, max_messages=None))
        for _turn in range(2):
            ask(me, long, place=place)
        assert [text[:5] for text in contents(server.bodies[-1])] == ["Good.", "word "]  # by our own count, all fits
        _turn, answer = ask(me, "And?", place=place)
        scale = receipt(me, answer)["scale"]
        assert 1.9 < scale < 2.1
        assert [text[:5] for text in contents(server.bodies[-1])] == ["Good.", "word ", "Good.", "And?"]
        ask(me, "Small", session_id="small", place=place)
        _turn, answer = ask(me, "Small", session_id="small", place=place)
        assert receipt(me, answer)["scale"] == 1.0


def test_where_recall_fails_the_answer_comes_without_it_and_the_receipt_says_so(
    me: Scope, apollo: Place, database_url: str
) -> None:
    with psycopg.connect(database_url, autocommit=True) as admin:
        admin.execute("DROP TABLE message_search CASCADE")
    _turn, answer = ask(me, "Where is the launch?", place=apollo)
    assert answer.status == "complete"
    assert receipt(me, answer)["notes"] == ["recall_failed"]
