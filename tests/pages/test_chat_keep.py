"""Keeping what was said in the chat: as decision, question or risk; a task for a conversation; a proposal."""

from typing import Any

from nexus_core import chat, conversations, memories, messages, projects, proposals
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from tests.nexus_core.conversing import settled, until


def test_a_message_is_kept_with_one_click_and_undone(operator: Scope, open_page: Any) -> None:
    with transaction(operator) as tx:
        project_id = projects.create(tx, "Pricing").id
    turn = chat.send(operator, "Ship **on** Friday", place=Place(project_id))
    settled(operator, turn)
    page = open_page(operator, "work/chat.py", conversation=turn.conversation_id)
    with transaction(operator) as tx:
        question = messages.page(tx, turn.conversation_id)[0]
    page.menu_button(key=f"chat_keep_{question.id}").click("risks").run()
    with transaction(operator) as tx:
        [risk] = memories.get(tx, project_id).risks
    assert (risk["risk"], risk["message_id"]) == ("Ship on Friday", str(question.id))
    assert any("Kept as a risk." in caption.value for caption in page.caption)
    page.menu_button(key=f"chat_keep_{question.id}").click("risks").run()
    assert any("had it already" in caption.value for caption in page.caption)
    assert f"chat_unkeep_{question.id}" not in {button.key for button in page.button}
    page.menu_button(key=f"chat_keep_{question.id}").click("decisions").run()
    page.button(key=f"chat_unkeep_{question.id}").click().run()
    with transaction(operator) as tx:
        memory = memories.get(tx, project_id)
    assert (memory.decisions, memory.risks) == ([], [risk])


def test_outside_a_project_nothing_is_kept(operator: Scope, viewer: Scope, open_page: Any) -> None:
    turn = chat.send(operator, "Alone", place=Place())
    settled(operator, turn)
    page = open_page(operator, "work/chat.py", conversation=turn.conversation_id)
    assert not [menu.key for menu in page.menu_button if str(menu.key).startswith("chat_keep_")]
    with transaction(operator) as tx:
        project_id = projects.create(tx, "Pricing").id
    turn = chat.send(operator, "Together", place=Place(project_id))
    settled(operator, turn)
    page = open_page(viewer, "work/chat.py", conversation=turn.conversation_id)
    assert not [menu.key for menu in page.menu_button if str(menu.key).startswith("chat_keep_")]


def test_a_conversation_gets_a_task_and_proposes_an_update(operator: Scope, open_page: Any) -> None:
    with transaction(operator) as tx:
        project_id = projects.create(tx, "Pricing").id
        task = projects.create_task(tx, project_id, "Engine")
    turn = chat.send(operator, "We agreed on turquoise.", place=Place(project_id))
    settled(operator, turn)
    page = open_page(operator, "work/chat.py", conversation=turn.conversation_id)
    page.menu_button(key="chat_menu").click("task").run()
    page.selectbox(key=f"chat_task_{turn.conversation_id}").set_value(str(task.id))
    page.button(key="chat_task_save").click().run()
    with transaction(operator) as tx:
        assert conversations.get(tx, turn.conversation_id).task_id == task.id
    page.menu_button(key="chat_menu").click("propose").run()

    def proposed() -> list[Any]:
        with transaction(operator) as tx:
            return proposals.list_(tx, project_id)

    [proposal] = until(proposed)
    assert proposal.lines[0].after["what"] == "Turquoise"
