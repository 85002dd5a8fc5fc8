"""Keeping what was said: a message marked as decision, question or risk; tasks and conversations that are closed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from nexus_core import (
    compaction,
    conversations,
    memories,
    messages,
    people,
    projects,
    proposing,
    rollup,
    runs,
    shelf,
    suggestions,
    tags,
)
from nexus_core.conversations import Conversation
from nexus_core.database import Scope, Transaction, transaction
from nexus_core.errors import Busy, Conflict, Invalid, NexusError
from nexus_core.i18n import _
from nexus_core.memories import Memory
from nexus_core.messages import Message
from nexus_core.projects import Task
from nexus_core.proposals import Said
from nexus_core.text import clip, plain
from nexus_core.worker import worker

KINDS = ("decisions", "open_questions", "risks")
FEW = 5
"""Conversations put away at once that the assistant reads; tidying up hundreds is no reason to ask a model for each."""
MOST = 20
"""Conversations that are summarised, or folded into memory, at once."""
LONGEST = 300
"""Grapheme clusters of a message that become an entry's sentence; the link leads to the rest."""


@dataclass(frozen=True)
class Kept:
    """An entry that a message became, and the memory's version then; `new` False: it was kept before."""

    project_id: UUID
    field: str
    entry: Mapping[str, Any]
    version: int
    new: bool


def keep(scope: Scope, message_id: UUID, field: str) -> Kept:
    """Put a message of a project's conversation into the project's memory, with its link; a second time is the same.

    A marked decision also lets the assistant look at what follows from it, in the background. Raises Forbidden,
    NotFound, and Invalid outside a project and for a message without text.
    """
    with transaction(scope) as tx:
        kept = _keep(tx, message_id, field)
    if kept.new and field == "decisions":
        conversation_id = UUID(str(kept.entry["conversation_id"]))
        proposing.offer(scope, kept.project_id, trigger="decision", conversation_id=conversation_id)
    return kept


def _keep(tx: Transaction, message_id: UUID, field: str) -> Kept:
    tx.scope.require("operator")
    if field not in KINDS:
        raise Invalid(_("Keep it as a decision, an open question or a risk."), field="kind")
    message = messages.get(tx, message_id)
    project_id = conversations.get(tx, message.conversation_id).project_id
    if project_id is None:
        raise Invalid(_("Only what was said in a project can be kept in a project's memory."))
    sentence = clip(plain(message.body), LONGEST)
    if not sentence or message.status == "streaming":
        raise Invalid(_("There is no finished text in this message to keep."))
    memory = memories.locked(tx, project_id)
    for entry in getattr(memory, field):
        if isinstance(entry, Mapping) and entry.get("message_id") == str(message_id):
            return Kept(project_id, field, entry, memory.version, new=False)
    entry = suggestions.entry_from(field, sentence, _said(tx, message), rollup.zone(tx))
    values = memories.values(memory)
    after = memories.replace(tx, project_id, version=memory.version, **(values | {field: [*values[field], entry]}))
    return Kept(project_id, field, entry, after.version, new=True)


def _said(tx: Transaction, message: Message) -> Said:
    """The message as evidence; who marked an assistant's words is who decided."""
    author = message.user_name
    if author is None and tx.scope.user_id is not None:
        author = people.get(tx, tx.scope.user_id).name
    where = (message.conversation_id, "", message.seq, message.role, message.user_id)
    return Said(message.id, *where, author, message.body, message.created_at)


def undo(scope: Scope, kept: Kept) -> Memory:
    """Take a kept message out of the memory again. Raises Forbidden, NotFound, and Conflict once somebody edited it."""
    scope.require("operator")
    with transaction(scope) as tx:
        memory = memories.locked(tx, kept.project_id)
        values = memories.values(memory)
        if kept.entry not in values[kept.field]:
            raise Conflict(_("Somebody has changed this entry since; edit it in the project's memory."))
        values[kept.field] = [entry for entry in values[kept.field] if entry != kept.entry]
        return memories.replace(tx, kept.project_id, version=memory.version, **values)


