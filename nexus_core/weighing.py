"""What a project's memory weighs in the prompts of each agent, and what it would leave out there, before it happens."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from nexus_core import agents, context, profiles, sections, tokens
from nexus_core.database import Transaction
from nexus_core.memories import Memory
from nexus_core.profiles import Profile


@dataclass(frozen=True)
class Limit:
    """How many tokens a memory may take in the prompts of these agents; `names` None among them is Just Chat."""

    tokens: int
    names: tuple[str | None, ...]


@dataclass(frozen=True)
class Weight:
    """What a memory takes under a limit: `tokens` (an estimate) of `limit.tokens`.

    `left_out` are the entries that do not fit, as {"list", "index"}; settled ones never go into a prompt.
    """

    limit: Limit
    tokens: int
    left_out: tuple[dict[str, Any], ...]


def limits(tx: Transaction) -> list[Limit]:
    """The limits that memories meet, the widest first; agents without memory meet none."""
    known = {profile.id: profile for profile in profiles.list_(tx)}
    default = profiles.default(tx)
    found: dict[int, list[str | None]] = {_budget(default): [None]}
    for agent in agents.list_(tx):
        if agent.memory_mode != "none":
            profile = known.get(agent.profile_id, default) if agent.profile_id else default
            found.setdefault(_budget(profile), []).append(f"{agent.emoji} {agent.name}")
    return [Limit(size, tuple(names)) for size, names in sorted(found.items(), reverse=True)]


def weigh(memory: Memory, found: Iterable[Limit]) -> list[Weight]:
    """What a memory takes under each limit, also one that is not saved yet."""
    weights = []
    for limit in found:
        text, left = sections.memory_text(memory, limit.tokens)
        over = tuple(entry for entry in left if entry["reason"] == "tokens")
        weights.append(Weight(limit, tokens.count(text) if text else 0, over))
    return weights


def _budget(profile: Profile) -> int:
    return context.memory_budget(profile.model, profile.context_tokens)
