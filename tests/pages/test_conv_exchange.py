"""Export, import and links, as the cockpit offers them."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID, uuid4

from streamlit.testing.v1 import AppTest

from nexus_core import conversations, messages, parts, shares
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.importing import Outcome
from pages.components.conv_import import left
from tests.nexus_core.conversing import project

PAGE = "memory/conversations.py"
HOSTILE = "**b** :red[x] <img src=x onerror=alert(1)> ![x](https://evil.example/p)"
CHATGPT = (Path(__file__).parents[1] / "nexus_core" / "files" / "chatgpt.json").read_bytes()


def say(scope: Scope, title: str, *texts: str, place: Place | None = None) -> UUID:
    with transaction(scope) as tx:
        made = conversations.create(tx, place or Place(), title=title, session_id=str(uuid4())).id
        for text in texts:
            messages.append(tx, made, "user", [parts.text(text)])
    return made


def words(page: AppTest) -> str:
    return "\n".join(element.value for element in [*page.markdown, *page.caption, *page.error])


def live(scope: Scope) -> list[shares.Share]:
    with transaction(scope) as tx:
        return shares.live(tx)


def keys(page: AppTest, prefix: str) -> list[str]:
    return [button.key for button in page.button if str(button.key).startswith(prefix)]


def test_a_link_is_made_shown_once_and_withdrawn(operator: Scope, open_page: Any) -> None:
    found = say(operator, HOSTILE, "x")
    page = open_page(operator, PAGE, conversation=found)
    page = page.menu_button(key=f"conv_menu_{found}").click("share").run()
    assert "Whoever has the link" in words(page) and not live(operator)
    page = page.selectbox(key="conv_share_days").set_value(7).run()
    page = page.button(key="conv_share_make").click().run()
    (link,) = live(operator)
    assert (link.expires_at - link.created_at).days == 7
    (shown,) = [block.value for block in page.code if "/shared/" in block.value]
    assert len(urlsplit(shown).path) == len("/shared/") + 22
    assert "never opened" in words(page) and "**1 link works**" in words(page)
    page = page.button(key=f"conv_share_withdraw_{link.id}").click().run()
    assert not live(operator) and not [block for block in page.code if "/shared/" in block.value]
    assert not page.exception


def test_an_empty_conversation_is_not_shared(operator: Scope, open_page: Any) -> None:
    found = say(operator, "Empty")
    page = open_page(operator, PAGE, conversation=found)
    page = page.menu_button(key=f"conv_menu_{found}").click("share").run()
    assert page.button(key="conv_share_make").disabled and "Nothing was said yet." in words(page)


def test_ones_links_stand_together(operator: Scope, colleague: Scope, open_page: Any) -> None:
    home = Place(project(operator))
    mine, theirs = say(operator, HOSTILE, "x", place=home), say(colleague, "Theirs", "x", place=home)
    page = open_page(operator, PAGE)
    page = page.button(key="conv_links_open").click().run()
    assert "No link works now." in words(page)
    with transaction(operator) as tx:
        shares.create(tx, mine)
    with transaction(colleague) as tx:
        shares.create(tx, theirs)
    page = page.run()
    assert len(keys(page, "conv_share_withdraw_")) == 1 and "Theirs" not in words(page)
    assert HOSTILE not in words(page)
    page = page.button(key=keys(page, "conv_share_withdraw_")[0]).click().run()
    assert "No link works now." in words(page) and not live(operator)


def test_what_is_chosen_is_exported(operator: Scope, open_page: Any) -> None:
    one, two = say(operator, 'a/b "x"', "x"), say(operator, "two", "x")
    page = open_page(operator, PAGE)
    page.session_state["conv_chosen"] = [one, two]
    page = page.run().button(key="conv_do_export").click().run()
    assert "2 conversations in a zip." in words(page) and not page.exception
    page = open_page(operator, PAGE, conversation=one)
    page = page.menu_button(key=f"conv_menu_{one}").click("export").run()
    assert page.radio(key="conv_export_format").value == "json"
    page = page.radio(key="conv_export_format").set_value("markdown").run()
    assert not page.exception


def test_the_whole_list_is_a_link(operator: Scope, open_page: Any) -> None:
    home = project(operator)
    say(operator, "one", "x", place=Place(home))
    say(operator, "two", "x")
    page = open_page(operator, PAGE, project=home, since="2026-01-01", agent="just-chat")
    page = page.button(key="conv_export_open").click().run()
    assert "1 conversation:" in words(page)
    (link,) = page.get("link_button")
    query = {name: value for name, (value,) in parse_qs(urlsplit(link.proto.url).query).items()}
    since = query.pop("since")
    assert query == {"projectId": str(home), "isJustChat": "true", "status": "active", "format": "json"}
    assert since.startswith("2026-01-01T00:00:00")


def test_a_file_is_imported_and_told_about(operator: Scope, open_page: Any) -> None:
    page = open_page(operator, PAGE)
    page = page.button(key="conv_import_open").click().run()
    assert page.button(key="conv_import_go").disabled
    page = page.file_uploader(key="conv_import_file").set_value(("chatgpt.json", CHATGPT, "application/json")).run()
    page = page.button(key="conv_import_go").click().run()
    assert "**2** imported" in words(page) and not page.exception
    report = next(table.value for table in page.dataframe if "became" in table.value)
    assert list(report["became"]) == ["imported", "imported"] and "1 image" in report["left"][0]
    page = page.button(key="conv_import_close").click().run()
    assert "Naming a ship" not in list(page.dataframe[0].value["title"]), "it was archived there"
    page = page.button(key="conv_import_open").click().run()
    page = page.file_uploader(key="conv_import_file").set_value(("x.json", b"hello", "application/json")).run()
    page = page.button(key="conv_import_go").click().run()
    assert "No conversations were found in this file" in words(page)


def test_a_viewer_only_exports(viewer: Scope, operator: Scope, open_page: Any) -> None:
    say(operator, "one", "x", place=Place(project(operator)))
    page = open_page(viewer, PAGE)
    assert keys(page, "conv_import_open") == keys(page, "conv_links_open") == []
    page = page.button(key="conv_export_open").click().run()
    assert "1 conversation:" in words(page)


def test_the_chats_menu_offers_both(operator: Scope, open_page: Any) -> None:
    found = say(operator, "one", "x")
    page = open_page(operator, "work/chat.py", conversation=found)
    page = page.menu_button(key="chat_menu").click("chat_share").run()
    page = page.button(key="conv_share_make").click().run()
    assert len(live(operator)) == 1 and not page.exception
    page = open_page(operator, "work/chat.py", conversation=found)
    page = page.menu_button(key="chat_menu").click("chat_export").run()
    assert page.radio(key="conv_export_format").value == "json" and not page.exception


def test_everything_that_is_left_has_words() -> None:
    kinds = (
        "attachments",
        "images",
        "tool_calls",
        "thoughts",
        "system",
        "unknown",
        "authors",
        "project",
        "agent",
        "task",
    )
    told = left(Outcome("x", "imported", left=dict.fromkeys(kinds, 2)))
    assert len(told.split(", ")) >= len(kinds) and "2 attachments" in told
