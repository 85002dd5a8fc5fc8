"""Rules put old conversations away and delete them, after a dry run; figures stay, and each run is in the audit."""

from uuid import UUID

import pytest

from nexus_core import audit, conversations, retention, runs, shelf
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import Forbidden, Invalid, NotFound
from nexus_core.retention import Due
from tests.nexus_core.conversing import ask, count, project, run_of
from tests.store import do


def aged(scope: Scope, days: int, place: Place = Place(), title: str = "Old") -> UUID:  # noqa: B008
    with transaction(scope) as tx:
        made = conversations.create(tx, place, title=title).id
    turn, _answer = ask(scope, "Words", conversation_id=made)
    do(
        Scope(scope.workspace_id, scope.user_id, "system"),
        "UPDATE conversations SET last_message_at = now() - make_interval(days => :days) WHERE id = :id",
        days=days, id=made,
    )  # fmt: skip
    assert turn.run_id
    return made


def put(scope: Scope, project_id: UUID | None, archive: int | None, delete: int | None) -> UUID:
    with transaction(scope) as tx:
        return retention.put(tx, project_id, archive_after_days=archive, delete_after_days=delete)


def state(scope: Scope, conversation_id: UUID) -> str:
    with transaction(Scope(scope.workspace_id, scope.user_id, "system")) as tx:
        if conversation_id in {one.id for one in shelf.trashed(tx, limit=500)}:
            return "trash"
        return conversations.get(tx, conversation_id).status


def shown(due: list[Due]) -> list[tuple[UUID | None, int, int, int]]:
    return [(one.project_id, one.archives, one.deletes, one.messages) for one in due]


def test_a_dry_run_says_what_the_worker_then_does(scope: Scope, operator: Scope, other_scope: Scope) -> None:
    home, other = project(scope, "Kept"), project(scope, "Plain")
    young = aged(scope, 3)
    old, older = aged(operator, 40), aged(operator, 400)
    ruled, plain = aged(scope, 40, Place(home)), aged(scope, 400, Place(other))
    foreign = aged(other_scope, 400)
    rule = put(scope, None, 30, 365)
    put(scope, home, 100, None)
    assert shown(retention.preview(scope)) == [(None, 1, 2, 4), (home, 0, 0, 0)]
    assert [state(scope, one) for one in (old, older, plain)] == ["open", "open", "open"]  # nothing yet
    assert retention.apply() == 2
    found = [state(scope, one) for one in (young, ruled, plain)]
    assert found == ["open", "open", "trash"]
    assert [state(operator, one) for one in (old, older)] == ["archived", "trash"]
    assert state(other_scope, foreign) == "open"
    with transaction(scope) as tx:
        entries = [one for one in audit.latest(tx) if one.action == "apply"]
        assert retention.rules(tx)[0].applied_at
    assert {one.entity_id: (one.door, one.detail["archived"], one.detail["deleted"]) for one in entries}[rule] == (
        "worker", 1, 2)  # fmt: skip
    assert retention.apply() == 0  # once a day
    assert shown(retention.preview(scope)) == [(None, 0, 0, 0), (home, 0, 0, 0)]


def test_what_is_deleted_keeps_its_figures(database_url: str, scope: Scope) -> None:
    old = aged(scope, 400)
    with transaction(scope) as tx:
        [run] = runs.of_conversation(tx, old)
    put(scope, None, None, 30)
    retention.apply()
    do(Scope.system(), "UPDATE conversations SET deleted_at = now() - interval '31 days' WHERE id = :id", id=old)
    with transaction(Scope.system()) as tx:
        assert shelf.purge(tx) == 1
    assert count(database_url, "messages", f"conversation_id = '{old}'") == 0
    after = run_of(scope, run.id)
    assert (after.input_tokens, after.cost_estimate, after.prompt_summary) == (
        run.input_tokens,
        run.cost_estimate,
        None,
    )


@pytest.mark.parametrize(
    ("archive", "delete"), [(None, None), (0, None), (None, -1), (30, 30), (30, 10), (None, 99_999)]
)
def test_impossible_days_are_refused(scope: Scope, archive: int | None, delete: int | None) -> None:
    with pytest.raises(Invalid):
        put(scope, None, archive, delete)


def test_who_may_set_rules(scope: Scope, operator: Scope, other_scope: Scope) -> None:
    rule = put(scope, None, 30, None)
    assert put(scope, None, 60, 90) == rule  # one for the workspace
    with pytest.raises(Forbidden):
        put(operator, None, 30, None)
    with pytest.raises(Forbidden):
        retention.preview(operator)
    with pytest.raises(NotFound):
        put(other_scope, project(scope), 30, None)
    with transaction(other_scope) as tx, pytest.raises(NotFound):
        retention.remove(tx, rule)
    with transaction(scope) as tx:
        retention.remove(tx, rule)
        assert retention.rules(tx) == []
