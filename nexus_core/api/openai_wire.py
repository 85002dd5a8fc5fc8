"""An answer in the form of OpenAI's chat completions, whole and as chunks."""

import json
import time
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from anyio import to_thread

from nexus_core import chat, parts
from nexus_core.api import openai_errors
from nexus_core.completions import Begun, Ending, ending
from nexus_core.database import Scope
from nexus_core.errors import NexusError
from nexus_core.messages import Message
from nexus_core.runs import Run
from nexus_core.watching import failure_of, watch

HEADERS = {"cache-control": "no-cache, no-transform", "x-accel-buffering": "no"}
BEAT = ": still writing\n\n"
DONE = "data: [DONE]\n\n"
PATIENCE = 8.0
"""Seconds without a word after which the answer begins with a comment, so that nobody between gives it up."""
_BREAK = "\n\n"


def headers(begun: Begun) -> dict[str, str]:
    """What every answer says beside its body: where it is kept."""
    return {"x-request-id": str(begun.answer_id), "x-nexus-conversation-id": str(begun.conversation_id)}


def whole(begun: Begun, end: Ending) -> dict[str, Any]:
    """A `chat.completion` (https://platform.openai.com/docs/api-reference/chat/object)."""
    told = end.answer.parts[begun.skip :]
    said: dict[str, Any] = {"role": "assistant", "content": parts.body(told) or None, "refusal": None}
    if thought := _thought(told):
        said["reasoning_content"] = thought
    if calls := _calls(told):
        said["tool_calls"] = calls
    choice = {"index": 0, "message": said, "logprobs": None, "finish_reason": end.reason}
    return _frame(begun, end.answer, "chat.completion") | {
        "choices": [choice],
        "usage": usage(end.run),
        "nexus": _kept(end),
    }


async def stream(scope: Scope, begun: Begun, created: int, *, with_usage: bool) -> AsyncGenerator[str, None]:
    """The server-sent events of an answer; who leaves before its end stops it, and what came so far is kept.

    Raises NexusError, before the first event, for an answer that fails soon and before its first word.
    """
    teller, ended, since, opened = _Teller(begun, created, with_usage), False, time.monotonic(), False
    try:
        async with aclosing(watch(scope, begun.answer_id)) as sights:  # type: ignore[type-var]
            async for sight in sights:
                if sight.ended is None:
                    new = "".join(teller.grown(sight.parts))
                    if new or opened or time.monotonic() - since > PATIENCE:
                        opened = True
                        yield new or BEAT
                    continue
                ended = True
                if sight.ended.status == "failed":
                    raise failure_of(sight.ended)
                end = await to_thread.run_sync(ending, scope, sight.ended)
                yield "".join([*teller.grown(sight.ended.parts), *teller.ended(end), DONE])
    except NexusError as error:
        if not opened:
            raise
        yield f"data: {json.dumps(openai_errors.body(error), ensure_ascii=False)}\n\n{DONE}"
    finally:
        if not ended:
            chat.stop_here(scope, begun.conversation_id)


@dataclass
class _Teller:
    """Tells each piece of a growing answer once; `began` once anything was told."""

    begun: Begun
    created: int
    with_usage: bool
    began: bool = False
    _told: dict[int, int] = field(default_factory=dict)
    _spoke: bool = False

    def grown(self, found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        for index, part in enumerate(found[self.begun.skip :]):
            kind, text = part.get("type"), str(part.get("text", ""))
            told = self._told.get(index, 0)
            if kind not in ("text", "reasoning") or len(text) <= told or not text.strip():
                continue
            piece = text[told:]
            if kind == "text":
                piece = piece if told or not self._spoke else _BREAK + piece  # as in the whole text of the answer
                self._spoke = True
            self._told[index] = len(text)
            yield from self._delta({"content" if kind == "text" else "reasoning_content": piece})

    def ended(self, end: Ending) -> Iterator[str]:
        calls = _calls(end.answer.parts[self.begun.skip :])
        if calls:
            yield from self._delta({"tool_calls": [{"index": n} | call for n, call in enumerate(calls)]})
        yield from self._delta({}, end.reason, nexus=_kept(end))
        if self.with_usage:
            yield self._event({"choices": [], "usage": usage(end.run)})

    def _delta(self, delta: dict[str, Any], reason: str | None = None, **more: Any) -> Iterator[str]:
        if not self.began:
            self.began = True
            yield from self._delta({"role": "assistant", "content": ""})
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        yield self._event({"choices": [choice]} | ({"usage": None} if self.with_usage else {}) | more)

    def _event(self, fields: dict[str, Any]) -> str:
        chunk = _frame(self.begun, None, "chat.completion.chunk") | {"created": self.created} | fields
        return f"data: {json.dumps(chunk, ensure_ascii=False, separators=(',', ':'))}\n\n"


def usage(run: Run | None) -> dict[str, Any] | None:
    """Tokens of the run; None where nobody counted them, never 0."""
    if run is None or run.input_tokens is None or run.output_tokens is None:
        return None
    return {
        "prompt_tokens": run.input_tokens,
        "completion_tokens": run.output_tokens,
        "total_tokens": run.input_tokens + run.output_tokens,
        "prompt_tokens_details": {"cached_tokens": run.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": run.reasoning_tokens},
    }


def _frame(begun: Begun, answer: Message | None, kind: str) -> dict[str, Any]:
    created = int(answer.created_at.timestamp()) if answer else 0
    return {"id": f"chatcmpl-{begun.answer_id.hex}", "object": kind, "created": created, "model": begun.model}


def _kept(end: Ending) -> dict[str, Any]:
    cost = end.run.cost_estimate if end.run else None
    return {
        "conversation_id": str(end.answer.conversation_id),
        "message_id": str(end.answer.id),
        "run_id": str(end.run.id) if end.run else None,
        "cost": None if cost is None else float(cost),
    }


def _thought(told: Sequence[Mapping[str, Any]]) -> str:
    return _BREAK.join(str(part["text"]) for part in told if part.get("type") == "reasoning" and part.get("text"))


def _calls(told: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The calls that wait for the program: those of Nexus's own tools have their results."""
    return [
        {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for step in parts.steps(told)
        for call in step.calls
        if call.result is None
    ]
