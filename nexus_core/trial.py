"""A trial of a profile: one short, real call to its model, entered in the ledger as a test."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from uuid import UUID

from nexus_core import admission, builtin, chores, llm, parts, pricing, profiles, tokens
from nexus_core.database import Scope, transaction
from nexus_core.errors import ModelFailed
from nexus_core.i18n import _
from nexus_core.ledger import Bill
from nexus_core.pricing import OwnPrices
from nexus_core.profiles import BUILTIN, Profile
from nexus_core.runs import Run
from nexus_core.stream import Event, Finished, ModelRequest, TextDelta
from nexus_core.text import in_short, one_line
from nexus_core.worker import worker

PATIENCE = 30.0
"""Seconds that a model may take to its first word, and between two."""
LONGEST = 90.0
"""Seconds that the whole answer may take."""


@dataclass(frozen=True)
class Trial:
    """What a model said, and its run in the ledger; a failed or blocked one says why in `run.error_message`."""

    answer: str
    run: Run


@dataclass
class _Call:
    """One call as it goes; durations are in milliseconds since its beginning."""

    bill: Bill
    started: float = field(default_factory=time.monotonic)
    pieces: list[str] = field(default_factory=list)
    first_token_ms: int | None = None

    def elapsed(self) -> int:
        return int((time.monotonic() - self.started) * 1000)


def run(scope: Scope, profile_id: UUID, question: str = "") -> Trial:
    """Ask a profile's model one question and wait for the whole answer, which the worker's loop reads.

    A model that fails is a Trial whose run failed. Raises Forbidden (operators and above), NotFound,
    StoreUnavailable.
    """
    return worker().wait_for(ask(scope, profile_id, question))


async def ask(scope: Scope, profile_id: UUID, question: str = "") -> Trial:
    """The same for whoever has an event loop; it stores before and after the call and holds no connection in it."""
    question = one_line(question) or _("In one short sentence: who are you?")
    profile, run, own = await asyncio.to_thread(_begin, scope, profile_id, question)
    if run.status == "blocked":
        return Trial("", run)
    call = _Call(Bill(profile.model, own))
    failure: ModelFailed | None = None
    try:
        async with asyncio.timeout(LONGEST):
            await _listen(profile, question, call)
    except ModelFailed as error:
        failure = error
    except TimeoutError:
        failure = ModelFailed(_("The model had not finished after a minute and a half."), error_type="timeout")
    ended = await asyncio.to_thread(_end, scope, run.id, question, call, failure)
    return Trial("".join(call.pieces), ended)


def _begin(scope: Scope, profile_id: UUID, question: str) -> tuple[Profile, Run, OwnPrices]:
    scope.require("operator")
    with transaction(scope) as tx:
        profile = profiles.get(tx, profile_id)
        expected = admission.expected(tokens.count(question), "", profile.params)
        run = chores.begin(tx, "test", profile, expected, in_short(question))
        return profile, run, pricing.load(tx)


async def _listen(profile: Profile, question: str, call: _Call) -> None:
    async with aclosing(_events(profile, question)) as events:
        async for event in events:
            if isinstance(event, Finished):
                call.bill.add(event)
                continue
            if call.first_token_ms is None:
                call.first_token_ms = call.elapsed()
            if isinstance(event, TextDelta):
                call.pieces.append(event.text)


def _events(profile: Profile, question: str) -> AsyncGenerator[Event, None]:
    if profile.model == BUILTIN:
        return builtin.answer(question, (), agent_name="Nexus", place="trial")
    said = [{"role": "user", "content": question}]
    return llm.stream(ModelRequest(profile.model, said, (), profile.params, profile.api_base, PATIENCE, PATIENCE))


def _end(scope: Scope, run_id: UUID, question: str, call: _Call, failure: ModelFailed | None) -> Run:
    answer = "".join(call.pieces)
    asked = tokens.count(question) + tokens.MESSAGE_OVERHEAD
    usage, cost = call.bill.total(estimated_input=asked, written=[parts.text(answer)] if answer else [])
    about = {"response_summary": in_short(answer), "first_token_ms": call.first_token_ms}
    with transaction(scope) as tx:
        return chores.end(
            tx, run_id, usage, cost, failure, call.elapsed(), served_model=call.bill.served_model, **about
        )
