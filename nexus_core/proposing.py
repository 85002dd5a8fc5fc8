"""The assistant proposes changes to a project's memory from what was said; in the background, entered in the ledger."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import reduce
from uuid import UUID
from zoneinfo import ZoneInfo

from nexus_core import (
    admission,
    chores,
    conversations,
    llm,
    memories,
    pricing,
    projects,
    proposals,
    rollup,
    runs,
    suggestions,
    tokens,
)
from nexus_core.database import Scope, Transaction, transaction
from nexus_core.errors import Invalid, ModelFailed, NexusError, NotFound
from nexus_core.i18n import _, ngettext
from nexus_core.ledger import Bill
from nexus_core.memories import Memory
from nexus_core.pricing import OwnPrices
from nexus_core.profiles import BUILTIN, Profile
from nexus_core.projects import Task
from nexus_core.proposals import Line, Said
from nexus_core.runs import Run
from nexus_core.stream import Finished, ModelRequest, Usage
from nexus_core.text import in_short
from nexus_core.worker import worker

LONGEST = 180.0
"""Seconds that one answer may take."""
CALLS, MESSAGES = 10, 2_000
"""Calls, and messages read in them, that one proposal may take which folds conversations in."""
SHARE = 0.4
"""The part of a model's context that messages may take; the memory, the answer and a margin need the rest."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Job:
    """What one run reads, in `lots` of one call each, and for whom; `blocked` by a budget it never begins."""

    scope: Scope
    run_id: UUID
    project_id: UUID
    trigger: str
    conversation_id: UUID | None
    task: Task | None
    profile: Profile
    memory: Memory
    lots: Sequence[Sequence[Said]]
    zone: ZoneInfo
    prices: OwnPrices
    blocked: bool

    @property
    def said(self) -> list[Said]:
        """Everything that it reads."""
        return [one for lot in self.lots for one in lot]


def propose(
    scope: Scope,
    project_id: UUID,
    *,
    trigger: str = "asked",
    conversation_id: UUID | None = None,
    task_id: UUID | None = None,
    conversation_ids: Sequence[UUID] = (),
) -> UUID:
    """Have the assistant read what was said and propose what to remember; returns the run's id at once.

    Of one conversation or about one task where given, else of the project's latest conversations; `conversation_ids`
    are read whole and folded in together, in as many calls as that takes. What it proposes waits as a Proposal; a model
    that fails is a failed run with its sentence, a budget that is spent a blocked one.
    Raises Forbidden, NotFound, and Invalid where there is nothing to read, or too much.
    """
    about = list(dict.fromkeys([*([conversation_id] if conversation_id else []), *conversation_ids]))
    job = _begin(scope, project_id, "merge" if conversation_ids else trigger, about, task_id)
    if not job.blocked:
        worker().begin(_work(job))
    return job.run_id


def offer(
    scope: Scope,
    project_id: UUID | None,
    *,
    trigger: str,
    conversation_id: UUID | None = None,
    task_id: UUID | None = None,
) -> UUID | None:
    """The same after something was closed; never raises. None where there is nothing (new) to read, and where the
    project's automatic proposals are off."""
    if project_id is None:
        return None
    try:
        with transaction(scope) as tx:
            if not projects.get(tx, project_id).auto_propose:
                return None
        if conversation_id is not None and _was_read(scope, project_id, conversation_id):
            return None
        return propose(scope, project_id, trigger=trigger, conversation_id=conversation_id, task_id=task_id)
    except Invalid:
        return None
    except NexusError as error:
        _log.warning("no proposal for project %s: %s", project_id, error.message)
        return None


def state(tx: Transaction, project_id: UUID) -> Run | None:
    """The newest run that proposed something for a project: running, failed with a sentence, or done; None for none."""
    return runs.newest_proposal(tx, project_id)


def _was_read(scope: Scope, project_id: UUID, conversation_id: UUID) -> bool:
    with transaction(scope) as tx:
        conversation = conversations.get(tx, conversation_id)
        last = runs.newest_proposal(tx, project_id, conversation_id=conversation_id)
    return last is not None and last.status != "failed" and last.created_at > conversation.last_message_at


def _begin(scope: Scope, project_id: UUID, trigger: str, ids: Sequence[UUID], task_id: UUID | None) -> Job:
    scope.require("operator")
    with transaction(scope) as tx:
        projects.get(tx, project_id)
        task = projects.task(tx, task_id) if task_id else None
        talks = [conversations.in_project(tx, one) for one in ids]
        if any(one is not None and one.project_id != project_id for one in (task, *talks)):
            raise Invalid(_("This is not in that project."))
        only = talks[0] if len(talks) == 1 else None
        profile = chores.profile_of(tx, only.agent_id if only else None)
        lots = _material(tx, profile, project_id, trigger, ids, task_id)
        if not lots and task is None:
            raise Invalid(_("Nobody has said anything here yet, so there is nothing to propose."))
        asked = in_short(_about(task, [talk.title for talk in talks]))
        only_id = only.id if only else None
        place = {"project_id": project_id, "conversation_id": only_id, "task_id": task_id}
        run = chores.begin(tx, "proposal", profile, _expected(lots, profile), asked, **place)
        memory, zone, prices = memories.get(tx, project_id), rollup.zone(tx), pricing.load(tx)
    about = (project_id, trigger, only_id, task)
    blocked = run.status == "blocked"
    return Job(replace(scope, door="worker"), run.id, *about, profile, memory, lots, zone, prices, blocked)


