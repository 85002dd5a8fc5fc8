"""How a run ended, what it used and cost: the sum of its model calls, each priced with its own tokens."""

from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from nexus_core import meters, pricing, tokens
from nexus_core.database import Json
from nexus_core.prices import Price
from nexus_core.pricing import OwnPrices
from nexus_core.providers import runtime_of
from nexus_core.stream import Finished, Usage

_OF_USAGE = ("input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens")
_OF_OUTCOME = (
    "served_model", "cost", "cost_source", "price_version", "duration_ms", "first_token_ms", "stopped", "error_type",
    "error_message",
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """How a run ended: `status` succeeded or failed; durations in milliseconds; `stopped` by a person."""

    status: str
    parts: list[dict[str, Any]]
    usage: Usage
    duration_ms: int
    first_token_ms: int | None
    served_model: str | None
    cost: Decimal | None
    cost_source: str | None
    price_version: str | None
    receipt: dict[str, Any]
    stopped: bool = False
    error_type: str | None = None
    error_message: str | None = None
    provider_error: str | None = None

    def figures(self) -> dict[str, Any]:
        """As parameters of the statement that ends the run."""
        calls = len(self.receipt.get("steps") or ())
        # What a loop of calls used together says nothing about the estimate of its first one.
        told = {"steps": calls} if calls > 1 else {"estimated_input_tokens": self.receipt.get("tokens")}
        return {
            "run_status": self.status,
            "usage_source": self.usage.source,
            "estimated": Json(told),
            **{name: getattr(self.usage, name) for name in _OF_USAGE},
            **{name: getattr(self, name) for name in _OF_OUTCOME},
        }

    def counted(self, model: str, api_base: str | None) -> "Outcome":
        """Itself, once this process has counted it; each attempt's end is counted once."""
        figures = vars(self.usage) | {"duration_ms": self.duration_ms, "first_token_ms": self.first_token_ms}
        where = ("answer", self.status, runtime_of(model, api_base))
        meters.ended(*where, figures, cost=self.cost, stopped=self.stopped, error_type=self.error_type)
        return self


@dataclass
class Bill:
    """The calls of one run of `model`; `calls` are {"input_tokens", "output_tokens", "reason"}, for the receipt.

    `own`: the prices that the workspace set itself, which come before the bundled ones. `unfinished`: a call has begun,
    and its end has not come.
    """

    model: str
    own: OwnPrices | None = None
    served_model: str | None = None
    unfinished: bool = True
    calls: list[dict[str, Any]] = field(default_factory=list)
    _usages: list[Usage] = field(default_factory=list)

    def begin(self) -> None:
        """Another call begins."""
        self.unfinished = True

    def add(self, end: Finished) -> None:
        """Count one call's end."""
        self.served_model = end.served_model or self.served_model
        self.unfinished = False
        self._usages.append(end.usage)
        self.calls.append(
            {"input_tokens": end.usage.input_tokens, "output_tokens": end.usage.output_tokens, "reason": end.reason}
        )

    def total(self, *, estimated_input: int | None, written: list[dict[str, Any]]) -> tuple[Usage, Price]:
        """The sum of all calls, and of their prices; one that is unknown makes the sum unknown.

        A call that was stopped or broke off told no usage: what was sent and what it had `written` is estimated. Of a
        call that gave nothing, nothing is known. `written` are the whole run's parts, step-starts between the calls.
        """
        usages = list(self._usages)
        starts = [index for index, part in enumerate(written) if part["type"] == "step-start"]
        border = starts[-1] + 1 if starts else 0
        if self.unfinished and (said := [part["text"] for part in written[border:] if "text" in part]):
            sent = tokens.count_parts(written[:border]) if border else 0
            read = None if estimated_input is None else estimated_input + sent
            usages.append(Usage(input_tokens=read, output_tokens=sum(map(tokens.count, said)), source="estimated"))
        now = datetime.now(UTC)
        prices = [pricing.price(self.own, self.model, usage, now) for usage in usages]
        amounts = [price.amount for price in prices]
        known = [amount for amount in amounts if amount is not None]
        total = sum(known, Decimal(0)) if known and len(known) == len(amounts) else None
        last = prices[-1] if prices else Price(None, None, None)
        return _sum(usages), Price(total, last.source, last.version)


def _sum(usages: list[Usage]) -> Usage:
    if not usages:
        return Usage()
    sums: dict[str, Any] = {}
    for item in fields(Usage):
        values = [getattr(usage, item.name) for usage in usages]
        if item.name == "source":
            kinds = set(values)
            sums["source"] = "provider" if kinds == {"provider"} else "none" if kinds == {"none"} else "estimated"
        else:
            # Cached and reasoning tokens may be told by some calls only; what is told is counted.
            told = [value for value in values if value is not None]
            all_needed = item.name in ("input_tokens", "output_tokens")
            sums[item.name] = sum(told) if told and (len(told) == len(values) or not all_needed) else None
    return Usage(**sums)
