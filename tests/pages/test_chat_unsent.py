"""What a person wrote and could not send stays where it was written, and what runs elsewhere is shown."""

from typing import Any
from uuid import UUID

import pytest
from streamlit.testing.v1 import AppTest

from nexus_core import agents, chat, projects, signin, worker
from nexus_core.conversations import Conversation, Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import StoreUnavailable
from pages.components import session
from tests.nexus_core.conversing import connect, until
from tests.nexus_core.model_server import ModelServer, Tap
from tests.pages.test_chat import (  # noqa: F401
    Open,
    _answered,
    _box,
    _buttons,
    _conversation,
    _has,
    _identity,
    _no_worker_left,
    _query,
    _run,
    _say,
    _shown_id,
    _stored,
    _tab,
    _unsent,
    _use_database,
    _words,
    open_chat,
)


def busy(scope: Scope, conversation: Conversation, answering: bool = True) -> None:
    """Another process answers in this conversation, or has ended."""
    lease = (
        "gen_random_uuid(), lease_until = now() + interval '1 minute', lease_owner = 'elsewhere/1/1'"
        if answering
        else "NULL, lease_until = NULL, lease_owner = NULL"
    )
    with transaction(scope) as tx:
        tx.connection.exec_driver_sql(
            f"UPDATE conversations SET active_run_id = {lease} WHERE id = %(id)s", {"id": conversation.id}
        )


def refused(at: AppTest, text: str) -> AppTest:
    _box(at).set_value(text)
    at = _run(at)
    assert _unsent(at).value == text
    return at


def said(scope: Scope, conversation_id: UUID) -> list[str]:
    return [row.body for row in _stored(scope, conversation_id) if row.role == "user"]


def test_a_refused_text_is_offered_and_sent_only_where_it_was_written(open_chat: Open, scope: Scope) -> None:  # noqa: F811
    private, other = (_conversation(scope, title=title, said=2) for title in ("private", "other"))
    busy(scope, private)
    at = refused(open_chat(conversation=private.id), "secret words")
    at = _run(at.button(key=f"chat_open_panel_{other.id}").click())
    assert _unsent(at) is None and _box(at).value is None
    assert "waits in another conversation" in _words(at)
    at = _say(at, "harmless words")
    assert said(scope, other.id) == ["said 0", "harmless words"]
    busy(scope, private, answering=False)
    at = _run(at.button(key="chat_elsewhere_go").click())
    assert _shown_id(at) == private.id and _unsent(at).value == "secret words"
    assert "waits in another conversation" not in _words(at)
    at = _answered(_run(at.button(key="chat_unsent_retry").click()))
    assert said(scope, private.id) == ["said 0", "secret words"]
    assert said(scope, other.id) == ["said 0", "harmless words"]
    assert _unsent(at) is None


def test_a_refused_text_does_not_follow_into_a_project(open_chat: Open, scope: Scope) -> None:  # noqa: F811
    with transaction(scope) as tx:
        project = projects.create(tx, "Apollo")
    private = _conversation(scope, title="private", said=2)
    busy(scope, private)
    at = refused(open_chat(conversation=private.id), "my private words")
    at = _run(at.selectbox(key="frame_project").select(str(project.id)))
    assert _unsent(at) is None
    at = _run(at.button(key="chat_elsewhere_go").click())
    assert _shown_id(at) == private.id and "project" not in at.query_params
    assert _unsent(at).value == "my private words"


def test_each_conversation_keeps_its_own_refused_text_and_its_own_box(open_chat: Open, scope: Scope) -> None:  # noqa: F811
    first, second = (_conversation(scope, title=title, said=2) for title in ("first", "second"))
    at = open_chat(conversation=first.id)
    boxes = {_box(at).key}
    at = _run(at.button(key=f"chat_open_panel_{second.id}").click())
    boxes.add(_box(at).key)
    assert len(boxes) == 2, "what is typed in one can't appear in the other"
    for conversation in (first, second):
        busy(scope, conversation)
    at = refused(at, "for the second")
    at = refused(_run(at.button(key=f"chat_open_panel_{first.id}").click()), "for the first")
    assert _tab(at)["waiting"] == "for the first", "the tab keeps it over a reload"
    _unsent(at).set_value("for the first, mended")
    at = _run(at.button(key=f"chat_open_panel_{second.id}").click())
    assert _unsent(at).value == "for the second"
    at = _run(at.button(key="chat_unsent_discard").click())
    assert _unsent(at) is None and _tab(at)["waiting"] is None
    at = _run(at.button(key="chat_elsewhere_go").click())
    assert _unsent(at).value == "for the first, mended"


