"""Erasing a person: everything of theirs in a workspace goes; the ledger keeps figures, the audit a bare id."""

from dataclasses import dataclass, replace
from uuid import UUID

from nexus_core import audit, people
from nexus_core.database import Scope, Transaction, transaction
from nexus_core.errors import Invalid, NotFound
from nexus_core.i18n import _
from nexus_core.quotes import escaped
from nexus_core.text import one_line

QUOTED = "> — "
"""Where the built-in assistant names whom it quotes."""

_TOUCHED = ("erasure.untitle", "erasure.own_summaries", "erasure.summaries", "erasure.shares")
_THEIRS = (
    "erasure.proposals", "erasure.conversations", "erasure.receipts", "erasure.messages", "erasure.sums",
    "erasure.runs", "erasure.reads", "erasure.views", "erasure.budgets", "erasure.tokens", "erasure.memberships",
    "erasure.former", "erasure.people",
)  # fmt: skip
"""In this order: what is found through a row goes before that row."""


@dataclass(frozen=True)
class Erased:
    """What an erasure removed: rows by table. Of `runs` only the person and the words went, of `memories` the name."""

    person_id: UUID
    removed: dict[str, int]

    @property
    def whole(self) -> bool:
        """Whether the person is gone from this server; False where another workspace still has them."""
        return self.removed.get("people", 0) > 0


def erase(scope: Scope, email: str) -> Erased:
    """Erase the member with this e-mail address from the scope's workspace, at once or not at all; nothing undoes it.

    Conversations that they own go with everything in them, but a project's conversation in which others wrote goes on
    as theirs; what they wrote elsewhere goes with its answers and copies. Figures of the ledger, entries of projects'
    memories, and what others wrote stay. Raises Forbidden below admin, NotFound, and Invalid for oneself, the owner of
    this machine and the last administrator.
    """
    scope.require("admin")
    if scope.workspace_id is None:
        raise Invalid(_("An erasure needs a workspace."))
    with transaction(replace(scope, role="system")) as tx:
        person = people.by_email(tx, email)
        if person is None:
            raise NotFound(_("Nobody here has this e-mail address."))
        _check(tx, person.id, is_local_owner=person.is_local_owner)
        removed = _remove(tx, person.id, person.name)
        audit.record(tx, "erase", "person", person.id, {"removed": removed})
    return Erased(person.id, removed)


def _check(tx: Transaction, person_id: UUID, *, is_local_owner: bool) -> None:
    if person_id == tx.scope.user_id:
        raise Invalid(_("Nobody erases themselves; ask another administrator."))
    if is_local_owner:
        raise Invalid(_("This is the owner of this machine, whom Nexus makes anew at its start."))
    people.keep_an_admin(tx, person_id)


def _remove(tx: Transaction, person_id: UUID, name: str) -> dict[str, int]:
    """Rows by table, those of 0 left out."""
    found: dict[str, int] = {}

    def run(statement: str, **params: object) -> None:
        found[statement.partition(".")[2]] = tx.execute(statement, person_id=person_id, **params).rowcount

    for statement in ("erasure.lock_memories", "erasure.lock_conversations", "erasure.stop"):
        tx.execute(statement, person_id=person_id)
    unique = bool(name) and not tx.execute("erasure.namesakes", person_id=person_id, name=name).scalar_one()
    run("erasure.tags")
    while tx.execute("erasure.quotes", person_id=person_id).rowcount:
        pass
    run("erasure.hand_over")
    quoting = tx.rows("erasure.quoting", mark=QUOTED + escaped(one_line(name))) if unique else []
    ids = [row["id"] for row in quoting]
    touched = {row["id"] for row in tx.rows("erasure.touched", person_id=person_id)}
    touched |= {row["conversation_id"] for row in quoting}
    for statement in _TOUCHED:
        run(statement, ids=sorted(touched))
    if unique:
        found["memories"] = tx.execute("erasure.named", name=name).rowcount
        tx.execute("erasure.named_before", name=name)
    tx.execute("erasure.author", person_id=person_id)
    tx.execute("erasure.quoted_runs", quoting=ids)
    for statement in _THEIRS:
        run(statement, quoting=ids)
    return {table: rows for table, rows in found.items() if rows > 0}
