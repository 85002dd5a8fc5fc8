"""The chat page, as a person meets it: run by Streamlit's own test runner on a real database."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from streamlit.testing.v1 import AppTest

from nexus_core import (
    agents,
    config,
    conversations,
    database,
    memories,
    messages,
    parts,
    people,
    projects,
    recall,
    signin,
    worker,
    workspaces,
)
from nexus_core.agents import Agent
from nexus_core.conversations import Conversation, Place
from nexus_core.database import Scope, transaction
from nexus_core.messages import Message
from nexus_core.signin import Identity
from pages.components import session

ROOT = Path(__file__).parents[2]
CHAT = "pages/work/chat.py"
Open = Callable[..., AppTest]


@pytest.fixture
def open_chat(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> Open:
    """`open_chat(scope, conversation=…)`: the chat page as that person, with these query parameters."""
    signin.furnish(scope)

    def open_(who: Scope = scope, **query: object) -> AppTest:
        monkeypatch.setattr(session, "who", lambda: _identity(who))
        at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=20)
        at.run()
        at.switch_page(CHAT)
        for name, value in query.items():
            at.query_params[name] = str(value)
        return _run(at)

    return open_


@pytest.fixture(autouse=True)
def _no_worker_left(database_url: str) -> object:
    yield
    worker.close()


def _identity(scope: Scope) -> Identity:
    assert scope.user_id is not None
    with transaction(Scope.system()) as tx:
        person = people.get(tx, scope.user_id)
        return Identity(person, tuple(workspaces.of_person(tx, person.id)), "password")


def _run(target: Any) -> AppTest:
    """Run the page, or the page of a widget that was just used."""
    at: AppTest = target.run()
    assert not at.exception, at.exception
    return at


def _say(at: AppTest, text: str) -> AppTest:
    _box(at).set_value(text)
    return _answered(_run(at))


def _answered(at: AppTest) -> AppTest:
    """Run until no answer is being written; `run_every` does not tick in tests."""
    deadline = time.monotonic() + 15
    while _has(at, "button", "chat_stop"):
        assert time.monotonic() < deadline, "the answer does not end"
        time.sleep(0.05)
        _run(at)
    return at


def _has(at: AppTest, kind: str, key: str) -> bool:
    return any(element.key == key for element in getattr(at, kind))


def _buttons(at: AppTest, prefix: str) -> list[str]:
    return [button.key for button in at.button if button.key and button.key.startswith(prefix)]


def _words(at: AppTest) -> str:
    """Everything that the page says."""
    kinds = ("markdown", "caption", "text", "error", "warning", "info", "subheader")
    return "\n".join(str(element.value) for kind in kinds for element in getattr(at, kind))


def _query(at: AppTest) -> dict[str, str]:
    """The page's query parameters; the runner gives lists for those that a test has set."""
    return {name: value if isinstance(value, str) else value[0] for name, value in at.query_params.items()}


def _shown_id(at: AppTest) -> UUID:
    """The conversation that is shown, which the URL need not name."""
    return UUID(_tab(at)["name"].rpartition("_")[2])


def _tab(at: AppTest) -> dict[str, Any]:
    """What the browser's tab is told."""
    found: dict[str, Any] = json.loads(at.get("bidi_component")[0].proto.json)
    return found


def _box(at: AppTest) -> Any:
    return next(element for element in at.chat_input if str(element.key).startswith("chat_box_"))


def _unsent(at: AppTest) -> Any:
    return next((element for element in at.text_area if str(element.key).startswith("chat_unsent_text_")), None)


def _stored(scope: Scope, conversation_id: UUID) -> list[Message]:
    with transaction(scope) as tx:
        return messages.page(tx, conversation_id, limit=1000)


def _agent(scope: Scope, name: str = "Analyst", **fields: object) -> Agent:
    with transaction(scope) as tx:
        return agents.create(tx, name, **fields)


