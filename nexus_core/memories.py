"""The living memory of a project: its summary and lists, at a version."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from nexus_core import audit
from nexus_core.database import Json, Transaction
from nexus_core.errors import Conflict, Invalid
from nexus_core.i18n import _

Entry = Mapping[str, Any]
LISTS = ("decisions", "open_questions", "risks", "links")


@dataclass(frozen=True)
class Memory:
    """A project's memory at `version`.

    `decisions` are {"id", "what", "why", "status" (active, superseded), "decided_on", "who", "message_id"},
    `open_questions` {"id", "question", "status" (open, answered), "answer"}, `risks` {"id", "risk", "likelihood",
    "impact", "mitigation", "status" (open, closed)}, `links` {"id", "label", "url"}; an entry may be a plain string
    and may lack fields.
    """

    project_id: UUID
    version: int
    summary_md: str
    decisions: list[Any]
    open_questions: list[Any]
    risks: list[Any]
    links: list[Any]
    metadata: dict[str, Any]
    updated_by: UUID | None
    updated_by_name: str | None
    updated_at: datetime


def get(tx: Transaction, project_id: UUID) -> Memory:
    """A project's memory; raises NotFound."""
    return tx.get(Memory, "memories.get", project_id=project_id)


def replace(
    tx: Transaction,
    project_id: UUID,
    *,
    version: int | None,
    summary_md: str,
    decisions: Sequence[Any] = (),
    open_questions: Sequence[Any] = (),
    risks: Sequence[Any] = (),
    links: Sequence[Any] = (),
    metadata: Entry | None = None,
    source: str = "hand",
    note: str = "",
) -> Memory:
    """Replace the memory that was read at `version` by the next one, and keep it as a revision.

    `version` None replaces whichever is current, for programs that know no versions.
    Raises Forbidden, NotFound, Invalid, and Conflict when somebody replaced that version first; `detail["version"]`
    is then the current one.
    """
    tx.scope.require("operator")
    values = {"decisions": decisions, "open_questions": open_questions, "risks": risks, "links": links}
    for field, value in values.items():
        if not isinstance(value, (list, tuple)) or not all(isinstance(item, (str, Mapping)) for item in value):
            raise Invalid(_("This must be a list of entries."), field=field)
    before = get(tx, project_id)
    row = tx.execute(
        "memories.replace",
        project_id=project_id,
        version=version,
        summary_md=summary_md,
        metadata=Json(dict(metadata) if metadata is not None else before.metadata),
        source=source,
        note=note,
        **{field: Json(list(value)) for field, value in values.items()},
    ).first()
    if row is None:
        raise Conflict(
            _("Somebody changed this memory meanwhile; look at both versions and save again."),
            detail={"version": before.version},
        )
    after = get(tx, project_id)
    audit.record(tx, "update", "memory", project_id, {"version": after.version, "source": source})
    return after


def main_text(entry: Any) -> str:
    """The sentence of an entry of any of the lists."""
    if isinstance(entry, str):
        return entry
    keys = ("what", "question", "risk", "label", "text", "title")
    return next((str(entry[key]) for key in keys if entry.get(key)), "")
