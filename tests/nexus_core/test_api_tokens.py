"""Personal tokens: what they open, what ends them, and how little of them is kept."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from uuid import uuid4

import pytest

from nexus_core import __main__, api_tokens, audit, budgets, people, projects, signin
from nexus_core.api_tokens import Token
from nexus_core.database import Scope, transaction
from nexus_core.errors import Forbidden, Invalid, NotFound
from tests.nexus_core import ledger
from tests.store import ask, do


def make(scope: Scope, name: str = "CI", **options: object) -> tuple[Token, str]:
    with transaction(scope) as tx:
        return api_tokens.create(tx, name, **options)


def opened(token: str) -> Scope | None:
    identity = signin.resolve_token(token)
    return signin.scope_for(identity, None, "api") if identity else None


def test_a_token_is_told_once_and_acts_for_its_person(scope: Scope, operator: Scope) -> None:
    made, token = make(operator, "  Nightly\nimport ")
    assert token.startswith("nxs_") and len(token) == 52 and made.hint == token[:8]
    assert (made.name, made.role, made.project_ids, made.last_used_at) == ("Nightly import", "operator", None, None)
    acting = opened(token)
    assert acting == replace(operator, door="api", token_id=made.id)
    stored = ask(scope, "SELECT * FROM api_tokens")
    assert len(stored) == 1 and token not in str(stored) and token[8:] not in str(ask(scope, "SELECT * FROM audit"))
    with transaction(acting) as tx:
        (seen,) = api_tokens.list_(tx)
        assert seen.last_used_at and datetime.now(UTC) - seen.last_used_at < api_tokens.USED_EVERY
        projects.create(tx, "Made by it")
    written = ask(scope, "SELECT xmin FROM api_tokens")
    assert opened(token) and ask(scope, "SELECT xmin FROM api_tokens") == written  # used again within the minute
    with transaction(scope) as tx:
        entry, *_rest = audit.latest(tx)
        assert (entry.door, entry.user_id, entry.detail["token"]) == ("api", operator.user_id, str(made.id))
        assert [one.id for one in api_tokens.list_(tx, everybodys=True)] == [made.id] and not api_tokens.list_(tx)


@pytest.mark.parametrize(
    "ending",
    [
        "UPDATE api_tokens SET revoked_at = now()",
        "UPDATE api_tokens SET expires_at = now()",
        "UPDATE people SET status = 'deactivated' WHERE id = :u",
        "DELETE FROM memberships WHERE user_id = :u",
    ],
)
def test_what_ends_a_token_at_once(scope: Scope, operator: Scope, ending: str) -> None:
    token = make(operator, days=None)[1]
    assert opened(token) and not opened(token[:-1] + ("0" if token[-1] != "0" else "1")) and not opened("nxs_")
    do(Scope(scope.workspace_id, None, "system"), ending, u=operator.user_id)
    assert opened(token) is None


def test_its_role_is_never_above_the_persons(scope: Scope, operator: Scope, viewer: Scope) -> None:
    admin, reader = make(scope, role="admin")[1], make(operator, role="viewer")[1]
    as_operator = make(operator)[1]
    with transaction(scope) as tx:
        people.join(tx, operator.user_id, "viewer")
    roles = [opened(token).role for token in (admin, reader, as_operator)]
    assert roles == ["admin", "viewer", "viewer"]
    with pytest.raises(Forbidden):
        make(viewer, role="operator")


def test_what_is_no_token_is_refused(scope: Scope, other_scope: Scope) -> None:
    with transaction(other_scope) as tx:
        foreign = projects.create(tx, "Foreign").id
    for wrong, kind in (
        ({"name": " \n"}, Invalid), ({"name": "x" * 101}, Invalid), ({"role": "owner"}, Invalid),
        ({"days": 0}, Invalid), ({"days": 3651}, Invalid), ({"project_ids": []}, Invalid),
        ({"project_ids": [uuid4()]}, NotFound), ({"project_ids": [foreign]}, NotFound),
        ({"project_ids": [foreign], "role": "admin"}, Invalid),
    ):  # fmt: skip
        with pytest.raises(kind):
            make(scope, **wrong)


def test_a_token_makes_no_other_and_ends_itself_alone(scope: Scope) -> None:
    (made, token), (other, _token) = make(scope, role="admin"), make(scope)
    acting = opened(token)
    assert acting
    for attempt in (lambda tx: api_tokens.create(tx, "x"), lambda tx: api_tokens.revoke(tx, other.id)):
        with transaction(acting) as tx, pytest.raises(Forbidden):
            attempt(tx)
    with transaction(acting) as tx:
        api_tokens.revoke(tx, made.id)
    assert opened(token) is None


def test_another_persons_token_is_an_administrators_to_end(scope: Scope, operator: Scope, colleague: Scope) -> None:
    made, token = make(operator)
    with transaction(colleague) as tx:
        with pytest.raises(NotFound):
            api_tokens.revoke(tx, made.id)
        with pytest.raises(Forbidden):
            api_tokens.list_(tx, everybodys=True)
    assert ask(colleague, "SELECT * FROM api_tokens") == [] and opened(token)
    with transaction(scope) as tx:
        api_tokens.revoke(tx, made.id)
    assert opened(token) is None


def test_a_limited_token_spends_of_the_whole_workspaces_budget(scope: Scope, database_url: str) -> None:
    """It sees no run of another project, yet these count where its own are asked whether they may begin."""
    with transaction(scope) as tx:
        apollo, other = projects.create(tx, "Apollo"), projects.create(tx, "Other")
        budgets.put(tx, "workspace", Decimal(5))
    with ledger.owner(database_url) as owner:
        ledger.add(owner, scope, datetime.now(UTC), project_id=other.id, cost_estimate=Decimal(6))
    limited = opened(make(scope, project_ids=[apollo.id])[1])
    assert limited and limited.role == "operator"
    about = {"project_id": apollo.id, "agent_id": None, "user_id": scope.user_id, "now": datetime.now(UTC)}
    with transaction(limited) as tx:
        assert not budgets.reserve(tx, uuid4(), estimate=Decimal("0.01"), **about).allowed
        assert [one.name for one in projects.list_(tx)] == ["Apollo"]
        with pytest.raises(NotFound):
            projects.get(tx, other.id)
    with pytest.raises(Forbidden), transaction(limited) as tx:
        projects.create(tx, "Third")


def test_the_command_makes_lists_and_revokes(scope: Scope, capsys: pytest.CaptureFixture[str]) -> None:
    with transaction(scope) as tx:
        projects.create(tx, "Apollo")
    assert __main__.main(["token", "create", "CI", "--role", "viewer", "--project", "apollo", "--never-expires"]) == 0
    token = capsys.readouterr().out.strip()
    acting = opened(token)
    assert acting and acting.role == "viewer" and len(acting.project_ids or ()) == 1
    assert __main__.main(["token", "list"]) == 0
    listed = capsys.readouterr().out
    assert token not in listed and "CI  viewer  Apollo  never expires  used " in listed
    assert __main__.main(["token", "revoke", token[:8]]) == 0 and opened(token) is None
    assert __main__.main(["token", "revoke", token[:8]]) == 1
    assert __main__.main(["token", "create", "CI", "--project", "Gemini"]) == 1
    assert "no project Gemini" in capsys.readouterr().err
