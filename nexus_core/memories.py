"""The living memory of a project: its summary and lists, at a version, and every version that it had."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from nexus_core import audit
from nexus_core.database import Json, Transaction
from nexus_core.entries import FIELDS, is_web
from nexus_core.errors import Conflict, Invalid, NotFound
from nexus_core.i18n import _

Entry = Mapping[str, Any]
CHECKED = frozenset({"hand", "proposal"})
"""Sources whose new links must lead somewhere; a program may keep what it calls a link."""


@dataclass(frozen=True)
class Memory:
    """A project's memory at `version`.

    `decisions` are {"id", "what", "why", "status" (active, superseded), "decided_on", "who", "message_id",
    "conversation_id"}, `open_questions` {"id", "question", "status" (open, answered), "answer"}, `risks` {"id", "risk",
    "likelihood", "impact", "mitigation", "status" (open, closed)}, `links` {"id", "label", "url"}; an entry may be a
    plain string and may lack fields.
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


@dataclass(frozen=True)
class Saved:
    """When and by whom a version was made, and from what: `source` is hand, proposal, api, restore, import or sql."""

    version: int
    source: str
    proposal_id: UUID | None
    restored_from: int | None
    note: str
    created_by: UUID | None
    created_by_name: str | None
    created_at: datetime


@dataclass(frozen=True)
class Revision(Saved):
    """A version with all that it held."""

    project_id: UUID
    summary_md: str
    decisions: list[Any]
    open_questions: list[Any]
    risks: list[Any]
    links: list[Any]
    metadata: dict[str, Any]


def get(tx: Transaction, project_id: UUID) -> Memory:
    """A project's memory; raises NotFound."""
    return tx.get(Memory, "memories.get", project_id=project_id)


def locked(tx: Transaction, project_id: UUID) -> Memory:
    """A project's memory, which nobody else changes until this transaction ends; raises NotFound."""
    tx.execute("memories.lock", project_id=project_id)
    return get(tx, project_id)


def values(memory: Memory | Revision) -> dict[str, Any]:
    """What a memory or one of its versions holds: FIELDS."""
    return {field: getattr(memory, field) for field in FIELDS}


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
    proposal_id: UUID | None = None,
    restored_from: int | None = None,
) -> Memory:
    """Replace the memory that was read at `version` by the next one, and keep it as a revision.

    `version` None replaces whichever is current, for programs that know no versions.
    Raises Forbidden, NotFound, Invalid, and Conflict when somebody replaced that version first: `detail` has then
    the current `version`, what it holds as `current`, and as `base` what was read, where it was ever stored.
    """
    tx.scope.require("operator")
    lists = {"decisions": decisions, "open_questions": open_questions, "risks": risks, "links": links}
    for field, value in lists.items():
        if not isinstance(value, (list, tuple)) or not all(isinstance(item, (str, Mapping)) for item in value):
            raise Invalid(_("This must be a list of entries."), field=field)
    before = get(tx, project_id)
    if source in CHECKED:
        _check_links(before.links, links)
    row = tx.execute(
        "memories.replace",
        project_id=project_id,
        version=version,
        summary_md=summary_md,
        metadata=Json(dict(metadata) if metadata is not None else before.metadata),
        source=source,
        note=note,
        proposal_id=proposal_id,
        restored_from=restored_from,
        **{field: Json(list(value)) for field, value in lists.items()},
    ).first()
    if row is None:
        raise _lost(tx, project_id, version)
    after = get(tx, project_id)
    audit.record(tx, "update", "memory", project_id, {"version": after.version, "source": source})
    return after


def revisions(tx: Transaction, project_id: UUID, *, before: int | None = None, limit: int = 50) -> list[Saved]:
    """The versions of a memory, newest first, at most `limit`; those before version `before` when given."""
    return tx.all(Saved, "memories.revisions", project_id=project_id, before=before, limit=limit)


def revision(tx: Transaction, project_id: UUID, version: int) -> Revision:
    """One version; raises NotFound."""
    return tx.get(Revision, "memories.revision", project_id=project_id, version=version)


def as_of(tx: Transaction, project_id: UUID, at: datetime) -> Revision:
    """The version that was current at an instant; raises NotFound for one before the project was made."""
    found = tx.one(Revision, "memories.as_of", project_id=project_id, at=at)
    if found is None:
        raise NotFound(_("This memory did not exist yet at that time."))
    return found


def restore(tx: Transaction, project_id: UUID, version: int, *, read: int | None) -> Memory:
    """Make an earlier version the next one; what was current when version `read` was stays as a revision.

    Raises Forbidden, NotFound, and Conflict as `replace` does.
    """
    wanted = revision(tx, project_id, version)
    kept: dict[str, Any] = {"metadata": wanted.metadata, "source": "restore", "restored_from": version}
    return replace(tx, project_id, version=read, **values(wanted), **kept)


def _lost(tx: Transaction, project_id: UUID, version: int | None) -> Conflict:
    now = get(tx, project_id)
    detail: dict[str, Any] = {"version": now.version, "current": values(now)}
    read = tx.one(Revision, "memories.revision", project_id=project_id, version=version)
    if read is not None:
        detail["base"] = values(read)
    return Conflict(_("Somebody changed this memory meanwhile; look at both versions and save again."), detail=detail)


def _check_links(before: Sequence[Any], after: Sequence[Any]) -> None:
    for entry in after:
        url = str(entry.get("url") or "") if isinstance(entry, Mapping) else ""
        if url and entry not in before and not is_web(url):
            sentence = _("{address} is not an address of the web, such as https://example.com.")
            raise Invalid(sentence.format(address=url), field="links")
