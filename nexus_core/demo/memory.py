"""What the demo's projects remember: memories with every version that they had, proposals, tasks."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from nexus_core.demo.cast import PROJECTS, Dice, Row, by_day, content
from nexus_core.demo.talk import Company, Said
from nexus_core.entries import LISTS, keys_of

VERSIONS = 6


def tasks(dice: Dice, name: str, project: UUID, people: Sequence[UUID], now: datetime) -> list[Row]:
    """The tasks of a project."""
    found = []
    for task in content(name)["tasks"]:
        at = by_day(dice, now - timedelta(days=task["ago"]), now)
        closed = at + timedelta(days=min(9, task["ago"])) if task["status"] == "done" else None
        found.append({
            "id": dice.id_at(at), "project_id": project, "title": task["title"], "status": task["status"], "notes": "",
            "created_by": dice.choice(people), "created_at": at, "updated_at": closed or at, "closed_at": closed,
        })  # fmt: skip
    return found


def remember(
    dice: Dice, name: str, project: UUID, company: Company, said: Said, now: datetime
) -> tuple[Row, list[Row], list[Row]]:
    """The memory of a project, its versions, the last of which it is, and the proposals about it."""
    known = content(name)
    whole: Row = {field: _entries(dice, name, field, company, said, now) for field in LISTS}
    paragraphs = known["summary"].strip().split("\n\n")
    versions: list[Row] = []
    people = [company.people[number] for number in company.members[PROJECTS.index(name)]]
    for step in range(1, VERSIONS + 1):
        part: Row = {field: items[: -(-len(items) * step // VERSIONS)] for field, items in whole.items()}
        part["summary_md"] = "\n\n".join(paragraphs[: -(-len(paragraphs) * step // VERSIONS)])
        at = by_day(dice, now - timedelta(days=330 * (VERSIONS - step) / VERSIONS + 4), now)
        versions.append(_version(part, project, at, dice.choice(people), "proposal" if step % 3 == 0 else "hand"))
    if "conflict" in known:
        _conflict(versions, known["conflict"], people)
    empty: Row = {"summary_md": ""} | {field: [] for field in LISTS}
    versions.insert(0, _version(empty, project, versions[0]["created_at"] - timedelta(days=1), people[0], "hand"))
    for number, version in enumerate(versions, start=1):
        version["version"] = number
    last = versions[-1]
    memory = {key: last[key] for key in (*LISTS, "summary_md", "version", "project_id")} | {
        "updated_by": last["created_by"], "updated_at": last["created_at"],
    }  # fmt: skip
    return memory, versions, _proposals(dice, name, project, people, said, memory, now)


def _version(part: Row, project: UUID, at: datetime, person: UUID | None, source: str) -> Row:
    return part | {"project_id": project, "source": source, "note": "", "created_by": person, "created_at": at}


def _conflict(versions: list[Row], conflict: Row, people: Sequence[UUID]) -> None:
    """Two changed the same entry within minutes: the second one saw both, and chose."""
    last = versions[-1]
    theirs = last | {conflict["field"]: [dict(entry) for entry in last[conflict["field"]]]}
    theirs[conflict["field"]][conflict["index"]][conflict["key"]] = conflict["mine"]
    theirs["source"], theirs["created_by"] = "hand", people[-1]
    last |= {
        "note": conflict["note"], "source": "hand", "created_by": people[0],
        "created_at": theirs["created_at"] + timedelta(minutes=4),
    }  # fmt: skip
    versions.insert(-1, theirs)


def _entries(dice: Dice, name: str, field: str, company: Company, said: Said, now: datetime) -> list[Row]:
    people = content("cast")["people"]
    found = []
    for entry in content(name)[field]:
        kept = {key: value for key, value in entry.items() if key not in ("ago", "who", "topic")}
        at = now - timedelta(days=entry.get("ago", 100))
        if "who" in entry:
            kept |= {"decided_on": at.date().isoformat(), "who": people[entry["who"]]["name"]}
        if message := _nearest(said, name, entry.get("topic", ""), at):
            kept |= {"message_id": message["id"], "conversation_id": message["conversation_id"]}
        found.append({"id": str(dice.id_at(at))} | kept)
    return found


def _nearest(said: Said, name: str, topic: str, at: datetime) -> Row | None:
    """The answer about a topic that was given nearest to a moment."""
    answers = [one for one in said.cited.get((name, topic), ()) if one["role"] == "assistant"]
    return min(answers, key=lambda one: abs(one["created_at"] - at), default=None)


def _proposals(
    dice: Dice, name: str, project: UUID, people: Sequence[UUID], said: Said, memory: Row, now: datetime
) -> list[Row]:
    """Those of the content wait; and for each of the older decisions there is one that was accepted or refused."""
    found = []
    for item in content(name)["proposals"]:
        at = by_day(dice, now - timedelta(days=dice.uniform(0.3, 3)), now)
        cited = _nearest(said, name, item["topic"], now)
        lines = [_line(dice, line, memory, cited, at) for line in item["lines"]]
        waits = _proposal(dice, project, at, item["trigger"], lines, cited, people)
        found.append(waits | {"base_version": memory["version"]})
    for number, decision in enumerate(memory["decisions"][:4]):
        at = by_day(dice, now - timedelta(days=300 - number * 60), now)
        status = "rejected" if number == 2 else "accepted"
        line: Row = {"op": "add", "field": "decisions", "after": decision}
        decided = at + timedelta(hours=5)
        lines = [_line(dice, line, memory, None, at) | {
            "status": status, "decided_by": people[0], "decided_at": decided.isoformat(),
        }]  # fmt: skip
        found.append(_proposal(dice, project, at, "decision", lines, None, people) | {
            "status": status, "decided_by": people[0], "decided_at": decided, "base_version": number + 1,
        })  # fmt: skip
    return found


def _line(dice: Dice, line: Row, memory: Row, cited: Row | None, at: datetime) -> Row:
    before = memory[line["field"]][line["index"]] if "index" in line else None
    key = keys_of(memory[line["field"]])[line["index"]] if "index" in line else None
    after: Any = line["after"]
    if before is not None:
        after = before | after
    elif "id" not in after:
        after = {"id": str(dice.id_at(at))} | after
    return {
        "id": dice.id_at(at), "op": line["op"], "field": line["field"], "key": key, "before": before, "after": after,
        "evidence": [cited["id"]] if cited else [], "status": "pending", "decided_by": None, "decided_at": None,
    }  # fmt: skip


def _proposal(
    dice: Dice, project: UUID, at: datetime, trigger: str, lines: list[Row], cited: Row | None, people: Sequence[UUID]
) -> Row:
    return {
        "id": dice.id_at(at), "project_id": project, "conversation_id": cited and cited["conversation_id"],
        "trigger": trigger, "changes": lines, "status": "pending", "created_by": dice.choice(people), "created_at": at,
        "decided_by": None, "decided_at": None,
    }  # fmt: skip
