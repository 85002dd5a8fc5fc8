"""How the price of a run came about: tokens times price, line by line; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from nexus_core import prices, pricing
from nexus_core.prices import Rates
from nexus_core.pricing import MILLION, OwnPrice
from nexus_core.runs import Run

ROUNDING = Decimal("0.000000001")  # amounts are kept with ten digits after the point, call by call


@dataclass(frozen=True)
class Line:
    """`tokens` at `per_million` US dollars per million are `amount`; None is unknown. `kind`: input (neither read from
    nor written to a cache), cached, cache_write, output (without reasoning where that is known) or reasoning."""

    kind: str
    tokens: int | None
    per_million: Decimal | None
    amount: Decimal | None


@dataclass(frozen=True)
class Priced:
    """The lines of a run. `known`: their prices are those that it was priced with, and their sum is its amount."""

    lines: tuple[Line, ...]
    known: bool


def of(run: Run, own: Sequence[OwnPrice] = (), calls: Sequence[Mapping[str, Any]] = ()) -> Priced:
    """The price lines of a run; `own` are the workspace's prices, `calls` its model calls as its receipt has them.

    Prices that are not those of then (another version of the table, calls of several tiers) are not shown: lines whose
    sum is not the amount would explain nothing.
    """
    rates = _rates(run, own, calls) if run.cost_estimate is not None else None
    found = _lines(run, rates)
    total = sum((line.amount or Decimal(0) for line in found), Decimal(0))
    if rates is None or run.cost_estimate is None or abs(total - run.cost_estimate) > ROUNDING * max(1, len(calls)):
        return Priced(_lines(run, None), False)
    return Priced(found, True)


def _rates(run: Run, own: Sequence[OwnPrice], calls: Sequence[Mapping[str, Any]]) -> Rates | None:
    if run.cost_source == pricing.SOURCE:
        price = next((item for item in own if run.price_version == f"{pricing.SOURCE} {item.version}"), None)
        return None if price is None else _own_rates(price)
    if run.cost_source in ("local", "built in"):
        return Rates(*[Decimal(0)] * 5)
    if run.cost_source == "litellm" and run.price_version == prices.version():
        told = [int(call["input_tokens"]) for call in calls if call.get("input_tokens") is not None]
        return prices.rates(run.model, max(told, default=run.input_tokens or 0))
    return None


def _own_rates(price: OwnPrice) -> Rates | None:
    if price.input_price is None or price.output_price is None:
        return None
    cached = price.input_price if price.cached_price is None else price.cached_price
    written = price.input_price if price.cache_write_price is None else price.cache_write_price
    per_million = (price.input_price, price.output_price, cached, written, price.output_price)
    return Rates(*(amount / MILLION for amount in per_million))


def _lines(run: Run, rates: Rates | None) -> tuple[Line, ...]:
    cached, written, thought = run.cached_tokens or 0, run.cache_write_tokens or 0, run.reasoning_tokens or 0
    plain = None if run.input_tokens is None else max(run.input_tokens - cached - written, 0)
    said = None if run.output_tokens is None else max(run.output_tokens - thought, 0)
    rate = asdict(rates) if rates else {}
    wanted = [("input", plain), ("cached", cached), ("cache_write", written), ("output", said), ("reasoning", thought)]
    return tuple(
        _line(kind, tokens, rate.get(kind)) for kind, tokens in wanted if tokens or kind in ("input", "output")
    )


def _line(kind: str, tokens: int | None, rate: Decimal | None) -> Line:
    if rate is None:
        return Line(kind, tokens, None, None)
    return Line(kind, tokens, rate * MILLION, None if tokens is None else tokens * rate)
