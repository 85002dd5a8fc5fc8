"""New prices for past runs: looked at first, applied as one batch, undone as one; old amounts are kept."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from uuid6 import uuid7

from nexus_core import audit, pricing, ranges
from nexus_core.database import Transaction
from nexus_core.errors import Conflict, Invalid, NotFound
from nexus_core.i18n import _
from nexus_core.pricing import OwnPrices
from nexus_core.ranges import Range
from nexus_core.stream import Usage

CHUNK = 5_000
PLACES = Decimal("1e-10")  # what the ledger keeps of a dollar


@dataclass(frozen=True)
class Change:
    """What a re-pricing does to the runs of one model and day: US dollars before (None: none had a price) and after."""

    model: str
    day: date
    runs: int
    before: Decimal | None
    after: Decimal


@dataclass(frozen=True)
class Batch:
    """A re-pricing that was applied to `runs`; `models` None: to every model."""

    id: UUID
    models: list[str] | None
    from_at: datetime
    to_at: datetime
    runs: int
    created_by: UUID | None
    created_at: datetime
    undone_by: UUID | None
    undone_at: datetime | None


@dataclass(frozen=True)
class _Repriced:
    id: UUID
    model: str
    created_at: datetime
    old: Decimal | None
    new: Decimal
    source: str | None
    version: str | None


def preview(tx: Transaction, span: Range, *, models: list[str] | None = None) -> list[Change]:
    """What `apply` would change, by model and day; runs whose price stays or stays unknown are left out."""
    tx.scope.require("admin")
    own = pricing.load(tx)
    found: dict[tuple[str, date], list[_Repriced]] = {}
    for run in _changed(tx, span, models, own):
        found.setdefault((run.model, ranges.day_of(run.created_at, own.zone)), []).append(run)
    return [_change(model, day, runs) for (model, day), runs in sorted(found.items())]


def apply(tx: Transaction, span: Range, *, models: list[str] | None = None) -> Batch:
    """Give the runs of a range the prices of today; at most those of `models`. Raises Forbidden, Invalid.

    A run that somebody prices anew at the same time is left alone. Reports follow at once.
    """
    tx.scope.require("admin")
    tx.execute("pricing.lock")
    own = pricing.load(tx)
    batch_id, done = uuid7(), 0
    tx.execute("pricing.begin", id=batch_id, models=models, from_at=span.from_at, to_at=span.to_at)
    chunk: list[_Repriced] = []
    for run in _changed(tx, span, models, own):
        chunk.append(run)
        if len(chunk) == CHUNK:
            done, chunk = done + _write(tx, batch_id, chunk), []
    done += _write(tx, batch_id, chunk)
    if not done:
        raise Invalid(_("No run of this range would get another price."))
    tx.execute("pricing.close", id=batch_id, runs=done)
    ends = {"from": span.from_at.isoformat(), "to": span.to_at.isoformat()}
    audit.record(tx, "apply", "repricing", batch_id, ends | {"models": models, "runs": done})
    return tx.get(Batch, "pricing.batch", id=batch_id)


def undo(tx: Transaction, batch_id: UUID) -> Batch:
    """Give the runs of a batch their old prices back; raises NotFound, and Conflict when it is undone already or a
    later batch holds the same runs: undo that one first."""
    tx.scope.require("admin")
    tx.execute("pricing.lock")
    batch = tx.one(Batch, "pricing.batch", id=batch_id)
    if batch is None:
        raise NotFound(_("There is no such re-pricing here."))
    if batch.undone_at is not None:
        raise Conflict(_("This re-pricing was undone already."))
    if tx.execute("pricing.later", id=batch_id).scalar():
        raise Conflict(_("A later re-pricing changed the same runs; undo that one first."))
    tx.execute("pricing.undo", id=batch_id)
    tx.execute("pricing.undone", id=batch_id)
    audit.record(tx, "undo", "repricing", batch_id, {"runs": batch.runs})
    return tx.get(Batch, "pricing.batch", id=batch_id)


def batches(tx: Transaction) -> list[Batch]:
    """Every re-pricing, the newest first."""
    return tx.all(Batch, "pricing.batches")


def _changed(tx: Transaction, span: Range, models: list[str] | None, own: OwnPrices) -> Iterator[_Repriced]:
    """The runs that would get another known price.

    A run of several calls tells the sum of their tokens, which a tiered price can't be found from: it is left alone
    unless an own price, which has no tiers, holds.
    """
    after: tuple[datetime | None, UUID | None] = (None, None)
    ends = {"from_at": span.from_at, "to_at": span.to_at, "models": models}
    tx.execute("rollup.plan")
    while True:
        rows = tx.execute("pricing.runs", **ends, after_at=after[0], after_id=after[1], limit=CHUNK).all()
        for row in rows:
            if row.steps > 1 and pricing.has_tiers(row.model) and own.at(row.model, row.created_at) is None:
                continue
            found = pricing.price(own, row.model, _usage(row), row.created_at)
            new = None if found.amount is None else found.amount.quantize(PLACES)
            if new is not None and new != row.cost_estimate:
                yield _Repriced(row.id, row.model, row.created_at, row.cost_estimate, new, found.source, found.version)
        if len(rows) < CHUNK:
            return
        after = rows[-1].created_at, rows[-1].id


def _usage(row: Any) -> Usage:
    return Usage(
        row.input_tokens,
        row.cached_tokens,
        row.cache_write_tokens,
        row.output_tokens,
        row.reasoning_tokens,
        row.usage_source,
    )


def _write(tx: Transaction, batch_id: UUID, runs: list[_Repriced]) -> int:
    if not runs:
        return 0
    return tx.execute(
        "pricing.apply",
        repricing_id=batch_id,
        ids=[run.id for run in runs],
        old_costs=[run.old for run in runs],
        costs=[run.new for run in runs],
        sources=[run.source for run in runs],
        versions=[run.version for run in runs],
    ).rowcount


def _change(model: str, day: date, runs: list[_Repriced]) -> Change:
    known = [run.old for run in runs if run.old is not None]
    before = sum(known, Decimal(0)) if known else None
    return Change(model, day, len(runs), before, sum((run.new for run in runs), Decimal(0)))
