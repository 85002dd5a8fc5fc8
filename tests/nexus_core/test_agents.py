"""Agents: who may change them, what can't be, what deleting keeps, what the audit says."""

from typing import Any
from uuid import uuid4

import pytest

from nexus_core import agents, audit, conversations, profiles, projects, runs, turns
from nexus_core.conversations import Conversation, Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import Forbidden, Invalid, NotFound


def made(scope: Scope, name: str = "Analyst", **fields: Any) -> agents.Agent:
    with transaction(scope) as tx:
        return agents.create(tx, name, **fields)


def said(scope: Scope, place: Place, session_id: str) -> Conversation:
    with transaction(scope) as tx:
        return conversations.create(tx, place, session_id=session_id)


def actions(scope: Scope) -> list[tuple[str, str, dict[str, Any]]]:
    with transaction(scope) as tx:
        return [(entry.action, entry.entity, entry.detail) for entry in audit.latest(tx) if entry.entity == "agent"]


def test_a_new_agent_has_the_defaults(operator: Scope) -> None:
    agent = made(operator, "  Ana\n lyst ")
    assert agent.name == "Ana lyst"
    assert (agent.memory_mode, agent.max_messages, agent.max_tokens) == ("session", 40, 16_000)
    assert (agent.recall, agent.tools, agent.max_steps, agent.emoji) == (True, True, 5, "🤖")
    assert agent.status == "active"
    assert agent.user_id == operator.user_id


def test_what_is_saved_comes_back(operator: Scope, scope: Scope) -> None:
    with transaction(scope) as tx:
        profile = profiles.save(tx, slug="mini", name="Mini", model="openai/gpt-4o-mini")
    fields = {
        "profile_id": profile.id, "emoji": "📊", "role": "Pricing", "description": "x" * 300,
        "instructions": "Be brief.\n$5", "memory_mode": "user",
        "max_messages": None, "max_tokens": 0, "recall": False, "tools": False, "max_steps": 20,
    }  # fmt: skip
    agent = made(operator, **fields)
    with transaction(operator) as tx:
        stored = agents.get(tx, agent.id)
    assert {key: getattr(stored, key) for key in fields} == fields


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "   "),
        ("name", "x" * 101),
        ("role", "x" * 201),
        ("instructions", "x" * 100_001),
        ("memory_mode", "forever"),
        ("status", "deleted"),
        ("max_messages", -1),
        ("max_tokens", -1),
        ("max_tokens", 2**31),
        ("max_steps", 0),
        ("max_steps", 21),
        ("user_id", uuid4()),
    ],
)
def test_what_cannot_be_names_its_field(operator: Scope, field: str, value: Any) -> None:
    agent = made(operator)
    with pytest.raises(Invalid) as refused, transaction(operator) as tx:
        agents.update(tx, agent.id, **{field: value})
    assert refused.value.field == field
    with transaction(operator) as tx:
        assert agents.get(tx, agent.id) == agent


def test_an_empty_emoji_becomes_the_default_one(operator: Scope) -> None:
    assert made(operator, emoji=" ").emoji == "🤖"


def test_an_update_leaves_the_other_fields_and_the_audit_says_what_changed(operator: Scope, scope: Scope) -> None:
    agent = made(operator, role="Pricing", instructions="a secret way of working")
    with transaction(operator) as tx:
        after = agents.update(tx, agent.id, role="Margins", instructions="another secret")
    assert (after.role, after.instructions, after.name) == ("Margins", "another secret", "Analyst")
    action, _entity, detail = actions(scope)[0]
    assert (action, detail["changes"]) == ("update", {"role": ["Pricing", "Margins"]})
    assert "secret" not in str(actions(scope))


def test_viewers_change_nothing(viewer: Scope, operator: Scope, scope: Scope) -> None:
    agent = made(operator)
    with transaction(viewer) as tx:
        for attempt in (
            lambda: agents.create(tx, "Mine"),
            lambda: agents.update(tx, agent.id, name="Mine"),
            lambda: agents.duplicate(tx, agent.id),
            lambda: agents.delete(tx, agent.id, conversations=True),
        ):
            with pytest.raises(Forbidden):
                attempt()
        assert [one.name for one in agents.list_(tx)] == ["Analyst"]
    assert [action for action, _entity, _detail in actions(scope)] == ["create"]


def test_another_workspace_finds_nothing(operator: Scope, other_scope: Scope) -> None:
    agent = made(operator)
    with transaction(other_scope) as tx:
        assert agents.list_(tx, archived=True) == []
        for attempt in (
            lambda: agents.get(tx, agent.id),
            lambda: agents.update(tx, agent.id, name="Mine"),
            lambda: agents.duplicate(tx, agent.id),
            lambda: agents.delete(tx, agent.id, conversations=True),
        ):
            with pytest.raises(NotFound):
                attempt()
    with transaction(operator) as tx:
        assert agents.get(tx, agent.id) == agent


