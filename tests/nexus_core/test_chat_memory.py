"""Who remembers what: agents, sessions, memory modes and limits, as a real model server is told."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from nexus_core import chat, conversations, messages
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import Busy, Forbidden, NexusError
from nexus_core.turns import Turn
from tests.nexus_core.conversing import (
    agent,
    ask,
    bodies,
    connect,
    contents,
    count,
    project,
    shown,
)
from tests.nexus_core.model_server import ModelServer, echo

# who remembers what


def test_just_chat_and_each_agent_never_mix(me: Scope) -> None:
    with ModelServer(echo) as server:
        connect(me, server.base)
        places = [Place(), Place(agent_id=agent(me, "Ada")), Place(agent_id=agent(me, "Bob"))]
        for place in places:
            ask(me, f"I am at {place.agent_id}", place=place)
        for place in places:
            turn, _answer = ask(me, "Go on", place=place)
            assert contents(server.bodies[-1])[0] == f"I am at {place.agent_id}"
            assert len(contents(server.bodies[-1])) == 3
            with transaction(me) as tx:
                listed = [one.id for one in conversations.list_(tx, place)]
            assert listed == [turn.conversation_id]


def test_a_session_id_names_a_conversation_and_a_new_one_carries_nothing_over(me: Scope, colleague: Scope) -> None:
    with ModelServer(echo) as server:
        connect(me, server.base)
        one, _answer = ask(me, "first", session_id="s1")
        ask(me, "second", session_id="s1")
        assert contents(server.bodies[-1]) == ["first", "Answer 1", "second"]
        two, _answer = ask(me, "third", session_id="s2")
        assert contents(server.bodies[-1]) == ["third"]
        assert two.conversation_id != one.conversation_id
        ask(me, "fourth", session_id="s1")
        assert contents(server.bodies[-1])[0] == "first"
        theirs, _answer = ask(colleague, "fifth", session_id="s1")
        assert contents(server.bodies[-1]) == ["fifth"]
        elsewhere, _answer = ask(me, "sixth", session_id="s1", place=Place(agent_id=agent(me)))
        assert contents(server.bodies[-1]) == ["sixth"]
        assert len({one.conversation_id, theirs.conversation_id, elsewhere.conversation_id}) == 3


def test_the_same_new_session_from_many_sides_at_once_is_one_conversation(me: Scope, database_url: str) -> None:
    barrier = threading.Barrier(5)

    def send(number: int) -> Turn | NexusError:
        barrier.wait()
        try:
            return chat.send(me, f"hello {number}", session_id="s1")
        except Busy as error:
            return error

    with ThreadPoolExecutor(5) as pool:
        outcomes = list(pool.map(send, range(5)))
    assert any(isinstance(outcome, Turn) for outcome in outcomes)
    assert count(database_url, "conversations") == 1


def test_memory_none_sees_this_message_alone(me: Scope) -> None:
    with ModelServer(echo) as server:
        connect(me, server.base)
        place = Place(project(me), agent(me, memory_mode="none"))
        ask(me, "first", place=place)
        ask(me, "second", place=place)
        assert [one["content"] for one in server.bodies[-1]["messages"]][1:] == ["second"]
        assert "tools" not in server.bodies[-1]


def test_memory_user_goes_across_conversations_and_never_across_project_person_or_agent(
    me: Scope, colleague: Scope
) -> None:
    with ModelServer(echo) as server:
        connect(me, server.base)
        everywhere = agent(me, memory_mode="user", recall=False, tools=False)
        here, there = project(me, "Apollo"), project(me, "Hermes")
        for session in ("phone", "laptop"):
            ask(me, f"on my {session}", place=Place(here, everywhere), session_id=session)
        ask(me, "in Hermes", place=Place(there, everywhere))
        ask(me, "outside", place=Place(None, everywhere))
        ask(colleague, "the colleague's", place=Place(here, everywhere))
        ask(me, "another agent's", place=Place(here, agent(me, "Bob", memory_mode="user")))
        ask(me, "Just Chat", place=Place(here))
        ask(me, "What did I say?", place=Place(here, everywhere), session_id="watch")
        assert contents(server.bodies[-1]) == [
            "on my phone", "Answer 1", "on my laptop", "Answer 2", "What did I say?",
        ]  # fmt: skip
        ask(me, "And there?", place=Place(there, everywhere), session_id="watch")
        assert contents(server.bodies[-1]) == ["in Hermes", "Answer 3", "And there?"]
        ask(me, "And outside?", place=Place(None, everywhere), session_id="watch")
        assert contents(server.bodies[-1]) == ["outside", "Answer 4", "And outside?"]
        ask(colleague, "And me?", place=Place(here, everywhere), session_id="watch")
        assert contents(server.bodies[-1]) == ["the colleague's", "Answer 5", "And me?"]


@pytest.mark.parametrize("mode", ["session", "user"])
@pytest.mark.parametrize(
    ("max_messages", "max_tokens", "sent"),
    [(0, None, 1), (None, 0, 1), (1, None, 1), (3, None, 3), (4, None, 4), (None, None, 9), (100, 100_000, 9),
     (100, 28, 3), (2, 28, 2)],
)  # fmt: skip
def test_both_limits_hold_and_the_newest_are_kept(
    me: Scope, mode: str, max_messages: int | None, max_tokens: int | None, sent: int
) -> None:
    with transaction(me) as tx:
        limited = Place(agent_id=None)
    limited = Place(agent_id=agent(me, memory_mode=mode, max_messages=max_messages, max_tokens=max_tokens))
    with transaction(me) as tx:
        where = conversations.create(tx, limited).id
        for number in range(8):  # 9 tokens each
            role = "assistant" if number % 2 else "user"
            messages.append(tx, where, role, [{"type": "text", "text": f"one two three {number}"}])
    with ModelServer(echo) as server:
        connect(me, server.base)
        ask(me, "one two three 8", conversation_id=where)
        expected = [f"one two three {number}" for number in range(9)][-sent:]
        assert contents(server.bodies[-1]) == expected


def test_a_deleted_agents_conversation_can_be_read_and_not_continued(me: Scope) -> None:
    from nexus_core import agents  # noqa: PLC0415

    place = Place(agent_id=agent(me))
    turn, _answer = ask(me, "Hello", place=place)
    with transaction(me) as tx:
        agents.delete(tx, place.agent_id, conversations=False)
    with pytest.raises(Forbidden, match="Ada was deleted"):
        chat.send(me, "Hello", conversation_id=turn.conversation_id)
    assert len(bodies(me, turn.conversation_id)) == 2


def test_in_a_project_members_share_a_conversation_and_each_message_says_whose_it_is(
    me: Scope, colleague: Scope
) -> None:
    turn, _answer = ask(me, "From me", place=Place(project(me)))
    ask(colleague, "From Carlos", conversation_id=turn.conversation_id)
    asked = [(row.body, row.user_name) for row in shown(me, turn.conversation_id) if row.role == "user"]
    assert asked[0][0] == "From me"
    assert asked[1] == ("From Carlos", "Carlos")
