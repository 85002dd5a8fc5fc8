"""What a person has typed and not sent: it stays where it was written, over a reload and a look elsewhere."""

import threading

from playwright.sync_api import Page, expect

from nexus_core.database import Scope, transaction
from tests.browser.conftest import settle
from tests.browser.test_journeys import BOX, PATIENCE, App, app, say, slow, thread  # noqa: F401
from tests.nexus_core.conversing import ask

UNSENT = "[class*='st-key-chat_unsent_text'] textarea"


def bodies(scope: Scope) -> list[str]:
    with transaction(scope) as tx:
        rows = tx.connection.exec_driver_sql("SELECT body FROM messages WHERE role = 'user' ORDER BY created_at")
        return [row[0] for row in rows]


def test_a_refused_text_stays_in_its_conversation_and_survives_a_reload(
    app: App, page: Page, scope: Scope, slow: threading.Event  # noqa: F811
) -> None:  # fmt: skip
    slow.set()
    elsewhere, busy = (ask(scope, words, session_id=words)[0].conversation_id for words in ("Somewhere else", "Here"))
    slow.clear()
    page.goto(f"{app.address}/chat?conversation={busy}")
    expect(thread(page)).to_contain_text("Here", timeout=PATIENCE)
    expect(page.locator(".st-key-chat_stop")).to_have_count(0, timeout=PATIENCE)
    say(page, "Tell me everything")
    expect(thread(page)).to_contain_text("Tell me everything", timeout=PATIENCE)
    expect(page.locator(".st-key-chat_stop")).to_have_count(1, timeout=PATIENCE)
    say(page, "my private words")
    expect(page.locator(UNSENT)).to_have_value("my private words", timeout=PATIENCE)

    page.goto(f"{app.address}/chat?conversation={elsewhere}")
    expect(thread(page)).to_contain_text("Somewhere else", timeout=PATIENCE)
    settle(page)
    expect(page.locator(UNSENT)).to_have_count(0)
    assert page.locator(BOX).last.input_value() == ""
    page.locator(BOX).last.fill("half a thought")
    page.wait_for_function("Object.values(sessionStorage).includes('half a thought')")  # what keeps it has been loaded

    page.goto(f"{app.address}/chat?conversation={busy}")
    expect(page.locator(BOX).last).to_have_value("my private words", timeout=PATIENCE)
    page.goto(f"{app.address}/chat?conversation={elsewhere}")
    expect(page.locator(BOX).last).to_have_value("half a thought", timeout=PATIENCE)
    assert "my private words" not in bodies(scope)
