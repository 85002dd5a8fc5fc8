"""What people do from the first start on, in a real Chromium against the real server."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from nexus_core import agents, chat, conversations, messages, profiles
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from tests.browser.conftest import settle
from tests.machine import free_port
from tests.nexus_core.conversing import ask
from tests.nexus_core.model_server import ModelServer
from tests.serving import Server, wait_for

WORDS = [f"word{number} " for number in range(60)]
BOX = ".st-key-chat_bottom textarea"
PATIENCE = 30_000


class App:
    """`python -m nexus_core serve` in a process of its own."""

    def __init__(self, log: Path, **environment: str) -> None:
        self.log, self.environment, self.port = log, environment, free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        self.process = Server(self.log, self.port, **{"OPENAI_API_KEY": "sk-test"} | self.environment)
        wait_for(f"{self.address}/health", self.process)

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        self.process.send_signal(how)
        self.process.wait(30)


@pytest.fixture
def app(database_url: str, scope: Scope, tmp_path: Path) -> Iterator[App]:
    """Nexus on the test's own database, its owner signed in on loopback."""
    running = App(tmp_path / "log")
    yield running
    if running.process.poll() is None:
        running.end()


@pytest.fixture
def slow(scope: Scope) -> Iterator[threading.Event]:
    """A model that says twenty words, waits for the event, and says the rest; the default of the workspace."""
    go_on = threading.Event()

    def script(_body: dict[str, Any], _number: int) -> Iterator[str]:
        for word in WORDS[:20]:
            yield word
            time.sleep(0.02)
        go_on.wait(60)
        yield from WORDS[20:]

    with ModelServer(script) as server:
        with transaction(scope) as tx:
            profile = profiles.save(tx, slug="slow", name="Slow", model="openai/slow", api_base=server.base)
            profiles.make_default(tx, profile.id)
        yield go_on
        go_on.set()


def say(page: Page, text: str) -> None:
    page.locator(BOX).fill(text)
    page.locator(BOX).press("Enter")


def thread(page: Page) -> Any:
    return page.locator(".st-key-chat_thread")


