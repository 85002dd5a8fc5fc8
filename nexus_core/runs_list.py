"""The table of runs: any filter, the newest first, page by page from a known run on."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from nexus_core.database import Transaction
from nexus_core.errors import Invalid
from nexus_core.filters import PARAMETERS, Filters
from nexus_core.i18n import _
from nexus_core.ranges import Range
from nexus_core.runs import Run

Cursor = tuple[datetime, UUID]
LIMIT = 500
FIRST_STRETCH = 500
STRETCH = 5_000
"""Runs looked through by one statement where no index leads to those that are wanted."""
PATIENCE = 0.5
"""Seconds after which such a page ends, full or not; it says how far back it looked."""
_INDEXED = ("conversation", "task", "person", "agent", "status", "project")
"""The dimensions that have an index in the order of time; where several are asked for, the first one leads."""


@dataclass(frozen=True)
class Page:
    """Some runs, the newest first; `after` begins the next page, None when there is none.

    `reached`: the page is not full, for looking further back than this would have taken too long; `after` goes on.
    """

    runs: list[Run]
    after: Cursor | None
    reached: datetime | None = None


def page(
    tx: Transaction,
    span: Range,
    filters: Filters | None = None,
    *,
    search: str = "",
    unpriced: bool | None = None,
    after: Cursor | None = None,
    limit: int = 50,
) -> Page:
    """The runs of a range that fit, from below `after` on, at most `limit`; raises Invalid over 500.

    `search` is looked for in what was asked, answered and reported as an error and in the model's name, as it is
    written, in any case. `unpriced`: only those that ended without a price, or only the others.
    """
    if not 0 < limit <= LIMIT:
        raise Invalid(_("A page has 500 rows at most."), field="limit")
    tx.execute("rollup.plan")
    wanted = filters or Filters()
    params = wanted.params() | {"search": _pattern(search), "unpriced": unpriced}
    lead = next((name for name in _INDEXED if _leads(name, getattr(wanted, name))), None)
    if params["search"] is None and unpriced is None and wanted.dimensions() <= {lead}:
        found = _read(tx, span.from_at, span.to_at, after, limit + 1, params)
        return Page(found[:limit], _last(found[:limit]) if len(found) > limit else None)
    return _walk(tx, span, after, limit, params, lead)


def _leads(name: str, values: Sequence[object] | None) -> bool:
    """Whether the index of a dimension leads to these values; what is usual or missing has none."""
    return values is not None and None not in values and not (name == "status" and "succeeded" in values)


def _walk(
    tx: Transaction, span: Range, after: Cursor | None, limit: int, params: dict[str, Any], lead: str | None
) -> Page:
    """Stretch by stretch back in time, each a short statement, until the page is full or patience is over."""
    found: list[Run] = []
    deadline = time.monotonic() + PATIENCE
    along = {PARAMETERS[name]: params[PARAMETERS[name]] if name == lead else None for name in _INDEXED}
    rows = min(FIRST_STRETCH, STRETCH)
    while True:
        ends = {"from_at": span.from_at, "to_at": _end(span.to_at, after)}
        floor = tx.execute("runs_list.stretch", rows=rows, **ends, **_keyset(after), **along).scalar()
        found += _read(tx, floor or span.from_at, span.to_at, after, limit + 1 - len(found), params)
        if len(found) > limit:
            return Page(found[:limit], _last(found[:limit]))
        if floor is None:
            return Page(found, None)
        after = (floor, UUID(int=0))  # below every run of that moment: they were all looked at
        if time.monotonic() > deadline:
            return Page(found, after, floor)
        rows = STRETCH


def _read(
    tx: Transaction, from_at: datetime, to_at: datetime, after: Cursor | None, limit: int, params: dict[str, Any]
) -> list[Run]:
    ends = {"from_at": from_at, "to_at": _end(to_at, after)}
    return tx.all(Run, "runs_list.page", limit=limit, **ends, **_keyset(after), **params)


def _end(to_at: datetime, after: Cursor | None) -> datetime:
    """The index is entered where the range ends: a page that begins further down must say so."""
    return to_at if after is None else min(to_at, after[0] + timedelta(microseconds=1))


def _keyset(after: Cursor | None) -> dict[str, Any]:
    after_at, after_id = after or (None, None)
    return {"after_at": after_at, "after_id": after_id}


def _last(runs: list[Run]) -> Cursor:
    return runs[-1].created_at, runs[-1].id


def _pattern(search: str) -> str | None:
    words = search.strip()
    if not words:
        return None
    return "%" + words.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_") + "%"
