"""The project's menu in the frame: what it offers to whom, and what its dialogs do."""

from collections.abc import Callable
from typing import Any

from streamlit.testing.v1 import AppTest

from nexus_core import conversations, projects
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.projects import Project
from pages.components import project_menu

HOME = "work/home.py"
Open = Callable[..., AppTest]


def made(scope: Scope, name: str = "Pricing", **changes: Any) -> Project:
    with transaction(scope) as tx:
        project = projects.create(tx, name)
        return projects.update(tx, project.id, **changes) if changes else project


def known(scope: Scope) -> dict[str, str]:
    with transaction(scope) as tx:
        return {project.name: project.status for project in projects.list_(tx, archived=True)}


def choose(page: AppTest, choice: str) -> AppTest:
    return page.menu_button(key=project_menu.KEY).click(choice).run()


def words(page: AppTest) -> str:
    kinds = ("title", "markdown", "caption", "error", "info", "toast")
    return "\n".join(str(element.value) for kind in kinds for element in getattr(page, kind))


def offered(page: AppTest) -> int:
    return len(page.menu_button(key=project_menu.KEY).options)


def test_a_project_is_made_though_one_is_chosen(operator: Scope, open_page: Open) -> None:
    first = made(operator)
    page = choose(open_page(operator, "work/chat.py", project=first.id), "project_new")
    page.text_input(key="project_new_name").set_value("pricing")
    page.button(key="project_new_make").click().run()
    assert [error.value for error in page.error] == ["A project with this name exists already."]
    page.text_input(key="project_new_name").set_value("Second")
    page.button(key="project_new_make").click().run()
    assert known(operator) == {"Pricing": "active", "Second": "active"}
    assert page.sidebar.selectbox(key="frame_project").value not in ("", str(first.id))
    assert not any(box.key == "project_new_name" for box in page.text_input)


def test_a_project_is_renamed(operator: Scope, open_page: Open) -> None:
    project = made(operator)
    page = choose(open_page(operator, HOME, project=project.id), "project_rename")
    page.text_input(key=f"project_rename_{project.id}").set_value(":red[Prices] $5 and $6")
    page.text_input(key=f"project_rename_{project.id}_about").set_value("Of next year")
    page.button(key="project_rename_save").click().run()
    assert known(operator) == {":red[Prices] $5 and $6": "active"}
    assert page.title[0].value == "&#58;red&#91;Prices&#93; &#36;5 and &#36;6"
    assert "Of next year" in words(page)
    assert "Saved." in words(page)


def test_an_archived_project_can_be_read_and_brought_back(operator: Scope, open_page: Open) -> None:
    project = made(operator)
    page = choose(open_page(operator, HOME, project=project.id), "archive")
    assert known(operator) == {"Pricing": "archived"}
    assert page.sidebar.selectbox(key="frame_project").options == ["No project", "Pricing (archived)"]
    assert page.title[0].value == "Pricing"
    page = choose(page, "restore")
    assert known(operator) == {"Pricing": "active"}
    page = choose(page, "archive")
    page = open_page(operator, HOME)
    assert page.sidebar.selectbox(key="frame_project").options == ["No project"]
    page = choose(page, "project_archived")
    page.button(key=f"project_back_{project.id}").click().run()
    assert known(operator) == {"Pricing": "active"}
    assert page.query_params["project"] == str(project.id)


def test_a_project_is_deleted_after_the_dialog_has_said_what_goes(operator: Scope, open_page: Open) -> None:
    project = made(operator)
    with transaction(operator) as tx:
        conversations.create(tx, Place(project.id), title="One")
        projects.create_task(tx, project.id, "Call them")
    page = choose(open_page(operator, HOME, project=project.id), "project_delete")
    said = words(page)
    assert all(part in said for part in ("the living memory, 1 version", "1 conversation with its", "1 task"))
    assert "No conversation is kept outside" in said
    page.button(key="project_delete_cancel").click().run()
    assert known(operator) == {"Pricing": "active"}
    page = choose(page, "project_delete")
    page.button(key="project_delete_sure").click().run()
    assert known(operator) == {}
    assert "project" not in page.query_params
    assert page.title[0].value.startswith("Welcome")


def test_automatic_proposals_are_stopped_and_begun_again(operator: Scope, open_page: Open) -> None:
    project = made(operator)
    page = choose(open_page(operator, "memory/project.py", project=project.id, tab="proposals"), "quiet")
    assert not page.exception and "only when it is asked" in words(page)
    assert "Automatic proposals are off" in words(page)
    with transaction(operator) as tx:
        assert not projects.get(tx, project.id).auto_propose
    page = choose(page, "propose")
    assert "Automatic proposals are off" not in words(page)
    with transaction(operator) as tx:
        assert projects.get(tx, project.id).auto_propose


def test_what_another_made_needs_an_administrator(operator: Scope, colleague: Scope, open_page: Open) -> None:
    project = made(colleague)
    page = choose(open_page(operator, HOME, project=project.id), "project_delete")
    assert "needs an administrator" in words(page)
    assert not any(button.key == "project_delete_sure" for button in page.button)


def test_without_a_project_there_is_only_a_new_one_and_for_viewers_no_menu(
    operator: Scope, viewer: Scope, open_page: Open
) -> None:
    page = open_page(operator, HOME)
    assert offered(page) == 1
    assert [menu.key for menu in open_page(viewer, HOME).menu_button] == ["frame_language"]
