"""What a model's stream adds up to: events as chunks come, whole tool calls, its end, its usage."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nexus_core import faults, tokens
from nexus_core.stream import Event, Finished, ModelRequest, ReasoningDelta, TextDelta, ToolCall, Usage
from nexus_core.text import ChunkJoiner, clean

MOST_TOKENS = 1_000_000_000
REASONS = frozenset({"stop", "length", "tool_calls", "content_filter"})


@dataclass
class _Call:
    call_id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass
class Answer:
    """What has come so far of one answer; `source` is litellm's stream."""

    source: Any = None
    told: str | None = None
    served: str | None = None
    said: list[str] = field(default_factory=list)
    thought: bool = False
    calls: list[_Call] = field(default_factory=list)
    slots: dict[int, _Call] = field(default_factory=dict)
    text: ChunkJoiner = field(default_factory=ChunkJoiner)
    reasoning: ChunkJoiner = field(default_factory=ChunkJoiner)

    def take(self, chunk: Any) -> list[Event]:
        # litellm writes the name that was asked for over a chunk's own, and keeps the provider's word beside some.
        hidden = getattr(chunk, "_hidden_params", None) or {}
        self.told = hidden.get("provider_response_model") or self.told
        self.served = self.told or getattr(chunk, "model", None) or self.served
        events: list[Event] = []
        for choice in chunk.choices[:1]:
            delta = choice.delta
            thought = getattr(delta, "reasoning_content", None) or getattr(delta, "reasoning", None)
            if isinstance(thought, str) and (piece := self.reasoning.feed(thought)):
                self.thought = True
                events.append(ReasoningDelta(piece))
            if isinstance(delta.content, str) and (piece := self.text.feed(delta.content)):
                events.append(TextDelta(piece))
            for piece_of_call in getattr(delta, "tool_calls", None) or ():
                self._add(piece_of_call)
        self.said += [event.text for event in events if isinstance(event, TextDelta | ReasoningDelta)]
        return events

    def say(self, text: str) -> list[Event]:
        """Take a chunk that is text and nothing else."""
        if not (piece := self.text.feed(text)):
            return []
        self.said.append(piece)
        return [TextDelta(piece)]

    def _add(self, piece: Any) -> None:
        """Add a piece to its call; some servers give every call index 0, so a new id is a new call."""
        index, call_id = piece.index or 0, piece.id or ""
        call = self.slots.get(index)
        if call is None or (call_id and call.call_id and call_id != call.call_id):
            call = self.slots[index] = _Call()
            self.calls.append(call)
        call.call_id = call.call_id or call_id
        call.name += (piece.function.name or "") if not call.name else ""
        call.arguments += piece.function.arguments or ""

    def end(self, request: ModelRequest, call: faults.Call) -> list[Event]:
        """The calls and the end; raises ModelFailed where the provider never said that all had come."""
        reason = getattr(self.source, "received_finish_reason", None)
        if not reason and not getattr(self.source, "received_any_finish_reason", False):
            raise faults.broken_off(replace(call, started=bool(self.said or self.calls)))
        events: list[Event] = []
        if held := self.reasoning.flush():
            events.append(ReasoningDelta(held))
        if held := self.text.flush():
            events.append(TextDelta(held))
        calls = [
            ToolCall(one.call_id or f"call_{number}", one.name, clean(one.arguments))
            for number, one in enumerate(self.calls)
            if one.name and (reason != "length" or _is_json(one.arguments))
        ]
        usage = _reported(self.source, self.thought)
        if usage is None:
            output = "".join(self.said) + "".join(one.name + one.arguments for one in self.calls)
            usage = estimated(request, output)
        ended = "tool_calls" if calls and reason != "length" else reason if reason in REASONS else "stop"
        return [*events, *calls, Finished(ended, self.served, usage)]


def estimated(request: ModelRequest, output: str) -> Usage:
    """What a call used, by our own count: where a provider does not say, and for a stopped answer."""
    sent = sum(tokens.MESSAGE_OVERHEAD + tokens.count(_sent(message)) for message in request.messages)
    if request.tools:
        sent += tokens.count(json.dumps(list(request.tools), ensure_ascii=False, default=str))
    return Usage(input_tokens=sent, output_tokens=tokens.count(output), source="estimated")


def _reported(source: Any, thought: bool) -> Usage | None:
    """The provider's usage: the last word on each number, as counts only grow; None where it gave none.

    litellm fills gaps in the usage that it hands out with counts of its own, so the chunks are read here.
    """
    seen = [usage for chunk in source.chunks if (usage := getattr(chunk, "usage", None)) is not None]
    sent, made = _last(seen, "prompt_tokens"), _last(seen, "completion_tokens")
    if not sent and not made:
        return None
    details = [getattr(usage, "prompt_tokens_details", None) for usage in seen]
    spent = [getattr(usage, "completion_tokens_details", None) for usage in seen]
    reasoning = _last(spent, "reasoning_tokens")
    if thought and reasoning == 0:
        reasoning = None
    return Usage(
        input_tokens=sent,
        cached_tokens=_at_most(_last(details, "cached_tokens"), sent),
        cache_write_tokens=_at_most(_last(details, "cache_write_tokens", "cache_creation_tokens"), sent),
        output_tokens=made,
        reasoning_tokens=_at_most(reasoning, made),
        source="provider",
    )


def _last(records: Sequence[Any], *names: str) -> int | None:
    """The last positive count under any of these names, else 0 where a count was given at all, else None.

    What no model can have read or written is no count.
    """
    told = [v for record in records for name in names if isinstance(v := getattr(record, name, None), int)]
    counts = [value for value in told if value <= MOST_TOKENS]
    return next((value for value in reversed(counts) if value > 0), 0 if counts else None)


def _at_most(part: int | None, whole: int | None) -> int | None:
    return part if part is None or whole is None else min(part, whole)


def _sent(message: Mapping[str, Any]) -> str:
    fields = (message.get("content"), message.get("tool_calls"))
    return "".join(
        field if isinstance(field, str) else json.dumps(field, ensure_ascii=False, default=str)
        for field in fields
        if field
    )


def _is_json(text: str) -> bool:
    try:
        json.loads(text or "{}")
    except ValueError:
        return False
    return True
