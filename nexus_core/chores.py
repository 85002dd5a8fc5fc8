"""A call to a model that answers nobody (test, proposal, summary, embedding): how its run begins, is made and ends."""

import asyncio
import logging
import time
from collections.abc import Awaitable
from typing import Any, Protocol, TypeVar
from uuid import UUID

from nexus_core import admission, agents, profiles, runs
from nexus_core.database import Transaction
from nexus_core.errors import ModelFailed
from nexus_core.i18n import _
from nexus_core.prices import Price
from nexus_core.profiles import Profile
from nexus_core.providers import provider_of, runtime_of
from nexus_core.runs import Run
from nexus_core.stream import Usage

_log = logging.getLogger(__name__)
T = TypeVar("T")


class Called(Protocol):
    """What is called: a profile, or what has as much of one."""

    @property
    def model(self) -> str:
        """litellm's name of it."""

    @property
    def api_base(self) -> str | None:
        """An address of one's own."""

    @property
    def slug(self) -> str:
        """What the ledger calls the profile."""


def profile_of(tx: Transaction, agent_id: UUID | None) -> Profile:
    """The profile that an agent answers with, or everybody's; raises NotFound."""
    chosen = agents.get(tx, agent_id).profile_id if agent_id else None
    return profiles.get(tx, chosen) if chosen else profiles.default(tx)


def begin(
    tx: Transaction,
    kind: str,
    called: Called,
    usage: Usage,
    prompt_summary: str,
    *,
    project_id: UUID | None = None,
    agent_id: UUID | None = None,
    **about: UUID | None,
) -> Run:
    """Enter a call and ask the budgets: its run, `running` or `blocked`, which says why not in its error.

    `about` are conversation_id and task_id. `end` it in the transaction that stores what came of it.
    """
    run_id = runs.begin(
        tx,
        kind,
        called.model,
        provider=provider_of(called.model),
        runtime=runtime_of(called.model, called.api_base),
        profile_slug=called.slug,
        prompt_summary=prompt_summary,
        project_id=project_id,
        agent_id=agent_id,
        **about,
    )
    admission.ask(tx, run_id, run_id, called.model, usage, project_id=project_id, agent_id=agent_id)
    return runs.get(tx, run_id)


async def attempt(
    call: Awaitable[T], seconds: float, run_id: UUID, *, late: str, stopped: str
) -> tuple[T | None, ModelFailed | None, int]:
    """Make a call: what it gave, or why it failed, and its milliseconds; whatever happens, its run can be ended.

    `late` and `stopped` say that it took more than `seconds`, and that Nexus ended meanwhile.
    """
    started = time.monotonic()
    made: T | None = None
    failure: ModelFailed | None = None
    try:
        async with asyncio.timeout(seconds):
            made = await call
    except ModelFailed as error:
        failure = error
    except TimeoutError:
        failure = ModelFailed(late, error_type="timeout")
    except asyncio.CancelledError:
        failure = ModelFailed(stopped, error_type="interrupted")
    except Exception:  # noqa: BLE001 - whatever happens, the run ends
        _log.exception("the call of run %s failed", run_id)
        failure = ModelFailed(_("Something went wrong inside Nexus; the log says what."), error_type="unknown")
    return made, failure, int((time.monotonic() - started) * 1000)


def end(
    tx: Transaction,
    run_id: UUID,
    usage: Usage,
    cost: Price,
    failure: ModelFailed | None,
    duration_ms: int,
    **told: Any,
) -> Run:
    """End a run as succeeded, or failed as `failure` says, and give back what was reserved for it.

    `told` are served_model, response_summary and first_token_ms.
    """
    admission.settle(tx, run_id)
    return runs.end(
        tx,
        run_id,
        "failed" if failure else "succeeded",
        usage,
        cost=cost.amount,
        cost_source=cost.source,
        price_version=cost.version,
        duration_ms=duration_ms,
        error_type=failure.error_type if failure else None,
        error_message=failure.message[:2000] if failure else None,
        **told,
    )
