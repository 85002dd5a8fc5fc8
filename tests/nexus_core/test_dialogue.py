"""What a client resends: turns are read whichever way they are cut, and what was asked before is recognised."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nexus_core.dialogue import hear
from nexus_core.errors import Invalid
from nexus_core.text import clean

WORDS = st.text(alphabet=st.characters(codec="utf-8"), min_size=1).filter(lambda text: clean(text).strip())


@dataclass
class Piece:
    role: str
    content: Any
    tool_calls: list[Any] | None = None
    tool_call_id: str | None = None


def called(*ids: str) -> Piece:
    function = SimpleNamespace(name="look", arguments='{"b": 1, "a": 2}')
    return Piece("assistant", None, [SimpleNamespace(id=one, function=function) for one in ids])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(WORDS, WORDS), max_size=4), WORDS, WORDS, WORDS)
def test_the_next_request_goes_on_from_this_one(
    before: list[tuple[str, str]], asked: str, answer: str, system: str
) -> None:
    history = [piece for said in before for piece in (Piece("user", said[0]), Piece("assistant", said[1]))]
    now = [*history, Piece("user", asked)]
    following = [Piece("system", system), *now, Piece("assistant", f" {answer}\n"), Piece("user", "And?")]
    first, second = hear(now), hear(following)
    assert second.former_digest() == first.digest() != second.digest()
    assert second.goes_on_from(answer) and not second.goes_on_from(answer + " no")
    assert (second.question, second.instructions, len(second.history)) == ("And?", system, len(history) + 2)


def test_what_is_stored_has_no_nul_and_is_known_again_by_who_resends_one() -> None:
    now = [Piece("user", "a\0b")]
    again = hear([*now, Piece("assistant", "c\0d"), Piece("user", "And?")])
    assert again.former_digest() == hear(now).digest() == hear([Piece("user", "ab")]).digest()
    assert again.goes_on_from("cd") and again.goes_on_from("c\0d")
    with pytest.raises(Invalid):
        hear([Piece("user", "\0")])


def test_what_one_side_says_in_a_row_is_one_turn() -> None:
    heard = hear(
        [
            Piece("developer", "A"), Piece("system", [{"type": "text", "text": "B"}]), Piece("user", "One"),
            Piece("user", [{"type": "text", "text": "Two"}, {"type": "text", "text": "Three"}]), called("x", "y"),
            Piece("tool", "1", tool_call_id="y"), Piece("tool", "2", tool_call_id="x"), Piece("assistant", "So."),
            called("z"), Piece("tool", "3", tool_call_id="z"),
        ]
    )  # fmt: skip
    assert heard.instructions == "A\n\nB" and heard.question is None and heard.results == {"z": "3"}
    asked, answer = heard.history
    assert asked.text == "One\n\nTwo\nThree" and answer.text == "So."
    assert [part.get("output") for part in answer.parts if "toolCallId" in part] == ["2", "1", "3"]
    assert answer.parts[0]["callProviderMetadata"]["nexus"]["arguments"] == '{"b": 1, "a": 2}'


@pytest.mark.parametrize(
    ("pieces", "field"),
    [
        ([Piece("user", [{"type": "input_audio"}])], "messages.0.content"),
        ([Piece("user", ["x"])], "messages.0.content"),
        ([Piece("narrator", "x")], "messages.0.role"),
        ([Piece("user", "x"), Piece("tool", "y", tool_call_id="z")], "messages.1.tool_call_id"),
        ([Piece("tool", "y")], "messages.0.tool_call_id"),
        ([Piece("user", "x"), Piece("assistant", "y")], "messages"),
        ([Piece("system", "x")], "messages"),
    ],
)
def test_what_can_t_be_answered_says_where(pieces: list[Piece], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        hear(pieces)
    assert refused.value.field == field