def test_a_foreign_profile_is_not_found(operator: Scope, other_scope: Scope) -> None:
    with transaction(other_scope) as tx:
        foreign = profiles.save(tx, slug="theirs", name="Theirs", model="openai/gpt-4o-mini")
    with pytest.raises(NotFound), transaction(operator) as tx:
        agents.create(tx, "Analyst", profile_id=foreign.id)


def test_archived_ones_are_listed_when_asked_for_and_can_be_brought_back(operator: Scope) -> None:
    agent = made(operator)
    with transaction(operator) as tx:
        agents.update(tx, agent.id, status="archived")
        assert agents.list_(tx) == []
        assert [one.status for one in agents.list_(tx, archived=True)] == ["archived"]
        agents.update(tx, agent.id, status="active")
        assert [one.id for one in agents.list_(tx)] == [agent.id]


def test_a_copy_has_everything_but_the_conversations(operator: Scope) -> None:
    agent = made(operator, role="Pricing", memory_mode="none", max_messages=None, status="archived")
    said(operator, Place(agent_id=agent.id), "one")
    with transaction(operator) as tx:
        copy = agents.duplicate(tx, agent.id)
        assert agents.conversation_counts(tx) == {agent.id: 1}
    assert (copy.name, copy.status, copy.role, copy.max_messages) == ("Analyst (copy)", "active", "Pricing", None)


def test_deleting_keeps_the_conversations_under_the_agents_name(operator: Scope, scope: Scope) -> None:
    agent = made(operator, instructions="secret", description="about")
    kept = said(operator, Place(agent_id=agent.id), "one")
    with transaction(operator) as tx:
        assert agents.delete(tx, agent.id, conversations=False) == 0
        assert agents.list_(tx, archived=True) == []
        gone = agents.get(tx, agent.id)
        assert (gone.status, gone.name, gone.instructions, gone.description) == ("deleted", "Analyst", "", "")
        assert conversations.get(tx, kept.id).agent_id == agent.id
        with pytest.raises(Invalid):
            agents.update(tx, agent.id, name="Back")
    assert actions(scope)[0][:2] == ("delete", "agent")


def test_deleting_takes_the_conversations_when_asked(operator: Scope) -> None:
    agent, other = made(operator), made(operator, "Other")
    mine = said(operator, Place(agent_id=agent.id), "one")
    elsewhere = said(operator, Place(agent_id=other.id), "one")
    with transaction(operator) as tx:
        assert agents.delete(tx, agent.id, conversations=True) == 1
        with pytest.raises(NotFound):
            conversations.get(tx, mine.id)
        assert conversations.get(tx, elsewhere.id).id == elsewhere.id


def test_of_deleted_conversations_the_ledger_keeps_no_words(operator: Scope) -> None:
    agent = made(operator)
    with transaction(operator) as tx:
        place = Place(projects.create(tx, "Pricing").id, agent.id)
        asked = turns.accept(tx, conversations.create(tx, place).id, "What about the discount?")
        assert runs.get(tx, asked.run_id).prompt_summary == "What about the discount?"
        agents.delete(tx, agent.id, conversations=True)
        run = runs.get(tx, asked.run_id)
    assert (run.prompt_summary, run.model) == (None, "builtin/recall")


def test_deleting_never_takes_another_members_private_conversation(operator: Scope, colleague: Scope) -> None:
    agent = made(operator)
    theirs = said(colleague, Place(agent_id=agent.id), "private")
    said(operator, Place(agent_id=agent.id), "mine")
    with transaction(operator) as tx:
        assert agents.conversation_counts(tx) == {agent.id: 1}
        assert agents.delete(tx, agent.id, conversations=True) == 1
    with transaction(colleague) as tx:
        assert conversations.get(tx, theirs.id).id == theirs.id


def test_others_conversations_in_a_project_are_an_admins_to_delete(
    operator: Scope, colleague: Scope, scope: Scope
) -> None:
    agent = made(operator)
    with transaction(operator) as tx:
        from_project = projects.create(tx, "Pricing").id
    theirs = said(colleague, Place(from_project, agent.id), "theirs")
    with pytest.raises(Forbidden), transaction(operator) as tx:
        agents.delete(tx, agent.id, conversations=True)
    with transaction(operator) as tx:
        assert agents.get(tx, agent.id).status == "active"
        assert conversations.get(tx, theirs.id).id == theirs.id
    with transaction(scope) as tx:
        assert agents.delete(tx, agent.id, conversations=True) == 1
