"""The agents page: what is listed, saved, refused, tried and deleted, and by whom."""

import time
from typing import Any

from streamlit.testing.v1 import AppTest

from nexus_core import agents, conversations
from nexus_core.agents import Agent
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction

PAGE = "memory/agents.py"


def made(scope: Scope, name: str = "Analyst", **fields: Any) -> Agent:
    with transaction(scope) as tx:
        return agents.create(tx, name, **fields)


def stored(scope: Scope) -> list[Agent]:
    with transaction(scope) as tx:
        return agents.list_(tx, archived=True)


def words(page: AppTest) -> str:
    return "\n".join(element.value for element in [*page.title, *page.markdown, *page.caption, *page.error])


def click(page: AppTest, key: str) -> AppTest:
    return page.button(key=key).click().run()


def test_without_agents_it_says_what_to_do(operator: Scope, open_page: Any) -> None:
    page = open_page(operator, PAGE)
    assert "No agent yet" in words(page)
    click(page, "agents_new")
    assert page.query_params["agent"] == "new"
    assert page.title[0].value == "New agent"


def test_each_agent_has_a_card_and_names_are_inert(operator: Scope, open_page: Any) -> None:
    made(operator, ":red[x] <img src=x>", role="$5 and $10", description="![x](https://evil.example/p)")
    said = words(open_page(operator, PAGE))
    assert "&#58;red&#91;x&#93; &#60;img src=x&#62;" in said
    assert "![x](" not in said
    assert "&#36;5 and &#36;10" in said


def test_archived_ones_are_shown_on_wish(operator: Scope, open_page: Any) -> None:
    agent = made(operator, "Old helper")
    with transaction(operator) as tx:
        agents.update(tx, agent.id, status="archived")
    page = open_page(operator, PAGE)
    assert "Old helper" not in words(page)
    page.toggle(key="archived").set_value(True).run()
    assert "Old helper" in words(page)


def test_a_new_agent_is_saved_as_it_was_typed(operator: Scope, open_page: Any) -> None:
    page = open_page(operator, PAGE, agent="new")
    page.text_input(key="agent_new_name").set_value("Analyst")
    page.text_area(key="agent_new_instructions").set_value("Be brief.\n\n- $5")
    page.radio(key="agent_new_memory_mode").set_value("user")
    page.number_input(key="agent_new_max_messages").set_value(None)
    page.number_input(key="agent_new_max_tokens").set_value(0)
    page.toggle(key="agent_new_recall").set_value(False)
    click(page, "agent_new_save")
    (agent,) = stored(operator)
    assert (agent.name, agent.instructions, agent.memory_mode) == ("Analyst", "Be brief.\n\n- $5", "user")
    assert (agent.max_messages, agent.max_tokens, agent.recall, agent.tools) == (None, 0, False, True)
    assert page.query_params["agent"] == str(agent.id)
    assert page.title[0].value == "🤖 Analyst"


def test_what_was_typed_survives_an_error_that_stands_beside_its_field(operator: Scope, open_page: Any) -> None:
    page = open_page(operator, PAGE, agent="new")
    page.text_area(key="agent_new_instructions").set_value("Typed for an hour")
    click(page, "agent_new_save")
    assert [error.value for error in page.error] == ["Give the agent a name."]
    assert page.text_area(key="agent_new_instructions").value == "Typed for an hour"
    assert stored(operator) == []
    page.text_input(key="agent_new_name").set_value("Analyst")
    click(page, "agent_new_save")
    assert [agent.instructions for agent in stored(operator)] == ["Typed for an hour"]
    assert not page.error


def test_an_edit_changes_the_agent(operator: Scope, open_page: Any) -> None:
    agent = made(operator, role="Pricing")
    page = open_page(operator, PAGE, agent=agent.id)
    page.text_input(key=f"agent_{agent.id}_role").set_value("Margins")
    click(page, f"agent_{agent.id}_save")
    assert [one.role for one in stored(operator)] == ["Margins"]


