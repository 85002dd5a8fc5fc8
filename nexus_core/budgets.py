"""Budgets of a month: how much is spent, and whether one more run may begin: reserve, then settle."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from uuid6 import uuid7

from nexus_core import audit, costs, l10n, ranges, rollup
from nexus_core.costs import Reader
from nexus_core.database import Transaction
from nexus_core.errors import Conflict, Invalid, NotFound
from nexus_core.filters import Filters
from nexus_core.i18n import _

SCOPES = ("workspace", "project", "agent", "person")
WARN_SHARES = (Decimal("0.5"), Decimal("0.8"), Decimal(1))
HIGHEST = Decimal(1_000_000_000)


@dataclass(frozen=True)
class Budget:
    """`amount` US dollars a calendar month for the workspace, or for one project, agent or person (`target_id`).

    It warns once a share of `warn_shares` is spent, and `blocks` runs that would pass the amount, or never does.
    `unknown_price`: what it does with a run whose price can't be told, warn or block.
    """

    id: UUID
    scope: str
    target_id: UUID | None
    target_name: str | None
    amount: Decimal
    warn_shares: Sequence[Decimal]
    blocks: bool
    unknown_price: str
    updated_at: datetime


@dataclass(frozen=True)
class Status:
    """A budget this month: `spent` by runs that ended (at least that, with `unpriced` ones), `held` for those that run.

    `warned` is the highest share of its warnings that is reached, None for none.
    """

    budget: Budget
    spent: Decimal
    held: Decimal
    unpriced: int
    warned: Decimal | None

    @property
    def left(self) -> Decimal:
        """US dollars left, 0 at least."""
        return max(self.budget.amount - self.spent - self.held, Decimal(0))


@dataclass(frozen=True)
class Decision:
    """Whether a run may begin. `reason` is the sentence for the person when not; `warnings` are sentences, too."""

    allowed: bool
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    blocked_by: UUID | None = None


def put(
    tx: Transaction,
    scope: str,
    amount: Decimal,
    *,
    target_id: UUID | None = None,
    warn_shares: Sequence[Decimal] = WARN_SHARES,
    blocks: bool = True,
    unknown_price: str = "warn",
) -> UUID:
    """Set the budget of a target, in place of an earlier one; returns its id. Raises Forbidden below admin, Invalid,
    NotFound for a target that is not here."""
    tx.scope.require("admin")
    if scope not in SCOPES or (scope == "workspace") != (target_id is None):
        raise Invalid(_("A budget is for the workspace, or for one project, agent or person."), field="scope")
    if not amount.is_finite() or not 0 <= amount <= HIGHEST:
        raise Invalid(_("A budget is between 0 and a billion dollars."), field="amount")
    if any(not 0 < share <= 9 for share in warn_shares) or unknown_price not in ("warn", "block"):
        raise Invalid(_("A warning comes at a share above 0."), field="warn_shares")
    targets = {f"{name}_id": target_id if scope == name else None for name in SCOPES[1:]}
    budget_id = tx.execute(
        "budgets.set",
        id=uuid7(),
        scope=scope,
        amount=amount,
        warn_shares=sorted(warn_shares),
        blocks=blocks,
        unknown_price=unknown_price,
        **targets,
    ).scalar_one()
    told = {
        "scope": scope,
        "target": target_id,
        "amount": str(amount),
        "blocks": blocks,
        "unknown_price": unknown_price,
    }
    audit.record(tx, "set", "budget", budget_id, told)
    return UUID(str(budget_id))


def change(tx: Transaction, budget_id: UUID, *, unchanged_since: datetime | None = None, **fields: Any) -> None:
    """Change what is given of a budget: `amount`, `warn_shares`, `blocks`, `unknown_price`.

    Raises what `put` raises, NotFound, and Conflict where it was changed after `unchanged_since`, an `updated_at`.
    """
    tx.scope.require("admin")
    before = tx.one(Budget, "budgets.held_for_change", id=budget_id)
    if before is None:
        raise NotFound(_("There is no such budget here."))
    if unchanged_since not in (None, before.updated_at):
        version = {"version": before.updated_at.isoformat()}
        raise Conflict(_("Somebody changed this budget meanwhile."), detail=version)
    kept = {name: getattr(before, name) for name in ("amount", "warn_shares", "blocks", "unknown_price")}
    put(tx, before.scope, target_id=before.target_id, **(kept | fields))


def remove(tx: Transaction, budget_id: UUID) -> None:
    """Take a budget away; raises Forbidden below admin, NotFound."""
    tx.scope.require("admin")
    row = tx.execute("budgets.remove", id=budget_id).first()
    if row is None:
        raise NotFound(_("There is no such budget here."))
    audit.record(tx, "delete", "budget", budget_id, {"scope": row.scope})


def statuses(tx: Transaction, now: datetime) -> list[Status]:
    """Every budget in the month of `now`, the workspace's first."""
    return _status(tx, tx.all(Budget, "budgets.all"), now)


