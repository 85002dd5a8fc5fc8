"""A workspace's own prices per model from a day on, before the bundled table; models that have none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID
from zoneinfo import ZoneInfo

from uuid6 import uuid7

from nexus_core import audit, prices, ranges, rollup
from nexus_core.database import Transaction
from nexus_core.errors import Invalid
from nexus_core.i18n import _
from nexus_core.prices import Price
from nexus_core.ranges import Range
from nexus_core.stream import Usage
from nexus_core.text import one_line

MILLION = Decimal(1_000_000)
DEAREST = Decimal(1_000_000)  # US dollars per million tokens; more is a slip of the pen
SOURCE = "own"


@dataclass(frozen=True)
class OwnPrice:
    """US dollars per million tokens of `model` from the day `valid_from` on; cached and cache-write tokens cost the
    input price where theirs is None. All None: from that day on the bundled table holds again."""

    id: UUID
    version: int
    model: str
    valid_from: date
    input_price: Decimal | None
    cached_price: Decimal | None
    cache_write_price: Decimal | None
    output_price: Decimal | None
    created_by: UUID | None
    created_at: datetime

    def amount(self, usage: Usage) -> Decimal | None:
        """What these tokens cost, in US dollars; None where input or output tokens are unknown."""
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        if self.input_price is None or self.output_price is None:
            return None
        cached, written = usage.cached_tokens or 0, usage.cache_write_tokens or 0
        cached_price = self.input_price if self.cached_price is None else self.cached_price
        written_price = self.input_price if self.cache_write_price is None else self.cache_write_price
        total = (
            max(usage.input_tokens - cached - written, 0) * self.input_price
            + cached * cached_price
            + written * written_price
            + usage.output_tokens * self.output_price
        )
        return total / MILLION


@dataclass(frozen=True)
class OwnPrices:
    """The own prices of a workspace at one moment, by model; `zone` says when a day begins."""

    zone: ZoneInfo
    by_model: Mapping[str, Sequence[OwnPrice]] = field(default_factory=dict)

    def at(self, model: str, instant: datetime) -> OwnPrice | None:
        """The own price that holds for a call at `instant`, or None."""
        day = ranges.day_of(instant, self.zone)
        begun = [item for item in self.by_model.get(model, ()) if item.valid_from <= day]
        latest = max(begun, key=lambda item: item.valid_from, default=None)
        return None if latest is None or latest.input_price is None else latest


@dataclass(frozen=True)
class Unpriced:
    """A model whose runs have tokens and no price."""

    model: str
    provider: str | None
    runs: int
    input_tokens: int | None
    output_tokens: int | None
    first_at: datetime
    last_at: datetime


def load(tx: Transaction) -> OwnPrices:
    """The own prices of the scope's workspace, to price calls with when no transaction is open."""
    by_model: dict[str, list[OwnPrice]] = {}
    for item in tx.all(OwnPrice, "pricing.own"):
        by_model.setdefault(item.model, []).append(item)
    return OwnPrices(rollup.zone(tx), by_model)


def price(own: OwnPrices | None, model: str, usage: Usage, at: datetime) -> Price:
    """What a call at `at` costs: by the workspace's own price where one holds, else by the bundled table.

    The version of an own price is `own 3`: the third that the workspace set.
    """
    mine = own.at(model, at) if own else None
    if mine is None:
        return prices.price(model, usage)
    amount = mine.amount(usage)
    return Price() if amount is None else Price(amount, SOURCE, f"own {mine.version}")


def set_price(
    tx: Transaction,
    model: str,
    valid_from: date,
    *,
    input_price: Decimal | None,
    output_price: Decimal | None,
    cached_price: Decimal | None = None,
    cache_write_price: Decimal | None = None,
) -> OwnPrice:
    """Let these prices (US dollars per million tokens) hold from a day on; without any, the bundled table again.

    Earlier versions are kept, past runs keep their price: see `repricing`. Raises Forbidden below admin, Invalid.
    """
    tx.scope.require("admin")
    model = one_line(model)
    if not model:
        raise Invalid(_("Name the model."), field="model")
    rates = (input_price, output_price, cached_price, cache_write_price)
    none = all(item is None for item in rates)
    if not none and (input_price is None or output_price is None):
        raise Invalid(_("A price needs both its input and its output price."), field="input_price")
    if any(item is not None and not (item.is_finite() and 0 <= item <= DEAREST) for item in rates):
        raise Invalid(_("A price is between 0 and 1,000,000 dollars per million tokens."), field="input_price")
    tx.execute("pricing.lock")
    made = tx.get(
        OwnPrice,
        "pricing.set",
        id=uuid7(),
        model=model,
        valid_from=valid_from,
        input_price=input_price,
        output_price=output_price,
        cached_price=cached_price,
        cache_write_price=cache_write_price,
    )
    told = {key: None if value is None else str(value) for key, value in zip(_RATES, rates, strict=True)}
    audit.record(
        tx, "set", "price", made.id, {"model": model, "from": valid_from.isoformat(), "version": made.version} | told
    )
    return made


def history(tx: Transaction) -> list[OwnPrice]:
    """Every version that was ever set, the newest first."""
    return tx.all(OwnPrice, "pricing.history")


def unpriced(tx: Transaction, span: Range) -> list[Unpriced]:
    """Models that were called in the range, told their tokens and have no price, the most used first."""
    return tx.all(Unpriced, "pricing.unpriced", from_at=span.from_at, to_at=span.to_at)


def has_tiers(model: str) -> bool:
    """Whether the bundled table prices long calls of this model otherwise, so that a sum of calls tells no price."""
    for name in {model, model.rpartition("/")[2]}:
        entry = prices.table().get(name, {})
        if entry.get("tiered_pricing") or any("_above_" in key for key in entry):
            return True
    return False


_RATES = ("input_price", "output_price", "cached_price", "cache_write_price")
