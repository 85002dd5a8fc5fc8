"""What texts mean by an embedding model of a provider, where NEXUS_EMBEDDING_MODEL names one; its calls are runs."""

import logging
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import UUID

import numpy as np

from nexus_core import chores, llm, pricing
from nexus_core.config import settings
from nexus_core.database import Scope, transaction
from nexus_core.errors import ModelFailed
from nexus_core.i18n import ngettext
from nexus_core.meaning import ASKED, Floats
from nexus_core.pricing import OwnPrices
from nexus_core.stream import Usage
from nexus_core.tokens import count

READ = 4_000
"""Characters of a text that are read."""
FIRST_REST, LONGEST_REST = 300.0, 86_400.0
"""Seconds without a call after one that failed, and twice as many after each further one."""
_log = logging.getLogger(__name__)
_threads = ThreadPoolExecutor(4, thread_name_prefix="nexus-embedding")
_failures = 0
_rests_until = 0.0


@dataclass(frozen=True)
class _Called:
    model: str
    api_base: str | None
    slug: str = "embedding"


def model() -> str | None:
    """litellm's name of the model that is set; None where the built-in one is used."""
    return settings().embedding_model


def rests() -> bool:
    """Whether the last call failed so lately that one more would only cost."""
    return time.monotonic() < _rests_until


def ask(scope: Scope, question: str, project_id: UUID | None) -> "Future[Floats] | None":
    """Begin to find out what a question means; None while the last failure is near, or litellm is not loaded yet."""
    if rests() or not llm.ready():
        llm.warm()
        return None
    asked = replace(scope, door="worker")
    return _threads.submit(lambda: vectors(asked, [question[:ASKED]], project_id=project_id)[0])


def vectors(scope: Scope, texts: Sequence[str], *, project_id: UUID | None = None) -> list[Floats]:
    """The vectors of some texts, each of length 1, by one call that the workspace's ledger and budgets know.

    It counts for a project where one is given, as a question's does.

    Blocks: for background threads. Raises ModelFailed, for a budget that is spent, too.
    """
    read = [text[:READ] for text in texts]
    run_id, prices = _begin(scope, read, project_id)
    started = time.monotonic()
    found: list[list[float]] = []
    usage, failure = Usage(), None
    try:
        found, usage = llm.embed(_name(), read, settings().embedding_api_base)
    except ModelFailed as error:
        failure = error
    _end(scope, run_id, prices, usage, int((time.monotonic() - started) * 1000), failure)
    if failure is not None:
        _rest()
        raise failure
    _recover()
    return [_unit(vector) for vector in found]


def _name() -> str:
    return model() or ""


def _begin(scope: Scope, read: Sequence[str], project_id: UUID | None) -> tuple[UUID, OwnPrices]:
    expected = Usage(input_tokens=sum(map(count, read)), output_tokens=0, source="estimated")
    asked = ngettext("The meaning of {n} text", "The meaning of {n} texts", len(read)).format(n=len(read))
    called = _Called(_name(), settings().embedding_api_base)
    with transaction(scope) as tx:
        run = chores.begin(tx, "embedding", called, expected, asked, project_id=project_id)
        prices = pricing.load(tx)
    if run.status == "blocked":
        _rest()
        raise ModelFailed(run.error_message or "", error_type="budget")
    return run.id, prices


def _end(
    scope: Scope, run_id: UUID, prices: OwnPrices, usage: Usage, milliseconds: int, failure: ModelFailed | None
) -> None:
    cost = pricing.price(prices, _name(), usage, datetime.now(UTC))
    with transaction(scope) as tx:
        chores.end(tx, run_id, usage, cost, failure, milliseconds)


def _unit(vector: Sequence[float]) -> Floats:
    made = np.asarray(vector, dtype=np.float32)
    return np.asarray(made / max(float(np.linalg.norm(made)), 1e-12), dtype=np.float32)


def _rest() -> None:
    global _failures, _rests_until
    seconds = min(FIRST_REST * (1 << min(_failures, 20)), LONGEST_REST)
    _failures, _rests_until = _failures + 1, time.monotonic() + seconds
    _log.warning("the embedding model is not asked for %.0f seconds", seconds)


def _recover() -> None:
    global _failures, _rests_until
    _failures, _rests_until = 0, 0.0
