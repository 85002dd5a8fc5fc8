"""Usage, cost, tools and reasoning of an answer; real HTTP on loopback."""

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from nexus_core import chat, conversations, messages, tokens
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.parts import INTERRUPTED
from tests.nexus_core.conversing import (
    agent,
    ask,
    connect,
    contents,
    project,
    receipt,
    run_of,
    settled,
    shown,
)
from tests.nexus_core.faulty_server import FaultyServer, delta, sse, usage
from tests.nexus_core.model_server import ModelServer, Tap, echo, ending, tool_call

# usage, cost, time


def test_usage_cost_and_times_are_in_the_ledger(me: Scope) -> None:
    details = {"prompt_tokens_details": {"cached_tokens": 400}, "completion_tokens_details": {"reasoning_tokens": 5}}
    last = {**delta(), "choices": [], "usage": usage(1000, 50, **details)}
    with FaultyServer(sse(delta("Lis"), delta("bon."), delta(finish="stop"), last)) as server:
        connect(me, server.base)
        _turn, answer = ask(me, "Which city?", place=Place(project(me)))
    run = run_of(me, answer.run_id)
    assert (run.input_tokens, run.cached_tokens, run.output_tokens, run.reasoning_tokens) == (1000, 400, 50, 5)
    assert run.usage_source == "provider"
    assert run.cost_estimate == Decimal("0.00015")  # 600 × .15 + 400 × .075 + 50 × .6 dollars per million
    assert run.cost_source == "litellm" and (run.price_version or "").startswith("litellm ")
    assert run.first_token_ms is not None and run.duration_ms is not None
    assert 0 <= run.first_token_ms <= run.duration_ms
    assert (run.provider, run.runtime, run.profile_slug) == ("openai", "local", "loopback")
    assert (run.prompt_summary, run.response_summary) == ("Which city?", "Lisbon.")
    with transaction(me) as tx:
        place = conversations.get(tx, answer.conversation_id)
    assert (place.model_id, place.provider_id) == ("served-1", "openai")


def test_the_ledgers_summaries_are_bounded_whatever_the_characters(me: Scope) -> None:
    long = "👨‍👩‍👧‍👦" * 1000 + "e\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308" * 1000

    with ModelServer(lambda body, number: iter([long])) as server:
        connect(me, server.base)
        _turn, answer = ask(me, long, place=Place(project(me)))
        assert (answer.status, answer.body) == ("complete", long)
        again = settled(me, chat.answer_again(me, answer.id))
    for run in (run_of(me, answer.run_id), run_of(me, again.run_id)):
        for summary in (run.prompt_summary, run.response_summary):
            assert summary is not None and 1000 < len(summary) <= 2000


def test_a_private_conversation_leaves_no_words_in_the_ledger(me: Scope) -> None:
    _turn, answer = ask(me, "My secret is blue")
    run = run_of(me, answer.run_id)
    assert (run.prompt_summary, run.response_summary) == (None, None)


def test_no_price_is_null_and_no_usage_is_an_estimate(me: Scope) -> None:
    with FaultyServer(sse(delta("Lisbon."), delta(finish="stop"))) as server:
        connect(me, server.base, model="openai/of-my-own")
        _turn, answer = ask(me, "Which city?")
    run = run_of(me, answer.run_id)
    assert (run.cost_estimate, run.cost_source, run.usage_source) == (None, None, "estimated")
    assert run.output_tokens == tokens.count("Lisbon.")
    assert run.input_tokens is not None and 15 < run.input_tokens < 60


# tools


def test_calls_and_results_are_in_the_one_answer_and_come_back_in_the_next_window(me: Scope, apollo: Place) -> None:
    arguments = '{"superseded": true,  "b": 1, "a": 2}'

    def script(body: dict[str, Any], number: int) -> Iterator[Any]:
        if number == 1:
            yield delta("I look it up. ")
            yield tool_call("list_decisions", arguments)
            yield from ending("tool_calls", 100, 10)
        else:
            yield delta("Lisbon.")
            yield from ending("stop", 150, 5)

    with ModelServer(script) as server:
        connect(me, server.base)
        turn, answer = ask(me, "Where do we launch from?", place=apollo)
        kinds = [part["type"] for part in answer.parts]
        assert kinds == ["text", "tool-list_decisions", "step-start", "text"]
        call = answer.parts[1]
        assert (call["state"], call["input"]) == ("output-available", json.loads(arguments))
        assert [one["what"] for one in call["output"]] == ["Launch from Lisbon", "Launch from Oslo"]
        assert call["callProviderMetadata"]["nexus"]["arguments"] == arguments
        assert answer.body == "I look it up. \n\nLisbon."
        assert len(shown(me, turn.conversation_id)) == 2
        ask(me, "Sure?", place=apollo)
    second, third = server.bodies[1]["messages"], server.bodies[2]["messages"]
    assert [one["role"] for one in second][-3:] == ["user", "assistant", "tool"]
    assert second[-2]["tool_calls"][0]["function"] == {"name": "list_decisions", "arguments": arguments}
    assert "Launch from Oslo" in second[-1]["content"]
    roles = [one["role"] for one in third if one["role"] != "system"]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]
    assert json.loads(next(one for one in third if one["role"] == "tool")["content"]) == call["output"]
    run = run_of(me, answer.run_id)
    assert (run.input_tokens, run.output_tokens, run.usage_source) == (250, 15, "provider")
    assert run.metadata == {"steps": 2}
    steps = receipt(me, answer)["steps"]
    assert [step["reason"] for step in steps] == ["tool_calls", "stop"]


