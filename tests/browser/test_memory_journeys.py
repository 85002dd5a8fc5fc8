"""Two windows on one memory, and a proposal from the chat to the memory, in a real Chromium against the real server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from playwright.sync_api import Page, expect

from nexus_core import conversations, memories, messages, projects
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.memories import Memory
from nexus_core.parts import text
from tests.browser.conftest import settle
from tests.browser.test_journeys import PATIENCE, App


@pytest.fixture
def project_id(scope: Scope) -> UUID:
    with transaction(scope) as tx:
        made = projects.create(tx, "Pricing").id
        summary = "# Where it stands\n\nOne.\n\nTwo.\n\nThree."
        memories.replace(tx, made, version=1, summary_md=summary, risks=[{"id": "r1", "risk": "Rain"}])
    return made


@pytest.fixture
def app(database_url: str, project_id: UUID, tmp_path: Path) -> Iterator[App]:
    running = App(tmp_path / "log")
    yield running
    running.end()


def stored(scope: Scope, project_id: UUID) -> Memory:
    with transaction(scope) as tx:
        return memories.get(tx, project_id)


def edit(page: Page, app: App, project_id: UUID, old: str, new: str) -> Any:
    page.goto(f"{app.address}/project?project={project_id}")
    page.locator(f".st-key-memory_{project_id}_edit button").click(timeout=PATIENCE)
    box = page.locator("textarea").first
    box.wait_for(timeout=PATIENCE)
    box.fill(box.input_value().replace(old, new))
    box.press("Control+Enter")
    expect(page.get_by_text("1 change, not saved yet")).to_be_visible(timeout=PATIENCE)
    return page.locator(f".st-key-memory_{project_id}_save button")


def test_two_windows_edit_one_memory_and_nothing_is_lost(app: App, page: Page, scope: Scope, project_id: UUID) -> None:
    other = page.context.new_page()
    mine = edit(page, app, project_id, "One.", "One, by me.")
    theirs = edit(other, app, project_id, "One.\n\nTwo.\n\nThree.", "One, by them.\n\nTwo.\n\nThree!")
    theirs.click()
    expect(other.get_by_text("Version 3 · ")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("radio", name="Tasks").click()  # what is unsaved survives another tab
    expect(page.get_by_text("No open task")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("radio", name="Memory").click()
    expect(page.get_by_text("1 change, not saved yet")).to_be_visible(timeout=PATIENCE)
    expect(mine).to_have_count(0)
    expect(page.get_by_text("Both of you changed these")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("radio", name="Keep both").click()
    settle(page)
    page.locator(f".st-key-memory_{project_id}_merge button").click()
    expect(page.get_by_text("Version 4 · ")).to_be_visible(timeout=PATIENCE)
    said = "# Where it stands\n\nOne, by me.\nOne, by them.\n\nTwo.\n\nThree!"
    assert stored(scope, project_id).summary_md == said


def test_a_proposal_goes_from_the_chat_into_the_memory(app: App, page: Page, scope: Scope, project_id: UUID) -> None:
    with transaction(scope) as tx:
        talk = conversations.create(tx, Place(project_id), title="Colours")
        messages.append(tx, talk.id, "user", [text("After lunch we agreed on turquoise.")])
    page.goto(f"{app.address}/chat?conversation={talk.id}")
    page.locator(".st-key-chat_menu button").click(timeout=PATIENCE)
    page.get_by_text("Propose a memory update").click()
    expect(page.get_by_text("what it proposes waits")).to_be_visible(timeout=PATIENCE)
    page.goto(f"{app.address}/project?project={project_id}&tab=proposals")
    expect(page.get_by_text("After lunch we agreed on turquoise.")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Accept", exact=True).click()
    expect(page.get_by_text("Nothing waits.")).to_be_visible(timeout=PATIENCE)
    assert [decision["what"] for decision in stored(scope, project_id).decisions] == ["Turquoise"]
