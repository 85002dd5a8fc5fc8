"""What is sent to the model for a turn, section by section, and the receipt that says so."""

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import groupby
from typing import Any, cast
from uuid import UUID
from zoneinfo import ZoneInfo

from nexus_core import embedding, llm, memories, messages, parts, recall, runs, sections, summaries, tokens, tools
from nexus_core.builtin import MODEL as BUILTIN
from nexus_core.builtin import Passage
from nexus_core.database import Scope, Transaction, transaction
from nexus_core.errors import NexusError
from nexus_core.meaning import Floats
from nexus_core.memories import Memory
from nexus_core.recall import Passage as Recalled
from nexus_core.refusals import is_gone
from nexus_core.summaries import Summary
from nexus_core.turns import Turn
from nexus_core.window import Item, Mode, Window, select

_log = logging.getLogger(__name__)
DEFAULT_INSTRUCTIONS = "You are a helpful assistant. Answer in the language of the question."
MEMORY_TOKENS = 6_000
MEMORY_SHARE = 0.4
"""The part of a model's context that the memory may take where that is less."""
RECALL_TOKENS = 1_500
RECALL_PASSAGES = 6
EARLIER = "[What was said before this is not shown.]"
"""Stands first where the window begins with an answer: many models take only a beginning by the person."""
ANSWER_SHARE = 0.25
"""The part of a model's context that is left for its answer."""


@dataclass(frozen=True)
class Context:
    """What goes to a model: `history` ends with the new message; `system` texts stand before it, in order.

    `passages()` says the same to the built-in assistant. `tokens` is the estimate of everything.
    """

    system: tuple[str, ...]
    history: tuple[Item, ...]
    tools: tuple[dict[str, Any], ...]
    passages: Callable[[], Iterator[Passage]]
    question: str
    tokens: int
    receipt: dict[str, Any]

    def messages(self, answered: Sequence[dict[str, Any]] = ()) -> list[dict[str, Any]]:
        """The provider's messages; `answered` are the parts of this turn's answer so far, tool results among them."""
        return provider_messages(self.system, self.history, answered)


@dataclass(frozen=True)
class _Answer:
    parts: list[dict[str, Any]]
    conversation_id: UUID
    role: str = "assistant"

    @property
    def metadata(self) -> dict[str, Any]:
        return {}


def provider_messages(
    system: Sequence[str], history: Sequence[parts.Row], answered: Sequence[dict[str, Any]] = ()
) -> list[dict[str, Any]]:
    """The OpenAI chat messages of one call: the texts of the system, `history`, and what was `answered` so far."""
    rows = list(history)
    if answered:
        rows.append(_Answer(list(answered), rows[-1].conversation_id))
    said = parts.to_provider(rows)
    opening = [{"role": "user", "content": EARLIER}] if said and said[0]["role"] == "assistant" else []
    # One message, for the templates of many local models know no second one of the system's.
    return [{"role": "system", "content": "\n\n".join(system)}, *opening, *said]


def digest(messages: Sequence[dict[str, Any]]) -> list[str]:
    """What tells whether the messages of a call can be shown as they were: of the system's text, and of the rest."""
    return [sha256(json.dumps(part, sort_keys=True).encode()).hexdigest()[:16] for part in (messages[:1], messages[1:])]


def meant(scope: Scope, turn: Turn) -> Floats | None:
    """What a turn's question means to the embedding model that is set: a call, so outside every transaction."""
    if not (embedding.model() and turn.project_id and turn.setup.recall):
        return None
    with transaction(scope) as tx:
        asked = messages.page(tx, turn.conversation_id, before=turn.question_seq + 1, limit=1)
    return recall.meant(scope, asked[-1].body if asked else "", turn.project_id)


