"""The ledger: one row per attempt at an answer, with its model, tokens, cost and time."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from uuid6 import uuid7

from nexus_core import audit, meters
from nexus_core.database import Json, Transaction
from nexus_core.errors import Conflict, NotFound
from nexus_core.i18n import _
from nexus_core.stream import Usage


@dataclass(frozen=True)
class Run:
    """An attempt at an answer.

    `status`: planned, running, succeeded, failed or blocked. Tokens have OpenTelemetry's meaning (input includes
    cached, output includes reasoning); `cost_estimate` is in US dollars; durations are in milliseconds. None is
    unknown, never 0. Attempts of one request share its `request_id`.
    """

    id: UUID
    request_id: UUID
    attempt: int
    kind: str
    project_id: UUID | None
    task_id: UUID | None
    conversation_id: UUID | None
    agent_id: UUID | None
    user_id: UUID | None
    prompt_summary: str | None
    response_summary: str | None
    model: str
    served_model: str | None
    provider: str | None
    runtime: str | None
    profile_slug: str | None
    status: str
    input_tokens: int | None
    cached_tokens: int | None
    cache_write_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    usage_source: str
    cost_estimate: Decimal | None
    cost_source: str | None
    price_version: str | None
    duration_ms: int | None
    first_token_ms: int | None
    stopped: bool
    error_type: str | None
    error_message: str | None
    metadata: dict[str, Any]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True)
class Spent:
    """What a conversation cost: US dollars of its `runs` that have a price (None: none has), `unpriced` ones aside."""

    conversation_id: UUID
    runs: int
    unpriced: int
    cost: Decimal | None


def get(tx: Transaction, run_id: UUID) -> Run:
    """One run; raises NotFound."""
    return tx.get(Run, "runs.get", id=run_id)


def of(tx: Transaction, run_ids: list[UUID]) -> dict[UUID, Run]:
    """The runs with these ids, by id."""
    return {run.id: run for run in tx.all(Run, "runs.of", ids=run_ids)}


def recent(tx: Transaction, project_id: UUID, *, task_id: UUID | None = None, limit: int = 50) -> list[Run]:
    """A project's newest runs, newest first; those of one task when given."""
    return tx.all(Run, "runs.recent", project_id=project_id, task_id=task_id, limit=limit)


def of_conversation(tx: Transaction, conversation_id: UUID, *, limit: int = 200) -> list[Run]:
    """The newest runs of a conversation, newest first."""
    return tx.all(Run, "runs.of_conversation", conversation_id=conversation_id, limit=limit)


def spent(tx: Transaction, conversation_ids: list[UUID]) -> dict[UUID, Spent]:
    """What each of these conversations cost, by conversation; one without a run is left out."""
    found = tx.all(Spent, "runs.spent", conversations=conversation_ids)
    return {one.conversation_id: one for one in found}


def attempts(tx: Transaction, request_id: UUID) -> list[Run]:
    """Every attempt of one request, the first one first."""
    return tx.all(Run, "runs.attempts", request_id=request_id)


def receipt(tx: Transaction, run_id: UUID) -> dict[str, Any] | None:
    """What was sent for a run and what was left out, as `context` wrote it; None before its end or when forgotten."""
    row = tx.execute("runs.receipt", id=run_id).first()
    return None if row is None else dict(row.receipt)


def calibration(tx: Transaction, conversation_id: UUID, model: str) -> tuple[int | None, int | None]:
    """Input tokens that a model reported last for a conversation, and what had been estimated for that call.

    Calls of less than 500 tokens are left out: what a provider adds to each call would count for too much.
    """
    row = tx.execute("runs.calibration", conversation_id=conversation_id, model=model).first()
    return (None, None) if row is None else (row.reported, row.estimated)


def begin(
    tx: Transaction,
    kind: str,
    model: str,
    *,
    provider: str,
    runtime: str,
    profile_slug: str,
    prompt_summary: str,
    project_id: UUID | None = None,
    conversation_id: UUID | None = None,
    task_id: UUID | None = None,
    agent_id: UUID | None = None,
) -> UUID:
    """Enter a call that answers nobody (test, summary, proposal, embedding) before it is made; returns its id."""
    run_id = uuid7()
    tx.execute(
        "runs.begin",
        id=run_id,
        kind=kind,
        model=model,
        provider=provider,
        runtime=runtime,
        profile_slug=profile_slug,
        prompt_summary=prompt_summary,
        project_id=project_id,
        conversation_id=conversation_id,
        task_id=task_id,
        agent_id=agent_id,
    )
    return run_id


