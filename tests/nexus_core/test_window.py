"""The window: what holds for every thread and every pair of limits, and the cases that people reported."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from nexus_core import parts
from nexus_core.errors import Invalid
from nexus_core.parts import pairs, to_provider
from nexus_core.window import Item, Mode, Window, select
from tests.nexus_core.test_parts import assert_acceptable, quick

HERE, ELSEWHERE = UUID(int=1), UUID(int=2)
HUGE = 10**30


def item(seq: int, role: str, *given_parts: Any, tokens: int = 10, **other: Any) -> Item:
    defaults = {"metadata": {}, "status": "complete", "id": UUID(int=seq + 100), "conversation_id": HERE}
    return Item(seq=seq, role=role, parts=list(given_parts), tokens=tokens, **(defaults | other))


def user(seq: int, tokens: int = 10, **other: Any) -> Item:
    return item(seq, "user", parts.text(f"question {seq}"), tokens=tokens, **other)


def assistant(seq: int, tokens: int = 10, **other: Any) -> Item:
    return item(seq, "assistant", parts.text(f"answer {seq}"), tokens=tokens, **other)


def calls(seq: int, *ids: str, **other: Any) -> Item:
    return item(seq, "assistant", *(parts.tool(i, "f", "{}") for i in ids), **other)


def answers(seq: int, call_id: str, **other: Any) -> Item:
    return item(seq, "tool", parts.text("result"), metadata={"tool_call_id": call_id}, **other)


def seqs(window: Window) -> list[int]:
    return [kept.seq for kept in window.items]


def reasons(window: Window) -> dict[int, str]:
    return {left.seq: left.reason for left in window.left_out}


LIMIT = st.none() | st.integers(0, 12) | st.integers(0, 150) | st.just(HUGE)
MODES = st.sampled_from(["none", "session", "user"])
CALL_IDS = st.sampled_from(["a", "b", "c"])


@st.composite
def threads(draw: st.DrawFn) -> list[Item]:
    """Any rows in any order, whole and broken ones, and the new message of a person."""
    thread = []
    for seq in range(draw(st.integers(0, 12))):
        role = draw(st.sampled_from(["user", "assistant", "assistant", "tool", "tool", "system"]))
        said = [parts.text(draw(st.sampled_from(["", "x"])))]
        if role == "assistant":
            said += [parts.tool(call_id, "f", "{}") for call_id in draw(st.lists(CALL_IDS, max_size=3))]
            said += [parts.tool("d", "f", "{}", output=1)] * draw(st.integers(0, 1))
        thread.append(
            item(
                seq,
                role,
                *said,
                tokens=draw(st.integers(0, 40)),
                metadata={"tool_call_id": draw(CALL_IDS)} if role == "tool" else {},
                status=draw(st.sampled_from(["complete", "complete", "stopped", "failed", "streaming"])),
                conversation_id=draw(st.sampled_from([HERE, HERE, HERE, ELSEWHERE])),
            )
        )
    return [*thread, user(99, tokens=draw(st.integers(0, 60)))]


@quick
@given(threads(), MODES, LIMIT, LIMIT)
def test_every_row_is_sent_or_left_out_once_for_a_reason_and_the_newest_is_sent(
    thread: list[Item], mode: Mode, max_messages: int | None, max_tokens: int | None
) -> None:
    window = select(thread, mode=mode, max_messages=max_messages, max_tokens=max_tokens)
    event(f"{len(window.items)} rows sent")
    assert sorted([*seqs(window), *reasons(window)]) == [row.seq for row in thread]
    assert window.items[-1] is thread[-1]
    assert window == select(thread, mode=mode, max_messages=max_messages, max_tokens=max_tokens)


@quick
@given(threads(), MODES, LIMIT, LIMIT)
def test_both_limits_hold_unless_the_newest_alone_breaks_them(
    thread: list[Item], mode: Mode, max_messages: int | None, max_tokens: int | None
) -> None:
    window = select(thread, mode=mode, max_messages=max_messages, max_tokens=max_tokens)
    assert window.tokens == sum(row.tokens for row in window.items)
    if len(window.items) > 1:
        assert mode != "none"
        assert max_messages is None or len(window.items) <= max_messages
        assert max_tokens is None or 0 < window.tokens <= max_tokens or window.tokens == 0 < max_tokens
        assert not window.oversize
    if max_tokens:
        assert window.oversize == (thread[-1].tokens > max_tokens)


@quick
@given(threads(), MODES, LIMIT, LIMIT)
def test_the_newest_are_kept_with_no_gap_that_a_limit_made(
    thread: list[Item], mode: Mode, max_messages: int | None, max_tokens: int | None
) -> None:
    window = select(thread, mode=mode, max_messages=max_messages, max_tokens=max_tokens)
    unfit = {seq for seq, reason in reasons(window).items() if reason in ("empty", "unfinished", "orphan")}
    unfit |= {row.seq for row in thread if mode != "user" and row.conversation_id == ELSEWHERE}
    fit = [row.seq for row in thread if row.seq not in unfit]
    assert seqs(window) == fit[len(fit) - len(window.items) :]


@quick
@given(threads(), MODES, LIMIT, LIMIT)
def test_no_result_without_its_call_and_no_call_without_its_result(
    thread: list[Item], mode: Mode, max_messages: int | None, max_tokens: int | None
) -> None:
    everything = select(thread, mode=mode).items
    window = select(thread, mode=mode, max_messages=max_messages, max_tokens=max_tokens)
    sent = set(seqs(window))
    for (call, _), answer in pairs(everything).items():
        assert (everything[call].seq in sent) == (everything[answer].seq in sent)
    assert len(pairs(window.items)) == sum(row.role == "tool" for row in window.items)
    assert_acceptable(to_provider(window.items))


@quick
@given(threads(), MODES, LIMIT, LIMIT)
def test_a_window_over_a_window_is_itself(
    thread: list[Item], mode: Mode, max_messages: int | None, max_tokens: int | None
) -> None:
    window = select(thread, mode=mode, max_messages=max_messages, max_tokens=max_tokens)
    again = select(window.items, mode=mode, max_messages=max_messages, max_tokens=max_tokens)
    assert (again.items, again.tokens, again.oversize) == (window.items, window.tokens, window.oversize)
    assert again.left_out == ()


@quick
@given(threads(), MODES, LIMIT, LIMIT, st.integers(1, 50))
def test_a_wider_limit_never_sends_less(
    thread: list[Item], mode: Mode, max_messages: int | None, max_tokens: int | None, more: int
) -> None:
    narrow = select(thread, mode=mode, max_messages=max_messages, max_tokens=max_tokens)
    wider = [None if limit is None else limit + more for limit in (max_messages, max_tokens)]
    wide = select(thread, mode=mode, max_messages=wider[0], max_tokens=wider[1])
    assert set(seqs(narrow)) <= set(seqs(wide))


@quick
@given(st.lists(st.sampled_from(["user", "assistant", "tool", "system", "?"]), max_size=6), MODES, LIMIT, LIMIT)
def test_threads_that_end_otherwise_are_no_error(
    roles: list[str], mode: Mode, max_messages: int | None, max_tokens: int | None
) -> None:
    thread = [item(seq, role, None, {"type": 3}, parts.text("x"), status="?") for seq, role in enumerate(roles)]
    window = select(thread, mode=mode, max_messages=max_messages, max_tokens=max_tokens)
    assert bool(window.items) == any(role != "tool" for role in roles if mode == "user" or roles)


@pytest.mark.parametrize("limits", [{"max_messages": -1}, {"max_tokens": -1}, {"max_messages": 3, "max_tokens": -HUGE}])
def test_negative_limits_are_refused_by_name(limits: dict[str, int]) -> None:
    with pytest.raises(Invalid) as refused:
        select(
            [user(1)],
            mode="session",
            max_messages=limits.get("max_messages"),
            max_tokens=limits.get("max_tokens"),
        )
    assert refused.value.field == next(name for name, limit in limits.items() if limit < 0)


@pytest.mark.parametrize("limits", [{"max_messages": 0}, {"max_tokens": 0}, {"max_messages": 1}])
def test_a_limit_of_nothing_is_the_newest_only(limits: dict[str, int]) -> None:
    window = select([user(1, tokens=0), assistant(2, tokens=0), user(3)], mode="session", **limits)
    assert (seqs(window), window.oversize) == ([3], False)


def test_no_limit_and_a_huge_limit_are_everything() -> None:
    thread = [user(1), assistant(2), user(3)]
    assert seqs(select(thread, mode="session")) == [1, 2, 3]
    assert seqs(select(thread, mode="session", max_messages=HUGE, max_tokens=HUGE)) == [1, 2, 3]


def test_whichever_limit_is_reached_first_wins_and_is_named() -> None:
    thread = [user(1), assistant(2), user(3), assistant(4), user(5)]
    by_rows = select(thread, mode="session", max_messages=2, max_tokens=40)
    by_tokens = select(thread, mode="session", max_messages=4, max_tokens=30)
    assert (seqs(by_rows), reasons(by_rows)) == ([4, 5], dict.fromkeys([1, 2, 3], "messages"))
    assert (seqs(by_tokens), reasons(by_tokens)) == ([3, 4, 5], dict.fromkeys([1, 2], "tokens"))


def test_a_newest_message_over_the_whole_budget_is_sent_whole_and_said_so() -> None:
    thread = [user(1), assistant(2), user(3, tokens=5000)]
    window = select(thread, mode="session", max_tokens=100)
    assert window.items == (thread[-1],)
    assert (window.tokens, window.oversize) == (5000, True)


def test_nothing_older_is_taken_past_what_did_not_fit() -> None:
    window = select([user(1, tokens=1), assistant(2, tokens=90), user(3)], mode="session", max_tokens=50)
    assert seqs(window) == [3]


def test_parallel_calls_and_their_results_are_one() -> None:
    thread = [user(1), calls(2, "a", "b"), answers(3, "b"), answers(4, "a"), assistant(5), user(6)]
    assert [seqs(select(thread, mode="session", max_messages=n)) for n in (2, 3, 4, 5, 6)] == [
        [5, 6],
        [5, 6],
        [5, 6],
        [2, 3, 4, 5, 6],
        [1, 2, 3, 4, 5, 6],
    ]


def test_a_result_that_came_after_another_message_still_holds_to_its_call() -> None:
    thread = [user(1), calls(2, "a"), user(3), answers(4, "a"), user(5)]
    assert seqs(select(thread, mode="session", max_messages=3)) == [5]
    assert seqs(select(thread, mode="session", max_messages=4)) == [2, 3, 4, 5]


def test_what_cannot_be_sent_is_left_out_and_costs_nothing() -> None:
    thread = [
        answers(1, "gone"),
        user(2),
        item(3, "assistant"),
        calls(4, "a", status="streaming"),
        answers(5, "a"),
        item(6, "assistant", parts.reasoning("hm"), status="failed"),
        assistant(7, status="stopped"),
        user(8),
    ]
    window = select(thread, mode="session", max_messages=3)
    assert seqs(window) == [2, 7, 8]
    assert reasons(window) == {1: "orphan", 3: "empty", 4: "unfinished", 5: "orphan", 6: "empty"}


def test_a_blank_newest_message_is_still_the_newest() -> None:
    assert seqs(select([user(1), item(2, "user", {"type": "data-x"})], mode="session", max_messages=1)) == [2]


def test_modes_see_this_message_this_conversation_or_all() -> None:
    thread = [user(1), user(2, conversation_id=ELSEWHERE), assistant(3), user(4)]
    assert [seqs(select(thread, mode=mode)) for mode in ("none", "session", "user")] == [
        [4],
        [1, 3, 4],
        [1, 2, 3, 4],
    ]
    assert reasons(select(thread, mode="none")) == dict.fromkeys([1, 2, 3], "mode")


def test_the_same_call_id_in_two_conversations_is_two_calls() -> None:
    thread = [calls(1, "a"), calls(2, "a", conversation_id=ELSEWHERE), answers(3, "a"), user(4)]
    assert seqs(select(thread, mode="user", max_messages=2)) == [4]
    assert pairs(select(thread, mode="user").items) == {(0, 0): 2}


def test_no_rows_are_no_window() -> None:
    assert select([], mode="user", max_messages=0) == Window()
