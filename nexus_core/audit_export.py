"""The audit as a file: every entry that fits, read page by page; the export is an entry itself."""

import json
from collections.abc import Iterator

from nexus_core import audit, exports
from nexus_core.audit import Entry, Wanted
from nexus_core.database import Scope, transaction

COLUMNS = ("number", "id", "at", "user_id", "person", "door", "action", "entity", "entity_id", "detail")


def begin(scope: Scope, wanted: Wanted) -> Iterator[list[Entry]]:
    """The entries that fit, the newest first, in pieces, each read in a transaction of its own.

    The audit has it before the first piece is read. Raises Forbidden below admin.
    """
    scope.require("admin")
    with transaction(scope) as tx:
        audit.record(tx, "export", "audit", None)
    return _pages(scope, wanted)


def csv(scope: Scope, wanted: Wanted) -> Iterator[bytes]:
    """The same as CSV, written while it is read: instants in UTC, `detail` as JSON. Raises Forbidden below admin."""
    return _pieces(begin(scope, wanted))


def _pages(scope: Scope, wanted: Wanted) -> Iterator[list[Entry]]:
    after = None
    while True:
        with transaction(scope) as tx:
            page = audit.page(tx, wanted, after=after, limit=audit.LIMIT)
        yield page.entries
        after = page.after
        if after is None:
            return


def _pieces(pages: Iterator[list[Entry]]) -> Iterator[bytes]:
    yield exports.csv_lines([COLUMNS], first=True)
    for entries in pages:
        yield exports.csv_lines([_row(entry) for entry in entries])


def _row(entry: Entry) -> list[object]:
    found = vars(entry) | {"person": entry.user_name, "detail": json.dumps(entry.detail, ensure_ascii=False)}
    return [found[name] for name in COLUMNS]
