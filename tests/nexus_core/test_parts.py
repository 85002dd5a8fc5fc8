"""Parts: any stored history, broken or not, becomes messages that a provider accepts."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nexus_core import parts
from nexus_core.parts import INTERRUPTED, body, pairs, reasoning, step_start, steps, text, to_provider, tool

quick = settings(deadline=None, max_examples=60)

HERE = UUID(int=1)


@dataclass(frozen=True)
class Row:
    role: str
    parts: list[Any]
    metadata: dict[str, Any] = field(default_factory=dict)
    conversation_id: UUID = HERE


def user(words: str = "hello") -> Row:
    return Row("user", [text(words)])


def assistant(*given_parts: Any) -> Row:
    return Row("assistant", list(given_parts))


def answer(call_id: str, words: str = "late") -> Row:
    return Row("tool", [text(words)], {"tool_call_id": call_id})


def called(*ids: str, content: str | None = None) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": content,
        "tool_calls": [{"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in ids],
    }


def result(call_id: str, words: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": words}


def said(words: str, role: str = "assistant") -> dict[str, Any]:
    return {"role": role, "content": words}


def assert_acceptable(messages: Sequence[dict[str, Any]]) -> None:
    """What providers demand: a message's calls answered at once, in full, under ids used once."""
    ids: list[str] = []
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting
            assert isinstance(message["content"], str)
            waiting.remove(message["tool_call_id"])
            continue
        assert not waiting
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        ids += waiting
        assert waiting or message["content"].strip()
        for call in message.get("tool_calls", ()):
            assert call["id"] and re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call["function"]["name"])
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
    assert not waiting
    assert len(ids) == len(set(ids))
    json.dumps(list(messages), ensure_ascii=False).encode()


JUNK = st.sampled_from(
    [None, True, 3, float("nan"), "x", "\ud800", "\0", [], [None], {}, {"b": "\0", "a": [2]}, {1: 2}]
)
IDS = st.sampled_from(["", "a", "b", "a_2", "call"])
KEYS = ("text", "toolCallId", "toolName", "input", "output", "filename", "callProviderMetadata")
CLEAN_TEXTS = [text(words) for words in ("one", "two", " three\n")]
PART = st.one_of(
    st.sampled_from([*CLEAN_TEXTS, text(""), text(" ")]),
    st.builds(
        tool,
        IDS,
        st.sampled_from(["f", "bad name!", "", "x" * 70]),
        st.sampled_from(["{}", '{"b":1,"a":2}', "{", "[]"]),
    ),
    st.builds(lambda i, o: tool(i, "f", "{}", output=o), IDS, JUNK),
    st.builds(lambda i, e: tool(i, "f", "{}", error=e), IDS, st.text(max_size=3)),
    st.just(step_start()),
    st.just(reasoning("hm")),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "file", "tool-f", "dynamic-tool", "data-x", "source-url", "?"]) | JUNK},
        optional=dict.fromkeys(KEYS, JUNK)
        | {"state": st.sampled_from(["input-streaming", "output-available", "output-denied", "output-error", 3])},
    ),
    JUNK,
)
ROWS = st.lists(
    st.builds(
        Row,
        st.sampled_from(["user", "assistant", "assistant", "tool", "tool", "system", "critic"]),
        st.lists(PART, max_size=5),
        st.fixed_dictionaries({}, optional={"tool_call_id": IDS | JUNK}),
        st.sampled_from([HERE, HERE, UUID(int=2)]),
    ),
    max_size=8,
)


@quick
@given(ROWS)
def test_any_history_becomes_acceptable_the_same_each_time(rows: list[Row]) -> None:
    messages = to_provider(rows)
    assert_acceptable(messages)
    assert to_provider(rows) == messages


@quick
@given(ROWS)
def test_nothing_that_can_be_sent_is_lost(rows: list[Row]) -> None:
    messages = to_provider(rows)
    asked = [call for row in rows if row.role == "assistant" for step in steps(row.parts) for call in step.calls]
    results = [message["content"] for message in messages if message["role"] == "tool"]
    assert len(results) == len(asked)
    assert [r for r, call in zip(results, asked, strict=True) if call.result is not None] == [
        call.result for call in asked if call.result is not None
    ]
    sent = "\n\n".join(message["content"] or "" for message in messages if message["role"] != "tool")
    for row in rows:
        if row.role in ("user", "assistant", "system"):
            assert all(part["text"] in sent for part in row.parts if part in CLEAN_TEXTS)


@quick
@given(ROWS)
def test_an_answer_follows_its_call_in_its_conversation_and_answers_once(rows: list[Row]) -> None:
    found = pairs(rows)
    assert len(set(found.values())) == len(found)
    for (call, _), place in found.items():
        assert call < place
        assert rows[call].conversation_id == rows[place].conversation_id
        assert (rows[call].role, rows[place].role) == ("assistant", "tool")


def test_one_row_of_several_steps_is_several_messages() -> None:
    row = assistant(
        step_start(),
        reasoning("I need two"),
        text("Looking."),
        tool("a", "f", "{}", output="A"),
        tool("b", "f", "{}", output={"z": 1, "a": [None]}),
        step_start(),
        text("Both are here."),
    )
    assert to_provider([user(), row]) == [
        said("hello", "user"),
        called("a", "b", content="Looking."),
        result("a", "A"),
        result("b", '{"a": [null], "z": 1}'),
        said("Both are here."),
    ]


