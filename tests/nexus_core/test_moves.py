"""Forks and moves: what comes along, whose memory it is then, and who sees it."""

from uuid import UUID, uuid4

import pytest

from nexus_core import audit, chat, conversations, fork, gauge, messages, moves, parts, recall, search
from nexus_core.agents import get as agent_of
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import Busy, Forbidden, Invalid, NotFound
from nexus_core.search import Filter
from tests.nexus_core.conversing import agent, ask, bodies, connect, contents, project, run_of, until
from tests.nexus_core.model_server import ModelServer, Tap, echo
from tests.store import fill


def say(scope: Scope, *texts: str, place: Place = Place(), title: str = "Talk") -> UUID:  # noqa: B008
    with transaction(scope) as tx:
        made = conversations.create(tx, place, title=title, session_id=str(uuid4())).id
        for number, text in enumerate(texts):
            messages.append(tx, made, "assistant" if number % 2 else "user", [parts.text(text)])
    return made


def at(scope: Scope, conversation_id: UUID, number: int) -> UUID:
    with transaction(scope) as tx:
        return messages.page(tx, conversation_id)[number].id


def forked(scope: Scope, message_id: UUID) -> conversations.Conversation:
    with transaction(scope) as tx:
        return fork.fork(tx, message_id)


def test_a_fork_begins_with_what_was_said(operator: Scope, colleague: Scope) -> None:
    source = say(operator, "one", "two", "three", "four", place=Place(project(operator)))
    message = at(operator, source, 2)
    made = forked(colleague, message)
    assert bodies(operator, made.id) == ["one", "two", "three"] and len(bodies(operator, source)) == 4
    assert (made.title, made.user_id, made.next_seq) == ("Talk (fork)", colleague.user_id, 4)
    assert made.metadata["forked_from"] == {"conversation_id": str(source), "message_id": str(message), "seq": 3}
    with transaction(colleague) as tx:
        copies = messages.page(tx, made.id)
        assert [(one.seq, one.parent_seq, one.run_id) for one in copies] == [
            (1, None, None),
            (2, 1, None),
            (3, 2, None),
        ]
        assert copies[0].user_name == "Olga", "who said it stays who said it"
        recall.index_pending()
        assert {hit.id for hit in search.find(tx, "three").hits} == {source, made.id}
    with transaction(colleague) as tx:
        messages.append(tx, made.id, "assistant", [parts.text("another four")])
    assert bodies(operator, made.id)[-1] == "another four" and bodies(operator, source)[-1] == "four"


def test_of_a_version_that_is_not_shown_its_own_way_is_forked(me: Scope) -> None:
    with ModelServer(echo) as server:
        connect(me, server.base)
        turn, first = ask(me, "Hello")
        ask(me, "More", conversation_id=turn.conversation_id)
        again = chat.answer_again(me, first.id)
        until(lambda: bodies(me, turn.conversation_id) == ["Hello", "Answer 3"])
        former = forked(me, first.id)
        assert bodies(me, former.id) == ["Hello", "Answer 1"]
        _turn, deeper = ask(me, "More again", conversation_id=former.id)
        assert bodies(me, forked(me, deeper.id).id) == ["Hello", "Answer 1", "More again", deeper.body]
        assert bodies(me, forked(me, again.answer_id).id) == ["Hello", "Answer 3"]
        with transaction(me) as tx:
            assert [one.body for one in messages.versions(tx, messages.get(tx, first.id))] == ["Answer 1", "Answer 3"]


def test_what_can_not_be_forked(me: Scope, operator: Scope, viewer: Scope) -> None:
    private = say(me, "mine")
    shared = say(operator, "ours", place=Place(project(operator)))
    with pytest.raises(NotFound):
        forked(operator, at(me, private, 0))
    with pytest.raises(Forbidden):
        forked(viewer, at(operator, shared, 0))
    tap = Tap()
    with ModelServer(tap) as server:
        connect(me, server.base)
        turn = chat.send(me, "Tell me")
        until(tap.flowing.is_set)
        with pytest.raises(Invalid):
            forked(me, turn.answer_id)
        forked(me, at(me, turn.conversation_id, 0))
        tap.opened.set()


