"""Retention: rules that put old conversations away and delete them; a dry run first, and each run in the audit."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from uuid6 import uuid7

from nexus_core import audit, l10n, projects
from nexus_core.database import Scope, Transaction, transaction
from nexus_core.errors import Invalid, NotFound
from nexus_core.i18n import _

LONGEST = 36_500


@dataclass(frozen=True)
class Rule:
    """After how many days without a message conversations are archived and deleted; None is never.

    A project's rule takes the place of the workspace's (`project_id` None), which holds for everything else, what is
    outside any project too. `applied_at`: when the worker applied it last, once a day.
    """

    id: UUID
    project_id: UUID | None
    project_name: str | None
    archive_after_days: int | None
    delete_after_days: int | None
    applied_at: datetime | None


@dataclass(frozen=True)
class Due:
    """What a rule would do now: conversations that it `archives`, and that it `deletes` with so many `messages`.

    `oldest`: the newest message of the one among them that lay untouched the longest; None where there is none.
    """

    rule_id: UUID
    project_id: UUID | None
    archives: int
    deletes: int
    messages: int
    oldest: datetime | None


def rules(tx: Transaction) -> list[Rule]:
    """The workspace's rule first, then those of projects by name."""
    return tx.all(Rule, "retention.rules")


def put(
    tx: Transaction, project_id: UUID | None, *, archive_after_days: int | None, delete_after_days: int | None
) -> UUID:
    """Set the rule of a project, or of the workspace; in place of an earlier one. It is applied within an hour.

    Raises Forbidden below admin, NotFound, Invalid for no or impossible days.
    """
    tx.scope.require("admin")
    days = {"archive_after_days": archive_after_days, "delete_after_days": delete_after_days}
    if all(value is None for value in days.values()):
        raise Invalid(_("Say after how many days something happens."), field="archive_after_days")
    for field, value in days.items():
        if value is not None and not 1 <= value <= LONGEST:
            raise Invalid(_("Days are between 1 and {n}.").format(n=l10n.number(LONGEST)), field=field)
    if archive_after_days and delete_after_days and delete_after_days <= archive_after_days:
        raise Invalid(_("Deleting comes after archiving: give it more days."), field="delete_after_days")
    if project_id is not None:
        projects.get(tx, project_id)
    rule_id: UUID = tx.execute("retention.put", id=uuid7(), project_id=project_id, **days).scalar_one()
    audit.record(tx, "set", "retention", rule_id, {"project_id": project_id} | days)
    return rule_id


def remove(tx: Transaction, rule_id: UUID) -> None:
    """Let a rule go; nothing that it did comes back. Raises Forbidden below admin, NotFound."""
    tx.scope.require("admin")
    row = tx.execute("retention.remove", id=rule_id).first()
    if row is None:
        raise NotFound(_("There is no such rule here."))
    audit.record(tx, "delete", "retention", rule_id, {"project_id": row.project_id})


def preview(scope: Scope) -> list[Due]:
    """The dry run: what each rule would do now, in counts, private conversations among them. Raises Forbidden."""
    scope.require("admin")
    with transaction(replace(scope, role="system")) as tx:
        return tx.all(Due, "retention.preview")


def apply() -> int:
    """Apply every rule that was not applied for a day, in all workspaces; how many rules. For the worker.

    What is deleted goes to the trash, as a person's deletion does, and from there for good; the ledger keeps its
    figures. A conversation that is being answered waits for the next day.
    """
    with transaction(Scope.system()) as tx:
        claimed = tx.rows("retention.claim")
        for rule in claimed:
            _apply(tx, rule)
    return len(claimed)


def _apply(tx: Transaction, rule: dict[str, Any]) -> None:
    where = {"of_workspace": rule["workspace_id"], "project_id": rule["project_id"]}
    done = {"deleted": 0, "archived": 0}
    if rule["delete_after_days"] is not None:
        done["deleted"] = tx.execute("retention.trash", days=rule["delete_after_days"], **where).scalar_one()
    if rule["archive_after_days"] is not None:
        done["archived"] = tx.execute("retention.archive", days=rule["archive_after_days"], **where).rowcount
    told = done | {"project_id": rule["project_id"]}
    audit.record(tx, "apply", "retention", rule["id"], told, workspace_id=rule["workspace_id"])
