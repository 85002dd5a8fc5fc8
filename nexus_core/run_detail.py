"""One run whole: its attempts, what was sent and what came back, its price, and all of it as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from nexus_core import conversations, costs, messages, price_lines, pricing, run_sent, runs, telemetry
from nexus_core.database import Transaction
from nexus_core.messages import Message
from nexus_core.price_lines import Priced
from nexus_core.run_sent import Sent
from nexus_core.runs import Run


@dataclass(frozen=True)
class Repriced:
    """What a re-pricing made of a run's amount; `undone_at`: since when the old one holds again."""

    old_cost: Decimal | None
    old_source: str | None
    old_version: str | None
    new_cost: Decimal | None
    new_source: str | None
    new_version: str | None
    created_at: datetime
    undone_at: datetime | None


@dataclass(frozen=True)
class Detail:
    """A run with all that hangs on it.

    `attempts` are those of its request, the first one first. `title` is the conversation's, None where there is none
    or it is not this person's to read: then `receipt`, `provider_error`, `answer` and `sent` are None, too. `answer` is
    the message of the request's last attempt. `names` are those of projects, agents, people and tasks by id.
    """

    run: Run
    attempts: tuple[Run, ...]
    title: str | None
    task_project: UUID | None
    receipt: dict[str, Any] | None
    provider_error: str | None
    answer: Message | None
    sent: Sent | None
    priced: Priced
    repriced: tuple[Repriced, ...]
    names: dict[UUID, str]

    @property
    def withheld(self) -> bool:
        """Whether its words are another person's."""
        return self.run.conversation_id is not None and self.title is None

    def name(self, item: UUID | None) -> str | None:
        """What a project, agent, person or task is called."""
        return None if item is None else self.names.get(item)


@dataclass(frozen=True)
class Stretch:
    """An attempt in time, in milliseconds from the request's first start: `waited` until the first token, then `wrote`.

    Without a first token all of it was waiting. `over`: it has ended.
    """

    run: Run
    begin: int
    waited: int
    wrote: int
    over: bool


def load(tx: Transaction, run_id: UUID) -> Detail:
    """A run whole, as far as this person may see it; raises NotFound.

    Whose conversation it shows words of has been read, which the audit has where it is another's.
    """
    run = runs.get(tx, run_id)
    attempts = tuple(runs.attempts(tx, run.request_id))
    places = tx.execute("run_detail.places", conversation_id=run.conversation_id, task_id=run.task_id).one()
    if run.conversation_id and places.conversation is not None:
        conversations.mark_read(tx, run.conversation_id, 0)  # opened; none of its messages counts as seen
    kept = tx.execute("run_detail.receipt", id=run.id).first()
    receipt = kept.receipt if kept else None
    found = tx.execute("run_detail.answer", ids=[attempt.id for attempt in attempts]).first()
    answer = messages.get(tx, found.id) if found else None
    mine = answer if answer and answer.run_id == run.id else None
    own = pricing.history(tx) if run.cost_source == pricing.SOURCE else []
    ids = {run.project_id, run.task_id, run.agent_id, *(attempt.user_id for attempt in attempts)}
    return Detail(
        run,
        attempts,
        places.conversation,
        places.task_project,
        receipt,
        kept.provider_error if kept else None,
        answer,
        run_sent.rebuild(tx, run, receipt, mine) if receipt else None,
        price_lines.of(run, own, (receipt or {}).get("steps") or ()),
        tuple(tx.all(Repriced, "run_detail.repriced", id=run.id)),
        costs.names(tx, list(ids)),
    )


def timeline(attempts: Sequence[Run], now: datetime) -> list[Stretch]:
    """The attempts that have begun, in time; one that is running lasts until `now`."""
    begun = [run for run in attempts if run.started_at]
    first = min((run.started_at for run in begun if run.started_at), default=now)
    found = []
    for run in begun:
        assert run.started_at
        over = run.finished_at is not None
        length = run.duration_ms if run.duration_ms is not None else _ms(run.finished_at or now, run.started_at)
        waited = length if run.first_token_ms is None else min(run.first_token_ms, length)
        found.append(Stretch(run, _ms(run.started_at, first), waited, length - waited, over))
    return found


def document(detail: Detail) -> dict[str, Any]:
    """Everything that is known of a run, as JSON has it: money and ids as text, instants in ISO 8601, null unknown."""
    return {
        "run": _plain(detail.run),
        "attempts": [{"id": str(run.id), "attempt": run.attempt, "status": run.status} for run in detail.attempts],
        "names": {str(key): name for key, name in detail.names.items()},
        "price": {"known": detail.priced.known, "lines": [_plain(line) for line in detail.priced.lines]},
        "repriced": [_plain(item) for item in detail.repriced],
        "receipt": detail.receipt,
        "sent": None if detail.sent is None else _plain(detail.sent),
        "provider_error": detail.provider_error,
        "answer": None if detail.answer is None else {"id": str(detail.answer.id), "parts": detail.answer.parts},
        "open_telemetry": telemetry.span(detail.run, detail.receipt, detail.name(detail.run.agent_id)),
    }


def _plain(item: Any) -> dict[str, Any]:
    values = {field.name: getattr(item, field.name) for field in fields(item)}
    return {name: _value(value) for name, value in values.items()}


def _value(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, tuple):
        return [asdict(each) if hasattr(each, "__dataclass_fields__") else each for each in value]
    return str(value) if isinstance(value, UUID) else value


def _ms(later: datetime, earlier: datetime) -> int:
    return max(0, round((later - earlier).total_seconds() * 1000))