def summarise(scope: Scope, conversation_id: UUID) -> bool:
    """Have a conversation summarised in the background, but for its newest messages; False where a budget says no.

    What comes of it is a run of kind summary in the ledger. Raises what `compaction.asked` raises.
    """
    job = compaction.asked(scope, conversation_id)
    if job is not None:
        worker().begin(compaction.work(job))
    return job is not None


def summarise_all(scope: Scope, ids: Sequence[UUID]) -> int:
    """The same for several, those left out that have nothing to summarise; how many were begun.

    Raises what `summarise` raises where none was, and Invalid for more than MOST.
    """
    if len(ids) > MOST:
        raise Invalid(_("At most {n} conversations at a time.").format(n=MOST))
    begun = 0
    refused: NexusError | None = None
    for one in ids:
        try:
            begun += summarise(scope, one)
        except (Busy, Invalid) as error:
            refused = error
    if refused is not None and not begun:
        raise refused
    return begun


@dataclass(frozen=True)
class Folding:
    """Conversations that are read for a memory: the run by project; `blocked` of these never began, for a budget.

    `outside`: how many are in no project; their words go into no memory.
    """

    runs: Mapping[UUID, UUID]
    blocked: int
    outside: int


def fold(scope: Scope, ids: Sequence[UUID]) -> Folding:
    """Fold conversations into the memory of their project: the assistant reads them, and what it proposes waits there.

    One proposal for each project. Raises Forbidden, NotFound, and Invalid for more than MOST, for conversations outside
    any project alone, and what `proposing.propose` raises where none was begun.
    """
    if len(ids) > MOST:
        raise Invalid(_("At most {n} conversations at a time.").format(n=MOST))
    with transaction(scope) as tx:
        found = [conversations.get(tx, one) for one in dict.fromkeys(ids)]
    places = dict.fromkeys(one.project_id for one in found if one.project_id is not None)
    begun: dict[UUID, UUID] = {}
    refused: NexusError = Invalid(_("Only what was said in a project can be kept in a project's memory."))
    for place in places:
        chosen = [one.id for one in found if one.project_id == place]
        try:
            begun[place] = proposing.propose(scope, place, conversation_ids=chosen)
        except Invalid as error:
            refused = error
    if not begun:
        raise refused
    with transaction(scope) as tx:
        made = runs.of(tx, list(begun.values()))
    blocked = sum(one.status == "blocked" for one in made.values())
    return Folding(begun, blocked, sum(one.project_id is None for one in found))


def update_task(scope: Scope, task_id: UUID, **changes: Any) -> tuple[Task, UUID | None]:
    """Change a task; one that becomes done lets the assistant propose what to remember: that run's id, else None.

    Raises what `projects.update_task` raises.
    """
    with transaction(scope) as tx:
        before = projects.task(tx, task_id)
        after = projects.update_task(tx, task_id, **changes)
    if after.status != "done" or before.status == "done":
        return after, None
    return after, proposing.offer(scope, after.project_id, trigger="task", task_id=task_id)


def archive(scope: Scope, ids: Collection[UUID]) -> list[UUID]:
    """Put conversations away, those that were not yet; of a few at once the assistant proposes what to remember.

    Raises what `shelf.archive` raises.
    """
    with transaction(scope) as tx:
        changed = shelf.archive(tx, ids)
        placed = [conversations.get(tx, one) for one in changed] if len(changed) <= FEW else []
    for one in placed:
        proposing.offer(scope, one.project_id, trigger="archive", conversation_id=one.id)
    return changed


def update_conversation(
    scope: Scope, conversation_id: UUID, *, labels: Sequence[str] | None = None, **changes: Any
) -> tuple[Conversation, UUID | None]:
    """Change a conversation, with `labels` its tags, too. Put away, the assistant proposes what to remember of it.

    Returns that run's id, too, None for none. Raises what `conversations.update` raises.
    """
    with transaction(scope) as tx:
        before = conversations.get(tx, conversation_id)
        after = conversations.update(tx, conversation_id, **changes)
        if labels is not None:
            tags.replace(tx, conversation_id, labels)
            after = conversations.get(tx, conversation_id)
    if after.status != "archived" or before.status == "archived":
        return after, None
    return after, proposing.offer(scope, after.project_id, trigger="archive", conversation_id=conversation_id)
