"""The runs of an address as CSV: every one of them, written while they are read, safe in a spreadsheet."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from nexus_core import audit, costs, exports, ranges, runs_list
from nexus_core.database import Scope, Transaction, transaction
from nexus_core.runs import Run
from nexus_core.runs_list import LIMIT, Page
from nexus_core.runs_query import Asked

COLUMNS = (
    "id", "request_id", "attempt", "created_at", "started_at", "finished_at", "status", "kind", "provider", "model",
    "served_model", "runtime", "profile_slug", "project_id", "project", "task_id", "task", "agent_id", "agent",
    "user_id", "person", "conversation_id", "input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens",
    "reasoning_tokens", "usage_source", "cost_estimate", "cost_source", "price_version", "duration_ms",
    "first_token_ms", "stopped", "error_type", "error_message", "prompt_summary", "response_summary",
)  # fmt: skip
_NAMED = {"project": "project_id", "task": "task_id", "agent": "agent_id", "person": "user_id"}


def begin(scope: Scope, asked: Asked) -> Iterator[bytes]:
    """The file piece by piece, from the first run of the range on; the audit has it before the first piece is read.

    Money is in US dollars, durations in milliseconds, instants in the range's time zone with their offset; unknown is
    empty. Each piece is read in a transaction of its own. Runs that are entered meanwhile are not in it.
    """
    asked = replace(asked, after=None, span=replace(asked.span, to_at=min(asked.span.to_at, asked.span.now)))
    with transaction(scope) as tx:
        audit.record(tx, "export", "run", None, {"query": asked.query()})
    return _pieces(scope, asked)


def _pieces(scope: Scope, asked: Asked) -> Iterator[bytes]:
    yield exports.csv_lines([COLUMNS], first=True)
    after = None
    while True:
        with transaction(scope) as tx:
            page = runs_list.page(
                tx, asked.span, asked.filters, search=asked.search, unpriced=asked.unpriced, after=after, limit=LIMIT
            )
            rows = _rows(tx, page, asked.span.zone)
        yield exports.csv_lines(rows)
        after = page.after
        if after is None:
            return


def _rows(tx: Transaction, page: Page, zone: str) -> list[Sequence[Any]]:
    ids = {getattr(run, column) for run in page.runs for column in _NAMED.values()}
    names = costs.names(tx, list(ids))
    info = ranges.zone_of(zone)

    def value(run: Run, column: str) -> Any:
        if column in _NAMED:
            return names.get(getattr(run, _NAMED[column]))
        found = getattr(run, column)
        return found.astimezone(info) if column.endswith("_at") and found else found

    return [[value(run, column) for column in COLUMNS] for run in page.runs]