def test_a_cancelled_call_gets_the_same_synthetic_result_each_time() -> None:
    rows = [user(), assistant(text("Wait."), tool("a", "f", "{}")), user("go on")]
    assert to_provider(rows)[1:3] == [called("a", content="Wait."), result("a", INTERRUPTED)]
    assert INTERRUPTED == "Interrupted before a result came; whether the call took effect is not known."


def test_a_late_answer_is_moved_to_its_call_and_orphans_are_left_out() -> None:
    rows = [answer("x"), assistant(tool("a", "f", "{}")), user(), answer("a", "late"), answer("a", "again")]
    assert to_provider(rows) == [called("a"), result("a", "late"), said("hello", "user")]


def test_an_answer_that_is_already_there_stays() -> None:
    rows = [assistant(tool("a", "f", "{}", output="first")), answer("a", "second")]
    assert to_provider(rows) == [called("a"), result("a", "first")]
    assert pairs(rows) == {}


def test_a_call_whose_arguments_were_still_arriving_never_happened() -> None:
    arriving = tool("a", "f", '{"x') | {"state": "input-streaming"}
    assert to_provider([assistant(text("I will"), arriving), answer("a")]) == [said("I will")]


def test_a_reused_id_means_the_latest_call_and_is_made_unique() -> None:
    rows = [
        assistant(tool("a", "f", "{}")),
        assistant(tool("a", "f", "{}"), tool("a", "f", "{}")),
        answer("a", "one"),
        answer("a", "two"),
        answer("a", "three"),
    ]
    assert to_provider(rows) == [
        called("a"),
        result("a", INTERRUPTED),
        called("a_2", "a_3"),
        result("a_2", "one"),
        result("a_3", "two"),
    ]


def test_an_id_of_another_conversation_is_another_id() -> None:
    elsewhere = Row("tool", [text("foreign")], {"tool_call_id": "a"}, UUID(int=2))
    assert to_provider([assistant(tool("a", "f", "{}")), elsewhere]) == [
        called("a"),
        result("a", INTERRUPTED),
    ]


def test_an_empty_answer_is_an_answer() -> None:
    assert to_provider([assistant(tool("a", "f", "{}")), answer("a", "")])[1] == result("a", "")


@pytest.mark.parametrize("nothing", [[], [text(" \n")], [reasoning("hm")], [{"type": "data-x"}], [step_start()]])
def test_rows_with_nothing_to_say_are_not_sent(nothing: list[Any]) -> None:
    assert to_provider([assistant(*nothing), Row("user", nothing), user()]) == [said("hello", "user")]


def test_a_failed_partial_text_is_sent_as_it_is() -> None:
    assert to_provider([assistant(text("  Once upon a"))]) == [said("  Once upon a")]


def test_text_after_a_call_without_a_border_begins_a_step() -> None:
    row = assistant(text("Let me see."), tool("a", "f", "{}", output="A"), text("Done."))
    assert [m["content"] for m in to_provider([row])] == ["Let me see.", "A", "Done."]


def test_files_are_noted() -> None:
    row = Row(
        "user",
        [text("See"), {"type": "file", "filename": "a.pdf", "mediaType": "application/pdf", "url": "x"}],
    )
    assert to_provider([row]) == [said("See\n\n[Attached file, content not shown: a.pdf (application/pdf)]", "user")]


@pytest.mark.parametrize(
    ("came", "kept"),
    [
        ('{"b": 1,  "a": 2, "a": 3}', '{"b": 1,  "a": 2, "a": 3}'),
        ("", "{}"),
        ("{", "{}"),
        ("[1]", "{}"),
        ("[" * 100_000, "{}"),
    ],
)
def test_arguments_are_sent_as_they_came_or_mended(came: str, kept: str) -> None:
    message = to_provider([assistant(tool("a", "f", came, output=1))])[0]
    assert message["tool_calls"][0]["function"]["arguments"] == kept


def test_a_part_made_elsewhere_sends_its_input() -> None:
    part = {"type": "dynamic-tool", "toolName": "get it", "toolCallId": "a", "input": {"b": 1, "a": 2}}
    function = to_provider([assistant(part)])[0]["tool_calls"][0]["function"]
    assert function == {"name": "get_it", "arguments": '{"a": 2, "b": 1}'}


def test_tool_part_states() -> None:
    states = [tool("a", "f", "{}"), tool("a", "f", "{}", output=None), tool("a", "f", "{}", error="no")]
    assert [part["state"] for part in states] == ["input-available", "output-available", "output-error"]
    assert tool("a", "f", '{"x": 1}')["input"] == {"x": 1}
    assert tool("a", "f", "{")["callProviderMetadata"] == {"nexus": {"arguments": "{"}}


def test_error_and_refusal_are_results() -> None:
    refused = tool("b", "f", "{}") | {"state": "output-denied"}
    messages = to_provider([assistant(tool("a", "f", "{}", error="no such page"), refused)])
    assert [m["content"] for m in messages[1:]] == ["no such page", parts.DENIED]


def test_body_is_the_text_alone() -> None:
    assert body([reasoning("hm"), text("a"), tool("a", "f", "{}"), text(" b"), text(""), {"type": "text"}]) == "a\n\n b"
