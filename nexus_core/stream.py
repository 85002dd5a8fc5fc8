"""What flows from a model to whoever watches: small frozen events, the same for every model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class TextDelta:
    """A piece of the answer; whole characters only."""

    text: str


@dataclass(frozen=True)
class ReasoningDelta:
    """A piece of what the model thought before answering, where it says so."""

    text: str


@dataclass(frozen=True)
class ToolCall:
    """A complete call that the model asks for; `arguments` is the JSON text exactly as it came."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Usage:
    """Tokens of one model call, with OpenTelemetry's meaning: input includes cached, output includes reasoning.

    None is unknown, never 0. `source` is provider, estimated or none.
    """

    input_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    source: str = "none"


@dataclass(frozen=True)
class Finished:
    """The call's end: why it ended (stop, length, tool_calls, content_filter), who served it, what it used."""

    reason: str
    served_model: str | None = None
    usage: Usage = Usage()


Event = TextDelta | ReasoningDelta | ToolCall | Finished


@dataclass(frozen=True)
class ModelRequest:
    """One call to a model.

    `model` is litellm's name (openai/gpt-5.4-mini, anthropic/…, ollama/…) or builtin/recall; `messages` and `tools`
    have the OpenAI chat completions form; `params` are extra parameters (temperature, max_tokens, …);
    `first_chunk_timeout` and `idle_timeout` are in seconds.
    """

    model: str
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    api_base: str | None = None
    first_chunk_timeout: float = 60.0
    idle_timeout: float = 60.0
