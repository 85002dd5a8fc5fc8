"""The short way of plain text gives, event for event, what the long way through litellm gives."""

import json
from typing import Any

import pytest

from nexus_core import answers, wire
from nexus_core.errors import ModelFailed
from nexus_core.stream import Event, Finished, ModelRequest, ReasoningDelta, TextDelta
from tests.nexus_core.conversing import MODEL
from tests.nexus_core.faulty_server import FaultyServer, delta, sse, usage
from tests.nexus_core.model_server import ending, tool_call
from tests.nexus_core.test_llm import run

START = {**delta("One"), "choices": [{"index": 0, "delta": {"role": "assistant", "content": "One"}}]}
ODD = [
    delta(""), delta(None), delta(content=None), delta("a", reasoning_content="hm"), delta("b", refusal=None),
    delta("c", tool_calls=[]), {**delta("d"), "service_tier": "default"}, {**delta("e"), "choices": []},
    {**delta("f"), "usage": None}, {**delta("g"), "provider": "x"}, delta(reasoning_content="hm"), delta("\ud83d"),
]  # fmt: skip
STREAMS: dict[str, list[bytes]] = {
    "plain": sse(START, *map(delta, (" two", " three\n\n", "4 🚀")), *ending()),
    "odd": sse(START, *ODD, *ending("length")),
    "a call": sse(START, delta(" and"), tool_call("look", '{"a": 1}'), *ending("tool_calls")),
    "words after usage": sse(START, {**delta(), "choices": [], "usage": usage(3, 4)}, delta(" late"), *ending()),
    "end in a word": sse(START, delta(" two", finish="stop")),
    "other line ends": [b"".join(sse(START, delta(" two"), *ending())).replace(b"\n", b"\r\n")],
    "comments": [b": hello\n\n", *sse(START, done=False), b": beat\n\nevent: x\nid: 3\n", *sse(delta(" x"), *ending())],
    "no word of an end": sse(START, delta(" two"), done=False),
    "no such thing": [*sse(START, delta(" two"), done=False), b"data: {nonsense\n\n"],
    "an error in it": [*sse(START, delta(" two"), done=False), *sse({"error": {"message": "overloaded", "code": 503}})],
}


def told(pieces: list[bytes]) -> tuple[str, str, list[Event] | str]:
    """What is said and thought, and how it ends."""
    with FaultyServer(pieces) as server:
        try:
            events = run(ModelRequest(MODEL, [{"role": "user", "content": "hi"}], api_base=server.base))
        except ModelFailed as failure:
            return "", "", failure.error_type
    said = "".join(event.text for event in events if isinstance(event, TextDelta))
    thought = "".join(event.text for event in events if isinstance(event, ReasoningDelta))
    return said, thought, [event for event in events if not isinstance(event, TextDelta | ReasoningDelta)]


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("cut", [None, 7])
def test_both_ways_give_the_same(name: str, cut: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces, raw = STREAMS[name], b"".join(STREAMS[name])
    if cut:
        pieces = [raw[start : start + cut] for start in range(0, len(raw), cut)]
    short = told(pieces)
    monkeypatch.setattr(wire, "below", lambda stream: None)
    assert short == told(pieces)
    assert short[0] or isinstance(short[2], str)


def test_plain_text_does_not_go_the_long_way(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[Any] = []
    take = answers.Answer.take
    monkeypatch.setattr(answers.Answer, "take", lambda self, chunk: taken.append(chunk) or take(self, chunk))
    said, _thought, ended = told(sse(START, *(delta(f" {n}") for n in range(200)), *ending()))
    assert said == "One" + "".join(f" {n}" for n in range(200))
    assert isinstance(ended[-1], Finished)
    assert ended[-1].served_model == "served-1"
    assert len(taken) < 10


def test_what_is_plain() -> None:
    assert wire.text_of(b"data: " + json.dumps(delta("ok")).encode() + b"\n\n") == "ok"
    for event in (b"data: [DONE]\n\n", b"data: 3\n\n", b": beat\n\n", b"data: {}\n\n", b"event: a\ndata: {}\n\n", b""):
        assert wire.text_of(event) is None
