"""Moving conversations to another project, and what that changes about memory and about who sees them."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from nexus_core import audit, projects
from nexus_core.database import Transaction
from nexus_core.errors import Busy, Forbidden, NotFound
from nexus_core.i18n import _
from nexus_core.shelf import MOST


@dataclass(frozen=True)
class Used:
    """Runs of the conversations made in a project (None: outside any): with its memory, with quotes from its other
    conversations, in their prompts."""

    project_id: UUID | None
    project_name: str | None
    with_memory: int
    with_quotes: int


@dataclass(frozen=True)
class Effect:
    """What a move changes: `moving` conversations really change their place.

    `used` tells whose memory they were answered from. `members` of the workspace will see those of them that their
    owner alone sees now (`opened`); `closed` ones will be seen by their owner alone. `others`: owned by somebody else.
    """

    moving: int
    opened: int
    closed: int
    members: int
    others: int
    used: tuple[Used, ...]


def effect(tx: Transaction, ids: Collection[UUID], project_id: UUID | None) -> Effect:
    """What moving these to a project (None: outside any) would change. Raises as `move` does, but for Busy."""
    found = [row for row in _pick(tx, ids, project_id) if row["project_id"] != project_id]
    used = tx.all(Used, "moves.used", ids=[row["id"] for row in found])
    return Effect(
        moving=len(found),
        opened=sum(row["project_id"] is None for row in found),
        closed=len(found) if project_id is None else 0,
        members=int(tx.execute("moves.members").scalar_one()),
        others=sum(row["user_id"] != tx.scope.user_id for row in found),
        used=tuple(one for one in used if one.with_memory or one.with_quotes),
    )


def move(tx: Transaction, ids: Collection[UUID], project_id: UUID | None) -> list[UUID]:
    """Move conversations to a project, or outside any; those that changed their place.

    Messages, search and a person's rolling memory with an agent follow at once, so that nothing of it is remembered in
    the former project. What was spent stays on the former project's account, and a task stays behind. One's own, or
    any that one sees as an admin; out of a project only one's own, for it would vanish from sight. All or none: raises
    Forbidden, NotFound, and Busy while one of them is being answered.
    """
    moving = [row for row in _pick(tx, ids, project_id) if row["project_id"] != project_id]
    if any(row["running"] for row in moving):
        raise Busy(_("One of these is answering just now; stop it or wait for its end, then move it."))
    for row in moving:
        tx.execute("moves.move", id=row["id"], project_id=project_id)
        audit.record(tx, "move", "conversation", row["id"], {"from": row["project_id"], "to": project_id})
    return [row["id"] for row in moving]


def _pick(tx: Transaction, ids: Collection[UUID], project_id: UUID | None) -> list[dict[str, Any]]:
    tx.scope.require("operator")
    if project_id is not None:
        projects.get(tx, project_id)
    wanted = sorted(set(ids))[: MOST + 1]
    found = list(tx.rows("moves.pick", ids=wanted))
    if len(found) < len(wanted):
        raise NotFound(_("There is no such conversation here."))
    if any(row["user_id"] != tx.scope.user_id for row in found):
        tx.scope.require("admin")
        if project_id is None:
            raise Forbidden(_("Only whose conversation it is can take it out of a project."))
    return found