@pytest.mark.console_errors_allowed  # the page looks for a server that is gone
def test_from_the_first_start_to_the_first_answer(page: Page, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NEXUS_DATABASE_URL", raising=False)
    app = App(home / "log", NEXUS_HOME=str(home / "home"), NEXUS_ENV_FILE=str(home / "none"))
    try:
        page.goto(f"{app.address}/chat")
        say(page, "My name is Ana")
        expect(thread(page)).to_contain_text("Ana", timeout=PATIENCE)
        expect(page.locator(".st-key-chat_stop")).to_have_count(0, timeout=PATIENCE)
        say(page, "What is my name?")
        expect(thread(page)).to_contain_text("Your name is Ana.", timeout=PATIENCE)
        app.end(signal.SIGKILL)
        app.start()
        page.goto(f"{app.address}/chat")
        expect(thread(page)).to_contain_text("Your name is Ana.", timeout=PATIENCE)
    finally:
        app.end()
    assert "Traceback" not in app.log.read_text()


def test_a_deep_link_on_a_fresh_server_opens_the_conversation(app: App, page: Page, scope: Scope) -> None:
    turn = chat.send(scope, "The green tea comes from Kyoto", place=Place())
    page.goto(f"{app.address}/chat?conversation={turn.conversation_id}")
    expect(thread(page)).to_contain_text("The green tea comes from Kyoto", timeout=PATIENCE)


def test_a_refresh_a_second_tab_and_a_click_keep_the_answer_whole(
    app: App, page: Page, browser: Browser, slow: threading.Event
) -> None:
    page.goto(f"{app.address}/chat")
    say(page, "Tell me everything")
    expect(thread(page)).to_contain_text("word19", timeout=PATIENCE)
    page.reload()
    expect(thread(page)).to_contain_text("word0 word1", timeout=PATIENCE)
    other = page.context.new_page()
    other.goto(f"{app.address}/chat")
    expect(thread(other)).to_contain_text("word0 word1", timeout=PATIENCE)
    page.goto(f"{app.address}/agents")
    settle(page)
    slow.set()
    page.goto(f"{app.address}/chat")
    for tab in (page, other):
        expect(thread(tab)).to_contain_text("word59", timeout=PATIENCE)
        expect(thread(tab)).to_contain_text("".join(WORDS).strip(), timeout=PATIENCE)
    expect(page.locator(".st-key-chat_stop")).to_have_count(0, timeout=PATIENCE)


def test_stop_keeps_what_came(app: App, page: Page, scope: Scope, slow: threading.Event) -> None:
    page.goto(f"{app.address}/chat")
    say(page, "Tell me everything")
    expect(thread(page)).to_contain_text("word19", timeout=PATIENCE)
    page.locator(".st-key-chat_stop button").click()
    expect(thread(page)).to_contain_text("what had been written is kept", timeout=PATIENCE)
    expect(thread(page)).to_contain_text("word19")
    expect(page.locator(".st-key-chat_stop")).to_have_count(0)
    with transaction(scope) as tx:
        conversation = conversations.active(tx, Place())
        assert conversation is not None
        answer = messages.page(tx, conversation.id)[-1]
    assert answer.status == "stopped"
    assert answer.body.strip().endswith("word19")


@pytest.mark.console_errors_allowed  # the page looks for a server that is gone
def test_a_killed_server_leaves_a_usable_conversation(app: App, page: Page, slow: threading.Event) -> None:
    page.goto(f"{app.address}/chat")
    say(page, "Tell me everything")
    expect(thread(page)).to_contain_text("word19", timeout=PATIENCE)
    time.sleep(1.5)  # one checkpoint
    app.end(signal.SIGKILL)
    slow.set()
    app.start()
    page.goto(f"{app.address}/chat")
    expect(thread(page)).to_contain_text("word19", timeout=PATIENCE)
    expect(thread(page)).to_contain_text("try again", timeout=PATIENCE)
    say(page, "Once more")
    expect(thread(page)).to_contain_text("word59", timeout=PATIENCE)


@pytest.mark.console_errors_allowed  # Streamlit says there, too, that there is no such page
def test_an_unknown_address_of_several_steps_says_so_and_shows_home(app: App, page: Page) -> None:
    page.goto(f"{app.address}/a/deep/address")
    expect(page.get_by_role("dialog")).to_contain_text("Page not found", timeout=PATIENCE)
    expect(page.get_by_role("heading", name="Welcome", include_hidden=True)).to_be_visible(timeout=PATIENCE)


def test_each_click_is_one_step_back(app: App, page: Page, scope: Scope) -> None:
    made = [ask(scope, f"Words {number}", session_id=str(number))[0].conversation_id for number in range(3)]
    page.goto(app.address)
    settle(page)
    page.get_by_role("link", name="Chat", exact=True).click()
    expect(thread(page)).to_contain_text("Words 2", timeout=PATIENCE)
    page.wait_for_url(f"**/chat?conversation={made[2]}")
    for number in (0, 1):
        page.locator(f".st-key-chat_open_panel_{made[number]} button").click()
        expect(thread(page)).to_contain_text(f"Words {number}", timeout=PATIENCE)
    for number in (0, 2):
        page.go_back()
        expect(thread(page)).to_contain_text(f"Words {number}", timeout=PATIENCE)
    page.go_back()
    expect(page.get_by_role("heading", name="Welcome")).to_be_visible(timeout=PATIENCE)


@pytest.mark.parametrize("width", [480, 1440])
def test_on_a_phone_and_on_a_wide_screen_nothing_sticks_out(
    app: App, page: Page, scope: Scope, width: int, wait_for_answer: Callable[[Scope, chat.Turn], None]
) -> None:
    turn = chat.send(scope, "A long line: " + "abcdefghij" * 60, place=Place())
    wait_for_answer(scope, turn)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{app.address}/chat")
    expect(thread(page)).to_contain_text("A long line", timeout=PATIENCE)
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for name in ("Edit", "Answer again", "More"):  # what is seen as an icon alone has a name that can be heard
        expect(page.get_by_role("button", name=name, exact=True)).to_have_count(1)
        assert page.get_by_role("button", name=name, exact=True).bounding_box()["width"] < 50
    expect(page.locator(BOX)).to_be_in_viewport()


def test_agents_are_deleted_one_after_the_other_and_the_page_lives(app: App, page: Page, scope: Scope) -> None:
    with transaction(scope) as tx:
        made = [agents.create(tx, f"Helper {number}") for number in range(4)]
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda line: errors.append(line.text) if "delta" in line.text or "setIn" in line.text else None)
    page.goto(f"{app.address}/agents")
    for number, agent in enumerate(made):
        if number % 2:  # from its own page, too
            page.goto(f"{app.address}/agents?agent={agent.id}")
        page.locator(f".st-key-agent_{agent.id}_menu button").first.click(timeout=PATIENCE)
        page.get_by_text("Delete…").click()
        page.locator(f".st-key-agent_{agent.id}_delete button").click(timeout=PATIENCE)
        expect(page.get_by_role("heading", name="Agents", exact=True)).to_be_visible(timeout=PATIENCE)
        expect(page.get_by_role("dialog")).to_have_count(0, timeout=PATIENCE)
        expect(page.get_by_text("Deleted.").last).to_be_visible()
        settle(page)
        expect(page.get_by_text(agent.name)).to_have_count(0)
    assert errors == []
    assert "displays one or more elements" not in app.log.read_text()


@pytest.fixture
def wait_for_answer() -> Callable[[Scope, chat.Turn], None]:
    def wait(scope: Scope, turn: chat.Turn) -> None:
        for _round in range(600):
            with transaction(scope) as tx:
                if messages.get(tx, turn.answer_id).status != "streaming":
                    return
            time.sleep(0.02)
        raise AssertionError("no answer")

    return wait