def _expected(lots: Sequence[Sequence[Said]], profile: Profile) -> Usage:
    sizes = [sum(tokens.count(one.body) for one in lot) for lot in lots] or [0]
    calls = [admission.expected(size, suggestions.INSTRUCTIONS, profile.params) for size in sizes]
    read, made = (sum(getattr(call, name) or 0 for call in calls) for name in ("input_tokens", "output_tokens"))
    return replace(calls[0], input_tokens=read, output_tokens=made)


def _material(
    tx: Transaction, profile: Profile, project_id: UUID, trigger: str, ids: Sequence[UUID], task_id: UUID | None
) -> list[list[Said]]:
    size = profile.context_tokens or llm.context_window(profile.model)
    budget = min(suggestions.MATERIAL_TOKENS, int(size * SHARE)) if size else suggestions.MATERIAL_TOKENS
    if trigger != "merge":
        said = proposals.material(tx, project_id, conversation_ids=ids, task_id=task_id)
        return [suggestions.fitting(said, budget)] if said else []
    said = proposals.material(tx, project_id, conversation_ids=ids, task_id=task_id, limit=MESSAGES + 1)
    lots = suggestions.batches(said, budget)
    if len(said) > MESSAGES or len(lots) > CALLS:
        raise Invalid(_("That is more than one proposal can read; choose fewer conversations."))
    return lots


def _about(task: Task | None, titles: Sequence[str]) -> str:
    if task is not None:
        return _("The task “{title}” was closed as {status}.").format(title=task.title, status=task.status)
    if len(titles) > 1:
        return _("What should be remembered of {n} conversations?").format(n=len(titles))
    if titles and titles[0]:
        return _("What should be remembered of the conversation “{title}”?").format(title=titles[0])
    return _("What should be remembered of what was said lately?")


async def _work(job: Job) -> None:
    """Ask, store what is new, end the run; whatever happens, the run ends."""
    bill = Bill(job.profile.model, job.prices)
    lines, failure, milliseconds = await chores.attempt(
        _lines(job, bill), LONGEST * max(1, len(job.lots)), job.run_id,
        late=_("The model had not finished in time."), stopped=_("Nexus was stopped meanwhile; ask again."),
    )  # fmt: skip
    await asyncio.shield(asyncio.to_thread(_end, job, lines or [], bill, milliseconds, failure))


async def _lines(job: Job, bill: Bill) -> list[Line]:
    held = memories.values(job.memory)
    if job.profile.model == BUILTIN:
        lines = await asyncio.to_thread(suggestions.stated_lines, job.said, job.zone)
        if job.task is not None and job.task.status == "done":
            today = f"{datetime.now(UTC).astimezone(job.zone):%Y-%m-%d}"
            lines.append(suggestions.done_line(held, job.task.title, job.task.notes, today))
        read = sum(tokens.count(one.body) for one in job.said)
        bill.add(Finished("stop", BUILTIN, Usage(input_tokens=read, output_tokens=0, source="estimated")))
        return lines
    if not job.said and job.task is None:
        return []
    named = {one.conversation_id: one.conversation_title for one in job.said}
    titles = list(named.values()) if job.conversation_id or job.trigger == "merge" else []
    params = dict(job.profile.params) | {"response_format": suggestions.response_format()}
    found: list[Line] = []
    for lot in job.lots or [[]]:  # each call knows the memory with what those before it proposed
        asked = suggestions.prompt(held, lot, _about(job.task, titles))
        text, finished = await llm.complete(ModelRequest(job.profile.model, asked, (), params, job.profile.api_base))
        bill.add(finished)
        lines = suggestions.lines_of(suggestions.read(text), held, lot, job.zone)
        held = reduce(suggestions.applied, lines, held)
        found += lines
    return suggestions.joined(found)


def _end(job: Job, lines: list[Line], bill: Bill, milliseconds: int, failure: ModelFailed | None) -> None:
    """Store what is new and how the run ended, in one transaction.

    Nothing is proposed where anything that was read is gone by now: what was erased may be in any line.
    """
    try:
        with transaction(job.scope) as tx:
            now = memories.locked(tx, job.project_id)
            new = suggestions.fresh(lines, memories.values(now), proposals.former(tx, job.project_id))
            if new and not proposals.are_left(tx, job.said):
                raise NotFound(_("Something that was read is gone."))
            if new and failure is None:
                about = {"conversation_id": job.conversation_id, "task_id": job.task.id if job.task else None}
                origin = {"base_version": job.memory.version, "trigger": job.trigger, "run_id": job.run_id}
                proposals.create(tx, job.project_id, new, **origin, **about)  # type: ignore[arg-type]
            _end_run(tx, job, new, bill, milliseconds, failure)
    except NexusError as error:
        _log.warning("the proposal of run %s was not stored: %s", job.run_id, error.message)
        gone = ModelFailed(_("What this was about is gone; nothing is proposed."), error_type="interrupted")
        with transaction(job.scope) as tx:
            _end_run(tx, job, [], bill, milliseconds, gone)


def _end_run(
    tx: Transaction, job: Job, new: Sequence[Line], bill: Bill, milliseconds: int, failure: ModelFailed | None
) -> None:
    usage, cost = bill.total(estimated_input=None, written=[])
    count = ngettext("{n} change proposed", "{n} changes proposed", len(new)).format(n=len(new))
    told = ": ".join((count, "; ".join(suggestions.told(new)))) if new else _("Nothing new to propose.")
    about = {"served_model": bill.served_model, "response_summary": None if failure else in_short(told)}
    chores.end(tx, job.run_id, usage, cost, failure, milliseconds, **about)
