"""How many tokens a text takes: an estimate, by a real tokenizer whose data lies in its wheel."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from nexus_core.parts import INTERRUPTED, steps

MESSAGE_OVERHEAD = 4
"""Tokens that a chat format spends around each message (role and delimiters)."""

_SLICE = 100_000
_NARROWEST, _WIDEST = 0.5, 4.0


@cache
def _encoding() -> Any:
    from bpe_openai import get_encoding  # noqa: PLC0415 - reads all its vocabularies for half a second

    return get_encoding("o200k_base")


def warm() -> None:
    """Load the tokenizer now, once (half a second), instead of with the first text."""
    _encoding()


def count(text: str) -> int:
    """Tokens of the text in o200k_base (OpenAI's, since GPT-4o); other models differ, so it is an estimate.

    Special tokens count as the plain text that they are; broken surrogates as U+FFFD. Never raises.
    """
    text = re.sub("[\ud800-\udfff]", "\ufffd", text)
    encode = _encoding().encode_ordinary
    # The tokenizer refuses a million characters at once; a slice's edge costs a token at most.
    return sum(len(encode(text[start : start + _SLICE])) for start in range(0, len(text), _SLICE))


def count_parts(parts: Sequence[Mapping[str, Any]]) -> int:
    """Tokens of one message row as a provider gets it, an estimate: text, tool calls and their results.

    A row of several steps is several messages, each with its overhead. Reasoning is not sent, so not counted.
    """
    total = 0
    for step in steps(parts):
        total += MESSAGE_OVERHEAD + count(step.text)
        for call in step.calls:
            total += count(call.name) + count(call.arguments)
            total += MESSAGE_OVERHEAD + count(INTERRUPTED if call.result is None else call.result)
    return max(total, MESSAGE_OVERHEAD)


def scale(reported: int | None, estimated: int | None) -> float:
    """What to multiply an estimate with, from what a provider last reported for the same text: 0.5 to 4.

    1.0 where either is unknown or not positive.
    """
    if not reported or not estimated or reported < 0 or estimated < 0:
        return 1.0
    return min(max(reported / estimated, _NARROWEST), _WIDEST)
