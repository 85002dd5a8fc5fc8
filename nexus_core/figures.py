"""The figures of a set of runs, and how they add up: unknown stays unknown, money stays exact."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any


@dataclass(frozen=True)
class Figures:
    """What runs used and cost together.

    `runs` counts attempts, `requests` what was asked for. `cost` is the US dollars of the `priced` runs; `unpriced`
    ended without a price, so that a total with any is "at least". Tokens are those that are known: input includes
    cached and cache-write tokens, output includes reasoning (OpenTelemetry). `priced_tokens` are input and output of
    the priced runs. `retries` are attempts after the first. None: no run tells it.
    """

    runs: int = 0
    requests: int = 0
    priced: int = 0
    unpriced: int = 0
    without_usage: int = 0
    cost: Decimal | None = None
    input_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    priced_tokens: int = 0
    retries: int = 0
    retry_cost: Decimal | None = None
    conversation_cost: Decimal | None = None
    stopped: int = 0

    @property
    def tokens(self) -> int | None:
        """Input and output tokens."""
        known = [count for count in (self.input_tokens, self.output_tokens) if count is not None]
        return sum(known) if known else None

    @property
    def at_least(self) -> bool:
        """Whether the true cost may be higher: runs without a price are among them."""
        return self.unpriced > 0


NAMES = tuple(field.name for field in fields(Figures))


def of_row(row: Any) -> Figures:
    """The figures that a statement's row holds."""
    return Figures(*(getattr(row, name) for name in NAMES))


def total(parts: Iterable[Figures]) -> Figures:
    """The sum; a figure that no part tells stays None."""
    sums: list[Any] = [None] * len(NAMES)
    for part in parts:
        for place, name in enumerate(NAMES):
            value = getattr(part, name)
            if value is not None:
                sums[place] = value if sums[place] is None else sums[place] + value
    empty = Figures()
    return Figures(*(getattr(empty, name) if value is None else value for name, value in zip(NAMES, sums, strict=True)))


def share(part: Decimal | int | None, whole: Decimal | int | None) -> float | None:
    """`part` of `whole`, 0 … 1; None where there is no whole."""
    return float(part or 0) / float(whole) if whole else None


def change(now: Decimal | int | float | None, before: Decimal | int | float | None) -> float | None:
    """How much more than before, as a share of it (0.1: 10 % more); None where there was nothing to compare with."""
    if now is None or not before:
        return None
    return (float(now) - float(before)) / float(before)
