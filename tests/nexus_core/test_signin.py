"""Signing in: one answer for every failure, bounded tries, the owner of the machine, and the first administrator."""

import time
from concurrent.futures import ThreadPoolExecutor
from statistics import median

import pytest
from argon2 import PasswordHasher
from sqlalchemy import text

from nexus_core import audit, config, passwords, people, profiles, signin, workspaces
from nexus_core.database import Scope, transaction
from nexus_core.errors import Forbidden, Invalid, NotFound, TooMany, Unauthenticated

PASSWORD = "correct horse battery"
SYSTEM = Scope.system()


@pytest.fixture
def vera(viewer: Scope) -> Scope:
    """The viewer, who has a password."""
    assert viewer.user_id
    with transaction(viewer) as tx:
        people.set_password(tx, viewer.user_id, passwords.hash_(PASSWORD))
    return viewer


def administrator() -> str:
    """The first administrator's session."""
    signin.set_up(signin.set_up_code(), "ana@example.com", "Ana", PASSWORD)
    return signin.sign_in("ana@example.com", PASSWORD)


def test_a_password_opens_a_session(vera: Scope) -> None:
    identity = signin.resolve(signin.sign_in(" VIEWER@example.com", PASSWORD, "10.0.0.1", "Firefox"))
    assert identity is not None
    assert (identity.person.id, identity.method) == (vera.user_id, "password")
    assert signin.scope_for(identity, None, "page") == Scope(vera.workspace_id, vera.user_id, "viewer", "page")


def test_a_password_is_the_same_on_every_keyboard(viewer: Scope) -> None:
    assert viewer.user_id
    with transaction(viewer) as tx:
        people.set_password(tx, viewer.user_id, passwords.hash_("contraseñá-1"))
    assert signin.sign_in("viewer@example.com", "contrasen\u0303a\u0301-1")


@pytest.mark.parametrize(
    ("email", "password"),
    [
        ("viewer@example.com", "wrong"),
        ("viewer@example.com", ""),
        ("viewer@example.com", PASSWORD + " "),
        ("viewer@example.com", "x" * 100_000),
        ("viewer@example.com", "\0\ud800"),
        ("nobody@example.com", PASSWORD),
        ("", PASSWORD),
        ("' OR 1=1 --", PASSWORD),
        ("x" * 100_000, PASSWORD),
        ("owner@localhost", PASSWORD),
        ("owner@localhost", ""),
    ],
)
def test_every_failure_has_the_same_answer(vera: Scope, email: str, password: str) -> None:
    with pytest.raises(Unauthenticated) as caught:
        signin.sign_in(email, password)
    assert caught.value.message == "The e-mail or the password is wrong."
    assert caught.value.field is None and caught.value.detail == {}


def test_a_deactivated_person_can_not_sign_in(vera: Scope) -> None:
    token = signin.sign_in("viewer@example.com", PASSWORD)
    with transaction(SYSTEM) as tx:
        tx.connection.execute(text("UPDATE people SET status = 'deactivated' WHERE id = :id"), {"id": vera.user_id})
    with pytest.raises(Unauthenticated, match="is wrong"):
        signin.sign_in("viewer@example.com", PASSWORD)
    assert signin.resolve(token) is None


def test_an_unknown_person_takes_as_long_as_a_wrong_password(vera: Scope) -> None:
    """Without the work for nobody an unknown e-mail would answer in a tenth of the time."""

    def seconds(email: str) -> float:
        signin.reset()
        begun = time.process_time()
        with pytest.raises(Unauthenticated):
            signin.sign_in(email, "wrong password")
        return time.process_time() - begun

    seconds("viewer@example.com")
    pairs = [(seconds("nobody@example.com"), seconds("viewer@example.com")) for _round in range(7)]
    ratio = median(unknown / known for unknown, known in pairs)
    assert 0.6 < ratio < 1.6


def test_tries_are_bounded_per_account(vera: Scope) -> None:
    for number in range(10):
        with pytest.raises(Unauthenticated):
            signin.sign_in("viewer@example.com", "wrong", f"10.0.0.{number}")
    with pytest.raises(TooMany) as caught:
        signin.sign_in(" Viewer@Example.com", PASSWORD, "10.0.1.1")
    assert 0 < caught.value.detail["retry_after"] <= 300