def test_a_memory_that_holds_the_original_does_not_hold_the_copy_too(me: Scope) -> None:
    ada = agent(me, "Ada", memory_mode="user")
    with ModelServer(echo) as server:
        connect(me, server.base)
        _turn, answer = ask(me, "First", place=Place(None, ada))
        made = forked(me, answer.id)
        ask(me, "Second", conversation_id=made.id)
        assert contents(server.bodies[-1]) == ["First", "Answer 1", "Second"]
        with transaction(me) as tx:
            read = gauge.of(tx, conversations.get(tx, made.id), agent_of(tx, ada))
            assert read and read.messages == 4
            conversations.delete(tx, answer.conversation_id)
        ask(me, "Third", conversation_id=made.id)
        assert contents(server.bodies[-1])[:2] == ["First", "Answer 1"], "the copy is all there is now"


def test_moving_takes_memory_search_and_privacy_along(me: Scope, colleague: Scope) -> None:
    one, two = project(me, "One"), project(me, "Two")
    ada = agent(me, "Ada", memory_mode="user")
    with ModelServer(echo) as server:
        connect(me, server.base)
        turn, _answer = ask(me, "The kettle is blue", place=Place(one, ada))
        where = turn.conversation_id
        recall.index_pending()
        with transaction(me) as tx:
            assert moves.move(tx, [where], two) == [where] and moves.move(tx, [where], two) == []
            assert [hit.id for hit in search.find(tx, "kettle", Filter(project_id=two)).hits] == [where]
            assert search.find(tx, "kettle", Filter(project_id=one)).hits == []
        ask(me, "And in one?", place=Place(one, ada))
        assert contents(server.bodies[-1]) == ["And in one?"], "user memory does not cross a project"
        ask(me, "And in two?", place=Place(two, ada))
        assert contents(server.bodies[-1])[0] == "The kettle is blue"
        assert run_of(me, turn.run_id).project_id == one, "what was spent stays where it was spent"
        with transaction(colleague) as tx:
            assert conversations.get(tx, where)
        with transaction(me) as tx:
            moves.move(tx, [where], None)
        with pytest.raises(NotFound), transaction(colleague) as tx:
            conversations.get(tx, where)
        assert run_of(me, turn.run_id).prompt_summary is None
        with transaction(me) as tx:
            entry = audit.latest(tx)[0]
        assert (entry.action, entry.detail) == ("move", {"from": str(two), "to": None})


def test_the_warning_says_whose_memory_it_used_and_who_will_see_it(me: Scope, apollo: Place, colleague: Scope) -> None:
    target = project(me, "Target")
    turn, _answer = ask(me, "Where do we launch?", place=apollo)
    private = say(me, "alone")
    with transaction(me) as tx:
        found = moves.effect(tx, [turn.conversation_id, private], target)
        assert (found.moving, found.opened, found.closed, found.members, found.others) == (2, 1, 0, 2, 0)
        assert [(one.project_name, one.with_memory) for one in found.used] == [("Apollo", 1)]
        assert moves.effect(tx, [private], None).moving == 0
        assert moves.effect(tx, [turn.conversation_id], None).closed == 1


def test_who_may_move_what(scope: Scope, operator: Scope, colleague: Scope, other_scope: Scope) -> None:
    corner = fill(operator)
    target, foreign = project(operator, "Target"), project(other_scope, "Foreign")
    private = say(scope, "mine")
    for who, ids, to, refusal in (
        (colleague, [corner.open], target, Forbidden),
        (scope, [corner.open], None, Forbidden),
        (operator, [corner.open, private], target, NotFound),
        (operator, [corner.open], foreign, NotFound),
        (operator, [uuid4()], target, NotFound),
    ):
        with pytest.raises(refusal), transaction(who) as tx:
            moves.move(tx, ids, to)
    with transaction(scope) as tx:
        moves.move(tx, [corner.open], target)
        moved = conversations.get(tx, corner.open)
    assert (moved.project_id, moved.task_id) == (target, None)


def test_what_is_being_answered_does_not_move(me: Scope) -> None:
    target = project(me, "Target")
    other = say(me, "still")
    tap = Tap()
    with ModelServer(tap) as server:
        connect(me, server.base)
        turn = chat.send(me, "Tell me")
        until(tap.flowing.is_set)
        with pytest.raises(Busy), transaction(me) as tx:
            moves.move(tx, [other, turn.conversation_id], target)
        with transaction(me) as tx:
            assert conversations.get(tx, other).project_id is None
        tap.opened.set()
