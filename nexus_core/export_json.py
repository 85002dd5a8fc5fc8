"""A conversation as JSON, lossless: the document of `formats`, written piece by piece."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from nexus_core.database import Transaction
from nexus_core.errors import NotFound
from nexus_core.formats import FORMAT, VERSION, Document, Run
from nexus_core.i18n import _

ROWS = 50


def head(tx: Transaction, conversation_id: UUID) -> dict[str, Any]:
    """What there is about a conversation but its messages, summaries and runs; raises NotFound."""
    row = next(iter(tx.rows("exchange.conversation", id=conversation_id)), None)
    if row is None:
        raise NotFound(_("There is no such conversation here."))
    return row


def messages(tx: Transaction, conversation_id: UUID, *, hidden: bool) -> Iterator[dict[str, Any]]:
    """Its messages in their order, read a few at a time; with `hidden`, the versions that are not shown too."""
    after = 0
    while True:
        rows = tx.rows("exchange.messages", conversation_id=conversation_id, after=after, hidden=hidden, limit=ROWS)
        yield from rows
        if len(rows) < ROWS:
            return
        after = rows[-1]["seq"]


def write(tx: Transaction, conversation_id: UUID) -> Iterator[str]:
    """The document, a line for each message; the same bytes for the same conversation. Raises NotFound."""
    row = head(tx, conversation_id)
    imported = row.pop("imported")
    runs = _runs(tx, conversation_id, imported.get("runs", []))
    known = {run["id"] for run in runs}
    from_ = {key: imported[key] for key in ("format", "id")} if "format" in imported else None
    told = {"format": FORMAT, "version": VERSION} | row | {"imported_from": from_, "runs": runs}
    told["summaries"] = tx.rows("exchange.summaries", conversation_id=conversation_id)
    yield "{\n"
    for name in Document.model_fields:
        if name != "messages":
            yield f" {_text(name)}: {_text(told[name])},\n"
    yield ' "messages": ['
    separator = "\n  "
    for message in messages(tx, conversation_id, hidden=True):
        wrote = imported.get("run_of", {}).get(str(message["seq"]), message["run_id"])
        message["run_id"] = wrote if str(wrote) in known else None
        yield separator + _text(message)
        separator = ",\n  "
    yield "\n ]\n}\n"


def _runs(tx: Transaction, conversation_id: UUID, elsewhere: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The ledger's runs and those that an import brought along, as they are written."""
    here = [json.loads(_text(row)) for row in tx.rows("exchange.runs", conversation_id=conversation_id)]
    known = {run["id"] for run in here}
    both = here + [{name: run[name] for name in Run.model_fields} for run in elsewhere if run["id"] not in known]
    return sorted(both, key=lambda run: (run["created_at"], run["id"]))


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)


def _plain(value: Any) -> str:
    """Instants in UTC, money as exact text."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return f"{value.normalize():f}" if isinstance(value, Decimal) else str(value)
