"""Files and links, in a real Chromium against the real server."""

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from playwright.sync_api import Browser, Page, expect

from nexus_core import conversations, messages, parts, shelf
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import NotFound
from tests.browser.conftest import settle
from tests.browser.test_journeys import App

pytestmark = pytest.mark.console_errors_allowed
PATIENCE = 30_000
HOSTILE = "Look: ![p](https://evil.example/p?leak=1) <img src=https://evil.example/q onerror=alert(1)> **bold**"


@pytest.fixture
def app(database_url: str, scope: Scope, tmp_path: Path) -> Iterator[App]:
    running = App(tmp_path / "log")
    yield running
    running.end()
    assert "Traceback" not in running.log.read_text()


def say(scope: Scope, title: str, *texts: str) -> UUID:
    with transaction(scope) as tx:
        made = conversations.create(tx, Place(), title=title).id
        for number, text in enumerate(texts):
            messages.append(tx, made, "assistant" if number % 2 else "user", [parts.text(text)])
    return made


def test_a_conversation_is_shared_read_by_a_stranger_and_withdrawn(
    app: App, page: Page, browser: Browser, scope: Scope
) -> None:
    found = say(scope, "Where to launch", "Where do we launch?", HOSTILE)
    page.goto(f"{app.address}/chat?conversation={found}")
    page.locator(".st-key-chat_menu button").click(timeout=PATIENCE)
    page.get_by_text("Share …").click()
    page.locator(".st-key-conv_share_make button").click(timeout=PATIENCE)
    link = page.get_by_role("dialog").locator("code")
    expect(link).to_contain_text(f"{app.address}/shared/", timeout=PATIENCE)
    address = link.inner_text().strip()

    context = browser.new_context(java_script_enabled=False)
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    stranger = context.new_page()
    stranger.goto(address)
    expect(stranger.locator("h1")).to_have_text("Where to launch")
    expect(stranger.locator("article")).to_have_count(2)
    expect(stranger.locator("article strong")).to_have_text("bold")
    assert [url for url in asked if not url.startswith("data:")] == [address] and context.cookies() == []
    assert stranger.locator("img, script").count() == 0

    expect(page.get_by_role("dialog")).to_contain_text("1 link works")
    page.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
    expect(page.get_by_role("dialog")).not_to_contain_text("link works", timeout=PATIENCE)
    gone = stranger.reload()
    assert gone and gone.status == 404
    expect(stranger.locator("h1")).to_have_text("Nothing to see here")
    context.close()


def test_a_conversation_goes_out_as_a_file_and_comes_back(app: App, page: Page, scope: Scope, tmp_path: Path) -> None:
    found = say(scope, '日本/语 "x"', "Where do we launch?", "In Lisbon.")
    page.goto(f"{app.address}/conversations?conversation={found}")
    page.locator("[class*=st-key-conv_menu_] button").click(timeout=PATIENCE)
    page.get_by_text("Export …").click()
    with page.expect_download(timeout=PATIENCE) as download:
        page.locator(".st-key-conv_export_download button").click(timeout=PATIENCE)
    assert download.value.suggested_filename == "日本 语 x.json"
    download.value.save_as(tmp_path / "one.json")
    with transaction(scope) as tx:
        shelf.delete(tx, [found])
        with pytest.raises(NotFound):
            conversations.get(tx, found)
    page.goto(f"{app.address}/conversations")
    settle(page)
    page.locator(".st-key-conv_import_open button").click()
    page.locator(".st-key-conv_import_file input[type=file]").set_input_files(tmp_path / "one.json")
    expect(page.locator(".st-key-conv_import_go button")).to_be_enabled(timeout=PATIENCE)
    page.locator(".st-key-conv_import_go button").click()
    expect(page.get_by_role("dialog")).to_contain_text("1 imported", timeout=PATIENCE)
    page.locator(".st-key-conv_import_close button").click()
    with transaction(scope) as tx:
        assert [one.body for one in messages.page(tx, found)] == ["Where do we launch?", "In Lisbon."]
    page.locator(".st-key-conv_export_open button").click()
    with page.expect_download(timeout=PATIENCE) as download:
        page.locator(".st-key-conv_export_all a").click(timeout=PATIENCE)
    assert download.value.suggested_filename == "Conversations.zip"
