"""Who may come in: links, roles, deactivation; the last administrator stays, whoever is faster."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from threading import Barrier
from uuid import UUID

import pytest

from nexus_core import accounts, api_tokens, audit, conversations, messages, passwords, people, sessions, signin
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import Conflict, Forbidden, Invalid, NexusError, NotFound, Unauthenticated
from tests.conftest import member
from tests.nexus_core.conversing import project
from tests.store import ask, do

Way = Callable[[Scope, UUID], object]
PASSWORD = "correct horse battery"


@pytest.fixture
def admin(scope: Scope) -> Scope:
    """The administrator, with a password of their own."""
    set_password(scope)
    return scope


def set_password(scope: Scope) -> None:
    with transaction(scope) as tx:
        people.set_password(tx, scope.user_id, hashed())


@cache
def hashed() -> str:
    """The password's hash, which takes its time to make."""
    return passwords.hash_(PASSWORD)


def roles(scope: Scope) -> dict[str, str]:
    with transaction(scope) as tx:
        return {one.name: one.role for one in people.members(tx)}


def test_an_invited_person_chooses_a_password_once(scope: Scope) -> None:
    with pytest.raises(Invalid, match="for yourself first"):
        accounts.invite(scope, "ana@example.com", "Ana", "operator")
    set_password(scope)
    made, code = accounts.invite(scope, " Ana@example.com", "Ana", "operator")
    assert code and (made.email, made.role, made.has_password) == ("Ana@example.com", "operator", False)
    assert made.link_until and code not in str(ask(Scope.system(), "SELECT * FROM people, audit"))
    with pytest.raises(Unauthenticated):
        signin.sign_in("ana@example.com", PASSWORD)
    with pytest.raises(Conflict):
        accounts.invite(scope, "ANA@example.com", "Other", "viewer")
    again = accounts.new_link(scope, made.id)
    for dead in (code, "", "x" * 5000, "\ud800"):
        with pytest.raises(NotFound):
            accounts.choose_password(dead, PASSWORD)
    assert accounts.whose(again).name == "Ana"
    with pytest.raises(Invalid):
        accounts.choose_password(again, "short")
    identity = signin.resolve(accounts.choose_password(again, PASSWORD, "10.0.0.1", "Browser"))
    assert identity and identity.person.id == made.id and signin.sign_in("ana@example.com", PASSWORD)
    with pytest.raises(NotFound):
        accounts.choose_password(again, PASSWORD)
    with pytest.raises(Invalid, match="reset"):
        accounts.new_link(scope, made.id)
    with transaction(scope) as tx:
        told = [(one.action, one.door) for one in audit.latest(tx) if one.entity_id == made.id]
    assert told[:2] == [("sign_in", "gate"), ("set_password", "gate")]


def test_an_old_link_opens_nothing(admin: Scope) -> None:
    _made, code = accounts.invite(admin, "ana@example.com", "Ana", "viewer")
    do(Scope.system(), "UPDATE people SET link_until = now() WHERE link_until IS NOT NULL")
    with pytest.raises(NotFound):
        accounts.whose(code or "")


def test_a_reset_ends_password_and_sessions(admin: Scope, operator: Scope) -> None:
    set_password(operator)
    session = signin.sign_in("operator@example.com", PASSWORD)
    code = accounts.reset_password(admin, operator.user_id)
    assert signin.resolve(session) is None
    with pytest.raises(Unauthenticated):
        signin.sign_in("operator@example.com", PASSWORD)
    assert signin.resolve(accounts.choose_password(code, "another " + PASSWORD))


def test_deactivation_ends_sessions_and_tokens_for_good(admin: Scope, operator: Scope) -> None:
    set_password(operator)
    session = signin.sign_in("operator@example.com", PASSWORD)
    with transaction(operator) as tx:
        token = api_tokens.create(tx, "CI")[1]
    assert signin.resolve(session) and signin.resolve_token(token)
    assert accounts.deactivate(admin, operator.user_id).status == "deactivated"
    assert accounts.reactivate(admin, operator.user_id).sessions == 0
    assert signin.resolve(session) is None and signin.resolve_token(token) is None
    assert signin.sign_in("operator@example.com", PASSWORD)


def test_who_left_is_gone_and_their_name_stays(admin: Scope, operator: Scope, colleague: Scope) -> None:
    """What they wrote is signed by them for those who are here, and for nobody elsewhere."""
    with transaction(operator) as tx:
        talk = conversations.create(tx, Place(project_id=project(operator)))
        messages.append(tx, talk.id, "user", [{"type": "text", "text": "I was here"}])
        token = api_tokens.create(tx, "CI")[1]
    accounts.remove(admin, operator.user_id)
    assert "Olga" not in roles(admin) and signin.resolve_token(token) is None
    with transaction(colleague) as tx:
        assert [one.user_name for one in messages.page(tx, talk.id)] == ["Olga"]
        with pytest.raises(NotFound):
            people.get(tx, operator.user_id)
    assert accounts.invite(admin, "operator@example.com", "Olga", "viewer")[1] is None  # back, by their own account
    assert roles(admin)["Olga"] == "viewer"


