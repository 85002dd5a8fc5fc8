"""Looking for rare runs: one search that goes back through a whole range, step by step, until its time is over."""

import time
from collections.abc import Iterator
from functools import partial

from nexus_core import replica, runs_list
from nexus_core.database import Scope, Transaction
from nexus_core.runs import Run
from nexus_core.runs_list import Cursor, Page
from nexus_core.runs_query import Asked

PATIENCE = 20.0
"""Seconds after which such a search ends where it is, and says how far back that was."""


def look(scope: Scope, asked: Asked, *, limit: int = 50, patience: float | None = None) -> Iterator[Page]:
    """The page that an address asks for, as it fills: each holds the runs of the one before it, and perhaps more.

    Each step is a short transaction of its own. The last page is full, or has seen the whole range, or has `reached`:
    so far back it looked in `patience` seconds, PATIENCE where None. Raises Invalid as `runs_list.page` does.
    """
    runs: list[Run] = []
    after, deadline = asked.after, time.monotonic() + (PATIENCE if patience is None else patience)
    while True:
        found = replica.read(scope, partial(_page, asked, after, limit - len(runs)))
        runs += found.runs
        yield Page(list(runs), found.after, found.reached)
        after = found.after
        if found.reached is None or time.monotonic() > deadline:
            return


def _page(asked: Asked, after: Cursor | None, limit: int, tx: Transaction) -> Page:
    return runs_list.page(
        tx, asked.span, asked.filters, search=asked.search, unpriced=asked.unpriced, after=after, limit=limit
    )
