"""Every row of the demo workspace, made from a seed: the same for the same moment, owner and size."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID
from zoneinfo import ZoneInfo

from nexus_core.demo import memory, talk
from nexus_core.demo.cast import PROJECTS, Dice, Row, content, models
from nexus_core.demo.ledger import Ledger, archive, block, programs, round_
from nexus_core.demo.rhythm import DAYS, Rhythm
from nexus_core.profiles import BUILTIN

SEED = 20_240_607
TRIAGE = 9
"""The agent whose budget is used up."""
MAIL = "demo.nexus.invalid"
"""Where the made-up people have their addresses: no mail goes there, nobody signs in from there (RFC 2606)."""
_MEMBERS = ((0, 1, 2, 3), (4, 5, 6), (6, 8, 9))


@dataclass(frozen=True)
class Size:
    """How much of it: conversations, runs (those of the conversations among them), days that are summed up at once."""

    conversations: int = 400
    runs: int = 60_000
    summed: int = DAYS


def make(owner: UUID, now: datetime, size: Size) -> Mapping[str, list[Row]]:
    """The rows by table, in the order in which they can be written. `owner` is the person who asks for it."""
    dice, zone = Dice(SEED), ZoneInfo(content("cast")["zone"])
    rows = _people(dice, owner, now) | _work(dice, now)
    rows["tasks"] = _tasks(dice, rows, now)
    company = talk.Company(
        owner=owner,
        people=[row["id"] for row in rows["people"]],
        projects=[row["id"] for row in rows["projects"]],
        agents=[row["id"] for row in rows["agents"]],
        tasks=[[task["id"] for task in rows["tasks"] if task["project_id"] == one["id"]] for one in rows["projects"]],
        members=_MEMBERS,
    )
    ledger = Ledger(dice, now)
    rows["prices"] = ledger.prices()
    said = talk.make(ledger, Rhythm(dice, now, zone), company, size.conversations)
    archive(ledger, zone, max(2, size.runs // 2_000), company.projects[1], company.agents[TRIAGE])
    programs(ledger, size.runs - len(ledger.runs), zone, company.projects, company.agents)
    rows |= _tagged(dice, now, said) | {"conversations": said.conversations, "messages": said.messages}
    rows |= {"summaries": said.summaries, "reads": said.reads, "memories": [], "revisions": [], "proposals": []}
    for name, project in zip(PROJECTS, company.projects, strict=True):
        current, versions, proposals = memory.remember(dice, name, project, company, said, now)
        rows["memories"].append(current)
        rows["revisions"] += versions
        rows["proposals"] += proposals
    rows["budgets"] = _budgets(dice, ledger, company, zone)
    rows["runs"] = ledger.runs
    rows["audit"] = _audited(dice, owner, rows, now)
    return rows


def _people(dice: Dice, owner: UUID, now: datetime) -> dict[str, list[Row]]:
    begun = now - timedelta(days=DAYS + 5)
    people = content("cast")["people"]
    found = [{"id": dice.id_at(begun), "email": f"{one['email']}@{MAIL}", "name": one["name"]} for one in people]
    joined = [{"user_id": row["id"], "role": one["role"]} for row, one in zip(found, people, strict=True)]
    joined.append({"user_id": owner, "role": "admin"})
    return {"people": found, "memberships": joined}


def _work(dice: Dice, now: datetime) -> dict[str, list[Row]]:
    begun = now - timedelta(days=DAYS + 4)
    profiles = [{"slug": "builtin", "name": "Built in", "model": BUILTIN, "is_default": True}]
    profiles += [{"slug": one.profile, "name": one.name, "model": one.model, "is_default": False} for one in models()]
    for profile in profiles:
        profile |= {"id": dice.id_at(begun), "created_at": begun}
    agents = [
        {"memory_mode": "session"} | agent | {"id": dice.id_at(begun), "created_at": begun}
        for agent in content("cast")["agents"]
    ]
    projects = []
    for name in PROJECTS:
        known = content(name)
        told = {"name": known["name"], "description": known["description"], "created_at": begun}
        projects.append({"id": dice.id_at(begun)} | told)
    return {"profiles": profiles, "agents": agents, "projects": projects}


def _tasks(dice: Dice, rows: Mapping[str, list[Row]], now: datetime) -> list[Row]:
    found: list[Row] = []
    for name, project, members in zip(PROJECTS, rows["projects"], _MEMBERS, strict=True):
        people = [rows["people"][number]["id"] for number in members]
        found += memory.tasks(dice, name, project["id"], people, now)
    return found


def _tagged(dice: Dice, now: datetime, said: talk.Said) -> dict[str, list[Row]]:
    names = sorted({name for _conversation, name in said.tags})
    ids = {name: dice.id_at(now - timedelta(days=DAYS)) for name in names}
    tags = [{"id": ids[name], "name": name} for name in names]
    return {"tags": tags, "tagged": [{"conversation_id": one, "tag_id": ids[name]} for one, name in said.tags]}


def _budgets(dice: Dice, ledger: Ledger, company: talk.Company, zone: ZoneInfo) -> list[Row]:
    """One of this month that is crossed and blocks, the triage's; the others are not."""
    month = ledger.now.astimezone(zone).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    used_up = block(ledger.runs, company.agents[TRIAGE], month, Decimal("0.9"))
    spent: dict[UUID | None, Decimal] = {}
    for run in ledger.runs:
        if run["created_at"] >= month and run["cost_estimate"]:
            for key in (None, run["project_id"]):
                spent[key] = spent.get(key, Decimal(0)) + run["cost_estimate"]
    found: list[Row] = [{"scope": "agent", "agent_id": company.agents[TRIAGE], "amount": used_up, "blocks": True}]
    found.append({"scope": "workspace", "amount": round_(spent.get(None, Decimal(1)) / Decimal("0.62"))})
    one = company.projects[0]
    found.append({"scope": "project", "project_id": one, "amount": round_(spent.get(one, Decimal(1)) / Decimal("0.4"))})
    empty: Row = {"project_id": None, "agent_id": None, "blocks": False}
    return [empty | budget | {"id": dice.id_at(ledger.now)} for budget in found]


def _audited(dice: Dice, owner: UUID, rows: Mapping[str, list[Row]], now: datetime) -> list[Row]:
    """What the log would have of it, the oldest first."""
    told: list[tuple[str, str, Row, Row]] = []
    for entity in ("profile", "project", "agent", "task"):
        told += [("create", entity, row, {}) for row in rows[f"{entity}s"]]
    told += [("set", "price", row, {"model": row["model"], "version": row["version"]}) for row in rows["prices"]]
    told += [("create", "proposal", row, {"trigger": row["trigger"]}) for row in rows["proposals"]]
    for row in rows["revisions"]:
        version = {"version": row["version"], "source": row["source"]}
        told.append(("update", "memory", row | {"id": row["project_id"]}, version))
    for row in rows["budgets"]:
        limit = {"scope": row["scope"], "amount": str(row["amount"])}
        told.append(("set", "budget", row | {"created_at": now - timedelta(days=40)}, limit))
    found = [
        {
            "id": dice.id_at(row["created_at"]), "at": row["created_at"], "user_id": row.get("created_by") or owner,
            "door": "page", "action": action, "entity": entity, "entity_id": row["id"],
            "detail": detail | ({"name": row["name"]} if "name" in row else {}),
        }
        for action, entity, row, detail in told
    ]  # fmt: skip
    return sorted(found, key=lambda entry: (entry["at"], entry["id"]))