def test_the_last_administrator_stays(admin: Scope, operator: Scope) -> None:
    other = member(admin, "other@example.com", "Otto", "admin")  # who can't sign in yet, so does not count
    attempts: list[Callable[[Scope], object]] = [
        lambda by: accounts.set_role(by, admin.user_id, "operator"),
        lambda by: accounts.deactivate(by, admin.user_id),
        lambda by: accounts.remove(by, admin.user_id),
    ]
    for attempt in attempts:
        for by in (admin, other):
            with pytest.raises(Invalid):
                attempt(by)
        with pytest.raises(Forbidden):
            attempt(operator)
    set_password(other)
    assert accounts.set_role(other, admin.user_id, "operator").role == "operator"
    with pytest.raises(Forbidden):
        accounts.set_role(admin, other.user_id, "operator")  # a page that was drawn before says admin still
    assert roles(other)["Otto"] == "admin"


def test_two_who_race_to_demote_each_other(admin: Scope) -> None:
    """One of them remains, whatever each of them does to the other at the same moment."""
    ways = (lambda by, of: accounts.set_role(by, of, "viewer"), accounts.deactivate)
    for number, attempt in enumerate(ways):
        one, two = (member(admin, f"{n}{number}@example.com", n, "admin") for n in "ab")
        for each in (one, two):
            set_password(each)
        together = Barrier(2)

        def act(pair: tuple[Scope, UUID], attempt: Way = attempt, together: Barrier = together) -> bool:
            together.wait()
            try:
                attempt(*pair)
            except NexusError:
                return False
            return True

        with ThreadPoolExecutor(2) as pool:
            assert sorted(pool.map(act, [(one, two.user_id), (two, one.user_id)])) == [False, True]


def test_another_workspaces_person_is_not_mine_to_lock_out(admin: Scope, other_scope: Scope) -> None:
    """Account and password serve both; an administrator of one may end the membership alone."""
    found, code = accounts.invite(admin, "other@example.com", "Otto", "viewer")
    assert (found.id, code) == (other_scope.user_id, None)
    for attempt in (accounts.deactivate, accounts.reset_password, accounts.new_link):
        with pytest.raises(Forbidden, match="do not administer"):
            attempt(admin, found.id)
    accounts.remove(admin, found.id)
    for attempt in (accounts.deactivate, accounts.remove, accounts.sessions_of):
        with pytest.raises(NotFound):
            attempt(admin, found.id)


def test_a_token_lets_nobody_in(admin: Scope, operator: Scope) -> None:
    by_token = replace(admin, token_id=operator.user_id)
    for attempt in (
        lambda: accounts.invite(by_token, "ana@example.com", "Ana", "admin"),
        lambda: accounts.set_role(by_token, operator.user_id, "admin"),
        lambda: accounts.reset_password(by_token, operator.user_id),
    ):
        with pytest.raises(Forbidden):
            attempt()
    assert accounts.deactivate(by_token, operator.user_id).status == "deactivated"


def test_sessions_are_their_persons_and_administrators_to_end(admin: Scope, operator: Scope, viewer: Scope) -> None:
    set_password(operator)
    first, second = (signin.sign_in("operator@example.com", PASSWORD, user_agent=f"Browser {n}") for n in range(2))
    listed = accounts.sessions_of(operator, operator.user_id)
    assert [one.user_agent for one in listed] == ["Browser 1", "Browser 0"]
    with pytest.raises(Forbidden):
        accounts.end_sessions(viewer, operator.user_id)
    accounts.end_sessions(operator, operator.user_id, listed[1].id)
    assert signin.resolve(first) is None and signin.resolve(second)
    assert accounts.end_sessions(admin, operator.user_id) == 1 and signin.resolve(second) is None
    with pytest.raises(NotFound):
        accounts.end_sessions(admin, operator.user_id, listed[0].id)
    with transaction(viewer) as tx:
        told = {one.id: (one.has_password, one.sessions) for one in people.accounts(tx)}
    assert told == dict.fromkeys(told, (None, None)) | {viewer.user_id: (False, 0)}
    do(Scope.system(), "UPDATE sign_in_sessions SET revoked_at = now() - interval '2 days'")
    with transaction(Scope.system()) as tx:
        assert sessions.purge(tx) == 2 and sessions.purge(tx) == 0


def test_one_changes_ones_own_password(admin: Scope) -> None:
    here, there = (signin.sign_in("owner@localhost", PASSWORD) for _n in range(2))
    for wrong, field in ((("wrong", "new " + PASSWORD), "current"), ((PASSWORD, "short"), "password")):
        with pytest.raises(Invalid) as caught:
            accounts.change_password(admin, *wrong)
        assert caught.value.field == field
    with pytest.raises(Forbidden):
        accounts.change_password(replace(admin, token_id=admin.user_id), PASSWORD, "new " + PASSWORD)
    accounts.change_password(admin, PASSWORD, "new " + PASSWORD, keep=here)
    assert signin.resolve(here) and signin.resolve(there) is None
    assert signin.sign_in("owner@localhost", "new " + PASSWORD)
    with transaction(admin) as tx:
        assert "set_password" in {one.action for one in audit.latest(tx, 3)}
