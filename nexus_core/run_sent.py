"""What a run sent, made again from its receipt and the stored rows, and whether it is that to the letter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from nexus_core import context, sections
from nexus_core.database import Transaction
from nexus_core.memories import Memory
from nexus_core.messages import Message
from nexus_core.recall import Passage
from nexus_core.runs import Run
from nexus_core.summaries import Summary

Receipt = Mapping[str, Any]


@dataclass(frozen=True)
class Gap:
    """A section of which something is `gone` or was `changed` since: messages by number, or all of it."""

    section: str
    reason: str
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True)
class Sent:
    """The provider messages of a run's last call; `calls` says how many of the first ones each call sent.

    `exact`: the digests that were taken when they were sent fit, of the system's text and of the rest; None: none was
    taken (the built-in assistant is sent no messages, and runs before digests have none). `gaps` say why not.
    """

    messages: tuple[dict[str, Any], ...]
    calls: tuple[int, ...]
    exact: bool | None
    system_exact: bool | None
    gaps: tuple[Gap, ...]


@dataclass(frozen=True)
class _Row:
    seq: int
    role: str
    parts: list[dict[str, Any]]
    metadata: dict[str, Any]
    conversation_id: UUID
    id: UUID
    updated_at: datetime


def rebuild(tx: Transaction, run: Run, receipt: Receipt, answer: Message | None) -> Sent | None:
    """The messages that `receipt` speaks of; `answer` is the one that this run wrote. None where nothing is known."""
    found = {str(section.get("section")): section for section in receipt.get("sections") or ()}
    if "message" not in found or run.conversation_id is None:
        return None
    gaps: list[Gap] = []
    system = [text for text in _texts(tx, run, found, gaps) if text]
    rows = _rows(tx, run, found, gaps)
    if not rows:
        return None
    taken = receipt.get("sent")
    many = max(1, len(taken if taken is not None else receipt.get("steps") or ()))
    answered = _answered(answer, many, int(receipt.get("begun") or 0))
    calls = [context.provider_messages(system, rows, parts) for parts in answered]
    exact, system_exact = _compare(calls, taken)
    if exact is False:
        ended = run.finished_at
        edited = [row.seq for row in rows if ended and row.updated_at > ended]
        gaps += [Gap("window", "changed", tuple(edited))] if edited else []
    return Sent(tuple(calls[-1]), tuple(map(len, calls)), exact, system_exact, tuple(gaps))


def _compare(calls: Sequence[list[dict[str, Any]]], taken: Sequence[Sequence[str]] | None) -> tuple[bool | None, ...]:
    if not taken:
        return None, None
    digests = [context.digest(call) for call in calls]
    known = [list(pair) for pair in taken]
    return digests == known, [pair[0] for pair in digests] == [pair[0] for pair in known]


def _answered(answer: Message | None, calls: int, begun: int) -> list[list[dict[str, Any]]]:
    """The parts of the answer that were there before each call: `begun` at first, then those up to a border."""
    parts = answer.parts if answer else []
    borders = [index + 1 for index, part in enumerate(parts) if part.get("type") == "step-start"]
    ends = [begun, *(end for end in borders if end > begun), *[len(parts)] * calls][:calls]
    return [parts[:end] for end in ends]


def _texts(tx: Transaction, run: Run, found: Mapping[str, Receipt], gaps: list[Gap]) -> sections.Texts:
    memory_text, summary_text = "", ""
    if found.get("memory", {}).get("tokens"):  # an empty one is not sent, and has no revision at first
        version = found["memory"].get("version")
        memory = tx.one(Memory, "run_detail.memory", project_id=run.project_id, version=version)
        memory_text = sections.memory_text(memory, context.MEMORY_TOKENS)[0] if memory else ""
        gaps += [] if memory else [Gap("memory", "gone")]
    if "summary" in found:
        summary = tx.one(Summary, "run_detail.summary", id=found["summary"].get("summary_id"))
        summary_text = sections.summary_text(summary)
        gaps += [] if summary else [Gap("summary", "gone")]
    evidence = sections.evidence_text(_recalled(tx, found["recall"], gaps)) if "recall" in found else ""
    return str(found.get("instructions", {}).get("text") or ""), memory_text, summary_text, evidence


def _recalled(tx: Transaction, section: Receipt, gaps: list[Gap]) -> list[Passage]:
    """The quoted messages with their titles of then; who wrote them is called by today's name."""
    hits = section.get("passages") or ()
    rows = {row.id: row for row in tx.execute("run_detail.recalled", ids=[UUID(hit["message_id"]) for hit in hits])}
    passages = []
    for hit in hits:
        row = rows.get(UUID(hit["message_id"]))
        if row is None:
            gaps.append(Gap("recall", "gone", (int(hit["seq"]),)))
            continue
        place = (row.id, UUID(hit["conversation_id"]), str(hit.get("title") or ""), int(hit["seq"]))
        passages.append(Passage(*place, row.role, row.user_id, row.author, row.body, None, row.created_at, 0.0))
    return passages


def _rows(tx: Transaction, run: Run, found: Mapping[str, Receipt], gaps: list[Gap]) -> list[_Row]:
    """The messages of the window and the new one; none when the new one is gone."""
    groups = [(UUID(group["conversation_id"]), n) for group in found.get("window", {}).get("messages") or ()
              for n in group["seqs"]]  # fmt: skip
    assert run.conversation_id
    wanted = [*groups, (run.conversation_id, int(found["message"]["seq"]))]
    rows = tx.all(
        _Row, "run_detail.sent", conversations=[place for place, _n in wanted], seqs=[n for _place, n in wanted]
    )
    there = {(row.conversation_id, row.seq) for row in rows}
    gone = tuple(n for place, n in groups if (place, n) not in there)
    gaps += [Gap("window", "gone", gone)] if gone else []
    if wanted[-1] not in there:
        return []
    return [replace(row, metadata=row.metadata or {}) for row in rows]
