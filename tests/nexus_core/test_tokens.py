"""Tokens: counted by a real tokenizer, offline, quickly, for whatever text comes."""

from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nexus_core import parts, tokens

quick = settings(deadline=None, max_examples=60)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("hello world", 2),
        ("<|endoftext|>", 7),
        ("\ud800", 1),
        ("问题是什么", 2),
    ],
)
def test_count_knows_o200k(text: str, expected: int) -> None:
    assert tokens.count(text) == expected


@pytest.mark.parametrize(
    ("text", "times"),
    [("我们昨天决定把数据库迁移到新的服务器上", 2), ("👨‍👩‍👧‍👦🧑🏽‍🚀", 3), ('{"a":[1,2,{"b":null}]}', 1.5)],
)
def test_four_characters_a_token_would_be_far_too_few(text: str, times: float) -> None:
    assert tokens.count(text) > times * len(text) / 4


@pytest.mark.parametrize("unit", ["a", " ", "\n", "问题", "e\u0301", "👨‍👩‍👧‍👦", '{"a":[1]}', "x1", "\ud800"])
def test_a_megabyte_on_one_line_is_counted_at_once(unit: str) -> None:
    tokens.count("load the tables first")
    text = unit * (1_000_000 // len(unit))
    started = process_time()
    counted = tokens.count(text)
    assert process_time() - started < 1
    assert counted > 1000


@quick
@given(st.text(st.characters(codec=None)))
def test_count_is_total_and_never_more_than_the_bytes(text: str) -> None:
    assert bool(text) <= tokens.count(text) <= len(text.encode("utf-8", "surrogatepass"))


def test_parts_count_what_is_sent_and_nothing_else() -> None:
    call = parts.tool("c1", "search", '{"q": "x"}', output="found it")
    answered = [parts.reasoning("long " * 100), call, parts.step_start(), parts.text("Here it is.")]
    expected = sum(map(tokens.count, ["search", '{"q": "x"}', "found it", "Here it is."]))
    assert tokens.count_parts(answered) == expected + 3 * tokens.MESSAGE_OVERHEAD
    assert tokens.count_parts([parts.text("hello world")]) == 2 + tokens.MESSAGE_OVERHEAD


def test_parts_without_anything_to_send_cost_the_overhead() -> None:
    assert tokens.count_parts([]) == tokens.count_parts([{"type": "data-x"}]) == tokens.MESSAGE_OVERHEAD


def test_a_call_without_result_counts_the_result_that_will_stand_for_it() -> None:
    without = tokens.count_parts([parts.tool("c", "f", "{}")])
    assert without == tokens.count_parts([parts.tool("c", "f", "{}", output=parts.INTERRUPTED)])


@pytest.mark.parametrize(
    ("reported", "estimated", "expected"),
    [
        (150, 100, 1.5),
        (10, 100, 0.5),
        (900, 100, 4.0),
        (None, 5, 1.0),
        (5, None, 1.0),
        (5, 0, 1.0),
        (-5, -5, 1.0),
    ],
)
def test_scale_is_bounded_and_one_when_unknown(reported: int | None, estimated: int | None, expected: float) -> None:
    assert tokens.scale(reported, estimated) == expected