def _conversation(scope: Scope, place: Place | None = None, title: str = "", said: int = 0) -> Conversation:
    with transaction(scope) as tx:
        made = conversations.create(tx, place or Place(), title=title or str(uuid4()))
        for number in range(said):
            role = "assistant" if number % 2 else "user"
            messages.append(tx, made.id, role, [parts.text(f"said {number}")])
        return conversations.get(tx, made.id)


# --- sending -----------------------------------------------------------------------------------------------------


def test_first_message_is_stored_answered_and_shown(open_chat: Open, scope: Scope) -> None:
    at = _say(open_chat(), "My name is Ana")
    stored = _stored(scope, _shown_id(at))
    assert [row.role for row in stored] == ["user", "assistant"]
    assert [row.status for row in stored] == ["complete", "complete"]
    assert "My name is Ana" in _words(at)
    assert "builtin/recall · built in · " in _words(at)
    assert "free" in _words(at) and "$0" not in _words(at)
    at = _say(at, "What is my name?")
    assert "Ana" in _stored(scope, _shown_id(at))[-1].body
    assert at.button(key="chat_title").label == "My name is Ana"


def test_persons_text_is_shown_as_typed(open_chat: Open, scope: Scope) -> None:
    at = _say(open_chat(), "It costs $5 and $10 :red[x]\n  indented <b>no</b>")
    assert _stored(scope, _shown_id(at))[0].body == "It costs $5 and $10 :red[x]\n  indented <b>no</b>"
    shown = "\n".join(element.value for element in at.chat_message[0].markdown)
    assert ":red[" not in shown and "<b>" not in shown and "$5" not in shown.replace("\\$", "")


def test_saying_yes_twice_is_two_messages(open_chat: Open, scope: Scope) -> None:
    at = _say(_say(open_chat(), "yes"), "yes")
    assert [row.body for row in _stored(scope, _shown_id(at)) if row.role == "user"] == ["yes", "yes"]


def test_suggestion_begins_the_conversation(open_chat: Open, scope: Scope) -> None:
    at = open_chat()
    words = at.button(key="chat_suggestion_0").label
    at = _answered(_run(at.button(key="chat_suggestion_0").click()))
    assert _stored(scope, _shown_id(at))[0].body == words
    assert not _has(at, "button", "chat_suggestion_0")