def newest_proposal(tx: Transaction, project_id: UUID, *, conversation_id: UUID | None = None) -> Run | None:
    """The newest run that proposed changes to a project's memory, of one conversation where given."""
    return tx.one(Run, "runs.newest_proposal", project_id=project_id, conversation_id=conversation_id)


def record(tx: Transaction, project_id: UUID, *, model: str, status: str, **fields: Any) -> Run:
    """Enter a run that was made elsewhere, or that is planned; `fields` are the columns in RECORDED.

    Raises Forbidden, NotFound (for a task or conversation that is not the project's, too), and Invalid for what the
    ledger's rules refuse: more cached than input tokens, more reasoning than output tokens.
    """
    tx.scope.require("operator")
    values = dict.fromkeys(RECORDED) | fields
    counted = any(values[field] is not None for field in ("input_tokens", "output_tokens"))
    run = tx.one(
        Run,
        "runs.record",
        id=uuid7(),
        project_id=project_id,
        model=model,
        status=status,
        usage_source="provider" if counted else "none",
        cost_source=None if values["cost_estimate"] is None else "recorded",
        **(values | {"metadata": Json(fields.get("metadata") or {})}),
    )
    if run is None:
        raise NotFound(_("There is no such project, task or conversation here."))
    audit.record(tx, "create", "run", run.id, {"model": model, "status": status})
    return run


RECORDED = (
    "task_id", "conversation_id", "prompt_summary", "response_summary", "served_model", "provider", "runtime",
    "profile_slug", "input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens",
    "cost_estimate", "duration_ms", "error_type", "error_message", "metadata",
)  # fmt: skip
"""What may be said of a run that was made elsewhere."""

CANCELLED = "cancelled"
"""The error type of a run that was called off: it counts as failed."""

NEXT = {"running": ("planned",), "succeeded": ("running",), "failed": ("planned", "running"), "blocked": ("planned",)}
"""The states of a run made elsewhere, each with those that it may follow; what has ended stays as it is."""


def advance(tx: Transaction, run_id: UUID, status: str, **fields: Any) -> Run:
    """Start, end or call off a run that is made elsewhere; `fields` are columns in RECORDED, what is not told stays.

    `status` is one of NEXT, or CANCELLED, which is stored as failed with that error type. A start and an end take the
    time; the duration is the time between them unless it is told. Raises Forbidden, NotFound, Invalid as `record` does,
    and Conflict, with the current `status` in its detail, for a state that does not follow, a run that Nexus itself
    makes, and a lost race.
    """
    tx.scope.require("operator")
    was = get(tx, run_id)
    if status == CANCELLED:
        status, fields = "failed", fields | {"error_type": CANCELLED}
    if was.kind != "external":
        raise Conflict(_("Nexus itself makes this run; it ends with its answer."), detail={"status": was.status})
    if was.status not in NEXT.get(status, ()):
        sentence = _("This run is {was}; it can't become {status}.").format(was=was.status, status=status)
        raise Conflict(sentence, detail={"status": was.status})
    values = dict.fromkeys(RECORDED) | fields
    counted = any(values[field] is not None for field in ("input_tokens", "output_tokens"))
    run = tx.one(
        Run,
        "runs.advance",
        id=run_id,
        was=was.status,
        status=status,
        usage_source="provider" if counted else None,
        cost_source=None if values["cost_estimate"] is None else "recorded",
        **(values | {"metadata": Json(values["metadata"] or {})}),
    )
    if run is None:
        raise Conflict(_("Somebody changed this run meanwhile."), detail={"status": get(tx, run_id).status})
    told = {"before": was.status, "status": status} | ({"error_type": run.error_type} if run.error_type else {})
    audit.record(tx, "update", "run", run_id, told)
    return run


def end(tx: Transaction, run_id: UUID, status: str, usage: Usage, **figures: Any) -> Run:
    """Enter how such a call ended, once: a run that has ended already stays as it is.

    `figures` are served_model, response_summary, cost, cost_source, price_version, duration_ms, first_token_ms,
    error_type and error_message; what is not given is unknown.
    """
    tx.execute(
        "runs.end",
        id=run_id,
        status=status,
        input_tokens=usage.input_tokens,
        cached_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        usage_source=usage.source,
        **(dict.fromkeys(_FIGURES) | figures),
    )
    run = get(tx, run_id)
    meters.ended(run.kind, run.status, run.runtime, vars(run), cost=run.cost_estimate, error_type=run.error_type)
    return run


_FIGURES = (
    "served_model", "response_summary", "cost", "cost_source", "price_version", "duration_ms", "first_token_ms",
    "error_type", "error_message",
)  # fmt: skip
