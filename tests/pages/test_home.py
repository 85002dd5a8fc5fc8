"""Home: the first steps done in place, and a project at one glance."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from nexus_core import chat, conversations, demo, memories, people, profiles, projects, recall, workspaces
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.demo.plan import Size
from nexus_core.projects import Project
from nexus_core.providers import PROVIDERS
from tests.nexus_core.conversing import settled

PAGE = "work/home.py"


def made(scope: Scope, name: str = "Pricing", **lists: Any) -> Project:
    with transaction(scope) as tx:
        project = projects.create(tx, name)
        if lists:
            memories.replace(tx, project.id, version=1, **({"summary_md": ""} | lists))
    return project


def words(page: AppTest) -> str:
    shown = [element.value for element in [*page.title, *page.subheader, *page.markdown, *page.caption, *page.error]]
    return "\n".join([*shown, *(link.label for link in page.page_link)])


def test_it_greets_by_name_and_shows_three_steps(operator: Scope, open_page: Any) -> None:
    page = open_page(operator, PAGE)
    assert page.title[0].value == "Welcome, Olga"
    said = words(page)
    assert all(step in said for step in ("Connect a model", "Make a project", "Ask something", "built-in assistant"))


def test_a_name_with_markup_is_inert(operator: Scope, scope: Scope, open_page: Any) -> None:
    with transaction(scope) as tx:
        people.describe(tx, operator.user_id, email="o@example.com", name=":red[Olga] $1 $2")
    assert open_page(operator, PAGE).title[0].value == "Welcome, &#58;red&#91;Olga&#93; &#36;1 &#36;2"


def test_a_connected_model_is_a_step_that_is_done(operator: Scope, scope: Scope, open_page: Any) -> None:
    with transaction(scope) as tx:
        profile = profiles.save(tx, slug="mini", name="Mini", model="openai/gpt-4o-mini")
        profiles.make_default(tx, profile.id)
    assert "Mini answers." in words(open_page(operator, PAGE))


def test_a_project_is_made_in_place_and_opened(operator: Scope, open_page: Any) -> None:
    page = open_page(operator, PAGE)
    page.text_input(key="home_project_name").set_value("Pricing review")
    page.button(key="home_project_make").click().run()
    with transaction(operator) as tx:
        (project,) = projects.list_(tx)
    assert page.query_params["project"] == str(project.id)
    assert page.title[0].value == "Pricing review"


def test_a_taken_name_is_refused_beside_the_box_and_stays(operator: Scope, open_page: Any) -> None:
    made(operator)
    page = open_page(operator, PAGE)
    page.text_input(key="home_project_name").set_value("pricing")
    page.button(key="home_project_make").click().run()
    assert [error.value for error in page.error] == ["A project with this name exists already."]
    assert page.text_input(key="home_project_name").value == "pricing"


def test_asking_begins_a_conversation_and_opens_the_chat(operator: Scope, open_page: Any) -> None:
    page = open_page(operator, PAGE)
    page.chat_input(key="home_ask").set_value("My name is Olga, that costs $5").run()
    with transaction(operator) as tx:
        (begun,) = conversations.recent(tx, None)
        question = chat.read(tx, begun.id)[0]
    assert (question.body, question.user_id) == ("My name is Olga, that costs $5", operator.user_id)
    assert page.query_params["conversation"] == str(begun.id)


def test_asking_again_from_home_begins_another_conversation(operator: Scope, open_page: Any) -> None:
    project = made(operator)
    with transaction(operator) as tx:
        former = conversations.create(tx, Place(project.id), title="Long ago")
    page = open_page(operator, PAGE, project=project.id)
    page.text_input(key="decided_box").set_value("What did we decide about the discount?").run()
    page.button(key="decided_ask").click().run()
    with transaction(operator) as tx:
        found = conversations.recent(tx, project.id)
    assert [one.project_id for one in found] == [project.id]
    assert former.id not in {one.id for one in found}


def test_what_cannot_be_sent_stays_in_the_box(operator: Scope, open_page: Any) -> None:
    page = open_page(operator, PAGE)
    page.chat_input(key="home_ask").set_value("   ").run()
    assert [error.value for error in page.error] == ["Write something first."]
    with transaction(operator) as tx:
        assert conversations.recent(tx, None) == []


def test_a_project_is_shown_at_one_glance(operator: Scope, open_page: Any) -> None:
    project = made(
        operator,
        summary_md="First paragraph, $5.\n\n" + "word " * 400,
        decisions=["Plain one", {"what": "Old", "status": "superseded"}, *({"what": f"D{n}"} for n in range(6))],
        open_questions=[{"question": "Who signs?", "status": "open"}],
        risks=[{"risk": "<b>Rain</b>"}],
    )
    with transaction(operator) as tx:
        projects.create_task(tx, project.id, "Call them")
        projects.update_task(tx, projects.create_task(tx, project.id, "Done already").id, status="done")
    page = open_page(operator, PAGE, project=project.id)
    said = words(page)
    assert "First paragraph, &#36;5." in said
    assert "word word" not in said
    assert "**Decisions** :gray-badge[7]" in said
    assert "- D5\n- D4\n- D3\n- D2" in said
    assert "and 3 more" in said
    assert "Old" not in said
    assert "Who signs?" in said
    assert "&#60;b&#62;Rain" in said
    assert "Call them" in said
    assert "Done already" not in said
    assert "Nobody has said anything" in said


def test_the_newest_conversations_say_who(operator: Scope, colleague: Scope, open_page: Any) -> None:
    project = made(operator)
    chat.send(colleague, "What is **open**?", place=Place(project.id))
    page = open_page(operator, PAGE, project=project.id)
    said = words(page)
    assert "What is" in said
    assert "Carlos" in said
    assert "Just Chat" in said


def test_a_foreign_project_is_not_found(operator: Scope, other_scope: Scope, open_page: Any) -> None:
    foreign = made(other_scope, "Secret plans")
    page = open_page(operator, PAGE, project=foreign.id)
    assert [error.value for error in page.error] == ["There is no such project here."]
    assert "Secret plans" not in words(page)


def test_viewers_are_offered_nothing_that_they_may_not(viewer: Scope, operator: Scope, open_page: Any) -> None:
    project = made(operator)
    page = open_page(viewer, PAGE)
    assert not page.chat_input
    assert not page.text_input
    assert "Asking needs the operator role." in words(page)
    page = open_page(viewer, PAGE, project=project.id)
    assert not page.chat_input
    assert page.title[0].value == "Pricing"


def test_what_was_decided_is_answered_at_once(viewer: Scope, operator: Scope, open_page: Any) -> None:
    project = made(
        operator,
        decisions=[
            {"what": "Discount of 12 % :red[x]", "why": "Margin", "decided_on": "2024-05-02", "who": "Ana"},
            {"what": "A discount for all", "status": "superseded"},
        ],
    )
    turn = chat.send(operator, "The discount is $5 for <b>Lisbon</b>", place=Place(project.id))
    settled(operator, turn)
    recall.index_pending()
    page = open_page(viewer, PAGE, project=project.id)
    page.text_input(key="decided_box").set_value("discount").run()
    said = words(page)
    assert "Discount of 12 % &#58;red&#91;x&#93;" in said and "2024-05-02 · Ana · Margin" in said
    assert "no longer holds" in said
    assert "The discount is &#36;5 for Lisbon" in said and f"conversation={turn.conversation_id}" in said
    assert "decided_ask" not in {button.key for button in page.button}
    page.text_input(key="decided_box").set_value("submarines").run()
    assert "Nothing that was decided or said here fits" in words(page)


def test_the_spend_of_the_month_is_there(operator: Scope, open_page: Any) -> None:
    project = made(operator)
    page = open_page(operator, PAGE, project=project.id)
    assert [(metric.label, metric.value) for metric in page.metric] == [("Spent this month", "&#36;0")]
    turn = chat.send(operator, "Hello", place=Place(project.id))
    settled(operator, turn)
    page.run()
    assert page.metric[0].value == "free" and "1 call to models" in words(page)


def test_steps_are_ticked_when_they_are_done(
    operator: Scope, scope: Scope, open_page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for provider in PROVIDERS.values():
        for name in (*provider.keys, *provider.bases):
            monkeypatch.delenv(name, raising=False)
    assert "check_circle" not in words(open_page(operator, PAGE))
    chat.send(operator, "Who are you?", place=Place(made(operator).id))
    assert words(open_page(operator, PAGE)).count("check_circle") == 3  # the built-in assistant was used
    monkeypatch.setenv("MISTRAL_API_KEY", "not-a-key")
    page = open_page(scope, PAGE)
    assert words(page).count("check_circle") == 1
    page.button(key="home_use_mistral").click().run()
    assert words(page).count("check_circle") == 2
    with transaction(scope) as tx:
        assert profiles.default(tx).model == "mistral/mistral-small-latest"


def test_an_empty_nexus_offers_a_demo_that_one_click_loads_and_one_removes(
    operator: Scope, scope: Scope, open_page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "FULL", Size(conversations=12, runs=120, summed=1))
    assert not [button for button in open_page(operator, PAGE).button if button.key == "demo_load"]
    page = open_page(scope, PAGE)
    assert "made-up data" not in words(page)
    page.button(key="demo_load").click().run()
    assert page.query_params["workspace"] == "demo"
    page = open_page(scope, PAGE, workspace="demo")
    assert "Demo: made-up data" in words(page)
    assert page.selectbox(key="frame_workspace").options == ["Nexus", "Demo (made-up data)"]
    page = open_page(scope, "system/settings.py", workspace="demo")
    page.button(key="demo_remove").click().run()
    assert "workspace" not in page.query_params
    assert "made-up data" not in words(open_page(scope, PAGE))
    with transaction(Scope.system()) as tx:
        assert [place.slug for place in workspaces.of_person(tx, scope.user_id)] == ["default"]