def test_a_success_forgives_the_accounts_failures_and_not_the_addresses(vera: Scope) -> None:
    for number in range(4):
        for _try in range(9):
            with pytest.raises(Unauthenticated):
                signin.sign_in("viewer@example.com", "wrong", "10.0.0.1")
        if number < 3:
            signin.sign_in("viewer@example.com", PASSWORD, "10.0.0.1")
    signin.sign_in("viewer@example.com", PASSWORD, "10.0.0.1")
    with pytest.raises(TooMany):
        signin.sign_in("nobody@example.com", "wrong", "10.0.0.1")
    signin.sign_in("viewer@example.com", PASSWORD, "10.0.0.2")


def test_a_weak_hash_is_made_anew(vera: Scope) -> None:
    weak = PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1).hash(PASSWORD)
    assert vera.user_id
    with transaction(vera) as tx:
        people.set_password(tx, vera.user_id, weak)
    signin.sign_in("viewer@example.com", PASSWORD)
    with transaction(SYSTEM) as tx:
        stored = people.credentials(tx, "viewer@example.com")
    assert stored is not None and stored.password_hash is not None
    assert stored.password_hash != weak and stored.password_hash.startswith("$argon2id$")
    assert passwords.renewed(stored.password_hash, PASSWORD) is None
    assert passwords.verify(stored.password_hash, PASSWORD)


def test_the_audit_tells_who_came_in_and_who_failed_without_secrets(scope: Scope, vera: Scope) -> None:
    token = signin.sign_in("viewer@example.com", PASSWORD, "10.0.0.1")
    signin.sign_out(token)
    signin.sign_out(token)
    for email in ("viewer@example.com", "secret-typed-as-email"):
        with pytest.raises(Unauthenticated):
            signin.sign_in(email, "wrong-secret", "10.0.0.2")
    assert signin.resolve(token) is None
    with transaction(scope) as tx:
        entries = [e for e in audit.latest(tx) if e.action.startswith("sign")]
    found = [(e.action, e.entity_id, e.user_id, e.door, e.detail["address"]) for e in reversed(entries)]
    assert found == [
        ("sign_in", vera.user_id, vera.user_id, "gate", "10.0.0.1"),
        ("sign_out", vera.user_id, vera.user_id, "gate", ""),
        ("sign_in_failed", vera.user_id, None, "gate", "10.0.0.2"),
        ("sign_in_failed", None, None, "gate", "10.0.0.2"),
    ]
    assert not any(secret in str(entries) for secret in (token, "secret", PASSWORD))


def test_the_owner_is_made_once_however_many_ask_at_once(database_url: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _n: signin.local_owner(), range(8)))
    assert len({identity.person.id for identity in made}) == 1
    scope = signin.scope_for(signin.local_owner(), "default", "page")
    assert scope.role == "admin"
    with transaction(scope) as tx:
        assert (workspaces.get(tx).name, len(people.members(tx))) == ("Nexus", 1)
        assert [(p.slug, p.model, p.is_default) for p in profiles.list_(tx)] == [("builtin", "builtin/recall", True)]


