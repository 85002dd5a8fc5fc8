"""An answer as the AI SDK's UI message stream, protocol version 1 (https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol)."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from anyio import to_thread

from nexus_core.database import Scope
from nexus_core.errors import NexusError
from nexus_core.messages import Message
from nexus_core.runs import Run
from nexus_core.watching import run_of, watch, why_failed

HEADERS = {
    "x-vercel-ai-ui-message-stream": "v1",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",  # nginx would hold the pieces back
}
BEAT = ": still writing\n\n"
DONE = "data: [DONE]\n\n"
_CALL_ENDS = {"output-available": "tool-output-available", "output-error": "tool-output-error"}
# Line ends to some clients, though not to the standard of server-sent events.
_LINES = str.maketrans({"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})
Chunk = dict[str, Any]


class Differ:
    """Turns an answer's parts, as they are seen growing, into the chunks that are new; each is told once.

    Every part is told from its first piece, so whoever comes late misses nothing. Parts only grow.
    """

    def __init__(self) -> None:
        self._told: list[Any] = []
        self._open = -1
        self._steps = 0

    def chunks(self, parts: Sequence[Mapping[str, Any]]) -> Iterator[Chunk]:
        """What is new in `parts` since the last call."""
        for index, part in enumerate(parts):
            if index == len(self._told):
                self._told.append(None)
            kind = str(part.get("type", ""))
            if kind in ("text", "reasoning"):
                yield from self._grown(index, kind, str(part.get("text", "")))
            elif kind.startswith(("tool-", "dynamic-tool")):
                yield from self._called(index, kind, part)
            elif kind == "step-start":
                self._steps += self._told[index] is None
                self._told[index] = True

    def end(self) -> Iterator[Chunk]:
        """Close the part that is still open."""
        if self._open >= 0:
            kind = self._told[self._open][0]
            yield {"type": f"{kind}-end", "id": f"{kind}-{self._open}"}
            self._open = -1

    def _begun(self, index: int) -> Iterator[Chunk]:
        """Close what came before a new part; a step is told only once something is in it."""
        yield from self.end()
        for _step in range(self._steps):
            yield from ({"type": "finish-step"}, {"type": "start-step"})
        self._steps = 0

    def _grown(self, index: int, kind: str, text: str) -> Iterator[Chunk]:
        told = self._told[index]
        if told is None:
            if not text:
                return
            yield from self._begun(index)
            yield {"type": f"{kind}-start", "id": f"{kind}-{index}"}
            self._open, told = index, (kind, 0)
        if told[0] == kind and len(text) > told[1]:
            yield {"type": f"{kind}-delta", "id": f"{kind}-{index}", "delta": text[told[1] :]}
            told = (kind, len(text))
        self._told[index] = told

    def _called(self, index: int, kind: str, part: Mapping[str, Any]) -> Iterator[Chunk]:
        call = {"toolCallId": str(part.get("toolCallId", ""))}
        dynamic = {"dynamic": True} if kind == "dynamic-tool" else {}
        if self._told[index] is None:
            yield from self._begun(index)
            name = part.get("toolName") if dynamic else kind.removeprefix("tool-")
            yield {"type": "tool-input-available", **call, "toolName": name, "input": part.get("input"), **dynamic}
            self._told[index] = "called"
        ended = _CALL_ENDS.get(str(part.get("state")))
        if ended and self._told[index] == "called":
            key = "output" if ended == "tool-output-available" else "errorText"
            yield {"type": ended, **call, key: part.get(key), **dynamic}
            self._told[index] = "answered"


async def told(scope: Scope, answer_id: UUID, conversation_id: UUID) -> AsyncIterator[str]:
    """The server-sent events of an answer, from its first piece to its end, with a comment now and then between."""
    differ, note = Differ(), ""
    where = {"conversationId": str(conversation_id)}
    yield event({"type": "start", "messageId": str(answer_id), "messageMetadata": where})
    yield event({"type": "start-step"})
    try:
        async for sight in watch(scope, answer_id):
            new = list(differ.chunks(sight.parts))
            if sight.note != note:
                note = sight.note
                new.append({"type": "data-note", "data": {"note": note}, "transient": True})
            yield "".join(map(event, new)) or BEAT
            if sight.ended is not None:
                run = await to_thread.run_sync(run_of, scope, sight.ended)
                yield "".join(map(event, [*differ.end(), *_end(sight.ended, run, where)]))
    except NexusError as error:
        yield "".join(map(event, [*differ.end(), {"type": "error", "errorText": error.message}, *_closing(where)]))
    yield DONE


def event(chunk: Chunk) -> str:
    """One chunk as a server-sent event."""
    return f"data: {json.dumps(chunk, ensure_ascii=False, separators=(',', ':')).translate(_LINES)}\n\n"


def _end(answer: Message, run: Run | None, where: Chunk) -> Iterator[Chunk]:
    if answer.status == "failed":
        yield {"type": "error", "errorText": why_failed(answer)}
    elif answer.status == "stopped":
        yield {"type": "abort"}
    yield from _closing(where | {"status": answer.status} | (_figures(run) if run else {}))


def _figures(run: Run) -> Chunk:
    return {
        "runId": str(run.id),
        "model": run.model,
        "inputTokens": run.input_tokens,
        "outputTokens": run.output_tokens,
        "costEstimate": None if run.cost_estimate is None else float(run.cost_estimate),
        "durationMs": run.duration_ms,
    }


def _closing(metadata: Chunk) -> list[Chunk]:
    return [{"type": "finish-step"}, {"type": "finish", "messageMetadata": metadata}]