def build(tx: Transaction, turn: Turn, *, share: float = 1.0, vector: Floats | None = None) -> Context:
    """Read what a turn's model call is to see; `share` below 1 makes the window smaller (a context too long).

    `vector` is what `meant` gave. Order: instructions, living memory at its version, summary, recalled passages,
    window, the new message; the beginning is byte-stable, so that providers can cache it. Raises NotFound.
    """
    setup = turn.setup
    remembers = setup.memory_mode != "none"
    memory = memories.get(tx, turn.project_id) if turn.project_id and remembers else None
    summary = None
    if setup.memory_mode == "session" and setup.summarized:
        summary = summaries.latest(tx, turn.conversation_id, before=turn.question_seq)
    instructions = setup.instructions.strip() or DEFAULT_INSTRUCTIONS
    room = memory_budget(setup.model, setup.context_tokens)
    memory_text, memory_left = sections.memory_text(memory, room) if memory else ("", [])
    beginning = (instructions, memory_text, sections.summary_text(summary))
    fixed = sum(tokens.count(text) + tokens.MESSAGE_OVERHEAD for text in beginning if text)
    window, scale = _window(tx, turn, summary, fixed, share)
    question = parts.body(window.items[-1].parts)
    found = _found(tx, turn, question, window, vector) if turn.project_id and remembers and setup.recall else []
    recalled = _fitting(found or [], window)
    texts = (*beginning, sections.evidence_text(recalled))
    receipt = _receipt(turn, texts, memory, summary, recalled, window)
    reader = sections.Reader(turn.user_id, setup.workspace_slug, turn.conversation_id, ZoneInfo(setup.time_zone))
    offered = _offered(turn) if setup.tools and turn.project_id and remembers else ()
    every = (*offered, *turn.tools)
    total = (tokens.count(json.dumps(every)) if every else 0) + sum(
        section["tokens"] for section in receipt["sections"]
    )
    receipt |= {"tokens": total, "scale": round(scale, 3), "memory_left_out": memory_left, "begun": len(turn.begun)}
    receipt["tools"] = [tool["function"]["name"] for tool in every]
    receipt["notes"] += ["smaller_window"] * (share < 1) + ["recall_failed"] * (found is None)
    return Context(
        tuple(text for text in texts if text),
        window.items,
        offered,
        partial(sections.passages, memory, summary, recalled, window.items, reader),
        question,
        total,
        receipt,
    )


def _offered(turn: Turn) -> tuple[dict[str, Any], ...]:
    """Our own tools, but for those whose name the program's have."""
    theirs = {tool["function"]["name"] for tool in turn.tools}
    return tuple(tool for tool in tools.OFFERED if tool["function"]["name"] not in theirs)


def memory_budget(model: str, context_tokens: int | None) -> int:
    """How many tokens a project's memory may take in a prompt for a model; its summary is always sent whole."""
    size = context_tokens or llm.context_window(model)
    return min(MEMORY_TOKENS, int(size * MEMORY_SHARE)) if size else MEMORY_TOKENS


def _window(tx: Transaction, turn: Turn, summary: Summary | None, fixed: int, share: float) -> tuple[Window, float]:
    setup = turn.setup
    measured = runs.calibration(tx, turn.conversation_id, setup.model) if setup.model != BUILTIN else (None, None)
    scale = tokens.scale(*measured)
    limits = [limit for limit in (setup.max_tokens, _room(turn, fixed)) if limit is not None]
    max_tokens = int(min(limits) / scale) if limits else None
    limit: dict[str, Any] = {"max_messages": setup.max_messages, "max_tokens": max_tokens}
    if setup.memory_mode == "none":
        limit = {"max_messages": 0, "max_tokens": 0}
    upto: dict[str, Any] = {"upto": turn.question_seq}
    if setup.memory_mode == "user":
        place: dict[str, Any] = {"project_id": turn.project_id, "agent_id": setup.agent_id}
        items = messages.user_window(tx, turn.conversation_id, **place, **upto, **limit)
    else:
        after = summary.to_seq if summary else 0
        items = messages.session_window(tx, turn.conversation_id, after=after, **upto, **limit)
    window = select(items, mode=cast(Mode, setup.memory_mode), **limit)
    if share < 1:  # of what was too long, not of a limit that may be far above it
        limit["max_tokens"] = int(window.tokens * share)
        window = select(items, mode=cast(Mode, setup.memory_mode), **limit)
    return window, scale


