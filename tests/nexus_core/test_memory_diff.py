"""What changed between two versions, as people read it."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nexus_core.entries import LISTS, is_known
from nexus_core.memory_diff import ADD, DROP, GAP, SAME, Change, Piece, changes, lines, lines_of, sides, words

NOTHING: dict[str, Any] = {"summary_md": "", **{field: [] for field in LISTS}}


@given(st.text(max_size=200), st.text(max_size=200))
def test_a_line_holds_both_sides(before: str, after: str) -> None:
    assert sides(words(before, after)) == (before, after)


@given(st.lists(st.sampled_from("abc"), max_size=30), st.lists(st.sampled_from("abc"), max_size=30))
def test_lines_hold_both_texts(before: list[str], after: list[str]) -> None:
    told = list(lines("\n".join(before), "\n".join(after), context=100))
    removed = [side for line in told if any(piece.op != ADD for piece in line) for side in [sides(line)[0]]]
    added = [side for line in told if any(piece.op != DROP for piece in line) for side in [sides(line)[1]]]
    if before != after:
        assert "\n".join(removed) == "\n".join(before) or not before
        assert "\n".join(added) == "\n".join(after) or not after
    else:
        assert told == []


def test_words_are_marked_and_far_lines_left_out() -> None:
    before = "\n".join([*(f"line {n}" for n in range(20)), "We launch in May."])
    told = list(lines(before, before.replace("May", "June")))
    assert told[0] == (Piece(GAP, ""),)
    assert told[-1] == (Piece(SAME, "We launch in "), Piece(DROP, "May"), Piece(ADD, "June"), Piece(SAME, "."))
    assert len(told) == 4


def test_every_kind_of_change_is_named() -> None:
    old = [
        {"id": "1", "what": "A"},
        {"id": "2", "what": "B"},
        {"id": "3", "what": "C", "status": "superseded"},
        "plain",
    ]
    new = [
        {"id": "3", "what": "C"},
        {"id": "2", "what": "B", "status": "superseded"},
        {"id": "4", "what": "D"},
        "plain",
    ]
    found = changes(NOTHING | {"decisions": old}, NOTHING | {"decisions": new, "summary_md": "x"})
    assert [(change.field, change.kind) for change in found] == [
        ("summary_md", "changed"), ("decisions", "reopened"), ("decisions", "closed"), ("decisions", "added"),
        ("decisions", "removed"), ("decisions", "moved"),
    ]  # fmt: skip
    assert [lines_of(change) for change in found[2:4]] == [
        [(Piece(SAME, "B"), Piece(ADD, " [superseded]"))], [(Piece(ADD, "D"),)],
    ]  # fmt: skip


def test_what_is_known_is_known_in_other_words_but_not_when_it_says_otherwise() -> None:
    known = ["We launch from Lisbon in May, because of the weather", "Descuento del 12 % desde 100 k"]
    assert is_known("Launch from Lisbon in May", known)
    assert is_known("we DECIDED to launch, in May, from lisbon.", known)
    assert is_known("descuento del 12 %", known)
    for new in ("Launch from Lisbon in June", "Do not launch from Lisbon in May", "Descuento del 15 %", "问题"):
        assert not is_known(new, known), new
    assert is_known("!", ["!"]) and not is_known("!", known)


def test_a_change_is_told_in_the_words_that_one_gives() -> None:
    before = {"id": "1", "risk": "Heat", "likelihood": "low", "impact": "high", "status": "open"}
    change = Change("risks", "changed", before, before | {"status": "closed"})

    def say(key: str, value: str) -> str:
        return {("", "impact"): "impacto", ("impact", "high"): "alto", ("status", "closed"): "cerrado"}.get(
            (key, value), value
        )

    (line,) = lines_of(change, say)
    assert sides(line)[1] == "Heat (likelihood low, impacto alto) [cerrado]"
    assert sides(lines_of(change)[0])[1] == "Heat (likelihood low, impact high) [closed]"
