"""People and workspaces: who may make whom, and who sees whom."""

import pytest
from uuid6 import uuid7

from nexus_core import audit, people, workspaces
from nexus_core.database import Scope, transaction
from nexus_core.errors import Conflict, Forbidden, Invalid, NotFound


def test_an_administrator_makes_a_person_and_a_member(scope: Scope) -> None:
    with transaction(scope) as tx:
        person = people.create(tx, " Ana@Example.com ", "Ana\nMaría", "viewer")
        assert (person.email, person.name, person.has_password) == ("Ana@Example.com", "Ana María", False)
        assert people.by_email(tx, "ana@EXAMPLE.com") == person
        people.join(tx, person.id, "operator")
    with transaction(scope) as tx:
        found = {member.id: member.role for member in people.members(tx)}
        assert found == {scope.user_id: "admin", person.id: "operator"}
        actions = [(e.action, e.detail.get("role")) for e in audit.latest(tx) if e.entity_id == person.id]
        assert actions == [("join", "operator"), ("join", "viewer"), ("create", None)]
        mine = workspaces.of_person(tx, person.id)
        assert [(m.slug, m.role) for m in mine] == [("default", "operator")]


def test_an_email_is_one_persons_in_any_case(scope: Scope) -> None:
    with transaction(scope) as tx:
        people.create(tx, "ana@example.com", "Ana", "viewer")
    with pytest.raises(Conflict, match="e-mail"), transaction(scope) as tx:
        people.create(tx, "ANA@example.com", "Another", "viewer")


@pytest.mark.parametrize("email", ["", "ana", "@", "a@", "@b", "a b@c", "a@b@c", "a" * 251 + "@b.c", "a\0@b c"])
def test_what_is_no_email_is_refused(scope: Scope, email: str) -> None:
    with pytest.raises(Invalid) as caught, transaction(scope) as tx:
        people.create(tx, email, "Ana", "viewer")
    assert caught.value.field == "email"


@pytest.mark.parametrize("name", ["", " \n", "\u200b", "x" * 201])
def test_what_is_no_name_is_refused(scope: Scope, name: str) -> None:
    with pytest.raises(Invalid) as caught, transaction(scope) as tx:
        people.create(tx, "ana@example.com", name, "viewer")
    assert caught.value.field == "name"


def test_only_administrators_change_people(viewer: Scope, operator: Scope) -> None:
    assert viewer.user_id
    for scope in (viewer, operator):
        with transaction(scope) as tx:
            with pytest.raises(Forbidden):
                people.create(tx, "new@example.com", "New", "viewer")
            with pytest.raises(Forbidden):
                people.join(tx, viewer.user_id, "admin")
            with pytest.raises(Forbidden):
                people.describe(tx, viewer.user_id, email="x@example.com", name="X")
    with transaction(operator) as tx, pytest.raises(Forbidden):
        people.set_password(tx, viewer.user_id, "hash")
    with transaction(viewer) as tx:
        people.set_password(tx, viewer.user_id, "hash")
        assert people.get(tx, viewer.user_id).has_password


def test_a_role_is_one_of_three(scope: Scope, viewer: Scope) -> None:
    assert viewer.user_id
    for role in ("owner", "", "system", "Admin"):
        with pytest.raises(Invalid) as caught, transaction(scope) as tx:
            people.join(tx, viewer.user_id, role)
        assert caught.value.field == "role"


def test_another_workspaces_people_are_not_here(scope: Scope, other_scope: Scope, viewer: Scope) -> None:
    assert viewer.user_id
    with transaction(other_scope) as tx:
        for person_id in (viewer.user_id, uuid7()):
            with pytest.raises(NotFound):
                people.get(tx, person_id)
            with pytest.raises(NotFound):
                people.join(tx, person_id, "admin")
            with pytest.raises(NotFound):
                people.set_password(tx, person_id, "hash")
            with pytest.raises(NotFound):
                people.describe(tx, person_id, email="x@example.com", name="X")
        assert people.by_email(tx, "viewer@example.com") is None
        assert [member.id for member in people.members(tx)] == [other_scope.user_id]
        assert workspaces.of_person(tx, viewer.user_id) == []
        assert workspaces.get(tx).slug == "other"


def test_a_workspace_has_a_short_name_of_its_own(scope: Scope) -> None:
    with pytest.raises(Conflict), transaction(Scope.system()) as tx:
        workspaces.create(tx, "default", "Again")
    for slug in ("", "-x", "a b", "ü"):
        with pytest.raises(Invalid), transaction(Scope.system()) as tx:
            workspaces.create(tx, slug, "Name")


def test_the_first_workspace_and_the_owner_are_made_once(database_url: str) -> None:
    for _again in range(2):
        with transaction(Scope.system()) as tx:
            made = workspaces.default(tx).id, people.local_owner(tx).id
            assert (workspaces.default(tx).id, people.local_owner(tx).id) == made
            assert not people.administrator_exists(tx)