def test_the_first_message_of_a_place_waits_for_the_conversation_that_is_made_there(
    open_chat: Open,  # noqa: F811
    scope: Scope,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with transaction(scope) as tx:
        agent = agents.create(tx, "Analyst")
    at = open_chat(agent=agent.id)
    box = _box(at).key
    identity = _identity(scope)
    monkeypatch.setattr(session, "who", lambda: identity)
    _use_database(monkeypatch, "postgresql://nobody@127.0.0.1:9/none")
    _box(at).set_value("first words")
    _run(at)
    _use_database(monkeypatch, database_url)
    at = _run(at)
    suggested = at.button(key="chat_suggestion_0").label
    at = _answered(_run(at.button(key="chat_suggestion_0").click()))
    assert _unsent(at).value == "first words", "another text was sent from here meanwhile"
    at = _answered(_run(at.button(key="chat_unsent_retry").click()))
    assert said(scope, _shown_id(at)) == [suggested, "first words"]
    assert _box(at).key == box, "one goes on typing in the same box"
    assert _tab(at)["begunAs"].endswith(f"{agent.id}"), "and the tab forgets the draft of the place"


def test_who_loses_the_race_of_two_tabs_sees_the_other_question_and_its_answer(
    open_chat: Open,  # noqa: F811
    scope: Scope,
) -> None:
    talk = _conversation(scope, title="race")
    at = open_chat(conversation=talk.id)
    tap = Tap()
    with ModelServer(tap) as model:
        connect(scope, model.base)
        chat.send(scope, "from the other tab", conversation_id=talk.id)
        assert tap.flowing.wait(15)
        at = refused(at, "from this tab")
        assert "from the other tab" in _words(at) and _has(at, "button", "chat_stop")
        tap.opened.set()
        _answered(at)


# --- an edited message ---------------------------------------------------------------------------------------------


def test_an_edit_stays_as_it_was_typed_while_another_answer_runs_and_elsewhere(
    open_chat: Open,  # noqa: F811
    scope: Scope,
) -> None:
    talk, other = (_conversation(scope, title=title, said=2) for title in ("talk", "other"))
    asked = _stored(scope, talk.id)[0].id
    key = f"chat_edit_text_{asked}"
    at = _run(open_chat(conversation=talk.id).button(key=f"chat_edit_{asked}").click())
    at.text_area(key=key).set_value("a long careful edit")
    busy(scope, talk)
    at = _run(at.button(key=f"chat_edit_send_{asked}").click())
    assert "answering just now" in _words(at)
    assert at.text_area(key=key).value == "a long careful edit"
    assert at.button(key=f"chat_edit_send_{asked}").disabled
    at = _run(at.button(key=f"chat_open_panel_{other.id}").click())
    at = _run(at.switch_page("pages/memory/agents.py"))
    busy(scope, talk, answering=False)
    at.switch_page("pages/work/chat.py")
    at.query_params["conversation"] = str(talk.id)
    at = _run(at)
    assert at.text_area(key=key).value == "a long careful edit"
    at = _answered(_run(at.button(key=f"chat_edit_send_{asked}").click()))
    assert said(scope, talk.id) == ["a long careful edit"]
    assert not _has(at, "text_area", key)


def test_a_cancelled_edit_begins_with_the_message_again(open_chat: Open, scope: Scope) -> None:  # noqa: F811
    talk = _conversation(scope, title="talk", said=2)
    asked = _stored(scope, talk.id)[0].id
    at = _run(open_chat(conversation=talk.id).button(key=f"chat_edit_{asked}").click())
    at.text_area(key=f"chat_edit_text_{asked}").set_value("given up")
    at = _run(at.button(key=f"chat_edit_cancel_{asked}").click())
    at = _run(at.button(key=f"chat_edit_{asked}").click())
    assert at.text_area(key=f"chat_edit_text_{asked}").value == "said 0"


# --- Stop ----------------------------------------------------------------------------------------------------------


def test_stop_works_and_says_so_while_the_database_is_away(
    open_chat: Open,  # noqa: F811
    scope: Scope,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tap = Tap()
    with ModelServer(tap) as model:
        connect(scope, model.base)
        at = open_chat()
        _box(at).set_value("count")
        at = _run(at)
        assert tap.flowing.wait(15)
        answer = _stored(scope, _shown_id(at))[-1]
        monkeypatch.setattr(session, "who", _away)
        _use_database(monkeypatch, "postgresql://nobody@127.0.0.1:9/none")
        at.button(key="chat_stop").click().run()
        until(lambda: not worker.worker()._generations or _ending(answer.id) == "stop")
        tap.opened.set()
        _use_database(monkeypatch, database_url)
        until(lambda: _stored(scope, answer.conversation_id)[-1].status == "stopped")


def _away() -> Any:
    raise StoreUnavailable("away")


def _ending(answer_id: UUID) -> str:
    found = worker.worker()._generations.get(answer_id)
    return found[0].ending if found else ""


def test_stop_that_fails_says_why_beside_the_button(
    open_chat: Open,  # noqa: F811
    scope: Scope,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    talk = _conversation(scope, title="elsewhere", said=2)
    busy(scope, talk)
    at = open_chat(conversation=talk.id)
    identity = _identity(scope)
    monkeypatch.setattr(session, "who", lambda: identity)
    at.button(key="chat_stop").click()
    _use_database(monkeypatch, "postgresql://nobody@127.0.0.1:9/none")
    at.run()
    _use_database(monkeypatch, database_url)
    at = _run(at)
    assert any("database can't be reached" in error.value for error in at.error)
    assert _has(at, "button", "chat_stop")


# --- the address ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["conversation", "agent", "message"])
def test_what_is_missing_is_named(open_chat: Open, name: str) -> None:  # noqa: F811
    assert f"There is no such {name} here." in _words(open_chat(**{name: "garbage"}))


def test_one_click_is_one_address(open_chat: Open, scope: Scope, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    with transaction(scope) as tx:
        agent = agents.create(tx, "Analyst")
    old = _conversation(scope, Place(None, agent.id), "old", said=2)
    new = _conversation(scope, Place(None, agent.id), "new", said=2)
    written: list[dict[str, str]] = []
    move = session.move
    monkeypatch.setattr(session, "move", lambda query: (written.append(query), move(query)))
    at = open_chat()
    assert _shown_id(at) == new.id and written == [], "the tab itself names what an incomplete address shows"
    assert _tab(at)["address"] == f"conversation={new.id}"
    at = _run(at.button(key=f"chat_open_panel_{old.id}").click())
    assert written == [{"conversation": str(old.id)}] == [_query(at)] and _tab(at)["address"] == ""
    at = _run(at.selectbox(key="chat_agent").select("just-chat"))
    assert written[1:] == [{"agent": "just-chat"}] == [_query(at)]
    at.query_params.clear()  # the link to Chat, on the page itself: the browser's address stays what it was
    at = _run(at)
    assert written[2:] == [{"conversation": str(_shown_id(at))}] == [_query(at)]


def test_where_one_stopped_stays_the_same_while_one_stays(open_chat: Open, scope: Scope) -> None:  # noqa: F811
    one, two = (_conversation(scope, title=title, said=2) for title in ("one", "two"))
    at = open_chat()
    assert _shown_id(at) == two.id
    chat.send(scope, "on the phone", conversation_id=one.id)
    assert _shown_id(_run(at)) == two.id
    at.switch_page("pages/work/home.py").run()
    at.switch_page("pages/work/chat.py")
    assert _shown_id(_run(at)) == one.id
    assert _buttons(at, "chat_open_panel_")


def test_who_is_there_is_asked_once_for_a_drawing_and_anew_for_the_next(
    open_chat: Open,  # noqa: F811
    scope: Scope,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    talk = _conversation(scope, title="talk", said=2)
    real = session.who
    at = open_chat(conversation=talk.id)
    asked: list[str | None] = []
    monkeypatch.setattr(session, "who", real)
    identity = _identity(scope)
    monkeypatch.setattr(signin, "resolve", lambda token: (asked.append(token), identity)[1])
    at = _run(at)
    assert len(asked) == 1
    monkeypatch.setattr(signin, "resolve", lambda token: None)
    at = _run(at)
    assert "You are not signed in any more." in [info.value for info in at.info]