def test_at_most_so_many_steps_then_an_answer_is_asked_for_without_tools(me: Scope, apollo: Place) -> None:
    def script(body: dict[str, Any], number: int) -> Iterator[Any]:
        if "tools" in body:
            yield tool_call("list_decisions", "{}", f"call_{number}")
            yield from ending("tool_calls")
        else:
            yield "Enough."

    with ModelServer(script) as server:
        connect(me, server.base)
        place = Place(apollo.project_id, agent(me, max_steps=3))
        _turn, answer = ask(me, "Look", place=place)
        assert len(server.bodies) == 3
        assert answer.body == "Enough."
        assert [part["type"] for part in answer.parts].count("tool-list_decisions") == 2
        ask(me, "Look", place=Place(apollo.project_id, agent(me, "Bob", tools=False)))
        assert "tools" not in server.bodies[-1]


def test_a_failing_tool_is_a_result_and_parallel_calls_keep_their_order(me: Scope, apollo: Place) -> None:
    calls = [
        ("search_memory", '{"query": "moon", "limit": 1e999}'),
        ("read_conversation", '{"conversation_id": "no-such-id"}'),
        ("read_conversation", '{"conversation_id": "01a22e4e-555e-72e6-a882-a4f1022f2d44", "before": 1e30}'),
        ("drop_table", "{}"),
        ("list_decisions", "{not json"),
        ("list_decisions", "[]"),
    ]

    def script(body: dict[str, Any], number: int) -> Iterator[Any]:
        if number == 1:
            for index, (name, arguments) in enumerate(calls):
                yield tool_call(name, arguments, f"call_{index}", index)
            yield from ending("tool_calls")
        else:
            yield "Sorry."

    with ModelServer(script) as server:
        connect(me, server.base)
        _turn, answer = ask(me, "Look", place=apollo)
    assert (answer.status, answer.body) == ("complete", "Sorry.")
    made = [part for part in answer.parts if part["type"].startswith("tool-")]
    assert [part["toolCallId"] for part in made] == [f"call_{index}" for index in range(len(calls))]
    assert {part["state"] for part in made} == {"output-error"}
    assert all(part["errorText"] for part in made)
    results = [one for one in server.bodies[-1]["messages"] if one["role"] == "tool"]
    assert [one["tool_call_id"] for one in results] == [f"call_{index}" for index in range(len(calls))]


def test_stop_between_two_steps_keeps_the_call_and_the_thread_goes_on(me: Scope, apollo: Place) -> None:
    tap = Tap(first="")

    def script(body: dict[str, Any], number: int) -> Iterator[Any]:
        if number == 1:
            yield tool_call("list_decisions", "{}")
            yield from ending("tool_calls", 100, 10)
        elif number == 2:
            yield from tap(body, number)
        else:
            yield "Yes."

    with ModelServer(script) as server:
        connect(me, server.base)
        turn = chat.send(me, "Look", place=apollo)
        assert tap.flowing.wait(8)
        chat.stop(me, turn.conversation_id)
        answer = settled(me, turn)
        tap.opened.set()
        assert answer.status == "stopped"
        assert [part["type"] for part in answer.parts] == ["tool-list_decisions"]
        run = run_of(me, answer.run_id)
        assert (run.input_tokens, run.output_tokens, run.usage_source) == (100, 10, "provider")
        _turn, answer = ask(me, "Go on", place=apollo)
        assert answer.body == "Yes."


def test_a_call_that_was_interrupted_has_a_result_the_same_bytes_each_time(me: Scope) -> None:
    with transaction(me) as tx:
        where = conversations.create(tx, Place()).id
        messages.append(tx, where, "user", [{"type": "text", "text": "Look"}])
        call = {"type": "tool-search_memory", "toolCallId": "c1", "state": "input-available", "input": {}}
        messages.append(tx, where, "assistant", [call])
    with ModelServer(echo) as server:
        connect(me, server.base)
        for _time in range(2):
            ask(me, "And?", conversation_id=where)
    for body in server.bodies:
        assert [one["content"] for one in body["messages"] if one["role"] == "tool"] == [INTERRUPTED]


def test_reasoning_is_kept_and_shown_and_never_sent_back(me: Scope) -> None:
    def script(body: dict[str, Any], number: int) -> Iterator[Any]:
        yield delta(reasoning_content="A capital ")
        yield delta(reasoning_content="by the sea.")
        yield "Lisbon."

    with ModelServer(script) as server:
        connect(me, server.base)
        _turn, answer = ask(me, "Which city?")
        assert [(part["type"], part["text"]) for part in answer.parts] == [
            ("reasoning", "A capital by the sea."), ("text", "Lisbon."),
        ]  # fmt: skip
        assert answer.body == "Lisbon."
        ask(me, "Sure?")
    assert contents(server.bodies[-1]) == ["Which city?", "Lisbon.", "Sure?"]
    assert "sea" not in server.raw[-1].decode()
