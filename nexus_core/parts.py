"""A message's parts in the form of the AI SDK's UIMessage, and the provider messages that they become."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol
from uuid import UUID

from nexus_core.text import clean, clean_json

Part = dict[str, Any]
Parts = Sequence[Mapping[str, Any]]

INTERRUPTED = "Interrupted before a result came; whether the call took effect is not known."
"""The result that stands for a missing one; the same bytes each time, so that a prompt stays cacheable."""

DENIED = "The person did not allow this call."

_PARAGRAPH = "\n\n"
_NOTHING = object()


class Row(Protocol):
    """What of a stored message is needed to send it."""

    @property
    def role(self) -> str: ...
    @property
    def parts(self) -> Parts: ...
    @property
    def metadata(self) -> Mapping[str, Any]: ...
    @property
    def conversation_id(self) -> UUID: ...


@dataclass(frozen=True)
class Call:
    """A tool call fit to be sent: `arguments` is a JSON object's text; `result` None is no result yet."""

    call_id: str
    name: str
    arguments: str
    result: str | None


@dataclass(frozen=True)
class Step:
    """What a model said in one go, and the calls it asked for at its end; one of the two may be empty."""

    text: str
    calls: tuple[Call, ...] = ()


def text(value: str) -> Part:
    """A text part."""
    return {"type": "text", "text": value}


def reasoning(value: str, *, duration_ms: int | None = None) -> Part:
    """A reasoning part: kept and shown, never sent back; with how long it took, where that is known."""
    part: Part = {"type": "reasoning", "text": value}
    return part if duration_ms is None else part | {"providerMetadata": {"nexus": {"duration_ms": duration_ms}}}


def step_start() -> Part:
    """The border between two calls to the model within one assistant message."""
    return {"type": "step-start"}


def tool(call_id: str, name: str, arguments: str, *, output: Any = _NOTHING, error: str | None = None) -> Part:
    """A tool call with its result, its error, or neither yet.

    `arguments` is kept as it came (jsonb re-orders keys) beside `input`, {} where it is no JSON object.
    """
    part: Part = {
        "type": f"tool-{name}",
        "toolCallId": call_id,
        "state": "input-available",
        "input": _object(arguments) or {},
        "callProviderMetadata": {"nexus": {"arguments": arguments}},
    }
    if error is not None:
        part |= {"state": "output-error", "errorText": error}
    elif output is not _NOTHING:
        part |= {"state": "output-available", "output": output}
    return part


def body(parts: Parts) -> str:
    """The plain text of the text parts, a blank line between them."""
    return _PARAGRAPH.join(filter(str.strip, (_string(part, "text") for part in parts if _type(part) == "text")))


def steps(parts: Parts) -> list[Step]:
    """What of the parts is sent, step by step; empty when nothing is. Never raises on malformed parts.

    A step ends at a step-start, and where text follows a call. Reasoning, sources, data and unknown types are
    not sent; a file is sent as a note for now; a call whose arguments were still arriving never happened.
    """
    found: list[Step] = []
    said: list[str] = []
    calls: list[Call] = []

    def close() -> None:
        if said or calls:
            found.append(Step(_PARAGRAPH.join(said), tuple(calls)))
            said.clear()
            calls.clear()

    for part in parts:
        if _type(part) == "step-start":
            close()
        elif call := _call(part):
            calls.append(call)
        elif words := _words(part):
            if calls:
                close()
            said.append(words)
    close()
    return found


def says(parts: Parts) -> bool:
    """Whether anything of the parts is sent: `bool(steps(parts))`, without making them."""
    return any(_call(part) or _words(part) for part in parts)


def pairs(rows: Sequence[Row]) -> dict[tuple[int, int], int]:
    """Which row of role `tool` answers which call: (row, place of the call in that row) → row of the answer.

    Answers come after their call, in the same conversation; an id used again means the latest call that has
    it. A tool row that is nobody's value here is an orphan.
    """
    found: dict[tuple[int, int], int] = {}
    if not any(row.role == "tool" for row in rows):
        return found
    waiting: dict[tuple[UUID, str], list[tuple[int, int]]] = {}
    for index, row in enumerate(rows):
        if row.role == "assistant":
            latest: defaultdict[tuple[UUID, str], list[tuple[int, int]]] = defaultdict(list)
            for place, call in enumerate(call for step in steps(row.parts) for call in step.calls):
                latest[row.conversation_id, call.call_id] += [(index, place)] if call.result is None else []
            waiting.update(latest)
        elif row.role == "tool":
            asked = waiting.get((row.conversation_id, str(row.metadata.get("tool_call_id"))))
            if asked:
                found[asked.pop(0)] = index
    return found