def test_database_away_keeps_the_text_and_retry_sends_it_once(
    open_chat: Open, scope: Scope, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = _say(open_chat(), "first")
    shown = _shown_id(at)
    identity = _identity(scope)
    monkeypatch.setattr(session, "who", lambda: identity)
    _use_database(monkeypatch, "postgresql://nobody@127.0.0.1:9/none")
    _box(at).set_value("precious words")
    _run(at)
    _use_database(monkeypatch, database_url)
    _run(at)
    assert _unsent(at).value == "precious words"
    assert "Not sent. The database" in _words(at)
    at = _answered(_run(at.button(key="chat_unsent_retry").click()))
    assert [row.body for row in _stored(scope, shown) if row.role == "user"] == ["first", "precious words"]
    assert _unsent(at) is None


def _use_database(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("NEXUS_DATABASE_URL", url)
    config.reset()
    database.reset()


# --- where one is ------------------------------------------------------------------------------------------------


def test_reload_and_another_device_go_on_where_one_stopped(open_chat: Open, scope: Scope) -> None:
    agent = _agent(scope)
    at = _say(open_chat(agent=agent.id), "to the analyst")
    address = _query(at)
    assert address == {"conversation": str(_shown_id(at))}
    assert "to the analyst" in _words(open_chat(**address))
    elsewhere = open_chat()
    assert _shown_id(elsewhere) == _shown_id(at)
    assert elsewhere.selectbox(key="chat_agent").value == str(agent.id)


def test_choosing_an_agent_loads_its_active_conversation(open_chat: Open, scope: Scope) -> None:
    agent = _agent(scope)
    _conversation(scope, title="chatter", said=2)
    kept = _conversation(scope, Place(None, agent.id), "analysis", said=2)
    at = open_chat(agent="just-chat")
    assert at.button(key="chat_title").label == "chatter"
    at = _run(at.selectbox(key="chat_agent").select(str(agent.id)))
    assert _shown_id(at) == kept.id
    assert _buttons(at, "chat_open_panel_") == [f"chat_open_panel_{kept.id}"]


def test_link_opens_conversation_with_its_agent_and_project(open_chat: Open, scope: Scope) -> None:
    agent = _agent(scope)
    with transaction(scope) as tx:
        project = projects.create(tx, "Pricing")
    linked = _conversation(scope, Place(project.id, agent.id), "linked", said=2)
    at = open_chat(conversation=linked.id)
    assert _query(at)["project"] == str(project.id)
    assert at.selectbox(key="chat_agent").value == str(agent.id)
    assert "said 1" in _words(at)


def test_link_to_a_message_shows_it_and_leads_back(open_chat: Open, scope: Scope) -> None:
    long = _conversation(scope, title="long", said=120)
    target = _stored(scope, long.id)[10]
    at = open_chat(conversation=long.id, message=target.id)
    assert at.get_by_key(f"chat_found_{target.id}")
    assert "said 11" in _words(at) and "said 12" not in _words(at)
    at = _run(at.button(key="chat_newest").click())
    assert "said 119" in _words(at) and "message" not in at.query_params


UNKNOWN = "01a22e5a-1cb3-72cf-9ac9-43068129f2cc"


@pytest.mark.parametrize(
    ("name", "value"),
    [("conversation", UNKNOWN), ("agent", UNKNOWN), ("project", UNKNOWN), ("conversation", "x"), ("agent", "x")],
)
def test_unknown_ids_are_kindly_not_found(open_chat: Open, name: str, value: str) -> None:
    at = open_chat(**{name: value})
    assert at.subheader[0].value == "Not found"
    at = _run(at.button(key="chat_back").click())
    assert _box(at)


def test_anothers_private_conversation_is_not_found(open_chat: Open, scope: Scope, colleague: Scope) -> None:
    private = _conversation(scope, title="secret plans", said=2)
    at = open_chat(colleague, conversation=private.id)
    assert at.subheader[0].value == "Not found"
    assert "secret" not in _words(at)


# --- the list ----------------------------------------------------------------------------------------------------


def test_new_conversation_keeps_the_old_one(open_chat: Open, scope: Scope) -> None:
    at = _say(open_chat(), "old words")
    old = _shown_id(at)
    at = _run(at.button(key="chat_new_panel").click())
    assert _shown_id(at) != old and "old words" not in _words(at)
    at = _run(at.button(key=f"chat_open_panel_{old}").click())
    assert "old words" in _words(at)


def test_list_pages_by_keyset(open_chat: Open, scope: Scope) -> None:
    made = {_conversation(scope, title=f"talk {number}", said=1).id for number in range(60)}
    at = open_chat()
    for expected in (25, 50, 60):
        shown = _buttons(at, "chat_open_panel_")
        assert len(shown) == len(set(shown)) == expected
        if expected < 60:
            _run(at.button(key="chat_more_panel").click())
    assert {UUID(key.rpartition("_")[2]) for key in _buttons(at, "chat_open_panel_")} == made


def test_search_finds_what_was_said_and_opens_there(open_chat: Open, scope: Scope) -> None:
    with transaction(scope) as tx:
        project = projects.create(tx, "Pricing")
    place = Place(project.id)
    talk = _conversation(scope, place, title="Long **talk**", said=120)
    titled = _conversation(scope, place, title="The Kyoto trip", said=1)
    elsewhere = _conversation(scope, title="Elsewhere")
    text = parts.text("We chose :red[green tea] from Kyoto because it costs $5, and $10 in spring")
    with transaction(scope) as tx:
        messages.append(tx, elsewhere.id, "user", [text])
        messages.append(tx, talk.id, "user", [text])
        target_id = messages.page(tx, talk.id, limit=1)[-1].id
    while recall.index_pending():
        pass
    at = open_chat(project=project.id, agent="just-chat")
    at = _run(at.text_input(key="chat_search_panel").set_value("kyoto"))
    assert set(_buttons(at, "chat_open_panel_")) == {f"chat_open_panel_{talk.id}", f"chat_open_panel_{titled.id}"}
    said = "&#58;red&#91;green tea&#93; from :orange-background[Kyoto] because it costs &#36;5, and &#36;10 in spring"
    assert said in _words(at)
    at = _run(at.button(key=f"chat_open_panel_{talk.id}").click())
    assert _query(at)["message"] == str(target_id)
    assert at.get_by_key(f"chat_found_{target_id}")
    at = _run(at.text_input(key="chat_search_panel").set_value("100%_"))
    assert "Nothing here has “100%&#95;”, neither a title nor a message." in _words(at)


def test_unread_conversation_is_marked_until_it_is_opened(open_chat: Open, scope: Scope) -> None:
    unread = _conversation(scope, title="news", said=2)
    other = _conversation(scope, title="other", said=2)
    at = open_chat(conversation=other.id)
    assert at.button(key=f"chat_open_panel_{unread.id}").label == "**news**"
    at = _run(at.button(key=f"chat_open_panel_{unread.id}").click())
    at = _run(at.button(key=f"chat_open_panel_{other.id}").click())
    assert at.button(key=f"chat_open_panel_{unread.id}").label == "news"


def test_rename_archive_bring_back_and_delete(open_chat: Open, scope: Scope) -> None:
    talk = _conversation(scope, title="before", said=2)
    at = open_chat(conversation=talk.id)
    at = _run(at.button(key="chat_title").click())
    at = _run(at.text_input(key=f"chat_title_text_{talk.id}").set_value("**after** :red[x]"))
    with transaction(scope) as tx:
        assert conversations.get(tx, talk.id).title == "**after** :red[x]"
    assert "**after**" not in at.button(key="chat_title").label
    at = _run(at.menu_button(key="chat_menu").click("archive"))
    assert _buttons(at, "chat_open_panel_") == []
    at = _run(at.toggle(key="chat_archived_panel").set_value(True))
    at = _run(at.button(key=f"chat_open_panel_{talk.id}").click())
    assert "Archived; a new message brings it back." in _words(at)
    at = _run(at.menu_button(key="chat_menu").click("archive"))
    with transaction(scope) as tx:
        assert conversations.get(tx, talk.id).status == "open"
    at = _run(at.menu_button(key="chat_menu").click("delete"))
    at = _run(at.button(key="chat_delete_confirm").click())
    assert "conversation" not in at.query_params
    with transaction(scope) as tx:
        assert conversations.list_(tx, Place()) == []


def test_empty_title_lets_the_first_question_name_it(open_chat: Open, scope: Scope) -> None:
    at = open_chat()
    at = _run(at.button(key="chat_new_panel").click())
    at = _run(at.button(key="chat_title").click())
    key = f"chat_title_text_{_shown_id(at)}"
    at = _run(at.text_input(key=key).set_value("mine"))
    at = _run(at.button(key="chat_title").click())
    at = _run(at.text_input(key=key).set_value(""))
    at = _say(at, "What is the weather like?")
    assert at.button(key="chat_title").label == "What is the weather like?"


# --- versions, editing, receipts ------------------------------------------------------------------------------------


def test_answer_again_keeps_the_former_as_a_version(open_chat: Open, scope: Scope) -> None:
    at = _say(open_chat(), "hello")
    first = _stored(scope, _shown_id(at))[-1].id
    at = _answered(_run(at.button(key=f"chat_again_{first}").click()))
    second = _stored(scope, _shown_id(at))[-1]
    assert (second.version, second.versions, second.previous_id) == (2, 2, first)
    assert "2/2" in _words(at)
    at = _run(at.button(key=f"chat_previous_{second.id}").click())
    assert _stored(scope, _shown_id(at))[-1].id == first
    assert "1/2" in _words(at)
    assert at.button(key=f"chat_previous_{first}").disabled
    assert not at.button(key=f"chat_next_{first}").disabled


def test_edit_and_resend_keeps_the_former_wording(open_chat: Open, scope: Scope) -> None:
    at = _say(open_chat(), "My name is Eva")
    asked = _stored(scope, _shown_id(at))[0].id
    at = _run(at.button(key=f"chat_edit_{asked}").click())
    assert at.text_area(key=f"chat_edit_text_{asked}").value == "My name is Eva"
    at.text_area(key=f"chat_edit_text_{asked}").set_value("My name is Ana")
    at = _answered(_run(at.button(key=f"chat_edit_send_{asked}").click()))
    rows = _stored(scope, _shown_id(at))
    assert [row.body for row in rows if row.role == "user"] == ["My name is Ana"]
    assert (rows[0].version, rows[0].versions) == (2, 2)
    at = _run(at.button(key=f"chat_previous_{rows[0].id}").click())
    assert _stored(scope, _shown_id(at))[0].id == asked


def test_cancelled_edit_changes_nothing(open_chat: Open, scope: Scope) -> None:
    at = _say(open_chat(), "stays")
    asked = _stored(scope, _shown_id(at))[0].id
    at = _run(at.button(key=f"chat_edit_{asked}").click())
    at.text_area(key=f"chat_edit_text_{asked}").set_value("changed")
    at = _run(at.button(key=f"chat_edit_cancel_{asked}").click())
    assert [row.body for row in _stored(scope, _shown_id(at)) if row.role == "user"] == ["stays"]
    assert not _has(at, "text_area", f"chat_edit_text_{asked}")


def test_receipt_says_what_was_sent_and_left_out(open_chat: Open, scope: Scope) -> None:
    agent = _agent(scope, max_messages=3, instructions="Be brief.")
    at = open_chat(agent=agent.id)
    for text in ("one", "two", "three"):
        at = _say(at, text)
    answer = _stored(scope, _shown_id(at))[-1]
    at = _run(at.button(key=f"chat_receipt_{answer.id}").click())
    words = _words(at)
    assert "Instructions" in words and "Be brief." in words
    assert "Messages 3 to 4" in words and "Message 5" in words
    assert "Messages 1 to 2: over the limit of 3 messages" in words


def test_failed_answer_stands_in_its_place_with_retry(open_chat: Open, scope: Scope) -> None:
    at = _say(open_chat(), "hello")
    answer = _stored(scope, _shown_id(at))[-1]
    with transaction(scope) as tx:
        tx.connection.exec_driver_sql(
            "UPDATE messages SET status = 'failed', metadata = %(metadata)s::jsonb WHERE id = %(id)s",
            {"id": answer.id, "metadata": '{"error": "The model said **no**.", "error_type": "timeout"}'},
        )
    at = open_chat(conversation=_shown_id(at))
    assert "The model said" in at.error[0].value and "**no**" not in at.error[0].value
    assert "Your question is kept" in at.error[0].value
    at = _answered(_run(at.button(key=f"chat_retry_{answer.id}").click()))
    assert _stored(scope, _shown_id(at))[-1].status == "complete"
    assert not at.error


def test_reasoning_and_tools_are_folded_steps(open_chat: Open, scope: Scope) -> None:
    talk = _conversation(scope, title="steps", said=1)
    said = [
        parts.reasoning("I wonder", duration_ms=2300),
        parts.tool("c1", "search_memory", '{"query": "discount"}', output=[{"text": "12 %"}]),
        parts.tool("c2", "weather", "{}", error="no such tool"),
        parts.step_start(),
        parts.text("It is 12 %."),
        parts.tool("c3", "opendoor", "{}"),
    ]
    with transaction(scope) as tx:
        messages.append(tx, talk.id, "assistant", said)
    at = open_chat(conversation=talk.id)
    assert [block.label for block in at.expander] == ["Thought for 2.3 s"]
    assert [block.label for block in at.status] == [
        "Searched memory for “discount” · 1 result", "weather", "opendoor · its program has not answered",
    ]  # fmt: skip
    assert [block.state for block in at.status] == ["complete", "error", "complete"]


# --- while an answer is written -----------------------------------------------------------------------------------


def test_stop_and_the_fragment_belong_to_a_running_answer(open_chat: Open, scope: Scope) -> None:
    talk = _conversation(scope, title="busy", said=2)
    at = open_chat(conversation=talk.id)
    assert not _has(at, "button", "chat_stop")
    with transaction(scope) as tx:
        tx.connection.exec_driver_sql(
            "UPDATE conversations SET active_run_id = gen_random_uuid(), lease_until = now() + interval '1 minute',"
            " lease_owner = 'elsewhere/1/1' WHERE id = %(id)s",
            {"id": talk.id},
        )
        tx.connection.exec_driver_sql(
            'UPDATE messages SET status = \'streaming\', parts = \'[{"type": "text", "text": "half an"}]\''
            " WHERE conversation_id = %(id)s AND role = 'assistant'",
            {"id": talk.id},
        )
    at = _run(at)
    assert "half an" in _words(at), "a late join shows what came so far, also from another process"
    assert _buttons(at, "chat_again_") == _buttons(at, "chat_edit_") == []
    _box(at).set_value("meanwhile")
    at = _run(at)
    assert _unsent(at).value == "meanwhile"
    at = _run(at.button(key="chat_stop").click())
    with transaction(scope) as tx:
        asked = tx.connection.exec_driver_sql("SELECT stop_requested FROM conversations").scalar()
    assert asked is True


# --- long threads, roles ------------------------------------------------------------------------------------------


def test_long_thread_opens_at_its_end_and_grows_backwards(open_chat: Open, scope: Scope) -> None:
    long = _conversation(scope, title="long", said=150)
    at = open_chat(conversation=long.id)
    assert len(at.chat_message) == 20
    assert at.button(key="chat_earlier").label == "Show earlier (130 messages)"
    at = _run(at.button(key="chat_earlier").click())
    assert len(at.chat_message) == 100
    at = _run(at.button(key="chat_earlier").click())
    assert len(at.chat_message) == 150
    assert not _has(at, "button", "chat_earlier")


def test_viewer_reads_a_projects_conversation_and_the_box_says_why_not(
    open_chat: Open, scope: Scope, viewer: Scope
) -> None:
    with transaction(scope) as tx:
        project = projects.create(tx, "Pricing")
    talk = _conversation(scope, Place(project.id), "shared", said=2)
    at = open_chat(viewer, project=project.id)
    assert f"chat_open_panel_{talk.id}" in _buttons(at, "chat_open_panel_")
    at = _run(at.button(key=f"chat_open_panel_{talk.id}").click())
    assert "said 1" in _words(at)
    box = _box(at)
    assert box.disabled and "operator" in box.placeholder
    assert _buttons(at, "chat_again_") == _buttons(at, "chat_edit_") == []
    assert at.button(key="chat_new_panel").disabled


def test_deleted_agents_conversation_can_be_read_only(open_chat: Open, scope: Scope) -> None:
    agent = _agent(scope, "Gone")
    talk = _conversation(scope, Place(None, agent.id), "kept", said=2)
    with transaction(scope) as tx:
        agents.delete(tx, agent.id, conversations=False)
    at = open_chat(conversation=talk.id)
    assert "said 1" in _words(at)
    assert _box(at).disabled
    assert "Gone was deleted" in _box(at).placeholder


def test_chat_never_opens_at_a_deleted_agents_conversation_and_leads_on_from_it(open_chat: Open, scope: Scope) -> None:
    with transaction(scope) as tx:
        project = projects.create(tx, "Pricing")
    older = _conversation(scope, Place(project.id), "older", said=2)
    agent = _agent(scope, "Gone")
    kept, other, third = (
        _conversation(scope, Place(project.id, agent.id), title, said=2) for title in ("kept", "other", "third")
    )
    with transaction(scope) as tx:
        agents.delete(tx, agent.id, conversations=False)
    assert _shown_id(open_chat(project=project.id)) == older.id
    at = open_chat(project=project.id, conversation=kept.id)
    at = _run(at.menu_button(key="chat_menu").click("archive"))
    assert _shown_id(at) == older.id
    at = open_chat(project=project.id, conversation=other.id)
    at = _run(at.menu_button(key="chat_menu").click("delete"))
    at = _run(_run(at.button(key="chat_delete_confirm").click()))
    assert _shown_id(at) == older.id
    at = open_chat(project=project.id, conversation=third.id)
    at = _run(at.button(key="chat_new_panel").click())
    assert not _box(at).disabled
    with transaction(scope) as tx:
        assert conversations.get(tx, kept.id).status == "archived"
        shown = conversations.get(tx, _shown_id(at))
    assert (shown.project_id, shown.agent_id, shown.next_seq) == (project.id, None, 1)


def test_empty_chat_says_who_answers_and_what_is_remembered(open_chat: Open, scope: Scope) -> None:
    agent = _agent(scope, description="Knows **prices**.")
    with transaction(scope) as tx:
        project = projects.create(tx, "Pricing")
        decisions = [{"what": "12 %", "status": "active"}, {"what": "10 %", "status": "superseded"}]
        memories.replace(tx, project.id, version=1, summary_md="", decisions=decisions)
    at = open_chat(project=project.id, agent=agent.id)
    assert "Knows &#42;&#42;prices&#42;&#42;." in _words(at)
    assert "version 2: 1 decision, 0 open questions" in _words(at)
    assert len(_buttons(at, "chat_suggestion_")) == 3


def test_agent_with_an_odd_emoji_does_not_break_the_page(open_chat: Open, scope: Scope) -> None:
    agent = _agent(scope, emoji="/etc/passwd")
    talk = _conversation(scope, Place(None, agent.id), "odd", said=2)
    assert "said 1" in _words(open_chat(conversation=talk.id))


@pytest.mark.parametrize(
    ("mode", "offered", "not_offered"),
    [
        (None, "Remember that our review is on Friday", "What do you remember about me?"),
        ("session", "Remember that our review is on Friday", "What do you remember about me?"),
        ("user", "What do you remember about me?", "Remember that our review is on Friday"),
        ("none", "What can you do?", "Remember that our review is on Friday"),
    ],
)
def test_suggestions_fit_what_is_remembered(
    open_chat: Open, scope: Scope, mode: str | None, offered: str, not_offered: str
) -> None:
    agent = _agent(scope, memory_mode=mode) if mode else None
    at = open_chat(agent=agent.id if agent else "just-chat")
    labels = [button.label for button in at.button]
    assert offered in labels
    assert not_offered not in labels


def test_suggestion_of_something_to_remember_is_remembered(open_chat: Open) -> None:
    at = open_chat(agent="just-chat")
    at = _answered(_run(at.button(key="chat_suggestion_1").click()))
    assert "Noted." in _words(at)
    at = _say(at, "When is our review?")
    assert "remember nothing" not in _words(at)


def test_gauge_explains_what_stays_behind(open_chat: Open, scope: Scope) -> None:
    agent = _agent(scope, max_messages=6, max_tokens=None)
    talk = _conversation(scope, Place(None, agent.id), "small", said=8)
    at = open_chat(conversation=talk.id)
    words = _words(at)
    assert "5 of at most 6 messages go along" in at.get("popover")[0].proto.popover.label
    assert "**Memory: Conversation.**" in words
    assert re.search(r"5 of at most 6 messages, about \d+ tokens; the new question counts as one more", words)
    assert "3 older messages stay behind, at the limit of 6 messages" in words
    assert "The next to stay behind is message 4, “said 3”." in words
