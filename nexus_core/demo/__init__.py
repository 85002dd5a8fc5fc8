"""The demo workspace: a year of a made-up company, loaded in one step and removed in one step."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from nexus_core import audit, rollup
from nexus_core.database import Scope, Transaction, transaction
from nexus_core.demo.cast import Row, content
from nexus_core.demo.plan import MAIL, Size, make
from nexus_core.errors import Conflict, Forbidden, NotFound
from nexus_core.i18n import _
from nexus_core.workspaces import Membership

WORKSPACE = UUID("0190a5e0-de30-7000-8000-64656d6f6e78")
"""The same everywhere: the demo is told from other workspaces by its id, whatever it is called."""
SLUG = "demo"
FULL = Size()
CHUNK = 5_000
"""Rows written by one statement."""


def load(scope: Scope, *, now: datetime | None = None, size: Size | None = None) -> Scope:
    """Fill the demo workspace for the person of `scope`, an administrator elsewhere; returns their scope in it.

    All of it or nothing: one transaction, under the policies of the demo's own scope. The same `now` and `size` make
    the same rows. Afterwards it is summed up, so that reports are fast from the first one on. Raises Forbidden below
    admin, Conflict where it is there already or another workspace has its short name.
    """
    scope.require("admin")
    if scope.user_id is None:
        raise Forbidden(_("The demo is loaded by a person."))
    now, size = now or datetime.now(UTC), size or FULL
    there = Scope(WORKSPACE, scope.user_id, "admin", scope.door)
    with transaction(Scope(WORKSPACE, scope.user_id, "system", scope.door)) as tx:
        if tx.execute("demo.exists").scalar_one():
            raise Conflict(_("The demo workspace is there already."))
    rows = make(scope.user_id, now, size)
    with transaction(there) as tx:
        tx.execute("demo.workspace", slug=SLUG, name=_("Demo (made-up data)"), zone=content("cast")["zone"])
        for statement in _WRITTEN:
            _write(tx, statement, rows[statement.partition(".")[2]])
        audit.record(tx, "create", "workspace", WORKSPACE, {"slug": SLUG, "demo": True})
    rollup.refresh(there, now, limit=size.summed)
    return there


def remove(scope: Scope) -> None:
    """Remove the demo workspace with everything in it, its audit included, and the people made up for it.

    The person of `scope` is its administrator, or the owner of this machine at the command line. That it was removed
    is in the audit of the other workspaces of that person. Raises Forbidden, NotFound.
    """
    with transaction(Scope(WORKSPACE, scope.user_id, "system", scope.door)) as tx:
        if not tx.execute("demo.exists").scalar_one():
            raise NotFound(_("There is no demo workspace."))
        if scope.door != "cli" and tx.execute("demo.role", person_id=scope.user_id).scalar() != "admin":
            raise Forbidden(_("Only an administrator of the demo workspace removes it."))
        tx.execute("demo.remove")
        tx.execute("demo.remove_people", mail=MAIL)
        for row in tx.execute("demo.homes", person_id=scope.user_id).all():
            told = {"slug": SLUG, "demo": True}
            audit.record(tx, "delete", "workspace", WORKSPACE, told, workspace_id=row.workspace_id)


def membership(places: Sequence[Membership]) -> Membership | None:
    """The demo among the workspaces of a person."""
    return next((place for place in places if place.workspace_id == WORKSPACE), None)


def _write(tx: Transaction, statement: str, rows: list[Row]) -> None:
    for begin in range(0, len(rows), CHUNK):
        known = [{key: value for key, value in row.items() if value is not None} for row in rows[begin : begin + CHUNK]]
        tx.execute(statement, rows=json.dumps(known, default=str, ensure_ascii=False))


_WRITTEN = (
    "demo.people", "demo.memberships", "demo.profiles", "demo.prices", "demo.projects", "demo.tasks", "demo.agents",
    "demo.tags", "demo.conversations", "demo.tagged", "demo.runs", "demo.messages", "demo.summaries", "demo.reads",
    "demo.proposals", "demo.revisions", "demo.memories", "demo.budgets", "demo.audit",
)  # fmt: skip
"""What is pointed to before what points to it."""
