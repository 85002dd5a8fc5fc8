"""Watching an answer while it is written, from its first piece on, by whichever process writes it."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from nexus_core import messages, meters, runs
from nexus_core.database import Scope, transaction
from nexus_core.errors import ModelFailed, StoreUnavailable
from nexus_core.i18n import _
from nexus_core.messages import Message
from nexus_core.runs import Run
from nexus_core.text import clean_json
from nexus_core.worker import worker

HERE_SECONDS = 0.04
ELSEWHERE_SECONDS = 0.4
BEAT_SECONDS = 10.0
STORE_PATIENCE = 120.0


@dataclass(frozen=True)
class Sight:
    """An answer at one moment: its `parts` so far, why it waits if it does, and its row once it has ended."""

    parts: list[dict[str, Any]]
    note: str = ""
    ended: Message | None = None


@dataclass(frozen=True)
class Exchange:
    """A question, its answer, and the run that gave it."""

    question: Message
    answer: Message
    run: Run | None


async def watch(scope: Scope, answer_id: UUID) -> AsyncIterator[Sight]:
    """Every change of an answer, from what there is now to its end; the last one has `ended`.

    Comes again unchanged every BEAT_SECONDS, so that whoever is told knows that it still goes on. Watching costs no
    connection while this process writes; an answer of another process is read from its row. Raises NotFound when the
    conversation is deleted meanwhile, and StoreUnavailable after minutes without the database.
    """
    with meters.STREAMS.track_inprogress():
        async with aclosing(_sights(scope, answer_id)) as sights:
            async for sight in sights:
                yield sight


async def _sights(scope: Scope, answer_id: UUID) -> AsyncGenerator[Sight, None]:
    told, told_at, patience = -1, 0.0, time.monotonic() + STORE_PATIENCE
    known: Sight | None = None
    while known is None or known.ended is None:
        live, pause = worker().live(answer_id), HERE_SECONDS
        if live is not None:
            if live.version != told:
                told, sight = live.version, Sight(clean_json(live.parts), live.note)
            elif known is not None:
                sight = known
        else:
            pause = ELSEWHERE_SECONDS
            try:
                sight = await asyncio.to_thread(_stored, scope, answer_id)
                patience = time.monotonic() + STORE_PATIENCE
            except StoreUnavailable:
                if known is None or time.monotonic() > patience:
                    raise
                sight = known
        if sight != known or time.monotonic() - told_at > BEAT_SECONDS:
            known, told_at = sight, time.monotonic()
            yield sight
        if known is None or known.ended is None:
            await asyncio.sleep(pause)


async def exchange(scope: Scope, answer_id: UUID) -> Exchange:
    """Wait for the end of an answer; raises ModelFailed when it failed, with the ids of what was stored in `detail`."""
    async for _sight in watch(scope, answer_id):
        pass
    return await asyncio.to_thread(_exchange, scope, answer_id)


def run_of(scope: Scope, answer: Message) -> Run | None:
    """The run that gave an answer; None where none did, or when it is gone."""
    with transaction(scope) as tx:
        return runs.of(tx, [answer.run_id]).get(answer.run_id) if answer.run_id else None


def running(scope: Scope, conversation_id: UUID) -> Message | None:
    """The answer that is being written in a conversation; None when none is."""
    with transaction(scope) as tx:
        return messages.newest_answer(tx, conversation_id, streaming=True)


def why_failed(answer: Message) -> str:
    """The sentence that says why an answer failed."""
    return str(answer.metadata.get("error") or _("No answer came; try again."))


def failure_of(answer: Message) -> ModelFailed:
    """Why an answer failed, as an error, with the ids of what was stored in `detail`."""
    failure = ModelFailed(why_failed(answer), error_type=str(answer.metadata.get("error_type") or "unknown"))
    ids = {"conversation_id": answer.conversation_id, "message_id": answer.id, "run_id": answer.run_id}
    failure.detail = {"error_type": failure.error_type} | {key: str(value) for key, value in ids.items()}
    return failure


def _stored(scope: Scope, answer_id: UUID) -> Sight:
    with transaction(scope) as tx:
        row = messages.get(tx, answer_id)
    return Sight(row.parts, ended=None if row.status == "streaming" else row)


def _exchange(scope: Scope, answer_id: UUID) -> Exchange:
    with transaction(scope) as tx:
        answer = messages.get(tx, answer_id)
        question = messages.question_of(tx, answer)
    run = run_of(scope, answer)
    if answer.status == "failed":
        raise failure_of(answer)
    return Exchange(question, answer, run)