def _room(turn: Turn, fixed: int) -> int | None:
    """Tokens that the model's context leaves for the window; None where its size is not known."""
    size = turn.setup.context_tokens or llm.context_window(turn.setup.model)
    if not size:
        return None
    return max(0, int(size * (1 - ANSWER_SHARE)) - fixed - (RECALL_TOKENS if turn.setup.recall else 0))


def _found(tx: Transaction, turn: Turn, question: str, window: Window, vector: Floats | None) -> list[Recalled] | None:
    """Passages of the project's other conversations, best first; None, and a line in the log, when that failed.

    An answer without them is better than none; the receipt says so.
    """
    limit = RECALL_PASSAGES + len(window.items)
    try:
        with tx.savepoint():
            place: dict[str, Any] = {"besides": turn.conversation_id, "limit": limit, "vector": vector}
            return recall.passages(tx, question, turn.project_id, **place)
    except Exception as error:
        if isinstance(error, NexusError) or is_gone(error):
            raise
        _log.exception("recall for run %s failed", turn.run_id)
        return None


def _fitting(found: Sequence[Recalled], window: Window) -> list[Recalled]:
    """Those of the passages that fit into the budget, never one that is sent anyway."""
    sent = {item.id for item in window.items}
    kept: list[Recalled] = []
    used = 0
    for passage in found:
        cost = tokens.count(sections.quoted(passage))
        if passage.message_id not in sent and used + cost <= RECALL_TOKENS and len(kept) < RECALL_PASSAGES:
            kept.append(passage)
            used += cost
    return kept


def _receipt(
    turn: Turn, texts: sections.Texts, memory: Memory | None, summary: Summary | None,
    recalled: Sequence[Recalled], window: Window,
) -> dict[str, Any]:  # fmt: skip
    """What went in and what was left out, with tokens; message texts by number and memory by version, not copied."""
    instructions, memory_text, summary_text, evidence = texts
    new, history = window.items[-1], window.items[:-1]
    found: list[dict[str, Any]] = [
        {"section": "instructions", "tokens": tokens.count(instructions), "text": instructions}
    ]
    if memory:
        found.append({"section": "memory", "tokens": tokens.count(memory_text), "version": memory.version})
    if summary:
        covers = {"from_seq": summary.from_seq, "to_seq": summary.to_seq, "summary_id": summary.id}
        found.append({"section": "summary", "tokens": tokens.count(summary_text), **covers})
    if recalled:
        hits = [
            {"message_id": p.message_id, "conversation_id": p.conversation_id, "title": p.conversation_title,
             "seq": p.seq, "score": round(p.score, 4)}
            for p in recalled
        ]  # fmt: skip
        found.append({"section": "recall", "tokens": tokens.count(evidence), "passages": hits})
    found.append({"section": "window", "tokens": window.tokens - new.tokens, "messages": _numbers(history)})
    found.append({"section": "message", "tokens": new.tokens, "seq": new.seq, "id": new.id})
    left = [{"seq": row.seq, "id": row.id, "reason": row.reason} for row in window.left_out]
    first = min((item.seq for item in window.items if item.conversation_id == turn.conversation_id), default=1)
    return {
        "model": turn.setup.model,
        "memory_mode": turn.setup.memory_mode,
        "limits": {"messages": turn.setup.max_messages, "tokens": turn.setup.max_tokens},
        "sections": found,
        "left_out": left,
        "first_seq": first,
        "notes": ["oversize"] if window.oversize else [],
    }


def _numbers(items: Sequence[Item]) -> list[dict[str, Any]]:
    """The numbers sent, conversation by conversation, in the order in which they were sent."""
    found: list[dict[str, Any]] = []
    for conversation_id, group in groupby(items, key=lambda item: item.conversation_id):
        found.append({"conversation_id": conversation_id, "seqs": [item.seq for item in group]})
    return found
