"""The conversations page: found, narrowed, put in order many at once, and one of them opened."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from streamlit.testing.v1 import AppTest

from nexus_core import audit, conversations, messages, parts, recall, shelf, tags
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from tests.nexus_core.conversing import agent, ask, project, until
from tests.store import do

PAGE = "memory/conversations.py"
HOSTILE = "**b** :red[x] <img src=x onerror=alert(1)> ![x](https://evil.example/p) $5 [a](javascript:alert(1))"


def say(scope: Scope, *texts: str, title: str = "", place: Place = Place()) -> UUID:  # noqa: B008
    with transaction(scope) as tx:
        made = conversations.create(tx, place, title=title, session_id=str(uuid4())).id
        for number, text in enumerate(texts):
            messages.append(tx, made, "assistant" if number % 2 else "user", [parts.text(text)])
    while recall.index_pending():
        pass
    return made


def words(page: AppTest) -> str:
    shown = [*page.title, *page.markdown, *page.caption, *page.error, *page.warning]
    return "\n".join(element.value for element in shown)


def titles(page: AppTest) -> list[str]:
    return list(page.dataframe[0].value["title"]) if page.dataframe else []


def keys(page: AppTest) -> set[str]:
    return {button.key for button in page.button}


def choose(page: AppTest, *ids: UUID) -> AppTest:
    page.session_state["conv_chosen"] = list(ids)
    return page.run()


def status(scope: Scope, conversation_id: UUID) -> str:
    with transaction(scope) as tx:
        return conversations.get(tx, conversation_id).status


def test_nothing_yet_says_where_to_begin(operator: Scope, open_page: Any) -> None:
    page = open_page(operator, PAGE)
    assert "No conversations here yet." in words(page) and not page.dataframe
    page = open_page(operator, PAGE, q="missing")
    assert "Nothing was found for “missing”." in words(page)


def test_the_list_and_what_narrows_it(operator: Scope, open_page: Any) -> None:
    home, ada = project(operator), agent(operator, "Ada")
    one = say(operator, "first", title="One", place=Place(home))
    two = say(operator, "second", title="Two", place=Place(None, ada))
    three = say(operator, "third", title=HOSTILE)
    with transaction(operator) as tx:
        tags.add(tx, [one], ["pricing"])
        (tag,) = tags.list_(tx)
        shelf.archive(tx, [two])
    page = open_page(operator, PAGE)
    assert titles(page) == [HOSTILE, "One"] and "2 conversations" in words(page)
    row = page.dataframe[0].value.iloc[1]
    assert (row["project"], row["agent"], row["people"], row["messages"]) == ("Apollo", "Just Chat", "Olga", 1)
    assert (list(row["tags"]), row["status"], row["cost"]) == (["pricing"], "Open", "")
    page = page.selectbox(key="conv_status").set_value("archived").run()
    assert titles(page) == ["Two"] and page.query_params["status"] == "archived"
    for query, expected in (
        ({"tag": tag.id}, ["One"]), ({"agent": ada, "status": "archived"}, ["Two"]), ({"in": "none"}, [HOSTILE]),
        ({"project": home}, ["One"]), ({"project": home, "in": "all"}, [HOSTILE, "One"]), ({"kind": "decision"}, []),
        ({"agent": "just-chat", "sort": "title"}, [HOSTILE, "One"]), ({"since": "2100-01-01"}, []),
        ({"person": uuid4()}, []),
        ({"status": "x", "kind": "x", "tag": "x", "since": "x", "after": "x"}, [HOSTILE, "One"]),
    ):  # fmt: skip
        assert titles(open_page(operator, PAGE, **query)) == expected, query
    assert three


def test_type_and_it_finds_the_archive_too(operator: Scope, open_page: Any) -> None:
    old = say(operator, "Where?", "Decision: we launch from Kourou.", title=HOSTILE, place=Place(project(operator)))
    say(operator, "something else")
    with transaction(operator) as tx:
        shelf.archive(tx, [old])
        answer = messages.page(tx, old)[1]
    page = open_page(operator, PAGE)
    page = page.text_input(key="conv_q").set_value("KOUROU launch").run()
    assert page.query_params["q"] == "KOUROU launch" and "1 conversation, the archive included" in words(page)
    assert ":orange-background[Kourou]" in words(page) and ":orange-background[launch]" in words(page)
    link = next(one for one in page.page_link if "message" in one.proto.query_string)
    assert f"conversation={old}" in link.proto.query_string and f"message={answer.id}" in link.proto.query_string
    assert "<img" not in link.label and "](" not in link.label
    assert page.selectbox(key="conv_sort").options[0] == "Best first"
    page = page.button(key=f"conv_look_{old}").click().run()
    assert "Where?" in words(page) and "conv_preview_open" in keys(page)


def test_a_hit_in_another_project_is_one_click_away(operator: Scope, open_page: Any) -> None:
    home, other = project(operator), project(operator, "Other")
    say(operator, "the kettle", title="Kettle", place=Place(home))
    page = open_page(operator, PAGE, project=other, q="kettle")
    assert "Nothing was found" in words(page)
    page = page.button(key="conv_everywhere").click().run()
    assert ":orange-background[kettle]" in words(page)


def test_archive_two_and_undo(operator: Scope, open_page: Any) -> None:
    one, two, three = (say(operator, text, title=text) for text in ("One", "Two", "Three"))
    page = choose(open_page(operator, PAGE), one, two)
    assert "**2** chosen" in words(page) and "conv_do_unarchive" not in keys(page)
    page = page.button(key="conv_do_archive").click().run()
    assert titles(page) == ["Three"] and "2 conversations archived." in words(page)
    assert "conv_do_archive" not in keys(page), "nothing is ticked any more"
    page = page.button(key="conv_undo").click().run()
    assert titles(page) == ["Three", "Two", "One"]
    assert {status(operator, each) for each in (one, two, three)} == {"open"}


def test_several_are_proposed_to_the_memory_of_their_project(operator: Scope, open_page: Any) -> None:
    home = project(operator)
    one, two = (say(operator, text, title=text, place=Place(home)) for text in ("We agreed on tea.", "Risk: rain"))
    private = say(operator, "We agreed on secrets.", title="Mine")
    page = choose(open_page(operator, PAGE), private)
    page = page.button(key="conv_do_fold").click().run()
    assert "Only what was said in a project" in words(page)
    page = choose(page, one, two, private)
    page = page.button(key="conv_do_fold").click().run()
    assert not page.exception and "1 conversation is in no project and was left out." in words(page)
    assert "The assistant reads them; what it proposes waits in the project" in words(page)
    (link,) = [found for found in page.get("page_link") if found.proto.label == "Open proposals"]
    assert f"project={home}" in link.proto.query_string


def test_what_is_ticked_is_forgotten_in_another_list(operator: Scope, open_page: Any) -> None:
    one = say(operator, "One", title="One")
    page = choose(open_page(operator, PAGE), one)
    page = page.selectbox(key="conv_kind").set_value("decision").run()
    assert "conv_do_archive" not in keys(page)
    page = page.selectbox(key="conv_kind").set_value(None).run()
    assert "conv_do_archive" not in keys(page) and titles(page) == ["One"]


def test_delete_asks_says_what_goes_and_can_be_undone(operator: Scope, open_page: Any) -> None:
    turn, _answer = ask(operator, "Hello there")
    gone = turn.conversation_id
    page = choose(open_page(operator, PAGE), gone)
    page = page.button(key="conv_do_delete").click().run()
    said = words(page)
    assert "**1 conversation** with 2 messages." in said and "1 run was asked and answered goes too" in said
    assert "30 days" in said and status(operator, gone) == "open"
    page = page.button(key="conv_dialog_ok").click().run()
    assert titles(page) == [] and "1 conversation is in the trash" in words(page)
    page = page.button(key="conv_undo").click().run()
    assert status(operator, gone) == "open" and titles(page) == ["Hello there"]
    with transaction(operator) as tx:
        shelf.trash(tx, [gone])
    page = open_page(operator, PAGE, status="trash")
    assert titles(page) == ["Hello there"]
    page = choose(page, gone)
    page = page.button(key="conv_do_purge").click().run()
    assert "Nobody can bring this back." in words(page)
    page = page.button(key="conv_dialog_ok").click().run()
    assert "The trash is empty." in words(page)
    assert do(operator, "DELETE FROM messages WHERE conversation_id = :id", id=gone) == 0


def test_tags_on_many(operator: Scope, open_page: Any) -> None:
    one, two = say(operator, "One", title="One"), say(operator, "Two", title="Two")
    page = choose(open_page(operator, PAGE), one, two)
    page = page.button(key="conv_do_tag").click().run()
    page.session_state["conv_tags_added"] = ["pricing"]
    page = page.run()
    page = page.button(key="conv_dialog_ok").click().run()
    with transaction(operator) as tx:
        assert tags.of(tx, [one, two]) == {one: ["pricing"], two: ["pricing"]}
    assert "Tags of 2 conversations changed." in words(page)


def test_move_warns_and_moves(operator: Scope, open_page: Any) -> None:
    home = project(operator)
    one = say(operator, "One", title="One")
    page = open_page(operator, PAGE, conversation=one)
    page = page.menu_button(key=f"conv_menu_{one}").click("move").run()
    assert page.button(key="conv_dialog_ok").disabled
    page = page.selectbox(key="conv_move_to").set_value(str(home)).run()
    assert "can read it then" in words(page) and "From then on **Apollo** remembers" in words(page)
    page = page.button(key="conv_dialog_ok").click().run()
    with transaction(operator) as tx:
        assert conversations.get(tx, one).project_id == home


def test_one_conversation_is_read_changed_and_forked(operator: Scope, open_page: Any) -> None:
    turn, answer = ask(operator, "My name is Ana")
    one = turn.conversation_id
    page = open_page(operator, PAGE, conversation=one)
    assert page.title[0].value == "My name is Ana" and answer.body in words(page)
    links = [link.proto.query_string for link in page.page_link if "message=" in link.proto.query_string]
    assert [str(answer.id) in link for link in links] == [False, True]
    page = open_page(operator, PAGE, conversation=one, tab="runs")
    assert "1 run, free" in words(page) and any(str(button.key).startswith("conv_receipt_") for button in page.button)
    page = open_page(operator, PAGE, conversation=one, tab="details")
    title = next(box for box in page.text_input if str(box.key).startswith("conv_title_"))
    title.set_value("Ana's **name**")
    save = next(button for button in page.button if str(button.key).startswith("conv_save_"))
    page = save.click().run()
    with transaction(operator) as tx:
        assert conversations.get(tx, one).title == "Ana's **name**"
    page = open_page(operator, PAGE, conversation=one)
    assert "**name**" not in page.title[0].value
    page = page.button(key=f"conv_fork_{answer.id}").click().run()
    assert page.query_params["conversation"] != str(one) and "Forked: go on here" in words(page)
    assert any(link.label.startswith("Forked from message 2") for link in page.page_link)


def test_versions_of_an_answer(operator: Scope, open_page: Any) -> None:
    one = say(operator, "Question", "Former answer")
    do(operator, """INSERT INTO messages (workspace_id, conversation_id, seq, parent_seq, role, body, parts, active)
                    SELECT workspace_id, conversation_id, 3, 1, 'assistant', 'Later answer',
                           '[{"type": "text", "text": "Later answer"}]', false FROM messages
                    WHERE conversation_id = :id AND seq = 1""", id=one)  # fmt: skip
    page = open_page(operator, PAGE, conversation=one)
    assert "Later answer" in words(page)
    show = next(button for button in page.button if str(button.key).startswith("conv_show_"))
    show.click().run()
    with transaction(operator) as tx:
        assert [message.body for message in messages.page(tx, one)] == ["Question", "Later answer"]


def test_a_viewer_reads_and_changes_nothing(viewer: Scope, operator: Scope, open_page: Any) -> None:
    one = say(operator, "shared words", title="One", place=Place(project(operator)))
    page = choose(open_page(viewer, PAGE), one)
    assert titles(page) == ["One"] and "needs the operator role" in words(page)
    assert not {key for key in keys(page) if str(key).startswith("conv_do_")}
    page = open_page(viewer, PAGE, conversation=one)
    assert "shared words" in words(page) and [menu.key for menu in page.menu_button] == ["frame_language"]
    assert not {key for key in keys(page) if str(key).startswith("conv_fork_")}
    assert "Save" not in {button.label for button in open_page(viewer, PAGE, conversation=one, tab="details").button}


def test_looking_at_anothers_is_in_the_audit_once(scope: Scope, operator: Scope, open_page: Any) -> None:
    one = say(operator, "shared words", title="One", place=Place(project(operator)))
    for _time in range(2):
        open_page(scope, PAGE, conversation=one)
        open_page(operator, PAGE, conversation=one)
    with transaction(scope) as tx:
        read = [entry.user_id for entry in audit.latest(tx) if entry.action == "read"]
    assert read == [scope.user_id]


@pytest.mark.parametrize("kind", ["foreign", "missing", "no id"])
def test_what_is_not_here_is_not_found(kind: str, operator: Scope, colleague: Scope, open_page: Any) -> None:
    wanted = {"foreign": say(colleague, "secret", title="Secret"), "missing": uuid4(), "no id": "x"}[kind]
    page = open_page(operator, PAGE, conversation=wanted)
    assert [error.value for error in page.error] == ["There is no such conversation here."]
    assert "Secret" not in words(page)
    assert titles(page.button(key="conv_back").click().run()) == []


def test_pages_go_forth_and_back(operator: Scope, open_page: Any) -> None:
    for number in range(30):
        say(operator, f"text {number}", title=f"Number {number}")
    page = open_page(operator, PAGE)
    first = titles(page)
    assert len(first) == 25 and page.button(key="conv_previous").disabled
    page = page.button(key="conv_next").click().run()
    assert titles(page) == [f"Number {number}" for number in (4, 3, 2, 1, 0)] and page.query_params["after"]
    assert page.button(key="conv_next").disabled
    assert titles(page.button(key="conv_previous").click().run()) == first


def test_search_is_one_key_away_from_anywhere(operator: Scope, open_page: Any) -> None:
    page = open_page(operator, "memory/agents.py")
    button = page.button(key="frame_search")
    assert button.proto.shortcut.lower() == "ctrl+k"
    assert page.title[0].value == "Agents"
    assert button.click().run().title[0].value == "Conversations"


def test_a_summary_is_asked_for_and_opens_to_its_messages(operator: Scope, open_page: Any) -> None:
    one = say(operator, *(f"The bridge costs {n} million. {HOSTILE}" for n in range(8)), title="Bridge")
    short = say(operator, "hello", title="Short")
    page = choose(open_page(operator, PAGE), short)
    page = page.button(key="conv_do_summarise").click().run()
    assert "nothing to summarise" in words(page)
    page = choose(page, one)
    page = page.button(key="conv_do_summarise").click().run()
    assert "1 summary is being made" in words(page)
    until(lambda: status(operator, one) == "summarized")
    page = open_page(operator, PAGE, conversation=one, tab="details")
    assert not page.exception and "sentences as they were said, chosen without a model" in words(page)
    assert [box.label.split(" · ")[0] for box in page.expander] == ["Messages 1 to 4"]
    assert "The bridge costs 3 million" in words(page) and "The bridge costs 5 million" not in words(page)
    (toggle,) = [found for found in page.toggle if found.key.startswith("conv_made_open")]
    page = toggle.set_value(True).run()
    assert "**Olga**" in words(page) and "<img" not in words(page).replace("\\<img", "")
