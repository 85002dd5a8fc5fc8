"""How much of what answers a question recall finds, on a file of conversations with questions."""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from uuid6 import uuid7

from bench.store import fresh_database
from nexus_core import conversations, meaning, messages, parts, projects, recall, signin
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction

AT = (5, 10, 20)
ROLES = ("user", "assistant", "system", "tool")
SMALL_SET = Path(__file__).with_name("recall_set.json")


def load(scope: Scope, conversation: dict[str, Any], url: str) -> tuple[UUID, dict[UUID, str]]:
    """Store a conversation in a project of its own: the project, and the file's id of each message stored."""
    known: dict[UUID, str] = {}
    said: list[tuple[datetime, UUID]] = []
    with transaction(scope) as tx:
        project = projects.create(tx, f"{conversation['id']} {uuid7()}")
        made = conversations.create(tx, Place(project.id), title=str(conversation["id"]))
        for message in conversation["messages"]:
            role = message["role"] if message["role"] in ROLES else "user"
            stored = messages.append(tx, made.id, role, [parts.text(message["body"])])
            known[stored.id] = message["id"]
            if message.get("created_at"):
                said.append((datetime.fromisoformat(message["created_at"]), stored.id))
    with psycopg.connect(url) as admin, admin.cursor() as cursor:  # only an import may say when something was said
        cursor.executemany("UPDATE messages SET created_at = %s WHERE id = %s", said)
    return project.id, known


def measure(file: dict[str, Any], *, by_meaning: bool = True) -> dict[str, Any]:
    """The share of each question's answers among the first 5, 10 and 20 that recall finds, averaged over questions."""
    shares: dict[int, list[float]] = {number: [] for number in AT}
    times: list[float] = []
    with fresh_database() as url:
        scope = signin.scope_for(signin.local_owner(), None, "cli")
        loaded = [(conversation, *load(scope, conversation, url)) for conversation in file["conversations"]]
        while recall.index_pending():
            pass
        while by_meaning and recall.learn_pending():
            pass
        for conversation, project_id, known in loaded:
            for question in conversation["questions"]:
                began = time.perf_counter()
                with transaction(scope) as tx:
                    found = recall.passages(tx, question["text"], project_id, limit=max(AT))
                times.append((time.perf_counter() - began) * 1000)
                order = [known[passage.message_id] for passage in found]
                for number in AT:
                    shares[number].append(share(question["answers"], order[:number]))
    return {
        "recall": {str(number): round(statistics.fmean(values), 4) for number, values in shares.items()},
        "questions": len(times),
        "ms_per_question": round(statistics.fmean(times), 2),
        "by_meaning": by_meaning and meaning.available(),
    }


def share(answers: Sequence[str], found: Sequence[str]) -> float:
    """How much of the answers was found, 0 to 1."""
    return len(set(answers) & set(found)) / len(set(answers)) if answers else 1.0


def main() -> None:
    """Print {"recall": {"5": …, "10": …, "20": …}, "questions": n, "ms_per_question": …}."""
    parser = argparse.ArgumentParser(prog="python -m bench.recall", description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, default=SMALL_SET, help="JSON; without it, the small set shipped")
    parser.add_argument("--words-only", action="store_true", help="without the meaning of messages")
    arguments = parser.parse_args()
    found = measure(json.loads(arguments.file.read_text("utf-8")), by_meaning=not arguments.words_only)
    json.dump(found, sys.stdout)
    print()


if __name__ == "__main__":
    main()
