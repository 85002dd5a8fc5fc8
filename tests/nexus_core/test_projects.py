"""Projects and their tasks: roles, names, what the audit says, what others can't find."""

from uuid import uuid4

import pytest

from nexus_core import audit, conversations, memories, messages, parts, projects
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import Conflict, Forbidden, Invalid, NotFound
from tests.nexus_core import ledger


def made(scope: Scope, name: str = "Pricing") -> projects.Project:
    with transaction(scope) as tx:
        return projects.create(tx, name, "About prices")


def test_a_new_project_has_an_empty_memory(operator: Scope) -> None:
    project = made(operator, " Pricing\t2026 ")
    assert (project.name, project.description, project.status) == ("Pricing 2026", "About prices", "active")
    with transaction(operator) as tx:
        memory = memories.get(tx, project.id)
    assert (memory.version, memory.summary_md, memory.decisions, memory.links) == (1, "", [], [])


@pytest.mark.parametrize("name", ["", " \n ", "x" * 201])
def test_a_name_has_something_and_an_end(operator: Scope, name: str) -> None:
    with pytest.raises(Invalid) as refused, transaction(operator) as tx:
        projects.create(tx, name)
    assert refused.value.field == "name"


def test_a_name_is_taken_whatever_its_case(operator: Scope, other_scope: Scope) -> None:
    made(operator)
    with pytest.raises(Conflict), transaction(operator) as tx:
        projects.create(tx, "PRICING")
    second = made(operator, "Other")
    with pytest.raises(Conflict), transaction(operator) as tx:
        projects.update(tx, second.id, name="pricing")
    assert made(other_scope).name == "Pricing"


def test_an_update_changes_what_is_given(operator: Scope, scope: Scope) -> None:
    project = made(operator)
    with transaction(operator) as tx:
        assert projects.update(tx, project.id, name="Prices").description == "About prices"
        archived = projects.update(tx, project.id, status="archived")
        assert (archived.name, archived.status) == ("Prices", "archived")
        assert projects.list_(tx) == []
        assert [one.id for one in projects.list_(tx, archived=True)] == [project.id]
        with pytest.raises(Invalid):
            projects.update(tx, project.id, status="gone")
    with transaction(scope) as tx:
        entries = [(one.action, one.user_id) for one in audit.latest(tx) if one.entity_id == project.id]
    assert entries == [("update", operator.user_id), ("update", operator.user_id), ("create", operator.user_id)]


def said(scope: Scope, project: projects.Project) -> conversations.Conversation:
    with transaction(scope) as tx:
        made = conversations.create(tx, Place(project.id), title=f"of {scope.user_id}")
        messages.append(tx, made.id, "user", [parts.text("Twelve per cent")])
        return made


def test_a_deleted_project_takes_everything_with_it_but_the_ledger(
    operator: Scope, scope: Scope, database_url: str
) -> None:
    project, other = made(operator), made(operator, "Other")
    talk, elsewhere = said(operator, project), said(operator, other)
    with transaction(operator) as tx:
        projects.create_task(tx, project.id, "Call them")
        memories.replace(tx, project.id, version=1, summary_md="We sell.")
        assert projects.contents(tx, project.id) == projects.Contents("Pricing", 1, 1, 2, True)
    with ledger.owner(database_url) as connection:
        run = ledger.add(connection, operator, ledger.NOW, project_id=project.id, conversation_id=talk.id)
    with transaction(operator) as tx:
        assert projects.delete(tx, project.id) == 1
        for gone in (projects.get, projects.contents, projects.delete, memories.get):
            with pytest.raises(NotFound):
                gone(tx, project.id)
        with pytest.raises(NotFound):
            conversations.get(tx, talk.id)
        assert conversations.get(tx, elsewhere.id).project_id == other.id
        assert projects.create(tx, "Pricing").name == "Pricing"
    with ledger.owner(database_url) as connection:
        kept = connection.execute(
            "SELECT project_id, input_tokens FROM assistant_runs WHERE id = %s", (run,)
        ).fetchone()
    assert kept == (None, 1000)
    with transaction(scope) as tx:
        entry = next(one for one in audit.latest(tx) if one.action == "delete")
    assert (entry.entity, entry.entity_id, entry.user_id) == ("project", project.id, operator.user_id)


