"""The one place where answers are written: an event loop in a thread of its own, with reaper and index beside it."""

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from nexus_core import budgets, compaction, i18n, leases, recall, retention, rollup, sessions, shelf, tags
from nexus_core.database import Scope, transaction
from nexus_core.draft import Live
from nexus_core.errors import ModelFailed, StoreUnavailable
from nexus_core.generation import Generation
from nexus_core.turns import Turn

REAP_SECONDS = 5.0
INDEX_SECONDS = 5.0
LEARN_SECONDS = 3.0
SUM_SECONDS = 60.0
SUMMED_DAYS = 7
PURGE_SECONDS = 3600.0
STOP_SECONDS = 5.0
JOBS = ("reap", "index_all", "learn_pending", "sum_up_days", "purge", "apply")
"""What runs beside the answers, by the names that `Worker.last` knows."""
_log = logging.getLogger(__name__)
T = TypeVar("T")


class Worker:
    """Owns every generation of this process; pages and HTTP clients only watch. Its methods are for any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._generations: dict[UUID, tuple[Generation, asyncio.Task[None]]] = {}
        self._poke = asyncio.Event()
        self._expired: set[UUID] = set()
        self._done: dict[str, datetime] = {}
        self._others: set[Future[None]] = set()
        self._thread = threading.Thread(target=self._run, name="nexus-worker", daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._every(REAP_SECONDS, self._reap), self._loop)
        asyncio.run_coroutine_threadsafe(self._index(), self._loop)
        asyncio.run_coroutine_threadsafe(self._learn(), self._loop)
        asyncio.run_coroutine_threadsafe(self._sum_up(), self._loop)
        asyncio.run_coroutine_threadsafe(self._every(PURGE_SECONDS, _purge), self._loop)
        asyncio.run_coroutine_threadsafe(self._every(PURGE_SECONDS, retention.apply), self._loop)

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        # A job in a thread ends before the store is let go of: it would start the bundled server again.
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    def submit(self, turn: Turn, scope: Scope) -> None:
        """Begin to write the answer of an accepted turn; returns at once."""
        ready = threading.Event()
        self._loop.call_soon_threadsafe(self._start, turn, scope, ready, context=i18n.kept())
        ready.wait(STOP_SECONDS)

    def _start(self, turn: Turn, scope: Scope, ready: threading.Event) -> None:
        generation = Generation(turn, scope)
        task = generation.start()
        self._generations[turn.answer_id] = (generation, task)
        task.add_done_callback(lambda _task: self._forget(generation))
        ready.set()

    def _forget(self, generation: Generation) -> None:
        turn = generation.turn
        self._generations.pop(turn.answer_id, None)
        self._poke.set()
        if generation.ending == "done":
            self.begin(compaction.after_answer(generation.scope, turn))

    def live(self, answer_id: UUID) -> Live | None:
        """The answer so far, from its first chunk; None when this process is not writing it (any more)."""
        found = self._generations.get(answer_id)
        return found[0].draft.snapshot() if found else None

    def stop_answer(self, conversation_id: UUID, *, begun_by: UUID | None = None) -> bool:
        """Stop the answer of a conversation, before its first chunk too; False when it is not written here.

        Given `begun_by`, only the answer to this person.
        """
        for generation, _task in list(self._generations.values()):
            turn = generation.turn
            if turn.conversation_id == conversation_id and begun_by in (None, turn.user_id):
                self._loop.call_soon_threadsafe(generation.end, "stop")
                return True
        return False

    def wait_for(self, call: Coroutine[Any, Any, T]) -> T:
        """Run another call to a model on this loop, which the models' HTTP clients belong to; its result or error."""
        return i18n.kept().run(asyncio.run_coroutine_threadsafe, call, self._loop).result()

    def last(self, job: str) -> datetime | None:
        """When one of the jobs beside the answers (reap, index_all, sum_up_days) last ended well here, or None."""
        return self._done.get(job)

    def begin(self, call: Coroutine[Any, Any, None]) -> None:
        """Begin another call to a model on this loop and return at once; it has to store its own end."""
        other = i18n.kept().run(asyncio.run_coroutine_threadsafe, call, self._loop)
        self._others.add(other)  # or nothing holds on to it
        other.add_done_callback(self._others.discard)

    def count(self) -> int:
        """How many answers are being written here."""
        return len(self._generations)

    def queue(self) -> int:
        """How many other calls (summaries, proposals) have begun here and not ended."""
        return len(self._others)

    def close(self) -> None:
        """End every answer as interrupted, what came so far kept, and stop; waits a few seconds at most."""
        done = asyncio.run_coroutine_threadsafe(self._close(), self._loop)
        try:
            done.result(STOP_SECONDS + 1)
        except TimeoutError:
            _log.warning("some answers did not end in time; the next start ends them")
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STOP_SECONDS)

    async def _close(self) -> None:
        answers = list(self._generations.values())
        for generation, _task in answers:
            generation.end("shutdown")
        if answers:
            await asyncio.wait([task for _generation, task in answers], timeout=STOP_SECONDS)
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        if rest:
            await asyncio.wait(rest, timeout=1)

    async def _every(self, seconds: float, job: Callable[[], int | None]) -> None:
        while True:
            await self._guarded(job)
            await asyncio.sleep(seconds)

    async def _index(self) -> None:
        """Index at once after each answer, and every few seconds what came in by other ways."""
        while True:
            with suppress(TimeoutError):  # not wait_for: Python 3.11's may swallow the cancellation that ends this loop
                async with asyncio.timeout(INDEX_SECONDS):
                    await self._poke.wait()
            self._poke.clear()
            await self._guarded(_index_all)

    async def _learn(self) -> None:
        """Find out what messages mean, a few at a time and never beside an answer, until none wait."""
        while True:
            await asyncio.sleep(LEARN_SECONDS)
            while not self._generations and await self._guarded(recall.learn_pending):
                pass

    async def _sum_up(self) -> None:
        """Keep the ledger's sums, a few days at a time; reports are exact meanwhile, only slower."""
        while True:
            await asyncio.sleep(SUM_SECONDS)
            await self._guarded(_sum_up_days)

    async def _guarded(self, job: Callable[[], int | None]) -> int | None:
        """What a job returns; None when it failed."""
        try:
            found = await asyncio.to_thread(job)
            self._done[job.__name__.strip("_")] = datetime.now(UTC)
            return found
        except (ModelFailed, StoreUnavailable) as error:
            _log.warning("%s waits: %s", job.__name__, error.message)
        except Exception:  # noqa: BLE001 - a job that fails once must run again the next time
            _log.exception("%s failed", job.__name__)
        return None

    def _reap(self) -> None:
        living = [generation.turn.run_id for generation, _task in list(self._generations.values())]
        with transaction(Scope.system()) as tx:
            ended = leases.reap(tx, living=living, seen=self._expired)
        if ended:
            _log.warning("ended %d runs whose process was gone", ended)


def _index_all() -> None:
    while recall.index_pending():
        pass


def _sum_up_days() -> int:
    with transaction(Scope.system()) as tx:
        budgets.sweep(tx)
        tx.execute("selfcheck.keep_size")
    return rollup.refresh_all(datetime.now(UTC), limit=SUMMED_DAYS)


def _purge() -> None:
    """Empty the trash of what has been in it for its time, a few at a time, and drop the tags that went with it; and
    sessions that ended."""
    with transaction(Scope.system()) as tx:
        sessions.purge(tx)
        tags.prune(tx)
    gone = True
    while gone:
        with transaction(Scope.system()) as tx:
            gone = shelf.purge(tx) > 0


_worker: Worker | None = None
_lock = threading.Lock()


def worker() -> Worker:
    """This process's worker, started on first use."""
    global _worker
    with _lock:
        if _worker is None:
            _worker = Worker()
        return _worker


def close() -> None:
    """Stop this process's worker, if it was started."""
    global _worker
    with _lock:
        closing, _worker = _worker, None
    if closing is not None:
        closing.close()
