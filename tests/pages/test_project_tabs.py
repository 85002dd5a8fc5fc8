"""The other tabs of a project: proposals decided line by line, revisions compared and restored, tasks."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from streamlit.testing.v1 import AppTest

from nexus_core import conversations, memories, messages, projects, proposals, proposing
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.memories import Memory
from nexus_core.parts import text
from nexus_core.projects import Project
from nexus_core.proposals import Line, Proposal
from tests.nexus_core.conversing import run_of, until

PAGE = "memory/project.py"
HOSTILE = ":red[x] <img src=x onerror=alert(1)> $1 $2 ![p](https://evil/p)"


@pytest.fixture
def project(operator: Scope) -> Project:
    with transaction(operator) as tx:
        made = projects.create(tx, "Pricing")
        decisions = [{"id": "d1", "what": "Lisbon", "status": "active"}]
        memories.replace(tx, made.id, version=1, summary_md="One.", decisions=decisions)
    return made


def said(scope: Scope, project: Project, *bodies: str) -> list[UUID]:
    with transaction(scope) as tx:
        talk = conversations.create(tx, Place(project.id), title="Site " + HOSTILE)
        return [messages.append(tx, talk.id, "user", [text(body)]).id for body in bodies]


@pytest.fixture
def proposal(operator: Scope, project: Project) -> Proposal:
    message_id = said(operator, project, f"We said {HOSTILE}")[0]
    old = {"id": "d1", "what": "Lisbon", "status": "active"}
    lines = [
        Line("add", "risks", {"id": "r1", "risk": f"Rain {HOSTILE}"}, evidence=(message_id,)),
        Line("close", "decisions", old | {"status": "superseded"}, old, "id:d1", (message_id,)),
        Line("edit", "summary_md", "One. Two.", "One.", evidence=(project.id,)),
    ]
    with transaction(operator) as tx:
        return proposals.create(tx, project.id, lines, base_version=2)


def stored(scope: Scope, project: Project) -> Memory:
    with transaction(scope) as tx:
        return memories.get(tx, project.id)


def words(page: AppTest) -> str:
    shown = [*page.title, *page.subheader, *page.markdown, *page.caption, *page.error, *page.warning]
    return "\n".join([*(element.value for element in shown), *(link.label for link in page.page_link)])


def click(page: AppTest, key: str) -> AppTest:
    return page.button(key=key).click().run()


def test_a_proposal_is_shown_with_its_quotes_and_nothing_in_it_acts(
    operator: Scope, project: Project, proposal: Proposal, open_page: Any
) -> None:
    page = open_page(operator, PAGE, project=project.id, tab="proposals")
    told = words(page)
    assert "Risks: add" in told and "Decisions: close" in told and "Summary: change" in told
    assert "One.:green-background" in told.replace(" ", "") and "**Two.**" in told
    assert "<img" not in told and ":red[x]" not in told and "](https://evil" not in told
    assert "The message it rests on is gone." in told
    assert "Project :orange-badge[1]" in told
    assert "Proposals (1)" in page.get_by_key("project_tab").options[1]


def test_lines_are_accepted_edited_and_rejected(
    operator: Scope, project: Project, proposal: Proposal, open_page: Any
) -> None:
    risk, decision, summary = proposal.lines
    page = open_page(operator, PAGE, project=project.id, tab="proposals")
    page.toggle(key=f"line_{risk.id}_edit").set_value(True).run()
    page.text_area(key=f"line_{risk.id}_text").set_value("Hail in May").run()
    page.text_input(key=f"line_{risk.id}_detail").set_value("An umbrella").run()
    click(page, f"line_{risk.id}_edited")
    assert stored(operator, project).risks == [{"id": "r1", "risk": "Hail in May", "mitigation": "An umbrella"}]
    click(page, f"line_{decision.id}_reject")
    click(page, f"line_{summary.id}_accept")
    after = stored(operator, project)
    assert (after.summary_md, after.decisions[0]["status"]) == ("One. Two.", "active")
    assert "Nothing waits." in words(page) and "2 of 3 taken" in words(page)
    assert ":orange-badge" not in words(page)


def test_a_line_that_clashes_shows_what_stands_there_and_can_be_edited(
    operator: Scope, colleague: Scope, project: Project, proposal: Proposal, open_page: Any
) -> None:
    summary = proposal.lines[2]
    with transaction(colleague) as tx:
        now = memories.get(tx, project.id)
        memories.replace(tx, project.id, version=2, **(memories.values(now) | {"summary_md": "Carlos' text."}))
    page = open_page(operator, PAGE, project=project.id, tab="proposals")
    click(page, f"proposal_{proposal.id}_accept")
    assert stored(operator, project).summary_md == "Carlos' text."
    assert "Somebody changed this since" in words(page) and "Carlos' text." in words(page)
    page.text_area(key=f"line_{summary.id}_text").set_value("Carlos' text. Two.").run()
    click(page, f"line_{summary.id}_edited")
    assert stored(operator, project).summary_md == "Carlos' text. Two."


def test_asking_for_a_proposal_shows_it(operator: Scope, project: Project, open_page: Any) -> None:
    page = open_page(operator, PAGE, project=project.id, tab="proposals")
    click(page, f"proposals_{project.id}_ask")
    assert "Nobody has said anything here yet" in words(page)
    said(operator, project, "We agreed on turquoise.")
    click(page, f"proposals_{project.id}_ask")
    with transaction(operator) as tx:
        run = proposing.state(tx, project.id)
    assert run is not None
    until(lambda: run_of(operator, run.id).status != "running")
    page.run()
    assert "**Turquoise**" in words(page).replace(":green-background[", "") or "Turquoise" in words(page)
    assert "Asked for" in words(page)


def test_conversations_are_chosen_and_folded_in(operator: Scope, project: Project, open_page: Any) -> None:
    page = click(open_page(operator, PAGE, project=project.id, tab="proposals"), f"fold_{project.id}_ask")
    assert "Nothing has been said in this project yet." in words(page)
    assert page.button(key=f"fold_{project.id}_sure").disabled
    said(operator, project, "We agreed on turquoise.")
    said(operator, project, "We agreed on the small engine.")
    page = open_page(operator, PAGE, project=project.id, tab="proposals")
    page = click(page, f"fold_{project.id}_ask")
    with transaction(operator) as tx:
        ids = [str(one.id) for one in conversations.of_project(tx, project.id)]
    box = page.multiselect(key=f"fold_{project.id}_chosen")
    assert len(box.options) == 2
    page = click(box.set_value(ids).run(), f"fold_{project.id}_sure")
    assert not page.exception and not page.multiselect and "The assistant reads them" in page.toast[0].value
    with transaction(operator) as tx:
        run = proposing.state(tx, project.id)
    assert run is not None
    until(lambda: run_of(operator, run.id).status != "running")
    page.run()
    assert not [part for part in ("Old conversations folded in", "Turquoise", "engine (") if part not in words(page)]


def test_a_viewer_sees_and_decides_nothing(
    viewer: Scope, operator: Scope, project: Project, proposal: Proposal, open_page: Any
) -> None:
    page = open_page(viewer, PAGE, project=project.id, tab="proposals")
    assert "Risks: add" in words(page)
    assert {button.key for button in page.button} <= {"frame_search"}
    for tab in ("revisions", "tasks"):
        page = open_page(viewer, PAGE, project=project.id, tab=tab)
        assert {button.key for button in page.button} <= {"frame_search"}


def test_revisions_are_compared_and_restored(
    operator: Scope, colleague: Scope, project: Project, open_page: Any
) -> None:
    with transaction(colleague) as tx:
        memories.replace(tx, project.id, version=2, summary_md=f"One and a half. {HOSTILE}", source="api")
    page = open_page(operator, PAGE, project=project.id, tab="revisions")
    key = f"revisions_{project.id}"
    assert page.radio(key=f"{key}_version").value == 3
    told = words(page)
    assert "From version 2 to version 3" in told and "Carlos" in told and "through the API" in told
    assert "removed" in told and "~~Lisbon" in told and "<img" not in told
    page.radio(key=f"{key}_version").set_value(2).run()
    assert "From version 1 to version 2" in words(page)
    click(page, f"{key}_2_restore")
    after = stored(operator, project)
    assert (after.version, after.summary_md, after.decisions[0]["what"]) == (4, "One.", "Lisbon")
    assert "restored version 2" in words(page)


def test_the_memory_as_of_a_day(operator: Scope, project: Project, open_page: Any) -> None:
    page = open_page(operator, PAGE, project=project.id, tab="revisions")
    key = f"revisions_{project.id}"
    page.radio(key=f"{key}_version").set_value(1).run()
    page.date_input(key=f"{key}_day").set_value(datetime.now(UTC).date()).run()
    assert page.radio(key=f"{key}_version").value == 2
    page.date_input(key=f"{key}_day").set_value(datetime(2001, 1, 1).date()).run()  # noqa: DTZ001
    assert "did not exist yet" in words(page)


def test_tasks_are_made_moved_and_offer_a_proposal(operator: Scope, project: Project, open_page: Any) -> None:
    page = open_page(operator, PAGE, project=project.id, tab="tasks")
    page.text_input(key=f"tasks_{project.id}_new_title").set_value(f"Engine {HOSTILE}")
    click(page, f"tasks_{project.id}_new_add")
    with transaction(operator) as tx:
        [task] = projects.tasks(tx, project.id)
    assert "<img" not in words(page) and page.text_input(key=f"tasks_{project.id}_new_title").value == ""
    page.selectbox(key=f"task_{task.id}_status").set_value("done").run()
    with transaction(operator) as tx:
        assert projects.task(tx, task.id).status == "done"
        run = proposing.state(tx, project.id)
    assert run is not None
    until(lambda: run_of(operator, run.id).status != "running")
    with transaction(operator) as tx:
        [proposal] = proposals.list_(tx, project.id)
    assert proposal.task_id == task.id
    page.run()
    assert "Closed" in words(page)
    click(page, f"tasks_{project.id}_new_add")
    assert "Give it a name." in words(page)


@pytest.mark.parametrize("tab", ["", "nonsense", "proposals", "revisions", "tasks"])
def test_an_empty_project_has_every_tab(operator: Scope, tab: str, open_page: Any) -> None:
    with transaction(operator) as tx:
        project = projects.create(tx, "New")
    page = open_page(operator, PAGE, project=project.id, tab=tab)
    assert page.title[0].value == "New" and not page.error
