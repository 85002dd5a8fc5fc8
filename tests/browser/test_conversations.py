"""Finding and putting in order what was said, in a real Chromium against the real server."""

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from playwright.sync_api import Page, expect

from nexus_core import conversations, messages, parts, projects, recall, shelf
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from tests.browser.conftest import settle
from tests.browser.test_journeys import App
from tests.store import do

PATIENCE = 30_000


@pytest.fixture
def app(database_url: str, scope: Scope, tmp_path: Path) -> Iterator[App]:
    running = App(tmp_path / "log")
    yield running
    running.end()
    assert "Traceback" not in running.log.read_text()


def say(scope: Scope, title: str, *texts: str, place: Place = Place()) -> UUID:  # noqa: B008
    with transaction(scope) as tx:
        made = conversations.create(tx, place, title=title, session_id=str(uuid4())).id
        for number, text in enumerate(texts):
            messages.append(tx, made, "assistant" if number % 2 else "user", [parts.text(text)])
    return made


def test_a_decision_of_two_years_ago_is_found_and_opens_at_the_message(app: App, page: Page, scope: Scope) -> None:
    with transaction(scope) as tx:
        home = Place(projects.create(tx, "Apollo").id)
    filling = [f"Small talk, number {number}" for number in range(120)]
    old = say(scope, "Sites", *filling, "Decision: we launch from Kourou.", "Noted.", *filling, place=home)
    for number in range(30):
        say(scope, f"Later {number}", "nothing to do with it", place=home)
    do(scope, "UPDATE conversations SET last_message_at = now() - interval '2 years' WHERE id = :id", id=old)
    do(scope, "UPDATE messages SET created_at = now() - interval '2 years' WHERE conversation_id = :id", id=old)
    with transaction(scope) as tx:
        shelf.archive(tx, [old])
    while recall.index_pending():
        pass
    page.goto(f"{app.address}/agents")
    settle(page)
    page.keyboard.press("Control+k")
    box = page.locator(".st-key-conv_q input")
    box.click(timeout=PATIENCE)
    page.keyboard.type("kourou lau", delay=20)
    hit = page.locator(f".st-key-conv_hit_{old}")
    expect(hit).to_contain_text("Decision: we launch from Kourou.", timeout=PATIENCE)
    assert "q=kourou+lau" in page.evaluate("location.href")
    hit.get_by_role("link").click()
    found = page.locator("[class*=st-key-chat_found_]")
    expect(found).to_contain_text("Decision: we launch from Kourou.", timeout=PATIENCE)
    expect(found).to_be_in_viewport(timeout=PATIENCE)
    page.go_back()
    expect(hit).to_be_visible(timeout=PATIENCE)


def test_two_are_ticked_archived_and_brought_back(app: App, page: Page, scope: Scope) -> None:
    for title in ("Three", "Two", "One"):
        say(scope, title, "words")
    page.goto(f"{app.address}/conversations")
    table = page.get_by_test_id("stDataFrame")
    expect(table).to_be_visible(timeout=PATIENCE)
    settle(page)
    for row, chosen in ((1, "1 chosen"), (2, "2 chosen")):
        table.click(position={"x": 16, "y": 17 + 34 * row})
        expect(page.locator(".st-key-conv_bar")).to_contain_text(chosen, timeout=PATIENCE)
    page.locator(".st-key-conv_do_archive button").click()
    notice = page.locator(".st-key-conv_notice")
    expect(notice).to_contain_text("2 conversations archived.", timeout=PATIENCE)
    with transaction(scope) as tx:
        assert [one.title for one in conversations.list_(tx, Place())] == ["Three"]
    page.locator(".st-key-conv_undo button").click()
    expect(notice).to_contain_text("2 conversations brought back.", timeout=PATIENCE)
    with transaction(scope) as tx:
        assert [one.title for one in conversations.list_(tx, Place())] == ["One", "Two", "Three"]