def test_a_foreign_or_guessed_agent_is_not_found(operator: Scope, other_scope: Scope, open_page: Any) -> None:
    foreign = made(other_scope)
    for guess in (foreign.id, "not-an-id"):
        page = open_page(operator, PAGE, agent=guess)
        assert [error.value for error in page.error] == ["There is no such agent here."]
        assert "Analyst" not in words(page)


def test_a_deleted_agent_says_so(operator: Scope, open_page: Any) -> None:
    agent = made(operator)
    with transaction(operator) as tx:
        agents.delete(tx, agent.id, conversations=False)
    assert "Analyst was deleted" in open_page(operator, PAGE, agent=agent.id).error[0].value


def test_viewers_look_and_change_nothing(viewer: Scope, operator: Scope, open_page: Any) -> None:
    agent = made(operator)
    page = open_page(viewer, PAGE)
    assert "needs the operator role" in words(page)
    assert not {button.key for button in page.button} & {"agents_new", f"agent_{agent.id}_menu"}
    page = open_page(viewer, PAGE, agent=agent.id)
    assert page.text_input(key=f"agent_{agent.id}_name").disabled
    assert not {button.key for button in page.button} & {f"agent_{agent.id}_save", f"try_{agent.id}_ask"}
    assert "needs the operator role" in words(page)


def test_deleting_asks_about_the_conversations(operator: Scope, open_page: Any) -> None:
    agent = made(operator)
    with transaction(operator) as tx:
        kept = conversations.create(tx, Place(agent_id=agent.id), session_id="one")
    page = open_page(operator, PAGE, agent=agent.id)
    page.session_state["agent_to_delete"] = agent.id
    page.run()
    question = page.radio(key=f"agent_{agent.id}_conversations")
    assert "1 conversation" in question.label
    question.set_value("delete")
    click(page, f"agent_{agent.id}_delete")
    assert stored(operator) == []
    with transaction(operator) as tx:
        assert conversations.recent(tx, None) == []
        assert kept.agent_id == agent.id
    assert "agent" not in page.query_params


def test_keeping_them_is_what_happens_without_a_choice(operator: Scope, open_page: Any) -> None:
    agent = made(operator)
    with transaction(operator) as tx:
        kept = conversations.create(tx, Place(agent_id=agent.id), session_id="one")
    page = open_page(operator, PAGE)
    page.session_state["agent_to_delete"] = agent.id
    page.run()
    click(page, f"agent_{agent.id}_delete")
    with transaction(operator) as tx:
        assert conversations.get(tx, kept.id).agent_id == agent.id
    assert "No agent yet" in words(page)


def test_a_try_is_answered_and_can_be_forgotten(operator: Scope, open_page: Any) -> None:
    agent = made(operator)
    page = open_page(operator, PAGE, agent=agent.id)
    page.text_area(key=f"try_{agent.id}_question").set_value("Who are **you**?")
    click(page, f"try_{agent.id}_ask")
    end = time.monotonic() + 20
    while not any(button.key == f"try_{agent.id}_forget" for button in page.button) and time.monotonic() < end:
        time.sleep(0.2)
        page.run()
    said = words(page)
    assert "Who are &#42;&#42;you&#42;&#42;?" in said
    assert "not a language model" in said
    assert "builtin/recall · built in" in said
    with transaction(operator) as tx:
        (tried,) = conversations.list_(tx, Place(agent_id=agent.id))
    assert tried.session_id == f"try-{agent.id}"
    assert "It is a real conversation with this agent" in said
    (receipt,) = (button.key for button in page.button if button.key.startswith("chat_receipt_"))
    assert "Left out" in words(click(page, receipt))
    click(page, f"try_{agent.id}_forget")
    assert "not a language model" not in words(page)
    with transaction(operator) as tx:
        assert conversations.list_(tx, Place(agent_id=agent.id)) == []


def test_an_empty_try_is_refused_beside_its_box(operator: Scope, open_page: Any) -> None:
    agent = made(operator)
    page = open_page(operator, PAGE, agent=agent.id)
    click(page, f"try_{agent.id}_ask")
    assert [error.value for error in page.error] == ["Write something first."]
    with transaction(operator) as tx:
        assert conversations.list_(tx, Place(agent_id=agent.id)) == []
