"""Agents: who answers, with which instructions, which model and how much memory."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from uuid6 import uuid7

from nexus_core import audit
from nexus_core.database import Transaction
from nexus_core.errors import Conflict, Invalid, NotFound
from nexus_core.i18n import _
from nexus_core.text import clip, one_line

MEMORY_MODES = ("none", "session", "user")
INSTRUCTIONS_LIMIT = 100_000


@dataclass(frozen=True)
class Agent:
    """An assistant that people talk to.

    `memory_mode`: none sees only the new message; session this conversation; user everything that this person said
    with this agent in this project (or outside any). `max_messages` and `max_tokens` bound the history that is
    sent, both at once; None is no limit, 0 the new message alone. `max_steps` bounds the model calls of one answer.
    `status`: active, archived, or deleted (kept only as the name of conversations that were kept).
    """

    id: UUID
    user_id: UUID | None
    profile_id: UUID | None
    name: str
    emoji: str
    role: str
    description: str
    instructions: str
    status: str
    memory_mode: str
    max_messages: int | None
    max_tokens: int | None
    recall: bool
    tools: bool
    max_steps: int
    created_at: datetime
    updated_at: datetime


def list_(tx: Transaction, *, archived: bool = False) -> list[Agent]:
    """The workspace's agents by name, never the deleted ones; the archived ones too when asked for."""
    return tx.all(Agent, "agents.list", archived=archived)


def get(tx: Transaction, agent_id: UUID) -> Agent:
    """One agent, a deleted one too; raises NotFound."""
    return tx.get(Agent, "agents.get", id=agent_id)


def present(tx: Transaction, agent_id: UUID) -> Agent:
    """One agent; raises NotFound, for a deleted one too."""
    agent = get(tx, agent_id)
    if agent.status == "deleted":
        raise NotFound(_("There is no such agent here."))
    return agent


def create(tx: Transaction, name: str, **fields: Any) -> Agent:
    """A new active agent; `fields` are those of Agent. Raises Forbidden, Invalid, NotFound for the profile."""
    tx.scope.require("operator")
    agent = tx.get(Agent, "agents.create", id=uuid7(), **(DEFAULTS | _checked(fields | {"name": name})))
    audit.record(tx, "create", "agent", agent.id, {"name": agent.name})
    return agent


def update(tx: Transaction, agent_id: UUID, *, unchanged_since: datetime | None = None, **fields: Any) -> Agent:
    """Change the fields given. Raises Forbidden, Invalid, NotFound.

    Raises Conflict where it was changed after `unchanged_since`, an `updated_at`.
    """
    tx.scope.require("operator")
    changes = _checked(fields)
    before = _alive(tx, agent_id)
    after = replace(before, **changes)
    values = {key: getattr(after, key) for key in DEFAULTS}
    agent = tx.one(Agent, "agents.update", id=agent_id, unchanged_since=unchanged_since or before.updated_at, **values)
    if agent is None:
        raise Conflict(_("Somebody changed this agent meanwhile."), detail={"version": before.updated_at.isoformat()})
    changed = {key: [getattr(before, key), changes[key]] for key in changes if key != "instructions"}
    audit.record(tx, "update", "agent", agent_id, {"name": agent.name, "changes": changed})
    return agent


def duplicate(tx: Transaction, agent_id: UUID) -> Agent:
    """A copy under a name of its own, without conversations. Raises Forbidden, NotFound."""
    source = _alive(tx, agent_id)
    fields = {key: getattr(source, key) for key in DEFAULTS} | {"status": "active"}
    return create(tx, **(fields | {"name": clip(_("{name} (copy)").format(name=source.name), 100)}))


def delete(tx: Transaction, agent_id: UUID, *, conversations: bool) -> int:
    """Delete an agent, and its conversations too when `conversations`; returns how many those were.

    Kept conversations go on carrying its name and can be read, not continued. Only what this person can see is
    deleted, never another member's private conversation; others' conversations in projects need the role admin.
    Raises Forbidden, NotFound.
    """
    tx.scope.require("operator")
    agent = _alive(tx, agent_id)
    count = 0
    if conversations:
        if tx.execute("agents.others_conversations", id=agent_id).scalar_one():
            tx.scope.require("admin")
        count = tx.execute("agents.delete_conversations", id=agent_id).rowcount
    tx.execute("agents.bury", id=agent_id)
    audit.record(tx, "delete", "agent", agent_id, {"name": agent.name, "conversations": count})
    return count


def conversation_counts(tx: Transaction) -> dict[UUID, int]:
    """How many conversations of each agent this person can see, by agent."""
    return {row["agent_id"]: row["conversations"] for row in tx.rows("agents.conversation_counts")}


DEFAULTS: dict[str, Any] = {
    "profile_id": None,
    "name": "",
    "emoji": "🤖",
    "role": "",
    "description": "",
    "instructions": "",
    "status": "active",
    "memory_mode": "session",
    "max_messages": 40,
    "max_tokens": 16_000,
    "recall": True,
    "tools": True,
    "max_steps": 5,
}
"""What a new agent is, field by field; what is not here can't be set."""


def _alive(tx: Transaction, agent_id: UUID) -> Agent:
    agent = get(tx, agent_id)
    if agent.status == "deleted":
        raise Invalid(_("{name} was deleted.").format(name=agent.name))
    return agent


def _checked(fields: dict[str, Any]) -> dict[str, Any]:
    if unknown := set(fields) - set(DEFAULTS):
        raise Invalid(_("An agent has no {field}.").format(field=min(unknown)), field=min(unknown))
    checked = dict(fields)
    for key, limit in (("name", 100), ("role", 200), ("emoji", 16)):
        if key in checked:
            checked[key] = one_line(str(checked[key] or ""))
            if len(checked[key]) > limit:
                raise Invalid(_("At most {limit} characters, please.").format(limit=limit), field=key)
    if "name" in checked and not checked["name"]:
        raise Invalid(_("Give the agent a name."), field="name")
    if "emoji" in checked:
        checked["emoji"] = checked["emoji"] or DEFAULTS["emoji"]
    if len(checked.get("instructions") or "") > INSTRUCTIONS_LIMIT:
        raise Invalid(_("Instructions have at most 100,000 characters."), field="instructions")
    if checked.get("memory_mode", "session") not in MEMORY_MODES:
        raise Invalid(_("A memory mode is none, session or user."), field="memory_mode")
    if checked.get("status", "active") not in ("active", "archived"):
        raise Invalid(_("An agent is active or archived."), field="status")
    for key in ("max_messages", "max_tokens"):
        if checked.get(key) is not None and not 0 <= checked[key] < 2**31:
            raise Invalid(_("A limit is 0 (the new message alone) or more; leave it empty for none."), field=key)
    if not 1 <= checked.get("max_steps", 1) <= 20:
        raise Invalid(_("An answer takes 1 to 20 steps."), field="max_steps")
    return checked
