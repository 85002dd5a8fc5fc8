"""The table of runs: any filter, the newest first, page by page from a known run on."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from nexus_core.database import Transaction
from nexus_core.errors import Invalid
from nexus_core.filters import Filters
from nexus_core.i18n import _
from nexus_core.ranges import Range
from nexus_core.runs import Run

Cursor = tuple[datetime, UUID]
LIMIT = 500


@dataclass(frozen=True)
class Page:
    """Some runs, the newest first; `after` begins the next page, None when there is none."""

    runs: list[Run]
    after: Cursor | None


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
    after_at, after_id = after or (None, None)
    # The index is entered where the range ends: a page that begins further down must say so.
    end = span.to_at if after_at is None else min(span.to_at, after_at + timedelta(microseconds=1))
    found = tx.all(
        Run,
        "runs_list.page",
        from_at=span.from_at,
        to_at=end,
        after_at=after_at,
        after_id=after_id,
        search=_pattern(search),
        unpriced=unpriced,
        limit=limit + 1,
        **(filters or Filters()).params(),
    )
    runs = found[:limit]
    return Page(runs, (runs[-1].created_at, runs[-1].id) if len(found) > limit else None)


def _pattern(search: str) -> str | None:
    words = search.strip()
    if not words:
        return None
    return "%" + words.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_") + "%"