def test_others_words_are_an_administrators_to_delete(operator: Scope, colleague: Scope, scope: Scope) -> None:
    spoken, written, foreign = made(operator), made(operator, "Written"), made(colleague, "Foreign")
    said(colleague, spoken)
    with transaction(colleague) as tx:
        memories.replace(tx, written.id, version=1, summary_md="Mine, too.")
    for project in (spoken, written, foreign):
        with pytest.raises(Forbidden), transaction(operator) as tx:
            projects.delete(tx, project.id)
    with transaction(scope) as tx:
        assert [projects.delete(tx, project.id) for project in (spoken, written, foreign)] == [1, 0, 0]


def test_they_are_listed_by_name(operator: Scope) -> None:
    for name in ("beta", "Alpha", "gamma"):
        made(operator, name)
    with transaction(operator) as tx:
        assert [project.name for project in projects.list_(tx)] == ["Alpha", "beta", "gamma"]


def test_viewers_read_only(viewer: Scope, operator: Scope) -> None:
    project = made(operator)
    with transaction(operator) as tx:
        task = projects.create_task(tx, project.id, "Call them")
    with transaction(viewer) as tx:
        assert projects.get(tx, project.id) == project
        assert projects.tasks(tx, project.id) == [task]
        for attempt in (
            lambda: projects.create(tx, "Mine"),
            lambda: projects.update(tx, project.id, name="Mine"),
            lambda: projects.delete(tx, project.id),
            lambda: projects.create_task(tx, project.id, "Mine"),
            lambda: projects.update_task(tx, task.id, status="done"),
        ):
            with pytest.raises(Forbidden):
                attempt()


def test_another_workspace_finds_nothing(operator: Scope, other_scope: Scope) -> None:
    project = made(operator)
    with transaction(operator) as tx:
        task = projects.create_task(tx, project.id, "Call them")
    with transaction(other_scope) as tx:
        assert projects.list_(tx, archived=True) == []
        assert projects.tasks(tx, project.id) == []
        for attempt in (
            lambda: projects.get(tx, project.id),
            lambda: projects.update(tx, project.id, name="Mine"),
            lambda: projects.create_task(tx, project.id, "Mine"),
            lambda: projects.update_task(tx, task.id, status="done"),
            lambda: projects.get(tx, uuid4()),
        ):
            with pytest.raises(NotFound):
                attempt()
    with transaction(operator) as tx:
        assert projects.tasks(tx, project.id) == [task]


def test_a_task_knows_when_it_was_closed(operator: Scope) -> None:
    project = made(operator)
    with transaction(operator) as tx:
        task = projects.create_task(tx, project.id, " Call\nthem ", " soon ")
        assert (task.title, task.notes, task.status, task.closed_at) == ("Call them", "soon", "open", None)
    with transaction(operator) as tx:
        done = projects.update_task(tx, task.id, status="done")
    assert done.closed_at is not None
    with transaction(operator) as tx:
        assert projects.update_task(tx, task.id, status="cancelled").closed_at == done.closed_at
        assert projects.update_task(tx, task.id, status="in_progress").closed_at is None
        with pytest.raises(Invalid):
            projects.update_task(tx, task.id, status="nearly")


def test_open_tasks_come_first(operator: Scope) -> None:
    project = made(operator)
    with transaction(operator) as tx:
        done, busy, new = (projects.create_task(tx, project.id, title) for title in ("done", "busy", "new"))
        projects.update_task(tx, done.id, status="done")
        projects.update_task(tx, busy.id, status="in_progress")
        assert {task.id for task in projects.tasks(tx, project.id)[:2]} == {busy.id, new.id}
        assert projects.tasks(tx, project.id)[2].id == done.id
        assert done.id not in {task.id for task in projects.tasks(tx, project.id, open_only=True)}
