"""Text: what PostgreSQL can't store is mended, titles are one whole line, search forms are comparable."""

import json
import unicodedata
from datetime import UTC, date, datetime
from decimal import Decimal
from time import process_time
from typing import Any
from uuid import UUID

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nexus_core.text import TITLE_CLUSTERS, ChunkJoiner, clean, clean_json, clip, fold, title_of

quick = settings(deadline=None, max_examples=60)

FAMILY = "👨‍👩‍👧‍👦"
ANY_TEXT = st.text(st.characters(codec=None))
MARKUP = [*"*_`#>[]()!<'-\n\t &;a1\0\ud83d\u202e\u200d\u0301", '"', FAMILY, "<think>", "</think>", "&#8238;"]
HOSTILE = st.lists(st.sampled_from(MARKUP)).map("".join)


def clusters(text: str) -> list[str]:
    return regex.findall(r"\X", text)


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ("a\0b", "ab"),
        ("\0", ""),
        (r"a\u0000b", r"a\u0000b"),
        ("\ud83d", "\ufffd"),
        ("x\ude00y", "x\ufffdy"),
        ("\ud83d\ude00", "😀"),
        ("\ud83d\0\ude00", "😀"),
        ("\ud83dA\n", "\ufffdA\n"),
        ("\ufeff \t\x01" + FAMILY, "\ufeff \t\x01" + FAMILY),
    ],
)
def test_clean_mends_only_what_cannot_be_stored(value: str, stored: str) -> None:
    assert clean(value) == stored


@quick
@given(ANY_TEXT)
def test_clean_is_storable_and_idempotent(value: str) -> None:
    cleaned = clean(value)
    assert "\0" not in cleaned.encode().decode()
    assert clean(cleaned) == cleaned


def test_clean_json_makes_every_value_storable() -> None:
    value = {
        "k\0\ud800": ("a\0", float("nan"), float("-inf"), 1.5, True, None, 7),
        3: {"at": datetime(2026, 1, 2, 3, 4, tzinfo=UTC), "on": date(2026, 1, 2)},
        "id": UUID(int=5),
        "cost": Decimal("0.10"),
        "other": {1},
    }
    assert clean_json(value) == {
        "k\ufffd": ["a", None, None, 1.5, True, None, 7],
        "3": {"at": "2026-01-02T03:04:00+00:00", "on": "2026-01-02"},
        "id": "00000000-0000-0000-0000-000000000005",
        "cost": "0.10",
        "other": "{1}",
    }


def test_clean_json_ends_on_cycles_and_on_numbers_too_long_to_print() -> None:
    cycle: list[Any] = [2**50_000]
    cycle.append(cycle)
    json.dumps(clean_json(cycle), allow_nan=False)


@quick
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT | st.datetimes() | st.uuids(),
        lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(ANY_TEXT | st.integers(), inner),
        max_leaves=10,
    )
)
def test_clean_json_is_strict_json_and_idempotent(value: Any) -> None:
    cleaned = clean_json(value)
    text = json.dumps(cleaned, allow_nan=False, ensure_ascii=False)
    assert "\0" not in text and r"\u0000" not in text.replace(r"\\", "")
    assert text.encode() and json.loads(text) == cleaned == clean_json(cleaned)


@quick
@given(ANY_TEXT, st.data())
def test_chunks_cut_anywhere_join_to_the_whole(text: str, data: st.DataObject) -> None:
    halves = "".join(map(chr, memoryview(clean(text).encode("utf-16-le")).cast("H")))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(halves)))))
    joiner = ChunkJoiner()
    pieces = [joiner.feed(halves[start:end]) for start, end in zip([0, *cuts], [*cuts, len(halves)], strict=True)]
    assert pieces == list(map(clean, pieces))
    assert "".join(pieces) + joiner.flush() == clean(text)


def test_half_a_character_at_the_end_of_a_stream_is_marked() -> None:
    joiner = ChunkJoiner()
    assert (joiner.feed("a\ud83d"), joiner.feed(""), joiner.flush(), joiner.flush()) == (
        "a",
        "",
        "\ufffd",
        "",
    )


