"""One answer being written: the model's stream, its tools and retries, checkpoints on the way, one end."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Set
from contextlib import aclosing
from dataclasses import replace
from threading import Lock
from typing import Any, TypeVar

from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_exponential_jitter

from nexus_core import builtin, context, faults, llm, parts, pricing, tools, turns
from nexus_core.context import Context
from nexus_core.database import Scope, transaction
from nexus_core.draft import Draft
from nexus_core.errors import ModelFailed, NexusError, NotFound, StoreUnavailable
from nexus_core.i18n import _
from nexus_core.ledger import Bill, Outcome
from nexus_core.pricing import OwnPrices
from nexus_core.profiles import BUILTIN
from nexus_core.stream import Event, Finished, ModelRequest, TextDelta, ToolCall, Usage
from nexus_core.turns import Turn

CHECKPOINT_SECONDS = 1.0
ATTEMPTS = 3
FIRST_WAIT = 0.5
LONGEST_WAIT = 20.0
SMALLER = 0.5
STORE_PATIENCE = 120.0
_log = logging.getLogger(__name__)
T = TypeVar("T")


class Generation:
    """The worker's task for one turn. Its event loop alone touches it, but `draft` may be read from any thread.

    `ending` says why it ends: done, stop (a person), lost (the lease, or the conversation) or shutdown; "" before.
    """

    def __init__(self, turn: Turn, scope: Scope) -> None:
        self.turn = turn
        self.scope = replace(scope, door="worker")
        self.draft = Draft(turn.begun)
        self._theirs = {tool["function"]["name"] for tool in turn.tools}
        self.ending = ""
        self._task: asyncio.Task[None] | None = None
        self._store = Lock()  # a checkpoint must not meet the change from one attempt's run to the next one's
        self._share = 1.0
        self._receipt: dict[str, Any] = {}
        self._own: OwnPrices | None = None
        self._begin()

    def _begin(self) -> None:
        self.bill = Bill(self.turn.setup.model, self._own)
        self._sent: list[list[str]] = []
        self.started = time.monotonic()
        self.first_token_ms: int | None = None

    def start(self) -> "asyncio.Task[None]":
        """Begin, on the running loop."""
        self._task = asyncio.create_task(self.run(), name=f"answer-{self.turn.run_id}")
        return self._task

    def end(self, why: str) -> None:
        """Stop writing, for `why`; nothing happens to an answer that is ending already, so that its end is stored."""
        if not self.ending and self._task is not None:
            self.ending = why
            self._task.cancel()

    async def run(self) -> None:
        """Answer until it is done, stopped or failed; always stores an end, never raises."""
        beat = asyncio.create_task(self._checkpoints())
        error: NexusError | None = None
        try:
            await self._attempts()
        except asyncio.CancelledError:
            error = None if self.ending == "stop" else _deleted() if self.ending == "lost" else _interrupted()
        except NexusError as failure:
            error = failure
        except Exception:  # noqa: BLE001 - whatever happens, the run ends and the conversation is free again
            _log.exception("answering run %s failed", self.turn.run_id)
            error = ModelFailed(
                _("Something went wrong inside Nexus; the log says what. Try again."), error_type="unknown"
            )
        self.ending = self.ending or "done"
        beat.cancel()
        await asyncio.wait([beat])
        await self._store_end(self._outcome(error))

    async def _attempts(self) -> None:
        """Attempt by attempt: again after a fault that passes, and once with a smaller window; never once text came."""
        while True:
            try:
                return await self._answer()
            except ModelFailed as failure:
                wait = self._pause_before_next(failure)
                if wait is None:
                    raise
                outcome = self._outcome(failure)
                self.draft.clear(failure.message)
                await _patiently(self._try_again, outcome)
                self._begin()
                await asyncio.sleep(wait)
                self._begin()

    def _pause_before_next(self, failure: ModelFailed) -> float | None:
        """Seconds until the next attempt, or None when this was the last one."""
        if self.first_token_ms is not None or self.turn.attempt >= ATTEMPTS:
            return None
        if failure.error_type == "context_length":
            if self._share < 1:
                return None
            self._share = SMALLER
            return 0.0
        if not failure.retryable:
            return None
        wait = max(failure.retry_after or 0.0, FIRST_WAIT * 2.0 ** (self.turn.attempt - 1))
        return wait if wait <= LONGEST_WAIT else None

    def _try_again(self, outcome: Outcome) -> None:
        with self._store:
            with transaction(self.scope) as tx:
                after = turns.try_again(tx, self.turn, outcome)
            self.turn = after

    async def _answer(self) -> None:
        """One attempt: step by step until the model asks for no more tools, or has had its steps."""
        prepared = await _patiently(self._prepare)
        self._receipt = prepared.receipt
        for step in range(self.turn.setup.max_steps):
            calls = await self._step(prepared, last=step == self.turn.setup.max_steps - 1)
            ours = [call for call in calls if call.name not in self._theirs]
            await self._run_tools(ours)
            if len(ours) < len(calls):
                return  # the program's turn
            if not calls:
                break
        if self.bill.calls and self.bill.calls[-1]["reason"] == "content_filter":
            call = faults.Call(self.turn.setup.model, self.turn.setup.api_base)
            raise ModelFailed(faults.sentence("content_filter", call), error_type="content_filter")
        if not parts.body(self.draft.snapshot().parts[len(self.turn.begun) :]):
            raise ModelFailed(_("The model ended without an answer. Try again."), error_type="malformed")

    async def _step(self, prepared: Context, *, last: bool) -> list[ToolCall]:
        """One call to the model; the tools that it asks for."""
        calls: list[ToolCall] = []
        self.bill.begin()
        events = self._events(prepared, last)
        async with aclosing(events):  # type: ignore[type-var]
            async for event in events:
                if isinstance(event, ToolCall):
                    calls.append(event)
                self._take(event)
        return calls

    def _prepare(self) -> Context:
        vector = context.meant(self.scope, self.turn)
        with transaction(self.scope) as tx:
            if self.turn.setup.own_prices:
                self._own = self.bill.own = pricing.load(tx)
            return context.build(tx, self.turn, share=self._share, vector=vector)

    def _events(self, prepared: Context, last: bool) -> AsyncIterator[Event]:
        setup = self.turn.setup
        if setup.model == BUILTIN:
            place: builtin.Place = "project" if self.turn.project_id else "conversation"
            name = setup.agent_name or "Nexus"
            return builtin.answer(prepared.question, tuple(prepared.passages()), agent_name=name, place=place)
        said = prepared.messages(self.draft.snapshot().parts)
        self._sent.append(context.digest(said))
        offered = (*(() if last else prepared.tools), *self.turn.tools)
        request = ModelRequest(setup.model, said, offered, setup.params, setup.api_base)
        if isinstance(seconds := setup.params.get("timeout"), int | float) and seconds > 0:
            request = replace(request, first_chunk_timeout=float(seconds), idle_timeout=float(seconds))
        return llm.stream(request)

    def _take(self, event: Event) -> None:
        if isinstance(event, Finished):
            self.bill.add(event)
            return
        if self.first_token_ms is None:
            self.first_token_ms = self._elapsed()
        if isinstance(event, ToolCall):
            self.draft.append(parts.tool(event.call_id, event.name, event.arguments))
        else:
            self.draft.add("text" if isinstance(event, TextDelta) else "reasoning", event.text)

    async def _run_tools(self, calls: list[ToolCall]) -> None:
        for call in calls:
            output, error = await asyncio.to_thread(
                tools.run, self.scope, self.turn.project_id, call.name, call.arguments
            )
            done = parts.tool(call.call_id, call.name, call.arguments, output=output, error=error)
            self.draft.answer_call(call.call_id, done)
        if calls:
            self.draft.append(parts.step_start())

    async def _checkpoints(self) -> None:
        """Once a second: keep what has come, prolong the lease, hear whether somebody wants it to stop."""
        while True:
            await asyncio.sleep(CHECKPOINT_SECONDS)
            try:
                state = await asyncio.to_thread(self._checkpoint)
            except StoreUnavailable as error:
                _log.warning("run %s goes on while the database is away: %s", self.turn.run_id, error.message)
                continue
            except Exception:  # noqa: BLE001 - the answer is worth more than a checkpoint; the next one may succeed
                _log.exception("run %s was not checkpointed", self.turn.run_id)
                continue
            if state != "held":
                self.end(state)
                return

    def _checkpoint(self) -> str:
        with self._store, transaction(self.scope) as tx:
            return turns.checkpoint(tx, self.turn, self.draft.snapshot().parts)

    def _outcome(self, error: NexusError | None) -> Outcome:
        written = self.draft.snapshot().parts
        usage, cost = self.bill.total(estimated_input=self._receipt.get("tokens"), written=written)
        failed = error if isinstance(error, ModelFailed) else None
        return Outcome(
            "failed" if error else "succeeded",
            _ended(written, set() if error or self.ending == "stop" else self._theirs),
            usage,
            self._elapsed(),
            self.first_token_ms,
            self.bill.served_model,
            cost.amount,
            cost.source,
            cost.version,
            self._receipt | {"steps": self.bill.calls, "sent": self._sent},
            stopped=error is None and self.ending == "stop",
            error_type=(failed.error_type if failed else error.code) if error else None,
            error_message=error.message[:2000] if error else None,
            provider_error=failed.detail.get("provider") or None if failed else None,
        ).counted(self.turn.setup.model, self.turn.setup.api_base)

    async def _store_end(self, outcome: Outcome) -> None:
        """Store the end, waiting for the database when it is away: the answer is not given up for a restart of it."""
        try:
            await _patiently(self._finish, outcome)
        except NotFound:
            _log.info("the conversation of run %s is gone", self.turn.run_id)
        except Exception:  # noqa: BLE001 - nobody is left to tell but the log
            _log.exception("the end of run %s could not be stored", self.turn.run_id)
            if outcome.usage != Usage():  # an answer is worth more than its figures
                await self._store_end(replace(outcome, usage=Usage(), cost=None, cost_source=None, price_version=None))

    def _finish(self, outcome: Outcome) -> None:
        with transaction(self.scope) as tx:
            turns.finish(tx, self.turn, outcome)

    def _elapsed(self) -> int:
        return int((time.monotonic() - self.started) * 1000)


async def _patiently(function: Callable[..., T], *args: Any) -> T:
    """Run the store's work in a thread, again while the database is away; raises StoreUnavailable after minutes."""
    again = AsyncRetrying(
        retry=retry_if_exception_type(StoreUnavailable),
        wait=wait_exponential_jitter(multiplier=0.2, max=5),
        stop=stop_after_delay(STORE_PATIENCE),
        reraise=True,
    )
    return await again(_whole, function, *args)


async def _whole(function: Callable[..., T], *args: Any) -> T:
    """Run in a thread to the end, when cancelled meanwhile too: a thread can't be stopped, and what it wrote counts."""
    task = asyncio.ensure_future(asyncio.to_thread(function, *args))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.gather(task, return_exceptions=True)
        raise


def _deleted() -> ModelFailed:
    return ModelFailed(_("The conversation was deleted while this was being answered."), error_type="interrupted")


def _interrupted() -> ModelFailed:
    sentence = _("Nexus was stopped while this was being answered. What had been written is kept; try again.")
    return ModelFailed(sentence, error_type="interrupted")


def _ended(written: list[dict[str, Any]], theirs: Set[str]) -> list[dict[str, Any]]:
    """The parts as they stay: a call that never got its result says so, unless a program has it in hand."""
    found = [
        part | {"state": "output-error", "errorText": parts.INTERRUPTED}
        if part.get("state") == "input-available" and part["type"].removeprefix("tool-") not in theirs
        else part
        for part in written
    ]
    while found and found[-1]["type"] == "step-start":
        found.pop()
    return found
