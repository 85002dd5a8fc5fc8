"""/api/budgets: how much may be spent in a month, and how much of it is."""

from datetime import UTC, datetime
from decimal import Decimal
from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Response
from pydantic import Field

from nexus_core import budgets
from nexus_core.api.schema import Camel, IfMatch, Money, Success, Who, as_instant, done, tag
from nexus_core.budgets import HIGHEST, WARN_SHARES, Status
from nexus_core.database import transaction

router = APIRouter(prefix="/budgets", tags=["Costs"])
BudgetId = Annotated[UUID, Path(description="The budget's id.")]
SCOPE = Literal["workspace", "project", "agent", "person"]
Amount = Annotated[Money, Field(ge=0, le=HIGHEST, max_digits=20, decimal_places=10)]
Share = Annotated[Money, Field(gt=0, le=9, max_digits=4, decimal_places=3)]
Shares = Annotated[list[Share], Field(max_length=10)]


class BudgetChanges(Camel):
    """What can be changed of a budget."""

    amount: Amount = Field(Decimal(0), description="US dollars a calendar month.", examples=[100])
    warn_shares: Shares = Field(
        list(WARN_SHARES), description="It warns once these shares are spent.", examples=[[0.8, 1]]
    )
    blocks: bool = Field(True, description="Whether it blocks runs that would pass it, or only warns.")
    unknown_price: Literal["warn", "block"] = Field(
        "warn", description="What it does with a run whose price can't be told."
    )


class NewBudget(BudgetChanges):
    """A budget; it takes the place of an earlier one of the same target."""

    scope: SCOPE = Field("workspace", description="Of what.", examples=["workspace"])
    target_id: UUID | None = Field(None, description="The project, agent or person; null for the workspace.")
    amount: Amount = Field(description="US dollars a calendar month.", examples=[100])


class Budget(Camel):
    """A budget, and this month by the workspace's days."""

    id: UUID = Field(description="Its id.")
    scope: SCOPE = Field(description="Of what.")
    target_id: UUID | None = Field(description="The project, agent or person; null for the workspace.")
    target_name: str | None = Field(description="What that is called.")
    amount: Money = Field(description="US dollars a calendar month.")
    warn_shares: list[Money] = Field(description="It warns once these shares are spent.")
    blocks: bool = Field(description="Whether it blocks runs that would pass it, or only warns.")
    unknown_price: Literal["warn", "block"] = Field(description="What it does with a run without a known price.")
    spent: Money = Field(description="US dollars of this month's runs that ended; at least that, with unpriced ones.")
    held: Money = Field(description="US dollars reserved for those that run.")
    left: Money = Field(description="US dollars left, 0 at least.")
    unpriced: int = Field(description="Runs of this month without a price.")
    warned: Money | None = Field(description="The highest share that is reached.")
    updated_at: datetime = Field(description="When it was changed last; the version that If-Match names.")

    @classmethod
    def of(cls, found: Status) -> "Budget":
        """A budget's state in this form."""
        return cls(**(vars(found) | vars(found.budget) | {"left": found.left}))


class DeletedBudget(Camel):
    """What was taken away."""

    id: UUID = Field(description="The budget's id.")


@router.get("", response_model=Success[list[Budget]], summary="List budgets")
def list_budgets(who: Who) -> dict[str, Any]:
    """Each with this month so far, the workspace's first."""
    with transaction(who) as tx:
        return done([Budget.of(found) for found in budgets.statuses(tx, datetime.now(UTC))])


@router.post("", response_model=Success[Budget], status_code=HTTPStatus.CREATED, summary="Set a budget")
def set_budget(who: Who, body: NewBudget, response: Response) -> dict[str, Any]:
    """In place of an earlier one of the same target. Needs the role admin."""
    with transaction(who) as tx:
        found = budgets.status(tx, budgets.put(tx, **body.model_dump()), datetime.now(UTC))
    tag(response, found.budget.updated_at)
    return done(Budget.of(found))


@router.get("/{budget_id}", response_model=Success[Budget], summary="Get a budget")
def get_budget(who: Who, budget_id: BudgetId, response: Response) -> dict[str, Any]:
    """With this month so far. The ETag is the version for If-Match."""
    with transaction(who) as tx:
        found = budgets.status(tx, budget_id, datetime.now(UTC))
    tag(response, found.budget.updated_at)
    return done(Budget.of(found))


@router.patch("/{budget_id}", response_model=Success[Budget], summary="Change a budget")
def update_budget(
    who: Who, budget_id: BudgetId, body: BudgetChanges, version: IfMatch, response: Response
) -> dict[str, Any]:
    """Only the fields that are sent change. Needs the role admin."""
    with transaction(who) as tx:
        budgets.change(tx, budget_id, unchanged_since=as_instant(version), **body.given())
        found = budgets.status(tx, budget_id, datetime.now(UTC))
    tag(response, found.budget.updated_at)
    return done(Budget.of(found))


@router.delete("/{budget_id}", response_model=Success[DeletedBudget], summary="Take a budget away")
def delete_budget(who: Who, budget_id: BudgetId) -> dict[str, Any]:
    """Nothing is blocked by it any more. Needs the role admin."""
    with transaction(who) as tx:
        budgets.remove(tx, budget_id)
    return done({"id": budget_id})
