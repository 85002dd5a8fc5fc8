"""The demo workspace: how much is in it, the same each time, apart from what is real, and gone when removed."""

from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from nexus_core import (
    audit,
    budgets,
    conversations,
    dashboard,
    demo,
    memories,
    messages,
    people,
    proposals,
    ranges,
    signin,
    workspaces,
)
from nexus_core import projects as nouns
from nexus_core.__main__ import main
from nexus_core.database import Scope, transaction
from nexus_core.demo import plan
from nexus_core.demo.cast import OWN, PROJECTS, content
from nexus_core.errors import Conflict, Forbidden, NotFound
from tests.nexus_core.ledger import owner

NOW = datetime(2026, 6, 17, 15, 30, tzinfo=UTC)
SMALL = plan.Size(conversations=90, runs=1_500, summed=3)
TABLES = """
SELECT c.table_schema || '.' || c.table_name FROM information_schema.columns c
JOIN information_schema.tables t USING (table_schema, table_name)
WHERE c.column_name = 'workspace_id' AND t.table_type = 'BASE TABLE' AND c.table_schema IN ('public', 'nexus', 'system')
"""


def rows(url: str) -> dict[str, int]:
    """The rows of the demo in every table that has any."""
    with owner(url) as connection:
        tables = [name for (name,) in connection.execute(TABLES)]
        count = "SELECT count(*) FROM {} WHERE workspace_id = %s"
        counts = {name: connection.execute(count.format(name), [demo.WORKSPACE]).fetchone()[0] for name in tables}
    assert len(counts) > 25
    return {name.partition(".")[2]: count for name, count in counts.items() if count}


def test_a_year_is_there_agrees_with_itself_and_goes_without_a_trace(database_url: str, scope: Scope) -> None:
    there = demo.load(scope, now=NOW, size=SMALL)
    found = rows(database_url)
    assert {"conversations": 90, "assistant_runs": 1_500, "projects": 3, "agents": 12}.items() <= found.items()
    assert found["messages"] > 250 and found["summaries"] > 5 and found["conversation_tags"] > 50

    with transaction(there) as tx:
        assert proposals.waiting(tx) == 5
        noted = [entry.note for one in nouns.list_(tx) for entry in memories.revisions(tx, one.id) if entry.note]
        assert noted == [content("opening")["conflict"]["note"]]
        for one in nouns.list_(tx):
            cited = [entry["message_id"] for entry in memories.get(tx, one.id).decisions if "message_id" in entry]
            assert cited and all(messages.get(tx, message).body for message in cited)
        crossed = [status for status in budgets.statuses(tx, NOW) if status.spent >= status.budget.amount]
        assert [status.budget.scope for status in crossed] == ["agent"]
        assert audit.verify(tx).holds
        assert sum(not member.has_password for member in people.members(tx)) == 11  # the owner of the machine, too
        mine = conversations.recent(tx, None, limit=50)
        assert mine and {one.user_id for one in mine} == {scope.user_id}

    shown = dashboard.load(there, ranges.make("365d", "Europe/Madrid", NOW)).report
    with owner(database_url) as connection:
        spent, runs = connection.execute(
            "SELECT sum(cost_estimate), count(*) FROM assistant_runs WHERE workspace_id = %s AND created_at >= %s",
            (demo.WORKSPACE, shown.range.from_at),
        ).fetchone()
    assert (shown.total.cost, shown.total.runs) == (spent, runs) and spent > 5

    with transaction(scope) as tx:
        assert nouns.list_(tx) == [] and conversations.recent(tx, None) == []
    assert dashboard.load(scope, ranges.make("365d", "Europe/Madrid", NOW)).report.total.runs == 0
    with pytest.raises(Conflict, match="already"):
        demo.load(scope, now=NOW, size=SMALL)
    assert signin.scope_for(signin.local_owner(), None, "page").workspace_id == scope.workspace_id

    demo.remove(scope)
    assert rows(database_url) == {}
    with transaction(Scope.system()) as tx:
        assert {place.slug for place in workspaces.of_person(tx, scope.user_id)} == {"default"}
    with owner(database_url) as connection:
        assert connection.execute("SELECT count(*) FROM people").fetchone() == (1,)
    with transaction(scope) as tx:
        latest = audit.latest(tx)[0]
        assert (latest.action, latest.entity, latest.entity_id) == ("delete", "workspace", demo.WORKSPACE)
    with pytest.raises(NotFound):
        demo.remove(scope)


def test_the_same_moment_makes_the_same_rows_and_every_kind_of_run(scope: Scope) -> None:
    size = plan.Size(conversations=400, runs=4_000)
    made = plan.make(scope.user_id, NOW, size)
    assert made == plan.make(scope.user_id, NOW, size)
    assert plan.make(scope.user_id, NOW.replace(month=3, day=1, hour=5), SMALL) != made
    runs = made["runs"]
    assert {run["status"] for run in runs} == {"succeeded", "failed", "blocked"}
    assert len({run["error_type"] for run in runs}) > 4
    assert {run["provider"] for run in runs} >= {"openai", "anthropic", "gemini", "mistral", "ollama_chat", "groq"}
    assert any(run["cost_estimate"] is None and run["input_tokens"] for run in runs)
    assert any(run["cached_tokens"] for run in runs) and any(run["reasoning_tokens"] for run in runs)
    assert any(run["attempt"] == 2 for run in runs) and all(run["created_at"] <= NOW for run in runs)
    weekdays = Counter(run["created_at"].isoweekday() for run in runs)
    assert weekdays[7] * 3 < weekdays[3]
    halves = Counter(run["created_at"] > NOW.replace(year=2025, month=12) for run in runs)
    assert halves[True] > halves[False]
    topics = [topic for name in (*PROJECTS, OWN) for topic in content(name)["topics"]]
    assert len(topics) >= 40
    assert not [one["body"] for one in made["messages"] if "{client" in one["body"] or "{n}" in one["body"]]


def test_half_a_demo_is_not_left_and_only_administrators_load_it(
    database_url: str,
    scope: Scope,
    operator: Scope,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with transaction(scope) as tx:
        people.create(tx, "nadia.haddad@demo.nexus.invalid", "Nadia", "viewer")
    with pytest.raises(Conflict):
        demo.load(scope, now=NOW, size=SMALL)
    assert rows(database_url) == {}
    with pytest.raises(Forbidden):
        demo.load(operator)
    with transaction(scope) as tx:
        people.describe(
            tx, people.by_email(tx, "nadia.haddad@demo.nexus.invalid").id, email="nadia@example.com", name="N"
        )
    monkeypatch.setattr(demo, "FULL", plan.Size(conversations=4, runs=60, summed=1))
    assert main(["demo"]) == 0
    with pytest.raises(Forbidden):
        demo.remove(operator)
    assert main(["demo", "--remove"]) == 0
    printed = capsys.readouterr().out
    assert "?workspace=demo" in printed and "removed" in printed
    assert rows(database_url) == {}


def test_on_the_first_of_a_month_the_budget_is_crossed_as_well(scope: Scope) -> None:
    made = plan.make(scope.user_id, datetime(2026, 12, 1, 4, 30, tzinfo=UTC), SMALL)
    (agents,) = [budget for budget in made["budgets"] if budget["scope"] == "agent"]
    month = datetime(2026, 12, 1, tzinfo=ZoneInfo("Europe/Madrid"))
    mine = [run for run in made["runs"] if run["agent_id"] == agents["agent_id"] and run["created_at"] >= month]
    spent = sum((run["cost_estimate"] or Decimal(0) for run in mine), Decimal(0))
    assert spent >= agents["amount"] > 0