def test_local_mode_ends_with_the_first_administrator(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    token = signin.sign_in_locally("127.0.0.1")
    assert signin.local_mode() and signin.resolve(token)
    monkeypatch.setenv("NEXUS_AUTH", "password")
    config.reset()
    assert not signin.local_mode() and signin.resolve(token) is None
    monkeypatch.setenv("NEXUS_AUTH", "auto")
    config.reset()
    administrator()
    assert not signin.local_mode() and signin.resolve(token) is None
    later = signin.sign_in_locally("127.0.0.1")
    assert signin.resolve(later) is None
    monkeypatch.setenv("NEXUS_AUTH", "local")
    config.reset()
    assert signin.local_mode() and signin.resolve(later)


def test_set_up_keeps_what_the_owner_had(scope: Scope) -> None:
    identity = signin.resolve(administrator())
    assert identity is not None
    assert identity.person.id == scope.user_id
    assert (identity.person.email, identity.person.name) == ("ana@example.com", "Ana")
    assert signin.scope_for(identity, None, "page") == scope
    with pytest.raises(Forbidden, match="administrator already"):
        signin.set_up(signin.set_up_code(), "eve@example.com", "Eve", PASSWORD)


def test_set_up_needs_the_code_from_the_console(database_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = signin.set_up_code()
    assert signin.set_up_code() == code
    assert capsys.readouterr().err.count(code) == 1
    for wrong in ("", "0", code[:-1], code + "A", "ñ" * 14):
        with pytest.raises(Invalid) as caught:
            signin.set_up(wrong, "ana@example.com", "Ana", PASSWORD)
        assert caught.value.field == "code"
    assert not signin.administrator_exists()
    signin.set_up(f" {code.lower().replace('-', ' ')} ", "ana@example.com", "Ana", PASSWORD)
    assert signin.administrator_exists()


def test_guesses_of_the_code_are_bounded(database_url: str) -> None:
    for _try in range(20):
        with pytest.raises(Invalid):
            signin.set_up("AAAA-AAAA-AAAA", "eve@example.com", "Eve", PASSWORD, "10.0.0.1")
    with pytest.raises(TooMany):
        signin.set_up(signin.set_up_code(), "eve@example.com", "Eve", PASSWORD, "10.0.0.1")


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("password", ("ana@example.com", "Ana", "short")),
        ("email", ("ana", "Ana", PASSWORD)),
        ("name", ("ana@example.com", " ", PASSWORD)),
    ],
)
def test_a_refused_set_up_changes_nothing(database_url: str, field: str, values: tuple[str, str, str]) -> None:
    before = signin.local_owner()
    with pytest.raises(Invalid) as caught:
        signin.set_up(signin.set_up_code(), *values)
    assert caught.value.field == field
    assert signin.local_owner() == before and signin.local_mode()


def test_two_set_ups_at_once_make_one_administrator(database_url: str) -> None:
    def attempt(number: int) -> bool:
        try:
            signin.set_up(signin.set_up_code(), f"ana{number}@example.com", "Ana", PASSWORD)
        except Forbidden:
            return False
        return True

    code = signin.set_up_code()
    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(attempt, range(4))) == [False, False, False, True]
    assert signin.set_up_code() == code
    with transaction(signin.scope_for(signin.local_owner(), None, "page")) as tx:
        assert len(people.members(tx)) == 1


def test_a_scope_is_only_to_be_had_where_one_is_a_member(vera: Scope, other_scope: Scope) -> None:
    identity = signin.resolve(signin.sign_in("viewer@example.com", PASSWORD))
    assert identity is not None
    for slug in ("other", "no-such-workspace", "", "DEFAULT"):
        with pytest.raises(NotFound, match="no such workspace"):
            signin.scope_for(identity, slug, "page")
    with transaction(Scope(other_scope.workspace_id, None, "system")) as tx:
        assert vera.user_id
        people.join(tx, vera.user_id, "operator")
    identity = signin.resolve(signin.sign_in("viewer@example.com", PASSWORD))
    assert identity is not None
    assert [place.slug for place in identity.workspaces] == ["default", "other"]
    assert signin.scope_for(identity, "other", "api").role == "operator"
    assert signin.scope_for(identity, None, "api").role == "viewer"


def test_who_is_a_member_of_nothing_is_told_so(vera: Scope) -> None:
    with transaction(SYSTEM) as tx:
        tx.connection.execute(text("DELETE FROM memberships WHERE user_id = :id"), {"id": vera.user_id})
    identity = signin.resolve(signin.sign_in("viewer@example.com", PASSWORD))
    assert identity is not None
    with pytest.raises(Forbidden, match="not a member"):
        signin.scope_for(identity, None, "page")


@pytest.mark.parametrize("token", [None, "", "x", "\0", "\ud800", "a" * 100_000])
def test_no_token_is_nobody(database_url: str, token: str | None) -> None:
    assert signin.resolve(token) is None
