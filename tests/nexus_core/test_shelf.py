"""Archive, trash and deletion for good: who may, all or none, what goes and what stays."""

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest

from nexus_core import audit, chat, conversations, leases, messages, parts, recall, runs, search, shelf
from nexus_core.conversations import Place
from nexus_core.database import Scope, Transaction, transaction
from nexus_core.errors import Forbidden, Invalid, NexusError, NotFound
from nexus_core.worker import worker
from tests.nexus_core.conversing import ask, connect, count, message, owner, project, run_of, until
from tests.nexus_core.model_server import ModelServer, Tap
from tests.store import do, fill

Act = Callable[[Transaction, list[UUID]], object]


def say(scope: Scope, text: str = "words", place: Place = Place(), session_id: str | None = None) -> UUID:  # noqa: B008
    with transaction(scope) as tx:
        made = conversations.create(tx, place, session_id=session_id or str(uuid4())).id
        messages.append(tx, made, "user", [parts.text(text)])
    return made


def act(scope: Scope, what: Act, *ids: UUID) -> object:
    with transaction(scope) as tx:
        return what(tx, list(ids))


def done(scope: Scope, *ids: UUID) -> list[tuple[str, UUID | None]]:
    with transaction(scope) as tx:
        return [(one.action, one.entity_id) for one in audit.latest(tx) if one.entity_id in ids]


def status(scope: Scope, conversation_id: UUID) -> str:
    with transaction(scope) as tx:
        return conversations.get(tx, conversation_id).status


def listed(scope: Scope, text: str = "") -> set[UUID]:
    recall.index_pending()
    with transaction(scope) as tx:
        return {hit.id for hit in search.find(tx, text).hits}


def test_archiving_tells_what_changed_so_that_it_can_be_undone(scope: Scope) -> None:
    one, two, three = (say(scope) for _n in range(3))
    act(scope, shelf.archive, three)
    changed = act(scope, shelf.archive, one, two, three)
    assert changed == sorted([one, two]) and status(scope, three) == "archived"
    assert act(scope, shelf.unarchive, one, two) == changed
    assert [status(scope, each) for each in (one, two, three)] == ["open", "open", "archived"]
    assert done(scope, one) == [("restore", one), ("archive", one), ("create", one)]


@pytest.mark.parametrize("what", [shelf.archive, shelf.unarchive, shelf.trash, shelf.restore, shelf.delete])
def test_all_or_none_and_a_foreign_one_is_a_missing_one(what: Act, operator: Scope, colleague: Scope) -> None:
    mine, theirs = say(operator), say(colleague)
    if what is shelf.restore:
        act(operator, shelf.trash, mine)
        act(colleague, shelf.trash, theirs)
    before = count_of(operator)
    sentences = set()
    for strange in (theirs, uuid4()):
        with pytest.raises(NotFound) as refused:
            act(operator, what, mine, strange)
        sentences.add(refused.value.message)
    assert len(sentences) == 1 and count_of(operator) == before


def count_of(scope: Scope) -> tuple[int, int, int]:
    with transaction(scope) as tx:
        found = shelf.going(tx, [hit.id for hit in search.find(tx).hits])
        archived = search.find(tx, "", search.Filter(status="archived")).total
        return found.conversations, archived, shelf.count_trashed(tx)


@pytest.mark.parametrize("what", [shelf.trash, shelf.restore, shelf.delete])
def test_another_members_needs_an_admin(what: Act, scope: Scope, operator: Scope, colleague: Scope) -> None:
    shared = say(operator, place=Place(project(operator)))
    if what is shelf.restore:
        act(operator, shelf.trash, shared)
    with pytest.raises(Forbidden):
        act(colleague, what, shared)
    act(scope, what, shared)
    assert done(scope, shared)[0][0] in ("trash", "restore", "delete")


@pytest.mark.parametrize("what", [shelf.archive, shelf.trash, shelf.restore, shelf.delete])
def test_a_viewer_changes_nothing(what: Act, viewer: Scope, operator: Scope) -> None:
    with pytest.raises(Forbidden):
        act(viewer, what, say(operator, place=Place(project(operator))))


