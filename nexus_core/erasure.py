"""Erasing a person: everything of theirs in a workspace goes; the ledger keeps figures, the audit a bare id."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from nexus_core import audit, people, workspaces
from nexus_core.database import Scope, Transaction, transaction
from nexus_core.errors import Forbidden, Invalid, NotFound
from nexus_core.i18n import _
from nexus_core.people import Person
from nexus_core.quotes import escaped
from nexus_core.text import one_line
from nexus_core.workspaces import Workspace

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
class Staying:
    """An entry of a project's memory that stays: it came from what the person said, or names them; `workspace` is a
    slug, `field` the list it is in."""

    workspace: str
    project_id: UUID
    project_name: str
    field: str
    entry: Mapping[str, Any]


@dataclass(frozen=True)
class Erased:
    """What an erasure removed: rows by table. Of `runs` only the person and the words went, of `memories` the name.

    `staying` are entries of memories that an editor may want to look at, `workspaces` the slugs of where it was done.
    """

    person_id: UUID
    removed: dict[str, int]
    staying: tuple[Staying, ...]
    workspaces: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """Whether the person is gone from this server; False where another workspace still has them."""
        return self.removed.get("people", 0) > 0


def erase(scope: Scope, email: str) -> Erased:
    """Erase the person with this e-mail address from the scope's workspace, at once or not at all; nothing undoes it.

    Conversations that they own go with everything in them, but a project's conversation in which others wrote goes on
    as theirs; what they wrote elsewhere goes with its answers and copies. Figures of the ledger, entries of projects'
    memories, and what others wrote stay. Raises Forbidden below admin, NotFound, and Invalid for oneself, the owner of
    this machine and the last administrator.
    """
    person, [place] = _found(scope, email)
    return _erase(scope, place, person)


def erase_everywhere(scope: Scope, email: str, *, workspace: str | None = None) -> Erased:
    """The same in every workspace that has anything of the person, or in the one with this slug; one receipt.

    For the system's scope: the command line. All workspaces are asked before the first one changes. Raises as `erase`.
    """
    if scope.role != "system":
        raise Forbidden(_("Only the command line erases in every workspace."))
    person, places = _found(scope, email)
    places = [place for place in places if workspace in (None, place.slug)]
    if not places:
        raise NotFound(_("There is nothing of this person in that workspace."))
    for place in places:
        try:
            with transaction(_within(scope, place)) as tx:
                _check(tx, person)
        except Invalid as error:
            raise Invalid(f"{place.name}: {error.message}") from error
    removed: Counter[str] = Counter()
    staying: list[Staying] = []
    for place in places:
        done = _erase(scope, place, person)
        removed.update(done.removed)
        staying += done.staying
    return Erased(person.id, dict(removed), tuple(staying), tuple(place.slug for place in places))


def staying(scope: Scope, email: str) -> list[Staying]:
    """What an erasure from the scope's workspace would leave in projects' memories. Raises as `erase` does."""
    person, [place] = _found(scope, email)
    with transaction(_within(scope, place)) as tx:
        _check(tx, person)
        return tx.all(Staying, "erasure.staying", person_id=person.id, name=person.name)


def _found(scope: Scope, email: str) -> tuple[Person, list[Workspace]]:
    """The person and where there is anything of theirs: the scope's workspace, or all where it has none."""
    scope.require("admin")
    with transaction(replace(scope, workspace_id=None, role="system")) as tx:
        person = people.by_email(tx, email)
        if person is None:
            raise NotFound(_("Nobody here has this e-mail address."))
        places = tx.all(Workspace, "erasure.places", person_id=person.id)
        places = places or [workspaces.default(tx)]  # somebody who is in none is gone from the server, too
    if scope.workspace_id is not None:
        places = [place for place in places if place.id == scope.workspace_id]
        if not places:
            raise NotFound(_("Nobody here has this e-mail address."))
    return person, places


def _within(scope: Scope, place: Workspace) -> Scope:
    return replace(scope, workspace_id=place.id, role="system")


def _erase(scope: Scope, place: Workspace, person: Person) -> Erased:
    with transaction(_within(scope, place)) as tx:
        _check(tx, person)
        tx.execute("erasure.lock_memories")
        stays = tx.all(Staying, "erasure.staying", person_id=person.id, name=person.name)
        removed = _remove(tx, person.id, person.name)
        audit.record(tx, "erase", "person", person.id, {"removed": removed, "staying": len(stays)})
    nameless = {"who": ""} if "memories" in removed else {}
    left = (
        replace(one, entry={**one.entry, **nameless}) if one.entry.get("who") == person.name else one for one in stays
    )
    return Erased(person.id, removed, tuple(left), (place.slug,))


def _check(tx: Transaction, person: Person) -> None:
    if person.id == tx.scope.user_id:
        raise Invalid(_("Nobody erases themselves; ask another administrator."))
    if person.is_local_owner:
        raise Invalid(_("This is the owner of this machine, whom Nexus makes anew at its start."))
    people.keep_an_admin(tx, person.id)


def _remove(tx: Transaction, person_id: UUID, name: str) -> dict[str, int]:
    """Rows by table, those of 0 left out."""
    found: dict[str, int] = {}

    def run(statement: str, **params: object) -> None:
        found[statement.partition(".")[2]] = tx.execute(statement, person_id=person_id, **params).rowcount

    for statement in ("erasure.lock_conversations", "erasure.stop"):
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
    tx.execute("erasure.proposal_runs", person_id=person_id, ids=sorted(touched))
    tx.execute("erasure.author", person_id=person_id)
    tx.execute("erasure.quoted_runs", quoting=ids)
    for statement in _THEIRS:
        run(statement, quoting=ids)
    return {table: rows for table, rows in found.items() if rows > 0}
