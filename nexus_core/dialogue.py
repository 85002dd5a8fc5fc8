"""The messages that a client of OpenAI's chat completions resends each time: what is history in them, what is new."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Protocol

from nexus_core import parts
from nexus_core.errors import Invalid
from nexus_core.i18n import _
from nexus_core.parts import Part
from nexus_core.text import clean


class Piece(Protocol):
    """A message in OpenAI's form."""

    @property
    def role(self) -> str: ...
    @property
    def content(self) -> Any: ...
    @property
    def tool_calls(self) -> Sequence[Any] | None: ...
    @property
    def tool_call_id(self) -> str | None: ...


@dataclass
class Said:
    """One turn of a history: all that the user said before an answer, or the whole answer, its calls' results in it."""

    role: str
    parts: list[Part]

    @property
    def text(self) -> str:
        """Its plain text."""
        return parts.body(self.parts)


@dataclass
class Heard:
    """What a client sent: the texts of its system, the turns before, and what is new, a question or calls' results.

    `results` (call id → text) came after the last answer; `question` is None where nothing came after them.
    """

    instructions: str = ""
    history: list[Said] = field(default_factory=list)
    question: str | None = None
    results: dict[str, str] = field(default_factory=dict)

    def digest(self) -> str:
        """Of all that was said up to the user's last turn, this question too; the system's texts may change."""
        rows = self.history if self.question is None else [*self.history, _user(self.question)]
        return _digest(rows)

    def former_digest(self) -> str | None:
        """What `digest` was when the last answer of the history was asked for; None without one."""
        answered = bool(self.history) and self.history[-1].role == "assistant"
        return _digest(self.history) if answered and len(self.history) > 1 else None

    def goes_on_from(self, text: str) -> bool:
        """Whether the history ends with an answer of this text, white space aside."""
        return bool(self.history) and _words(self.history[-1].text) == _words(text)


def hear(messages: Iterable[Piece]) -> Heard:
    """Read a client's messages. Raises Invalid: for what is no text, for a result without a call, for no end to answer.

    What one side says in a row is one turn: messages of the user, an answer's calls, results and further texts.
    """
    heard, system = Heard(), []
    for number, message in enumerate(messages):
        text = _text(message.content, f"messages.{number}.content")
        if message.role in ("system", "developer"):
            system.append(text)
        elif message.role == "user":
            _add(heard.history, "user", [parts.text(text)] if text.strip() else [])
        elif message.role == "assistant":
            heard.results = {}
            _add(heard.history, "assistant", [*([parts.text(text)] if text.strip() else []), *_calls(message)])
        elif message.role == "tool":
            _answer(heard, str(message.tool_call_id or ""), text, f"messages.{number}.tool_call_id")
        else:
            raise Invalid(_("A role is system, developer, user, assistant or tool."), field=f"messages.{number}.role")
    heard.instructions = "\n\n".join(filter(str.strip, system))
    if heard.history and heard.history[-1].role == "user":
        heard.question = heard.history.pop().text
    if not heard.results and not (heard.question or "").strip():
        raise Invalid(_("The last message has to be the user's, with a text, or a tool's result."), field="messages")
    return heard


def _user(text: str) -> Said:
    return Said("user", [parts.text(text)])


def _add(history: list[Said], role: str, added: list[Part]) -> None:
    if history and history[-1].role == role:
        border = [parts.step_start()] if role == "assistant" and added else []
        history[-1].parts += [*border, *added]
    else:
        history.append(Said(role, added))


def _calls(message: Piece) -> list[Part]:
    return [parts.tool(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or ()]


def _answer(heard: Heard, call_id: str, text: str, where: str) -> None:
    """Put a result beside its call; one that comes alone is for the answer that is remembered."""
    if not call_id:
        raise Invalid(_("Say which call this is the result of."), field=where)
    heard.results[call_id] = text
    if not heard.history:
        return
    for part in reversed(heard.history[-1].parts):
        if part.get("toolCallId") == call_id:
            part |= {"state": "output-available", "output": text}
            return
    raise Invalid(_("There is no call {id} before this result.").format(id=call_id), field=where)


def _text(content: Any, where: str) -> str:
    """The text of a message's content: a string, a list of text parts, or nothing."""
    if content is None or isinstance(content, str):
        return content or ""
    said = []
    for part in content:
        kind = part.get("type") if isinstance(part, Mapping) else None
        value = part.get("text", part.get("refusal")) if kind in ("text", "refusal") else None
        if not isinstance(value, str):
            raise Invalid(_("Only text can be sent; images, sound and files can't yet."), field=where)
        said.append(value)
    return "\n".join(said)


def _digest(rows: Sequence[Said]) -> str:
    """Of the turns up to the user's last one, white space aside: clients strip and wrap."""
    last = max((n for n, row in enumerate(rows) if row.role == "user"), default=-1)
    said = [[row.role, _words(row.text)] for row in rows[: last + 1]]
    return sha256(json.dumps(said).encode()).hexdigest()


def _words(text: str) -> str:
    return " ".join(clean(text).split())
