"""What did we decide about …? Answered at once from a project's memory and what was said in it; no model is asked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from nexus_core import memories, recall
from nexus_core.builtin import language_of
from nexus_core.database import Transaction
from nexus_core.entries import LISTS, entry_line, is_closed
from nexus_core.memories import Memory
from nexus_core.quotes import Passage, is_question, rank, terms
from nexus_core.recall import Passage as Recalled
from nexus_core.text import as_uuid, fold

KINDS = {"decisions": "decision", "open_questions": "question", "risks": "risk", "links": "link"}
ENTRIES, PASSAGES = 6, 5
QUOTED = "\n> — "
"""Where the built-in assistant names the source of a quote."""
NEAR = 0.5
"""The part of the best one's score below which an entry is left out."""


@dataclass(frozen=True)
class Known:
    """An entry of the memory that answers; `conversation_id` is where its message stands, None where it names none."""

    field: str
    entry: Any
    message_id: UUID | None
    conversation_id: UUID | None


@dataclass(frozen=True)
class Answered:
    """What is known, best first: entries of the memory, those that hold before others, and messages that say more."""

    entries: list[Known]
    passages: list[Recalled]


def about(tx: Transaction, project_id: UUID, question: str) -> Answered:
    """What a project knows about a question, in words or by meaning; nothing for a blank one. Raises NotFound."""
    memory = memories.get(tx, project_id)
    if not question.strip():
        return Answered([], [])
    entries = _entries(memory, question)
    cited = {entry.message_id for entry in entries}
    found = recall.passages(tx, question, project_id, limit=4 * PASSAGES + len(cited))
    return Answered(entries, [one for one in found if one.message_id not in cited and _tells(one)][:PASSAGES])


def _tells(passage: Recalled) -> bool:
    """Whether a message says something itself: no question, and no answer that quotes others."""
    return not is_question(passage.body) and not (passage.role == "assistant" and QUOTED in passage.body)


def _entries(memory: Memory, question: str) -> list[Known]:
    said = {
        Passage(entry_line(entry), KINDS[field], "project", seq=number): (field, entry)
        for field in LISTS
        for number, entry in enumerate(getattr(memory, field))
    }
    language = language_of(question, list(said))
    wanted = terms(language.lists["decision"].sub(" ", fold(question)), language)
    ranked = rank(wanted, list(said), language)
    near = [said[one.passage] for one in ranked if one.score >= ranked[0].score * NEAR]
    return [_known(*one) for one in sorted(near, key=lambda one: is_closed(one[1]))[:ENTRIES]]


def _known(field: str, entry: Any) -> Known:
    cited = entry if isinstance(entry, Mapping) else {}
    ids = [as_uuid(str(cited.get(name) or "")) for name in ("message_id", "conversation_id")]
    return Known(field, entry, *ids)
