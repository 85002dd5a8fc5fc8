"""Projects and their tasks: roles, names, what the audit says, what others can't find."""

from uuid import uuid4

import pytest

from nexus_core import audit, memories, projects
from nexus_core.database import Scope, transaction
from nexus_core.errors import Conflict, Forbidden, Invalid, NotFound


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
            lambda: projects.create_task(tx, project.id, "Mine"),
            lambda: projects.set_task_status(tx, task.id, "done"),
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
            lambda: projects.set_task_status(tx, task.id, "done"),
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
        done = projects.set_task_status(tx, task.id, "done")
    assert done.closed_at is not None
    with transaction(operator) as tx:
        assert projects.set_task_status(tx, task.id, "cancelled").closed_at == done.closed_at
        assert projects.set_task_status(tx, task.id, "in_progress").closed_at is None
        with pytest.raises(Invalid):
            projects.set_task_status(tx, task.id, "nearly")


def test_open_tasks_come_first(operator: Scope) -> None:
    project = made(operator)
    with transaction(operator) as tx:
        done, busy, new = (projects.create_task(tx, project.id, title) for title in ("done", "busy", "new"))
        projects.set_task_status(tx, done.id, "done")
        projects.set_task_status(tx, busy.id, "in_progress")
        assert {task.id for task in projects.tasks(tx, project.id)[:2]} == {busy.id, new.id}
        assert projects.tasks(tx, project.id)[2].id == done.id
        assert done.id not in {task.id for task in projects.tasks(tx, project.id, open_only=True)}
