"""What a person decides about a proposal: accept, edit or reject it line by line, against the memory as it is now."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from nexus_core import memories, proposals, suggestions
from nexus_core.database import Transaction
from nexus_core.entries import LISTS, MAIN, by_key, is_known, main_text, put
from nexus_core.errors import Conflict, Invalid
from nexus_core.i18n import _
from nexus_core.memories import Memory
from nexus_core.memory_merge import Clash, merge
from nexus_core.proposals import Line, Proposal


@dataclass(frozen=True)
class Decision:
    """How it stands afterwards. `clashes` are lines that still wait, by id, with what the memory says in their place:
    somebody changed that since; None: it is gone."""

    proposal: Proposal
    memory: Memory
    clashes: dict[UUID, Any]


def accept(
    tx: Transaction,
    proposal_id: UUID,
    line_ids: Collection[UUID] | None = None,
    *,
    edits: Mapping[UUID, Any] | None = None,
    version: int | None = None,
) -> Decision:
    """Take lines into the memory, all that wait where none are named; they become one revision.

    Each is joined with what others changed since it was proposed. `edits` replaces what a line would write: of a list
    the fields given, of the summary its text; an edited line overrides what stands there, as seen at `version`.
    Raises Forbidden, NotFound, Invalid, and Conflict where nothing could be taken: `detail` has "version" and
    "current", what stands in the place of each line by its id.
    """
    tx.scope.require("operator")
    proposal = proposals.locked(tx, proposal_id)
    memory = memories.locked(tx, proposal.project_id)
    if edits and version is not None and version != memory.version:
        raise _meanwhile(memory, {})
    wanted = _wanted(proposal, line_ids, edits or {})
    held, done, clashes = memories.values(memory), {}, {}
    for line in wanted:
        place = _place(held, line)
        found = suggestions.applied(held, line) if line.id in (edits or {}) else _taken(held, line, place)
        if isinstance(found, Clash):
            clashes[line.id] = place
            continue
        known = found == held
        held = found
        done[line.id] = replace(line, status="known" if known else "accepted")
    if clashes and not done:
        raise _meanwhile(memory, clashes)
    decided = proposals.decide(tx, proposal, done)
    if held != memories.values(memory):
        about: dict[str, Any] = {"version": memory.version, "source": "proposal", "proposal_id": proposal_id}
        memory = memories.replace(tx, proposal.project_id, **about, **held)
    return Decision(decided, memory, clashes)


def reject(tx: Transaction, proposal_id: UUID, line_ids: Collection[UUID] | None = None) -> Proposal:
    """Refuse lines, all that wait where none are named; they are not proposed again. Raises as `accept` does."""
    tx.scope.require("operator")
    proposal = proposals.locked(tx, proposal_id)
    lines = _wanted(proposal, line_ids, {})
    return proposals.decide(tx, proposal, {line.id: replace(line, status="rejected") for line in lines})


def _wanted(proposal: Proposal, line_ids: Collection[UUID] | None, edits: Mapping[UUID, Any]) -> list[Line]:
    """The lines to decide, as edited; those that are decided already too, where they are named, to be refused."""
    if line_ids is None and not proposal.pending:
        raise Conflict(_("Somebody has decided this already."), detail={"status": proposal.status})
    lines = [
        line for line in proposal.lines if (line.id in line_ids if line_ids is not None else line.status == "pending")
    ]
    if line_ids is not None and len(lines) < len(set(line_ids)):
        raise Invalid(_("This proposal has no such line."), field="lines")
    return [replace(line, after=_edited(line, edits[line.id])) if line.id in edits else line for line in lines]


def _edited(line: Line, edit: Any) -> Any:
    if line.field == "summary_md":
        if not isinstance(edit, str):
            raise Invalid(_("The summary is a text."), field="edits")
        return edit
    if not isinstance(edit, Mapping):
        raise Invalid(_("An entry is an object with its fields."), field="edits")
    base = line.after if isinstance(line.after, Mapping) else line.before if isinstance(line.before, Mapping) else {}
    made = dict(base) | dict(edit)
    if not main_text(made).strip():
        raise Invalid(_("Write the sentence of the entry."), field=MAIN[line.field])
    return made


def _place(held: Mapping[str, Any], line: Line) -> Any:
    """What stands now where the line would write."""
    return held[line.field] if line.field == "summary_md" else by_key(held[line.field]).get(line.key or "")


def _taken(held: dict[str, Any], line: Line, place: Any) -> dict[str, Any] | Clash:
    """The memory with the line in it, joined with what others made of its place since; or what clashes."""
    if line.op == "add":
        known = is_known(main_text(line.after), [main_text(entry) for entry in held[line.field]])
        return held if known else held | {line.field: [*held[line.field], line.after]}
    empty: dict[str, Any] = {"summary_md": "", **{field: [] for field in LISTS}}
    if line.field == "summary_md":
        before, after, now = line.before or "", line.after or "", place
    else:
        # Found by its key in the list, for a plain sentence has no id that would survive the change.
        before, after, now = ([entry] if entry is not None else [] for entry in (line.before, line.after, place))
        if now in (before, after):
            return held | {line.field: put(held[line.field], line.key, line.after)}
    joined = merge(empty | {line.field: before}, empty | {line.field: after}, empty | {line.field: now})
    if joined.clashes:
        return joined.clashes[0]
    if line.field == "summary_md":
        return held | {line.field: joined.values()["summary_md"]}
    return held | {line.field: put(held[line.field], line.key, next(iter(joined.values()[line.field]), None))}


def _meanwhile(memory: Memory, current: Mapping[UUID, Any]) -> Conflict:
    told = {str(line_id): place for line_id, place in current.items()}
    return Conflict(
        _("Somebody changed this part of the memory meanwhile; look at it and edit the line, or reject it."),
        detail={"version": memory.version, "current": told},
    )
