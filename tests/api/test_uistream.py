"""The UI message stream: however an answer is seen growing, its chunks add up to the same parts, each once."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nexus_core import parts
from nexus_core.api.uistream import Differ

WORDS = st.text("ab 👍é\n", max_size=6)
CALL = st.builds(lambda n, out: parts.tool(f"c{n}", "look", "{}", output=out), st.integers(0, 99), WORDS)
PART = st.one_of(st.builds(parts.text, WORDS), st.builds(parts.reasoning, WORDS), CALL, st.just(parts.step_start()))


def seen(whole: list[dict[str, Any]], length: int) -> list[dict[str, Any]]:
    """The answer after `length` events: pieces of text come letter by letter, a call before its result."""
    found: list[dict[str, Any]] = []
    for part in whole:
        size = len(part["text"]) if "text" in part else 2 if "toolCallId" in part else 1
        taken = min(size, length)
        if not taken and size:
            break
        called = {"state": "input-available"} if "toolCallId" in part and taken == 1 else {}
        found.append(part | ({"text": part["text"][:taken]} if "text" in part else called))
        length -= taken
        if taken < size:
            break
    return found


def replay(chunks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a client makes of the chunks; fails on a delta of a part that is not open, or a call that is not known."""
    made: list[dict[str, Any]] = []
    opened: dict[str, dict[str, Any]] = {}
    calls: list[dict[str, Any]] = []
    for chunk in chunks:
        kind, _dash, step = chunk["type"].rpartition("-")
        if kind in ("text", "reasoning"):
            if step == "start":
                assert not opened
                made.append({"type": kind, "text": ""})
                opened[chunk["id"]] = made[-1]
            elif step == "delta":
                opened[chunk["id"]]["text"] += chunk["delta"]
            else:
                opened.pop(chunk["id"])
        elif chunk["type"] == "tool-input-available":
            made.append({"type": f"tool-{chunk['toolName']}", "toolCallId": chunk["toolCallId"]})
            calls.append(made[-1])
        elif chunk["type"] == "tool-output-available":
            waiting = next(one for one in calls if one["toolCallId"] == chunk["toolCallId"] and "output" not in one)
            waiting["output"] = chunk["output"]
        elif chunk["type"] == "start-step":
            made.append({"type": "step-start"})
    assert not opened
    return made


@given(st.lists(PART, max_size=6), st.lists(st.integers(0, 40), max_size=6))
def test_any_way_of_seeing_it_grow_tells_the_same(whole: list[dict[str, Any]], looks: list[int]) -> None:
    differ, chunks = Differ(), []
    for length in [*sorted(looks), 10_000]:
        chunks += list(differ.chunks(seen(whole, length)))
    chunks += list(differ.end())
    shown = [part for part in whole if part.get("text") != ""]
    while shown and shown[-1]["type"] == "step-start":
        shown.pop()
    keys = ("type", "text", "toolCallId", "output")
    assert replay(chunks) == [{key: part[key] for key in keys if key in part} for part in shown]
    assert list(differ.chunks(whole)) == list(differ.end()) == []