def test_no_more_than_a_screenful_at_a_time(scope: Scope) -> None:
    with pytest.raises(Invalid):
        act(scope, shelf.archive, *(uuid4() for _n in range(shelf.MOST + 1)))


def test_the_trash_hides_and_gives_back(operator: Scope, colleague: Scope) -> None:
    home = Place(project(operator))
    kept, gone = say(operator, "kettle", home), say(operator, "kettle", home, session_id="s-1")
    with transaction(operator) as tx:
        question = messages.page(tx, gone)[0]
    act(operator, shelf.trash, gone)
    for scope in (operator, colleague):
        assert listed(scope) == listed(scope, "kettle") == {kept}
    with transaction(operator) as tx:
        assert recall.passages(tx, "kettle", home.project_id) and {
            one.conversation_id for one in recall.passages(tx, "kettle", home.project_id)
        } == {kept}
        assert [one.id for one in conversations.of_project(tx, home.project_id or uuid4())] == [kept]
        row = shelf.trashed(tx)[0]
        assert row.id == gone and (row.gone_at - row.deleted_at).days == shelf.TRASH_DAYS
        assert shelf.count_trashed(tx) == 1
    for refused in (
        lambda tx: conversations.get(tx, gone),
        lambda tx: conversations.rename(tx, gone, "x"),
        lambda tx: shelf.trash(tx, [gone]),
        lambda tx: shelf.archive(tx, [gone]),
    ):
        with pytest.raises(NotFound), transaction(operator) as tx:
            refused(tx)
    with pytest.raises(NexusError):
        chat.edit(operator, question.id, "again")
    with transaction(colleague) as tx:
        assert shelf.trashed(tx) == []
    act(operator, shelf.restore, gone)
    assert listed(operator, "kettle") == {kept, gone}
    with transaction(operator) as tx:
        assert conversations.get(tx, gone).session_id == "s-1" and shelf.trashed(tx) == []


def test_a_sessions_name_is_free_while_its_conversation_is_in_the_trash(operator: Scope) -> None:
    old = say(operator, session_id="s-1")
    act(operator, shelf.trash, old)
    new = say(operator, session_id="s-1")
    assert new != old
    act(operator, shelf.restore, old)
    with transaction(operator) as tx:
        assert conversations.get(tx, old).session_id is None and conversations.named(tx, "s-1").id == new


def test_the_trash_is_paged_the_last_one_first(operator: Scope) -> None:
    made = [say(operator) for _n in range(5)]
    for each in made:
        act(operator, shelf.trash, each)
    do(operator, "UPDATE conversations SET deleted_at = '2026-01-01T00:00:00Z'")
    seen: list[UUID] = []
    for size in (2, 2, 1, 0):
        with transaction(operator) as tx:
            page = shelf.trashed(tx, before=seen[-1] if seen else None, limit=2)
        assert len(page) == size
        seen += [one.id for one in page]
    assert seen == sorted(made, reverse=True)


@pytest.mark.parametrize("first", [shelf.trash, None])
def test_for_good_is_everything_but_the_figures(first: Act | None, scope: Scope, database_url: str) -> None:
    corner = fill(scope)
    recall.index_pending()
    with transaction(scope) as tx:
        assert shelf.going(tx, [corner.open, uuid4()]) == shelf.Going(1, 2, 1, 1, 0)
    before = run_of(scope, corner.run)
    if first:
        act(scope, first, corner.open)
        assert count(database_url, "shares", f"conversation_id = '{corner.open}' AND revoked_at IS NULL") == 0
    act(scope, shelf.delete, corner.open)
    here = f"conversation_id = '{corner.open}'"
    tables = ("messages", "summaries", "receipts", "shares", "conversation_tags", "conversation_reads", "title_search",
              "message_search", "title_queue")  # fmt: skip
    assert {name: count(database_url, name, here) for name in tables} == dict.fromkeys(tables, 0)
    after = run_of(scope, corner.run)
    assert (after.prompt_summary, after.response_summary, after.conversation_id) == (None, None, None)
    for figure in ("model", "input_tokens", "output_tokens", "cost_estimate", "duration_ms", "status"):
        assert getattr(after, figure) == getattr(before, figure) is not None
    assert count(database_url, "messages", f"conversation_id = '{corner.private}'") == 2


