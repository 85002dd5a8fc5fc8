"""The conversations of the demo: who asked what of whom, when, and what was answered."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from nexus_core import tokens
from nexus_core.demo.cast import OWN, PROJECTS, Row, content, fill, words
from nexus_core.demo.ledger import Ledger
from nexus_core.demo.rhythm import Rhythm
from nexus_core.text import clip, in_short, one_line

BASE = 2_200
"""Tokens that go before each conversation: instructions, the project's memory, what was recalled."""


@dataclass(frozen=True)
class Company:
    """The ids of what conversations point to, in the order of the content files; `tasks` by project."""

    owner: UUID
    people: Sequence[UUID]
    projects: Sequence[UUID]
    agents: Sequence[UUID]
    tasks: Sequence[Sequence[UUID]]
    members: Sequence[Sequence[int]]


@dataclass
class Said:
    """Everything that was said: rows by table, and by (project, topic) the messages that a memory may cite."""

    conversations: list[Row] = field(default_factory=list)
    messages: list[Row] = field(default_factory=list)
    summaries: list[Row] = field(default_factory=list)
    tags: list[tuple[UUID, str]] = field(default_factory=list)
    reads: list[Row] = field(default_factory=list)
    cited: dict[tuple[str, str], list[Row]] = field(default_factory=dict)


def make(ledger: Ledger, rhythm: Rhythm, company: Company, count: int) -> Said:
    """So many conversations over the year, with the runs that answered them."""
    said, dice = Said(), ledger.dice
    weights = [content(name)["weight"] for name in PROJECTS] + [12]
    decks: dict[str, list[Row]] = {}
    for at in rhythm.moments(dice, count):
        at = min(at, ledger.now - timedelta(hours=2))
        name = dice.choices([*PROJECTS, OWN], weights=weights)[0]
        deck = decks.setdefault(name, [])
        if not deck:
            deck += dice.sample(content(name)["topics"], len(content(name)["topics"]))
        _Talk(said, ledger, company, name, deck.pop(), at).write()
    return said


class _Talk:
    """One conversation on its way into `said`."""

    def __init__(self, said: Said, ledger: Ledger, company: Company, name: str, topic: Row, at: datetime) -> None:
        self.said, self.ledger, self.company, self.name, self.topic = said, ledger, company, name, topic
        self.begun, self.at, self.dice = at, at, ledger.dice
        self.language = topic.get("language") or content(name)["language"]
        self.values = words(self.dice, self.language, at)
        self.number = PROJECTS.index(name) if name in PROJECTS else None
        self.model = ledger.model(at)
        self.row: Row = {}
        self.seq = 0

    def write(self) -> None:
        """The conversation with its messages, runs, tags, and a summary of some."""
        self._begin()
        pairs = len(self.topic["say"]) // 2
        if self.topic.get("kind") != "decision" and self.dice.random() < 0.25:
            pairs = self.dice.randint(1, pairs)
        texts = [fill(text, self.values).strip() for text in self.topic["say"][: pairs * 2]]
        sent = BASE if self.number is not None else 700
        for number in range(0, len(texts), 2):
            self._ask(texts[number])
            sent += tokens.count(texts[number])
            self._answer(texts[number], texts[number + 1], sent, last=number + 2 == len(texts))
            sent += tokens.count(texts[number + 1])
        self.row |= {"next_seq": self.seq + 1, "last_message_at": self.at, "updated_at": self.at}
        self._end(texts)

    def _begin(self) -> None:
        dice, company = self.dice, self.company
        project = None if self.number is None else company.projects[self.number]
        person = company.owner
        if self.number is not None and dice.random() > 0.22:
            person = company.people[dice.choice(company.members[self.number])]
        task = None
        if self.number is not None and dice.random() < (0.3 if self.topic["kind"] == "task" else 0.05):
            task = dice.choice(company.tasks[self.number])
        self.row = {
            "id": dice.id_at(self.begun), "user_id": person, "project_id": project, "task_id": task,
            "agent_id": None if self.number is None else company.agents[self.topic["agent"]],
            "title": clip(one_line(fill(self.topic["title"], self.values)), 60), "title_source": "person",
            "kind": self.topic.get("kind", "project"), "status": "open", "summary_md": "", "created_at": self.begun,
        }  # fmt: skip
        self.said.conversations.append(self.row)
        self.said.tags += [(self.row["id"], tag) for tag in self.topic.get("tags", ())]

    def _ask(self, text: str) -> None:
        self._message("user", text, user_id=self.row["user_id"])
        self.at += timedelta(milliseconds=self.dice.randint(30, 200))

    def _answer(self, asked: str, text: str, sent: int, *, last: bool) -> None:
        open_to_all = self.row["project_id"] is not None
        about = {key: self.row[key] for key in ("project_id", "task_id", "agent_id", "user_id")} | {
            "conversation_id": self.row["id"],
            "prompt_summary": in_short(asked) if open_to_all else None,
            "response_summary": in_short(text) if open_to_all else None,
        }
        given = int(sent * self.dice.uniform(0.97, 1.05))
        written = int(tokens.count(text) * self.dice.uniform(1.0, 1.1) / (1 - self.model.reasoning))
        cached = 0.0 if self.seq < 2 else self.dice.uniform(0.55, 0.9)
        run = self.ledger.answer(self.at, self.model, given, written, cached=cached, **about)
        self.at = run["finished_at"]
        stopped = last and self.dice.random() < 0.015
        if stopped:
            run["stopped"] = True
            text = text[: len(text) // 2]
        told = {"run_id": run["id"], "model": self.model.model, "runtime": self.model.runtime}
        self._message("assistant", text, status="stopped" if stopped else "complete", **told)
        self.at += timedelta(seconds=self.dice.about(100, 0.8))

    def _message(self, role: str, text: str, **about: Any) -> None:
        self.seq += 1
        message = {
            "id": self.dice.id_at(self.at), "conversation_id": self.row["id"], "seq": self.seq,
            "parent_seq": self.seq - 1 or None, "role": role, "status": "complete",
            "parts": [{"type": "text", "text": text}], "body": text, "tokens": tokens.count(text) + 4,
            "user_id": None, "run_id": None, "model": None, "runtime": None, "created_at": self.at,
        } | about  # fmt: skip
        self.said.messages.append(message)
        self.said.cited.setdefault((self.name, self.topic["key"]), []).append(message)

    def _end(self, texts: Sequence[str]) -> None:
        old = (self.ledger.now - self.at).days
        if old > 25 and self.seq >= 4 and self.dice.random() < 0.4:
            body = "\n".join(f"- {_first(question)} – {_first(answer)}" for question, answer in _pairs(texts))
            self.row |= {"status": "summarized", "summary_md": body}
            self.said.summaries.append({
                "id": self.dice.id_at(self.at), "conversation_id": self.row["id"], "from_seq": 1, "to_seq": self.seq,
                "body_md": body, "tokens": tokens.count(body), "method": "extract", "created_at": self.at,
            })  # fmt: skip
        elif old > 100 and self.dice.random() < 0.3:
            self.row["status"] = "archived"
        if old > 2:
            self.said.reads.append({"conversation_id": self.row["id"], "seq": self.seq})


def _pairs(texts: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(texts[::2], texts[1::2], strict=True))


def _first(text: str) -> str:
    """The first sentence of a text, on one line."""
    line = one_line(text.partition("\n")[0].strip("> "))
    for end in (". ", "? ", ": "):
        line = line.partition(end)[0] + end.strip() if end in line else line
    return clip(line, 140)