def status(tx: Transaction, budget_id: UUID, now: datetime) -> Status:
    """One budget in the month of `now`; raises NotFound."""
    for found in statuses(tx, now):
        if found.budget.id == budget_id:
            return found
    raise NotFound(_("There is no such budget here."))


def reserve(
    tx: Transaction,
    request_id: UUID,
    *,
    estimate: Decimal | None,
    project_id: UUID | None,
    agent_id: UUID | None,
    user_id: UUID | None,
    now: datetime,
) -> Decision:
    """Ask every budget that a request counts against, and reserve `estimate` (US dollars; None: no price is known).

    To be called in the transaction that enters the run: the budgets stay locked until it ends, so that of two requests
    for the last cent the second one sees the first one's hold. Nothing is reserved when one budget says no. A hold
    counts while a run of the request is planned or running, so a crash frees it by itself.
    """
    with tx.unlimited():
        mine = tx.all(Budget, "budgets.hold_on", project_id=project_id, agent_id=agent_id, person_id=user_id)
        found = _status(tx, mine, now)
    warnings = []
    for item in found:
        reason = _refusal(item, estimate)
        if reason:
            return Decision(False, reason, blocked_by=item.budget.id)
        warnings += _warnings(item, estimate)
    if mine:
        ids = [item.id for item in mine]
        tx.execute("budgets.reserve", request_id=request_id, amount=estimate or Decimal(0), ids=ids)
    return Decision(True, warnings=tuple(warnings))


def settle(tx: Transaction, request_id: UUID) -> None:
    """Give back what a request reserved; what it cost stands in the ledger. In the transaction that ends its run."""
    tx.execute("budgets.settle", request_id=request_id)


def sweep(tx: Transaction) -> int:
    """Remove holds of requests that ended without settling; they did not count any more. For the reaper's timer."""
    return tx.execute("budgets.sweep").rowcount


def block(tx: Transaction, run_id: UUID, reason: str) -> None:
    """Enter that a budget did not let a run begin, with the reason, so that the ledger shows it."""
    tx.execute("budgets.block", run_id=run_id, reason=reason)


def warn(tx: Transaction, run_id: UUID, warnings: Sequence[str]) -> None:
    """Keep with a run what its budgets have to say; shown under its answer."""
    tx.execute("budgets.warn", run_id=run_id, warnings=list(warnings))


def _status(tx: Transaction, mine: list[Budget], now: datetime) -> list[Status]:
    if not mine:
        return []
    month = ranges.make("month", rollup.zone(tx).key, now, grain="month")
    held = {row.budget_id: row.amount for row in tx.execute("budgets.held", ids=[item.id for item in mine])}
    found = []
    for item in mine:
        cost, unpriced = costs.spent(Reader(tx, month, _runs_of(item)))
        reached = [share for share in item.warn_shares if item.amount and cost >= share * item.amount]
        found.append(Status(item, cost, held.get(item.id, Decimal(0)), unpriced, max(reached, default=None)))
    return found


def _runs_of(budget: Budget) -> Filters:
    target = (budget.target_id,)
    by_scope = {"project": Filters(project=target), "agent": Filters(agent=target), "person": Filters(person=target)}
    return by_scope.get(budget.scope, Filters())


def _refusal(item: Status, estimate: Decimal | None) -> str | None:
    if estimate is None and item.budget.unknown_price == "block":
        return _(
            "This model has no known price, and the budget of the {target} lets only priced models answer."
        ).format(target=_target(item.budget))
    full = item.spent + item.held >= item.budget.amount if not estimate else item.left < estimate
    if item.budget.blocks and full and estimate != 0:
        return _("The budget of the {target} for this month, {amount} dollars, is used up.").format(
            target=_target(item.budget), amount=l10n.number(item.budget.amount, 2)
        )
    return None


def _warnings(item: Status, estimate: Decimal | None) -> list[str]:
    found = []
    if estimate is None:
        found.append(_("This model has no known price, so its spend is not counted against the budget."))
    if item.warned is not None:
        share = l10n.percent(float((item.spent + item.held) / item.budget.amount))
        found.append(
            _("{share} of this month's budget of the {target} is spent.").format(
                share=share, target=_target(item.budget)
            )
        )
    return found


def _target(budget: Budget) -> str:
    names = {"workspace": _("workspace"), "project": _("project"), "agent": _("agent"), "person": _("person")}
    return names[budget.scope]