def to_provider(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows as OpenAI chat messages, repaired on the way, so that providers accept any stored history.

    Each tool message follows the assistant message that called it; each call has exactly one result
    (INTERRUPTED where none came); call ids are unique; rows with nothing to say and answers to no call are
    left out.
    """
    answers = {call: _spoken(rows[answer]) for call, answer in pairs(rows).items()}
    ids = _Ids()
    sent: list[dict[str, Any]] = []
    for index, row in enumerate(rows):
        if row.role == "assistant":
            places = (answers.get((index, place)) for place in count())
            sent.extend(_assistant(steps(row.parts), places, ids))
        elif row.role in ("user", "system") and (said := _spoken(row)):
            sent.append({"role": row.role, "content": said})
    return sent


class _Ids:
    """Makes call ids unique within a request: some models number theirs anew in each answer."""

    def __init__(self) -> None:
        self._uses: Counter[str] = Counter()

    def take(self, call_id: str) -> str:
        taken = call_id
        while self._uses[taken]:
            self._uses[call_id] += 1
            taken = f"{call_id}_{self._uses[call_id]}"
        self._uses[taken] += 1
        return taken


def _assistant(said: Sequence[Step], answers: Iterator[str | None], ids: _Ids) -> Iterator[dict[str, Any]]:
    """The messages of one row; `answers` gives, call by call, what a tool row answered."""
    for step in said:
        calls, results = [], []
        for call, answer in zip(step.calls, answers, strict=False):
            call_id = ids.take(call.call_id)
            function = {"name": call.name, "arguments": call.arguments}
            calls.append({"id": call_id, "type": "function", "function": function})
            result = next((known for known in (call.result, answer) if known is not None), INTERRUPTED)
            results.append({"role": "tool", "tool_call_id": call_id, "content": result})
        yield {"role": "assistant", "content": step.text or None} | ({"tool_calls": calls} if calls else {})
        yield from results


def _spoken(row: Row) -> str:
    return _PARAGRAPH.join(step.text for step in steps(row.parts) if step.text)


def _type(part: Any) -> str:
    return _string(part, "type") if isinstance(part, Mapping) else ""


def _string(part: Mapping[str, Any], key: str) -> str:
    value = part.get(key)
    return clean(value) if isinstance(value, str) else ""


def _words(part: Mapping[str, Any]) -> str:
    kind = _type(part)
    if kind == "file":
        name, media = _string(part, "filename") or "unnamed", _string(part, "mediaType") or "unknown type"
        return f"[Attached file, content not shown: {name} ({media})]"
    words = _string(part, "text") if kind == "text" else ""
    return words if words.strip() else ""


def _call(part: Mapping[str, Any]) -> Call | None:
    kind = _type(part)
    if not kind.startswith(("tool-", "dynamic-tool")) or part.get("state") == "input-streaming":
        return None
    name = _string(part, "toolName") if kind == "dynamic-tool" else kind.removeprefix("tool-")
    # Providers refuse a whole request for one name that a model made up.
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "unnamed"
    return Call(_string(part, "toolCallId") or "call", name, _arguments(part), _result(part))


def _arguments(part: Mapping[str, Any]) -> str:
    came: Any = part
    for key in ("callProviderMetadata", "nexus", "arguments"):
        came = came.get(key) if isinstance(came, Mapping) else None
    if isinstance(came, str) and _object(came) is not None:
        return clean(came)
    given = part.get("input")
    return _json(given) if isinstance(given, Mapping) else "{}"


def _result(part: Mapping[str, Any]) -> str | None:
    match part.get("state"):
        case "output-available":
            output = part.get("output")
            return clean(output) if isinstance(output, str) else _json(output)
        case "output-error":
            return _string(part, "errorText") or INTERRUPTED
        case "output-denied":
            return DENIED
    return None


def _json(value: Any) -> str:
    # Sorted: the order before and after a journey through jsonb must be the same bytes.
    return json.dumps(clean_json(value), ensure_ascii=False, sort_keys=True)


def _object(arguments: str) -> dict[str, Any] | None:
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