def test_the_worker_empties_the_trash_in_time(scope: Scope, other_scope: Scope, database_url: str) -> None:
    ripe, fresh, here = say(scope), say(scope), say(scope)
    theirs = say(other_scope)
    act(scope, shelf.trash, ripe, fresh)
    act(other_scope, shelf.trash, theirs)
    with owner(database_url) as connection:
        connection.execute(
            "UPDATE conversations SET deleted_at = now() - interval '30 days 1 minute' WHERE id = ANY(%s)",
            ([ripe, theirs],),
        )
    worker()
    until(lambda: count(database_url, "conversations") == 2)
    with transaction(scope) as tx:
        assert conversations.get(tx, here) and [one.id for one in shelf.trashed(tx)] == [fresh]
    assert count(database_url, "audit", "action = 'purge' AND user_id IS NULL") == 2
    assert ("purge", ripe) in done(scope, ripe) and ("purge", theirs) in done(other_scope, theirs)


def test_what_is_being_answered_stops_in_the_trash_and_is_kept(me: Scope) -> None:
    tap = Tap()
    with ModelServer(tap) as server:
        connect(me, server.base)
        turn = chat.send(me, "Tell me")
        until(tap.flowing.is_set)
        with transaction(me) as tx:
            assert shelf.going(tx, [turn.conversation_id]).running == 1
        act(me, shelf.trash, turn.conversation_id)
        until(lambda: message(me, turn.answer_id).status == "stopped")
        tap.opened.set()
    act(me, shelf.restore, turn.conversation_id)
    assert message(me, turn.answer_id).body.strip() == "One two"
    run = run_of(me, message(me, turn.answer_id).run_id)
    assert run.stopped and run.status == "succeeded"
    _turn, answer = ask(me, "Hello?", conversation_id=turn.conversation_id)
    assert answer.status in ("complete", "failed")


def test_archiving_lets_an_answer_end(me: Scope) -> None:
    tap = Tap()
    with ModelServer(tap) as server:
        connect(me, server.base)
        turn = chat.send(me, "Tell me")
        until(tap.flowing.is_set)
        act(me, shelf.archive, turn.conversation_id)
        tap.opened.set()
        until(lambda: message(me, turn.answer_id).status == "complete")
    assert status(me, turn.conversation_id) == "archived"


def test_an_answer_in_the_trash_whose_process_died_is_ended(scope: Scope) -> None:
    corner = fill(scope)
    do(scope, """UPDATE conversations SET active_run_id = :run, lease_until = now() - interval '1 minute',
                 lease_owner = 'gone/1/1' WHERE id = :open""", **vars(corner))  # fmt: skip
    act(scope, shelf.trash, corner.open)
    with transaction(Scope.system()) as tx:
        leases.reap(tx)
    act(scope, shelf.restore, corner.open)
    with transaction(scope) as tx:
        assert conversations.require_idle(tx, corner.open).active_run_id is None


def test_what_a_list_says_of_cost_and_people(scope: Scope, operator: Scope) -> None:
    corner = fill(scope)
    empty = say(scope)
    with transaction(scope) as tx:
        spent = runs.spent(tx, [corner.open, corner.private, empty])
        names = messages.people_of(tx, [corner.open, empty, uuid4()])
    assert str(spent[corner.open].cost) == "0.2500000000" and spent[corner.open].unpriced == 0
    assert (spent[corner.private].cost, spent[corner.private].unpriced) == (None, 1) and empty not in spent
    assert set(names) == {corner.open, empty}
    with transaction(operator) as tx:
        assert messages.people_of(tx, [corner.private]) == {}
