"""What is sent to the model for a turn: built from the real rows, without a model."""

from typing import Any

import pytest

from nexus_core import context, conversations, memories, messages, turns
from nexus_core.context import Context
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.parts import text
from tests.nexus_core.conversing import agent, connect, project, sections


def built(scope: Scope, place: Place, *said: str, share: float = 1.0) -> Context:
    """The context of the last of these messages, which take turns between person and assistant."""
    *history, question = said
    with transaction(scope) as tx:
        where = conversations.create(tx, place).id
        for index, words in enumerate(history):
            messages.append(tx, where, "assistant" if index % 2 else "user", [text(words)])
        turn = turns.accept(tx, where, question)
        return context.build(tx, turn, share=share)


def sent(found: Context) -> list[tuple[str, str]]:
    return [(one["role"], one["content"]) for one in found.messages()]


def test_just_chat_is_its_instructions_and_the_window(scope: Scope) -> None:
    found = built(scope, Place(), "a", "b", "c")
    assert sent(found) == [("system", context.DEFAULT_INSTRUCTIONS), ("user", "a"), ("assistant", "b"), ("user", "c")]
    assert (found.question, found.tools) == ("c", ())
    assert [section["section"] for section in found.receipt["sections"]] == ["instructions", "window", "message"]


def test_the_system_speaks_once_and_the_person_first(scope: Scope) -> None:
    place = Place(project(scope), agent(scope, instructions="Be brief.", max_messages=2))
    assert place.project_id
    with transaction(scope) as tx:
        memories.replace(tx, place.project_id, version=1, summary_md="We go to the moon.")
    roles = [role for role, _words in sent(built(scope, place, "a", "b", "c"))]
    assert roles == ["system", "user", "assistant", "user"]
    assert sent(built(scope, place, "a", "b", "c"))[1] == ("user", context.EARLIER)


def test_memory_none_sees_neither_history_nor_memory_nor_tools(scope: Scope) -> None:
    place = Place(project(scope), agent(scope, instructions="Be brief.", memory_mode="none"))
    assert place.project_id
    with transaction(scope) as tx:
        memories.replace(tx, place.project_id, version=1, summary_md="We go to the moon.")
    found = built(scope, place, "a", "b", "c")
    assert sent(found) == [("system", "Be brief."), ("user", "c")]
    assert (found.tools, tuple(found.passages())) == ((), ())


def summarized(scope: Scope, to_seq: int, share: float = 1.0) -> Context:
    with transaction(scope) as tx:
        where = conversations.create(tx, Place()).id
        for index in range(6):
            messages.append(tx, where, "assistant" if index % 2 else "user", [text(f"m{index + 1}")])
        tx.connection.exec_driver_sql(
            "INSERT INTO summaries (workspace_id, conversation_id, from_seq, to_seq, body_md, method)"
            f" VALUES ('{scope.workspace_id}', '{where}', 1, {to_seq}, 'They counted.', 'hand')"
        )
        return context.build(tx, turns.accept(tx, where, "m7"), share=share)


def test_a_summary_stands_for_what_it_covers_and_says_which(scope: Scope) -> None:
    found = summarized(scope, 4)
    said = sent(found)
    assert "Summary of messages 1 to 4" in said[0][1] and "They counted." in said[0][1]
    assert [words for _role, words in said[1:]] == ["m5", "m6", "m7"]
    told = sections(found.receipt)["summary"]
    assert (told["from_seq"], told["to_seq"]) == (1, 4)


def test_a_summary_of_what_is_asked_now_is_of_no_use(scope: Scope) -> None:
    assert [words for _role, words in sent(summarized(scope, 7))[1:]] == [f"m{number}" for number in range(1, 8)]


def sized(scope: Scope, context_tokens: int) -> None:
    connect(scope, "http://127.0.0.1:9/v1", model="openai/of-my-own", context_tokens=context_tokens)


def test_the_models_own_size_bounds_the_window_with_room_for_the_answer(scope: Scope) -> None:
    sized(scope, 2000)
    place = Place(agent_id=agent(scope, max_messages=None, max_tokens=None, recall=False))
    found = built(scope, place, *("word " * 100 for _message in range(30)), "now")
    assert 1000 < found.tokens <= 1500
    assert {row["reason"] for row in found.receipt["left_out"]} == {"tokens"}


def test_a_fixed_part_larger_than_the_model_leaves_the_new_message_alone(scope: Scope) -> None:
    sized(scope, 500)
    place = Place(agent_id=agent(scope, instructions="word " * 800, max_messages=None, max_tokens=None))
    found = built(scope, place, "a", "b", "c")
    assert [words for _role, words in sent(found)[1:]] == ["c"]


@pytest.mark.parametrize("limits", [{}, {"max_messages": None, "max_tokens": None}, {"max_tokens": 100_000}])
def test_a_smaller_share_is_of_what_was_sent_whatever_the_limits(scope: Scope, limits: dict[str, Any]) -> None:
    place = Place(agent_id=agent(scope, **limits))
    said = ["word " * 20 for _message in range(10)]
    whole = built(scope, place, *said, "now")
    half = built(scope, place, *said, "now", share=0.5)
    window = [sections(found.receipt)["window"]["tokens"] for found in (whole, half)]
    assert 0 < window[1] <= window[0] / 2
    assert "smaller_window" in half.receipt["notes"] and "smaller_window" not in whole.receipt["notes"]
    assert half.history[-1].seq == 11


def test_rows_of_other_systems_are_repaired_on_the_way(scope: Scope) -> None:
    with transaction(scope) as tx:
        where = conversations.create(tx, Place()).id
        messages.append(tx, where, "tool", [text("a result of nothing")], metadata={"tool_call_id": "x"})
        messages.append(tx, where, "user", [text("a")])
        messages.append(tx, where, "assistant", [])
        messages.append(tx, where, "system", [text("Be polite.")])
        found = context.build(tx, turns.accept(tx, where, "b"))
    assert sent(found)[1:] == [("user", "a"), ("system", "Be polite."), ("user", "b")]
    assert {(row["seq"], row["reason"]) for row in found.receipt["left_out"]} == {(1, "orphan"), (3, "empty")}


def test_the_estimate_counts_the_tools_that_are_offered(scope: Scope) -> None:
    here = project(scope)
    with_tools = built(scope, Place(here, agent(scope, "Ada")), "a")
    without = built(scope, Place(here, agent(scope, "Bob", tools=False)), "a")
    assert with_tools.tokens > without.tokens + 100


def test_only_what_fits_is_read(scope: Scope) -> None:
    with transaction(scope) as tx:
        where = conversations.create(tx, Place()).id
        for _message in range(300):
            messages.append(tx, where, "user", [text("word " * 10)])
        turn = turns.accept(tx, where, "now")
        items = messages.session_window(tx, where, upto=turn.question_seq, after=0, max_messages=5, max_tokens=None)
        assert len(items) == 6
        items = messages.session_window(tx, where, upto=turn.question_seq, after=0, max_messages=None, max_tokens=100)
        assert 7 <= len(items) <= 9
