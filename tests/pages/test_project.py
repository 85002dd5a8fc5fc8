"""A project's memory on its page: read, edited, saved at the version that was read, kept when a race is lost."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from nexus_core import memories, projects
from nexus_core.database import Scope, transaction
from nexus_core.entries import LISTS
from nexus_core.memories import Memory
from nexus_core.projects import Project
from pages.components import memory_tables

PAGE = "memory/project.py"
DECISION = {"id": "d1", "what": "12 % from 100 k", "why": "Margin", "status": "active", "message_id": "m1"}
OLD = {"id": "d2", "what": "One discount", "status": "superseded"}


@pytest.fixture
def project(operator: Scope) -> Project:
    with transaction(operator) as tx:
        made = projects.create(tx, "Pricing")
        memories.replace(
            tx,
            made.id,
            version=1,
            summary_md="Where it **stands**, $5.",
            decisions=[DECISION, OLD, "A plain sentence"],
            risks=[{"risk": "Rain", "likelihood": "low"}],
            links=[{"label": "List", "url": "https://example.com/a"}, {"label": "evil", "url": "javascript:alert(1)"}],
            source="api",
        )
    return made


def stored(scope: Scope, project: Project) -> Memory:
    with transaction(scope) as tx:
        return memories.get(tx, project.id)


def words(page: AppTest) -> str:
    shown = [*page.title, *page.subheader, *page.markdown, *page.caption, *page.error, *page.warning]
    return "\n".join(element.value for element in shown)


def edit(page: AppTest, project: Project) -> AppTest:
    return page.button(key=f"memory_{project.id}_edit").click().run()


def write(page: AppTest, project: Project, text: str) -> AppTest:
    return page.text_area(key=f"memory_{project.id}_0_summary_md").set_value(text).run()


def table(page: AppTest, project: Project, field: str, **changes: Any) -> AppTest:
    state = {"edited_rows": {}, "added_rows": [], "deleted_rows": []} | changes
    page.session_state[f"memory_{project.id}_0_{field}"] = state
    return page.run()


def save(page: AppTest, project: Project) -> AppTest:
    return page.button(key=f"memory_{project.id}_save").click().run()


def test_without_a_project_it_offers_one(operator: Scope, project: Project, open_page: Any) -> None:
    page = open_page(operator, PAGE)
    assert page.title[0].value == "Project memory"
    page.button(key=f"project_page_{project.id}").click().run()
    assert page.title[0].value == "Pricing"


def test_it_is_shown_with_what_it_weighs(operator: Scope, project: Project, open_page: Any) -> None:
    page = open_page(operator, PAGE, project=project.id)
    said = words(page)
    assert "Where it **stands**, &#36;5." in said
    assert "Decisions :gray-badge[2]" in said
    assert "Version 2 · changed by Olga" in said
    assert "Just Chat: " in page.get("progress")[0].proto.text and "of 6k tokens" in page.get("progress")[0].proto.text
    assert [(link.label, link.proto.page) for link in page.page_link if link.proto.external] == [
        ("List", "https://example.com/a")
    ]
    assert "evil javascript&#58;alert(1)" in said


def test_a_viewer_reads_and_is_told_kindly(viewer: Scope, project: Project, open_page: Any) -> None:
    page = open_page(viewer, PAGE, project=project.id)
    assert "Where it **stands**" in words(page)
    assert "changing it needs the operator role" in words(page)
    assert f"memory_{project.id}_edit" not in {button.key for button in page.button}


def test_a_foreign_project_is_not_found(other_scope: Scope, project: Project, open_page: Any) -> None:
    page = open_page(other_scope, PAGE, project=project.id)
    assert [error.value for error in page.error] == ["There is no such project here."]
    assert "stands" not in words(page)


def test_saving_makes_the_next_version_and_leaves_the_rest(operator: Scope, project: Project, open_page: Any) -> None:
    page = edit(open_page(operator, PAGE, project=project.id), project)
    assert page.button(key=f"memory_{project.id}_save").disabled
    write(page, project, "Rewritten.")
    assert "1 change, not saved yet" in words(page)
    save(page, project)
    before, after = DECISION, stored(operator, project)
    assert (after.version, after.summary_md) == (3, "Rewritten.")
    assert after.decisions == [before, OLD, "A plain sentence"]
    assert after.links[1] == {"label": "evil", "url": "javascript:alert(1)"}
    assert "Rewritten." in words(page)


def test_rows_are_changed_added_and_removed(operator: Scope, project: Project, open_page: Any) -> None:
    page = edit(open_page(operator, PAGE, project=project.id), project)
    table(
        page,
        project,
        "decisions",
        edited_rows={0: {"why": "Because"}},
        added_rows=[{"what": "New one", "status": "active", "who": "Ana"}, {"status": "active"}],
        deleted_rows=[1],
    )
    table(page, project, "open_questions", added_rows=[{"question": "Who signs?", "status": "open"}])
    assert "4 changes" in words(page)
    save(page, project)
    after = stored(operator, project)
    changed, plain, new = after.decisions
    assert changed == DECISION | {"why": "Because"}
    assert plain == "A plain sentence"
    assert {key: new[key] for key in ("what", "status", "who")} == {"what": "New one", "status": "active", "who": "Ana"}
    assert new["id"]
    assert [question["question"] for question in after.open_questions] == ["Who signs?"]


def test_what_is_unsaved_survives_reruns_and_the_preview(operator: Scope, project: Project, open_page: Any) -> None:
    page = edit(open_page(operator, PAGE, project=project.id), project)
    write(page, project, "Typed **for an hour**")
    mode = f"memory_{project.id}_0_summary_md_mode"
    page.get_by_key(mode).set_value("preview").run()
    assert "Typed **for an hour**" in words(page)
    page.run()
    page.get_by_key(mode).set_value("write").run()
    assert page.text_area(key=f"memory_{project.id}_0_summary_md").value == "Typed **for an hour**"
    assert "1 change," in words(page)


def test_discarding_leaves_the_memory_as_it_was(operator: Scope, project: Project, open_page: Any) -> None:
    page = edit(open_page(operator, PAGE, project=project.id), project)
    write(page, project, "Never mind")
    page.button(key=f"memory_{project.id}_discard").click().run()
    assert stored(operator, project).version == 2
    edit(page, project)
    assert page.text_area(key=f"memory_{project.id}_1_summary_md").value == "Where it **stands**, $5."


def test_what_was_discarded_can_be_brought_back(operator: Scope, project: Project, open_page: Any) -> None:
    page = write(edit(open_page(operator, PAGE, project=project.id), project), project, "After all")
    page.button(key=f"memory_{project.id}_discard").click().run()
    page.button(key=f"memory_{project.id}_undiscard").click().run()
    assert "1 change, not saved yet" in words(page)
    save(page, project)
    assert stored(operator, project).summary_md == "After all"


def test_what_is_unsaved_survives_another_tab_and_another_page(
    operator: Scope, project: Project, open_page: Any
) -> None:
    page = edit(open_page(operator, PAGE, project=project.id), project)
    write(page, project, "Typed for an hour")
    table(page, project, "risks", edited_rows={0: {"mitigation": "An umbrella"}}, added_rows=[{"risk": "Hail"}])
    page.get_by_key("project_tab").set_value("tasks").run()
    assert page.query_params["tab"] == "tasks" and not page.text_area
    page.switch_page("pages/work/home.py").run()
    page.query_params["project"] = str(project.id)
    page.query_params.pop("tab", None)
    page.switch_page(f"pages/{PAGE}").run()
    assert "3 changes, not saved yet" in words(page)
    assert page.text_area[0].value == "Typed for an hour"
    save(page, project)
    after = stored(operator, project)
    assert after.summary_md == "Typed for an hour"
    assert after.risks[0] == {"risk": "Rain", "likelihood": "low", "mitigation": "An umbrella"}
    assert after.risks[1]["risk"] == "Hail"


def test_rows_are_moved_by_their_number(operator: Scope, project: Project, open_page: Any) -> None:
    page = edit(open_page(operator, PAGE, project=project.id), project)
    added = [{"what": "Second", "status": "active", "place": 2}]
    table(page, project, "decisions", edited_rows={2: {"place": 1}}, added_rows=added)
    save(page, project)
    plain, first, new, second = stored(operator, project).decisions
    assert (plain, first, new["what"], second) == ("A plain sentence", DECISION, "Second", OLD)


def test_a_link_that_is_none_is_refused_beside_what_was_typed(
    operator: Scope, project: Project, open_page: Any
) -> None:
    page = edit(open_page(operator, PAGE, project=project.id), project)
    table(page, project, "links", added_rows=[{"label": "x", "url": "javascript:alert(2)"}])
    save(page, project)
    assert "is not an address of the web" in words(page)
    assert "1 change, not saved yet" in words(page) and stored(operator, project).version == 2


def test_a_change_elsewhere_is_joined(operator: Scope, colleague: Scope, project: Project, open_page: Any) -> None:
    page = edit(open_page(operator, PAGE, project=project.id), project)
    write(page, project, "Mine")
    replaced(colleague, project, risks=[{"risk": "Snow"}])
    save(page, project)
    assert "both can stay" in words(page)
    page.button(key=f"memory_{project.id}_merge").click().run()
    after = stored(operator, project)
    assert (after.version, after.summary_md, after.risks) == (4, "Mine", [{"risk": "Snow"}])


def replaced(scope: Scope, project: Project, **changes: Any) -> Memory:
    with transaction(scope) as tx:
        now = memories.get(tx, project.id)
        return memories.replace(tx, project.id, version=now.version, source="api", **(memories.values(now) | changes))


def test_a_lost_race_shows_both_and_keeps_the_text(
    operator: Scope, colleague: Scope, project: Project, open_page: Any
) -> None:
    page = edit(open_page(operator, PAGE, project=project.id), project)
    write(page, project, "Mine, typed for an hour")
    replaced(colleague, project, summary_md="Theirs", risks=[{"risk": "Snow"}])
    save(page, project)
    said = words(page)
    assert "Carlos saved version 3" in said
    assert "Mine, typed for an hour" in said
    assert "Theirs" in said
    assert page.text_area(key=f"memory_{project.id}_0_summary_md").value == "Mine, typed for an hour"
    assert stored(operator, project).summary_md == "Theirs"
    page.button(key=f"memory_{project.id}_merge").click().run()
    after = stored(operator, project)
    assert (after.version, after.summary_md, after.risks) == (4, "Mine, typed for an hour", [{"risk": "Snow"}])


def test_theirs_can_be_taken(operator: Scope, colleague: Scope, project: Project, open_page: Any) -> None:
    page = edit(open_page(operator, PAGE, project=project.id), project)
    write(page, project, "Mine")
    table(page, project, "risks", deleted_rows=[0])
    replaced(colleague, project, summary_md="Theirs")
    page.run()
    page.get_by_key(f"memory_{project.id}_3_0_choice").set_value("theirs").run()
    page.button(key=f"memory_{project.id}_merge").click().run()
    after = stored(operator, project)
    assert (after.version, after.summary_md, after.risks) == (4, "Theirs", [])


def test_a_race_lost_while_choosing_is_told_again(
    operator: Scope, colleague: Scope, project: Project, open_page: Any
) -> None:
    page = edit(open_page(operator, PAGE, project=project.id), project)
    write(page, project, "Mine")
    replaced(colleague, project, summary_md="Theirs")
    page.run()
    replaced(colleague, project, summary_md="Theirs again")
    page.button(key=f"memory_{project.id}_merge").click().run()
    assert "Carlos saved version 4" in words(page)
    assert stored(operator, project).summary_md == "Theirs again"


@pytest.mark.parametrize("url", ["https://[bad", "//x", "data:text/html,x", "/chat", "https://", "no url", ""])
def test_a_link_that_leads_nowhere_is_text(operator: Scope, project: Project, open_page: Any, url: str) -> None:
    replaced(operator, project, links=[{"label": "Odd", "url": url}, {"url": url}])
    page = open_page(operator, PAGE, project=project.id)
    assert not [link for link in page.page_link if link.proto.external]
    assert "Odd" in words(page)


@pytest.mark.parametrize("field", LISTS)
def test_a_table_gives_back_what_it_was_given(field: str) -> None:
    entries = ["plain", {"what": "w", "question": "q", "risk": "r", "label": "l", "odd": {"x": [1]}}, {"text": "t"}, {}]
    frame = memory_tables.frame(field, entries)
    assert memory_tables.entries(field, entries, frame) == entries
    assert memory_tables.entries(field, [], memory_tables.frame(field, [])) == []
