"""Whom a program can ask by name: agents and profiles, as the models that OpenAI's clients list and choose from."""

import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from nexus_core import agents, profiles
from nexus_core.agents import Agent
from nexus_core.database import Transaction
from nexus_core.errors import NotFound
from nexus_core.i18n import _
from nexus_core.profiles import Profile
from nexus_core.text import as_uuid, fold


@dataclass(frozen=True)
class Answerer:
    """An agent, or a profile for Just Chat; `id` is what a program says for it, one of them is None."""

    id: str
    name: str
    description: str
    agent_id: UUID | None
    profile_id: UUID | None
    memory_mode: str
    created_at: datetime | None


def list_(tx: Transaction) -> list[Answerer]:
    """The workspace's profiles, the default first, then its active agents by name.

    An agent is called by its name in small letters and dashes; by its id where that is no name of its own.
    """
    known, people = profiles.list_(tx), agents.list_(tx)
    slugs = Counter([*(profile.slug for profile in known), *(slug(agent.name) for agent in people)])
    return [*map(_profile, known), *(_agent(agent, unique=slugs[slug(agent.name)] == 1) for agent in people)]


def named(tx: Transaction, name: str) -> Answerer:
    """The one of this id, or of this agent's id or name, profile's name or model, with its provider or without.

    Raises NotFound.
    """
    wanted = name.strip()
    for found in list_(tx):
        if wanted == found.id or (found.agent_id and as_uuid(wanted) == found.agent_id):
            return found
    for agent in agents.list_(tx):
        if fold(wanted) == fold(agent.name):
            return _agent(agent, unique=False)
    for profile in profiles.list_(tx):
        if wanted in (profile.name, profile.model, profile.model.partition("/")[2]):
            return _profile(profile)
    raise NotFound(_("There is no model {name} here.").format(name=wanted[:100]), field="model")


def slug(name: str) -> str:
    """A name in small letters, digits and dashes; letters of any alphabet."""
    return re.sub(r"[\W_]+", "-", fold(name)).strip("-")


def _profile(profile: Profile) -> Answerer:
    return Answerer(profile.slug, profile.name, profile.model, None, profile.id, "session", None)


def _agent(agent: Agent, *, unique: bool) -> Answerer:
    name = slug(agent.name) if unique else ""
    about = agent.role or agent.description
    return Answerer(
        name or str(agent.id), agent.name, about, agent.id, agent.profile_id, agent.memory_mode, agent.created_at
    )
