"""Who answers in a conversation and how: the agent's settings, the profile's, and a caller's wishes for one answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from nexus_core.database import Transaction
from nexus_core.errors import Forbidden, NotFound
from nexus_core.i18n import _


@dataclass(frozen=True)
class Wish:
    """What a program asks of one answer beside its question, over the agent's settings and the profile's.

    `profile_id` is the profile to ask in place of the default one; `instructions` follow the agent's; `params` go
    before the profile's; `tools` are the program's own, which it runs itself: a call of one ends the answer, and the
    program goes on with the result. `whole`: it sends its own history, so Just Chat's limits do not shorten it.
    """

    profile_id: UUID | None = None
    instructions: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    tools: tuple[Mapping[str, Any], ...] = ()
    whole: bool = False


NOTHING = Wish()


@dataclass(frozen=True)
class Setup:
    """Who answers and how: the agent's settings (Just Chat's where there is none) and the profile's.

    `budgeted` and `own_prices`: whether the workspace has any budgets, and prices of its own.
    """

    agent_id: UUID | None
    agent_name: str | None
    agent_status: str | None
    instructions: str
    memory_mode: str
    max_messages: int | None
    max_tokens: int | None
    recall: bool
    tools: bool
    max_steps: int
    profile_slug: str
    model: str
    api_base: str | None
    params: dict[str, Any]
    context_tokens: int | None
    summarized: bool
    workspace_slug: str
    time_zone: str
    budgeted: bool
    own_prices: bool


@dataclass(frozen=True)
class Loaded(Setup):
    """A setup with the conversation that it is for; `lease_free`: nobody answers there, or their lease ran out."""

    workspace_id: UUID
    conversation_id: UUID
    project_id: UUID | None
    user_id: UUID
    active_run_id: UUID | None
    lease_free: bool
    lease_owner: str | None
    untitled: bool


def load(tx: Transaction, conversation_id: UUID, wish: Wish = NOTHING) -> Loaded:
    """The setup of a conversation, which is locked, as `wish` makes it.

    Raises NotFound, and Forbidden where its agent was deleted.
    """
    loaded = tx.one(Loaded, "turns.load", conversation_id=conversation_id, profile_id=wish.profile_id)
    if loaded is None:
        raise NotFound(_("There is no such conversation here."))
    if loaded.agent_status == "deleted":
        raise Forbidden(_("{name} was deleted; its conversations can be read only.").format(name=loaded.agent_name))
    if wish is NOTHING:
        return loaded
    instructions = "\n\n".join(filter(str.strip, (loaded.instructions, wish.instructions)))
    loaded = replace(loaded, instructions=instructions, params={**loaded.params, **wish.params})
    unlimited = wish.whole and loaded.agent_id is None
    return replace(loaded, max_messages=None, max_tokens=None) if unlimited else loaded