@pytest.mark.parametrize(
    ("text", "limit", "clipped"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("ab cd", 4, "ab…"),
        (FAMILY * 3, 2, FAMILY + "…"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("ab", 1, "…"),
        ("ab", 0, ""),
        ("", -1, ""),
    ],
)
def test_clip_keeps_whole_clusters(text: str, limit: int, clipped: str) -> None:
    assert clip(text, limit) == clipped


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('<think>x</think>"**Foo**\nbar"', "Foo bar"),
        ("<thinking>never closed", "New conversation"),
        (FAMILY * 40, FAMILY * 40),
        (FAMILY * 80, FAMILY * 59 + "…"),
        ("  \n\t\u3000", "New conversation"),
        ("", "New conversation"),
        ("\u200d\ufe0f\u3164", "New conversation"),
        ("<img src=x onerror=alert(1)>", "New conversation"),
        ("مرحبا \u202eabc\u202c كيف", "مرحبا abc كيف"),
        ("&#8238;abc", "abc"),
        ("# Plan\r\n\r\n* one\n* [two](http://x) `f(x)`", "Plan one two f(x)"),
        ("![a cat](https://evil/p?leak=1) <b>bold</b>!<br>next", "a cat bold! next"),
        ("42.", "42."),
        ('"a" or "b"', '"a" or "b"'),
        ("“Ciao”", "Ciao"),
        ("It costs $5 * 3 foo_bar_baz :smile: a -> b", "It costs $5 * 3 foo_bar_baz :smile: a -> b"),
        ("```py\nprint(1)\n```", "print(1)"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a b 1 2"),
        ("<div>\nhello <i>you</i>\n</div>", "hello you"),
        ("a\0b\ud800", "ab\ufffd"),
        ("e" + "\u0301" * 5000, "e" + "\u0301" * 8),
        ("word " * 1000, "word " * 11 + "word…"),
    ],
)
def test_title_of(text: str, title: str) -> None:
    assert title_of(text) == title


@quick
@given(ANY_TEXT | HOSTILE)
@example("\ufeff# \u2028")
def test_a_title_is_one_short_visible_line(text: str) -> None:
    title = title_of(text)
    assert title == " ".join(title.split()) and title == clean(title)
    assert 0 < len(clusters(title)) <= TITLE_CLUSTERS
    assert not regex.search(r"\p{Cc}|\p{Bidi_Control}", title)


@pytest.mark.parametrize("text", ["x" * 1_000_000, "[" * 100_000, "<think>" * 100_000, "![" * 50_000])
def test_a_title_of_a_huge_paste_is_quick(text: str) -> None:
    started = process_time()
    assert title_of(text)
    assert process_time() - started < 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("łąka", unicodedata.normalize("NFD", "łąka")),
        ("ŁĄKA", "laka"),
        ("Jérôme", "jerome"),
        ("ΣΑΣ", "σας"),
        ("ＡＢＣ", "abc"),
        ("⭐️", "⭐"),
        ("Straße", "STRASSE"),
        ("İstanbul", "istanbul"),
        ("ｶﾞ", "ガ"),
        ("ﬁn", "fin"),
        ("مُحَمَّد", "محمد"),
        ("a\0b", "ab"),
    ],
)
def test_fold_makes_equal(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize("text", ["问题", "が", "हिन्दी", "ที่", "한국어", '100% _x_ \\ " < and'])
def test_fold_keeps_what_carries_meaning(text: str) -> None:
    assert fold(text) == text


@quick
@given(ANY_TEXT)
@example("\u0345\u1fb3\u03a3\u0130\u0149")
def test_fold_is_idempotent_storable_and_blind_to_case_and_form(text: str) -> None:
    folded = fold(text)
    assert fold(folded) == folded == clean(folded)
    assert fold(unicodedata.normalize("NFD", clean(text))) == fold(unicodedata.normalize("NFC", clean(text))) == folded
