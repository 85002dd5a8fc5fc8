"""Whether a run may begin: the budgets that it counts against are asked before a model is."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from nexus_core import budgets, pricing, tokens
from nexus_core.budgets import settle
from nexus_core.database import Transaction
from nexus_core.i18n import _
from nexus_core.stream import Usage

ANSWER_TOKENS = 1_000
"""Expected of an answer where the profile sets no limit."""
ADDED_TOKENS = 2_000
"""Expected of what goes in besides instructions and messages: memory, summary and recalled passages."""

__all__ = ["ask", "expected", "settle"]


def expected(message_tokens: int, instructions: str, params: dict[str, Any]) -> Usage:
    """The tokens that a call is expected to use, rather too many than too few: what is reserved for it."""
    limit = params.get("max_tokens") or params.get("max_completion_tokens")
    made = limit if isinstance(limit, int) and limit > 0 else ANSWER_TOKENS
    return Usage(
        input_tokens=message_tokens + tokens.count(instructions) + ADDED_TOKENS, output_tokens=made, source="estimated"
    )


def ask(
    tx: Transaction,
    run_id: UUID,
    request_id: UUID,
    model: str,
    usage: Usage,
    *,
    project_id: UUID | None = None,
    agent_id: UUID | None = None,
) -> str | None:
    """Reserve what a run that was just entered is expected to cost: None when it may begin, else the reason why not.

    A run that may not begin is `blocked` in the ledger from then on; what the budgets warn of is kept with one that
    may. To be called in the transaction that enters the run; `settle` in the one that ends it gives the rest back.
    """
    now = datetime.now(UTC)
    decision = budgets.reserve(
        tx,
        request_id,
        estimate=pricing.price(pricing.load(tx), model, usage, now).amount,
        project_id=project_id,
        agent_id=agent_id,
        user_id=tx.scope.user_id,
        now=now,
    )
    if not decision.allowed:
        reason = f"{decision.reason} {_('An administrator can change the budget.')}"
        budgets.block(tx, run_id, reason)
        return reason
    if decision.warnings:
        budgets.warn(tx, run_id, decision.warnings)
    return None
