"""A turn's rows: accepted, checkpointed, tried again, finished, reaped; each step one short transaction."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from uuid6 import uuid7

from nexus_core import admission, leases, tokens
from nexus_core import parts as parts_
from nexus_core.database import Json, Transaction
from nexus_core.errors import Busy, Conflict, Invalid, NotFound
from nexus_core.i18n import _
from nexus_core.ledger import Outcome
from nexus_core.providers import provider_of, runtime_of
from nexus_core.setups import NOTHING, Loaded, Setup, Wish, load
from nexus_core.text import clean, in_short, title_of

BODY_LIMIT = 2_000_000


@dataclass(frozen=True)
class Turn:
    """An accepted question and the answer that is owed to it.

    `question_seq` is the number of the message to answer, `answer_id` the row that the answer is written to; every
    write is fenced by `run_id`, which changes with each `attempt`. `begun` is what stands in that row already: an
    answer that goes on after its program has run a tool; `tools` are the program's. `repeated`: this question was
    accepted before; `blocked`: a budget lets nobody answer it now, and its answer's row says why.
    """

    workspace_id: UUID
    user_id: UUID
    conversation_id: UUID
    project_id: UUID | None
    request_id: UUID
    run_id: UUID
    attempt: int
    question_seq: int
    answer_id: UUID
    setup: Setup
    tools: tuple[Mapping[str, Any], ...] = ()
    begun: tuple[dict[str, Any], ...] = ()
    repeated: bool = False
    blocked: bool = False


def accept(
    tx: Transaction,
    conversation_id: UUID,
    question: str | None,
    *,
    client_message_id: str | None = None,
    instead_of: UUID | None = None,
    wish: Wish = NOTHING,
) -> Turn:
    """Take the conversation's lease and store the question, the run and the answer's row, at once or not at all.

    `question` None answers again what `instead_of`, an answer, answered; with a question, `instead_of` is the
    earlier wording that it replaces. The former versions are kept. `wish` is what a program asks for beside.
    Raises Forbidden, NotFound, Invalid, Busy, and Conflict when this person's `client_message_id` was stored already:
    see `repeated`.
    """
    tx.scope.require("operator")
    question = None if question is None else _checked(question)
    loaded = load(tx, conversation_id, wish)
    free(tx, loaded)
    base, asked = _make_room(tx, conversation_id, question, instead_of)
    run_id, request_id, answer_id = uuid7(), uuid7(), uuid7()
    row = tx.execute(
        "turns.accept",
        conversation_id=conversation_id,
        run_id=run_id,
        request_id=request_id,
        answer_id=answer_id,
        question_id=uuid7(),
        asks=question is not None,
        numbers=2 if question is not None else 1,
        base_seq=base,
        body=question or "",
        parts=Json([parts_.text(question or "")]),
        tokens=tokens.count_parts([parts_.text(question or "")]),
        title=title_of(question or "") if loaded.untitled else "",
        client_message_id=client_message_id or None,
        **entered(loaded, asked),
    ).one()
    question_seq = row.first_seq if question is not None else (base or 0)
    turn = replace(turn_of(tx, loaded, request_id, run_id, 1, question_seq, answer_id), tools=wish.tools)
    return admitted(tx, turn)


def entered(loaded: Loaded, asked: str) -> dict[str, Any]:
    """What a statement that begins a run of a turn takes: what is asked, who answers, and the lease on it."""
    return {
        "prompt_summary": in_short(asked),
        "model": loaded.model,
        "provider": provider_of(loaded.model),
        "runtime": runtime_of(loaded.model, loaded.api_base),
        "profile_slug": loaded.profile_slug,
        "agent_id": loaded.agent_id,
        "lease_seconds": leases.LEASE_SECONDS,
        "lease_owner": leases.this_process(),
    }


def repeated(
    tx: Transaction,
    client_message_id: str,
    question: str | None = None,
    *,
    conversation_id: UUID | None = None,
    session_id: str | None = None,
) -> Turn | None:
    """The turn that this person's message with that id began, or None.

    Raises Conflict when that was another `question`, or in another conversation or session than is named.
    """
    row = tx.execute("turns.repeated", client_message_id=client_message_id).first()
    if row is None:
        return None
    others = (question and clean(question) != row.body, conversation_id not in (None, row.conversation_id))
    if any(others) or session_id not in (None, row.session_id):
        raise Conflict(_("This message id belongs to another message already."), field="client_message_id")
    loaded = load(tx, row.conversation_id)
    turn = turn_of(tx, loaded, row.request_id, row.run_id, row.attempt, row.question_seq, row.answer_id)
    return replace(turn, repeated=True)


def checkpoint(tx: Transaction, turn: Turn, parts: list[dict[str, Any]]) -> str:
    """Store the partial answer and prolong the lease: "held", "stop" (asked for elsewhere) or "lost"."""
    row = tx.execute(
        "turns.checkpoint",
        conversation_id=turn.conversation_id,
        run_id=turn.run_id,
        answer_id=turn.answer_id,
        parts=Json(parts),
        body=parts_.body(parts),
        lease_seconds=leases.LEASE_SECONDS,
    ).first()
    return "lost" if row is None else "stop" if row.stop_requested else "held"


def try_again(tx: Transaction, turn: Turn, outcome: Outcome, *, model: str | None = None) -> Turn:
    """End the failed attempt and begin the next one of the same request; raises NotFound when the lease is lost."""
    after = replace(turn, run_id=uuid7(), attempt=turn.attempt + 1)
    row = tx.execute(
        "turns.try_again",
        conversation_id=turn.conversation_id,
        answer_id=turn.answer_id,
        next_run_id=after.run_id,
        lease_seconds=leases.LEASE_SECONDS,
        next_model=model,
        parts=Json(list(turn.begun)),
        receipt=Json(outcome.receipt),
        provider_error=outcome.provider_error,
        run_id=turn.run_id,
        **outcome.figures(),
    ).first()
    if row is None:
        raise NotFound(_("This conversation is gone."))
    return after


def finish(tx: Transaction, turn: Turn, outcome: Outcome) -> bool:
    """Store how the turn ended and give the lease back; False when the lease was lost before (then only the run ends).

    A late end never overwrites a final state: the answer is written only under this run's lease.
    """
    body = parts_.body(outcome.parts)
    status = "stopped" if outcome.stopped else "complete" if outcome.status == "succeeded" else "failed"
    row = tx.execute(
        "turns.finish",
        conversation_id=turn.conversation_id,
        answer_id=turn.answer_id,
        message_status=status,
        parts=Json(outcome.parts),
        body=body,
        tokens=tokens.count_parts(outcome.parts),
        model=outcome.served_model or turn.setup.model,
        provider=provider_of(turn.setup.model),
        response_summary=in_short(body),
        receipt=Json(outcome.receipt),
        provider_error=outcome.provider_error,
        error=Json({"error": outcome.error_message, "error_type": outcome.error_type} if outcome.error_type else {}),
        run_id=turn.run_id,
        **outcome.figures(),
    ).first()
    if turn.setup.budgeted:
        admission.settle(tx, turn.request_id)
    return row is not None


def request_stop(tx: Transaction, conversation_id: UUID) -> bool:
    """Ask whichever process is answering to stop; False when nobody is. Raises Forbidden."""
    tx.scope.require("operator")
    return tx.execute("turns.request_stop", conversation_id=conversation_id).rowcount > 0


def _checked(question: str) -> str:
    question = clean(question)
    if not question.strip():
        raise Invalid(_("Write something first."), field="message")
    if len(question) > BODY_LIMIT:
        raise Invalid(_("A message has at most two million characters."), field="message")
    return question


def free(tx: Transaction, loaded: Loaded) -> None:
    """Make sure that nobody is answering: a dead process's run is ended, a living one's raises Busy."""
    if loaded.active_run_id is None:
        return
    if not loaded.lease_free and leases.alive(loaded.lease_owner):
        raise Busy(_("This conversation is answering just now; your text is kept, send it again in a moment."))
    leases.end_interrupted(tx, loaded.workspace_id, loaded.conversation_id, loaded.active_run_id)


def _make_room(
    tx: Transaction, conversation_id: UUID, question: str | None, instead_of: UUID | None
) -> tuple[int | None, str]:
    """Leave the path shown, before what is replaced; the last number that stays, None for none, and the question."""
    if instead_of is None:
        if question is None:
            raise Invalid(_("Say which answer to give again."))
        return None, question
    row = tx.execute("turns.replaced", conversation_id=conversation_id, message_id=instead_of).first()
    if row is None or row.role != ("user" if question is not None else "assistant"):
        raise NotFound(_("There is no such message here."))
    if not row.follows_shown:
        raise Invalid(_("This belongs to a version that is not shown; show that version first."))
    if question is None and row.follows_role != "user":
        raise Invalid(_("There is no question before this answer."))
    tx.execute("messages.hide_from", conversation_id=conversation_id, parent_seq=row.parent_seq)
    return row.parent_seq, row.follows_body if question is None else question


def admitted(tx: Transaction, turn: Turn) -> Turn:
    """Ask the budgets; where one says no, the question stays, and the answer's row says why there is none: blocked."""
    setup = turn.setup
    if not setup.budgeted:
        return turn
    where = {"conversation_id": turn.conversation_id, "max_messages": setup.max_messages}
    sent = tx.execute("turns.expected", **where).scalar_one()
    read = min(sent, setup.max_tokens if setup.max_tokens is not None else sent)
    expected = admission.expected(read, setup.instructions, setup.params)
    place = {"project_id": turn.project_id, "agent_id": setup.agent_id}
    reason = admission.ask(tx, turn.run_id, turn.request_id, setup.model, expected, **place)
    if reason is None:
        return turn
    error = Json({"error": reason, "error_type": "budget"})
    tx.execute("turns.block", conversation_id=turn.conversation_id, answer_id=turn.answer_id, error=error)
    return replace(turn, blocked=True)


def turn_of(
    tx: Transaction, loaded: Loaded, request_id: UUID, run_id: UUID, attempt: int, question_seq: int, answer_id: UUID
) -> Turn:
    """The turn of rows that were just stored, or stored before."""
    setup = Setup(**{key: getattr(loaded, key) for key in Setup.__dataclass_fields__})
    place = (loaded.workspace_id, tx.scope.user_id or UUID(int=0), loaded.conversation_id, loaded.project_id)
    return Turn(*place, request_id, run_id, attempt, question_seq, answer_id, setup)
