"""How full a conversation's memory is, and what the next question would leave out."""

from dataclasses import dataclass

from nexus_core import agents, summaries
from nexus_core.agents import Agent
from nexus_core.conversations import Conversation
from nexus_core.database import Transaction

NEAR = 0.8


@dataclass(frozen=True)
class Gauge:
    """What the next question takes along, before it is written.

    `messages` and `tokens` (an estimate) beside the agent's limits; None is no limit. `left_out` older messages stay
    behind, but for those that a summary stands for, the numbers up to `summarized`. The oldest that goes along, and
    is the next to stay behind, has the number `first_seq` and begins with `first_words`. A model with a small context
    may take less along; the receipt of each answer says what it was.
    """

    mode: str
    messages: int = 0
    tokens: int = 0
    left_out: int = 0
    first_seq: int | None = None
    first_words: str | None = None
    max_messages: int | None = None
    max_tokens: int | None = None
    summarized: int = 0

    @property
    def share(self) -> float:
        """How full it is, by the limit that is nearer: 0 empty, 1 full; 0 without limits."""
        return max(self._shares().values(), default=0.0)

    @property
    def bound(self) -> str:
        """The limit that is nearer, `messages` or `tokens`; empty without limits."""
        shares = self._shares()
        return max(shares, key=shares.__getitem__, default="")

    def _shares(self) -> dict[str, float]:
        used = {"messages": (self.messages + 1, self.max_messages), "tokens": (self.tokens, self.max_tokens)}
        return {name: value / limit if limit else 1.0 for name, (value, limit) in used.items() if limit is not None}

    @property
    def is_near(self) -> bool:
        """Whether something stays behind already, or soon will."""
        return self.mode != "none" and (self.left_out > 0 or self.share >= NEAR)


def of(tx: Transaction, conversation: Conversation, agent: Agent | None) -> Gauge:
    """The gauge of a conversation with its agent, None for Just Chat."""
    mode = agent.memory_mode if agent else "session"
    max_messages = agent.max_messages if agent else agents.DEFAULTS["max_messages"]
    max_tokens = agent.max_tokens if agent else agents.DEFAULTS["max_tokens"]
    if mode == "none":
        return Gauge(mode)
    summary = summaries.latest(tx, conversation.id, before=conversation.next_seq) if mode == "session" else None
    summarized = summary.to_seq if summary else 0
    row = tx.rows(
        "gauge.window",
        conversation_id=conversation.id,
        across=mode == "user",
        project_id=conversation.project_id,
        agent_id=conversation.agent_id,
        after=summarized,
        max_messages=max_messages,
        max_tokens=max_tokens,
    )[0]
    return Gauge(mode, **row, max_messages=max_messages, max_tokens=max_tokens, summarized=summarized)
