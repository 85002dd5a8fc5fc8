"""What every browser test needs: one Chromium, a page that watches itself, a server for a small script."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright

from tests.machine import free_port
from tests.serving import wait_for

ROOT = Path(__file__).parents[2]
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

ServeScript = Callable[..., str]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The system's Chromium, headless; for one module, as Playwright's event loop is in the way of others."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium on this machine: browser tests need the `chromium` command")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=_ARGUMENTS)
        yield running
        running.close()


@pytest.fixture
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page of 1440 × 900 that fails its test when it asks any host but loopback for anything.

    Errors on the console fail it too, unless the test is marked `console_errors_allowed`.
    """
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    opened = context.new_page()
    foreign: list[str] = []
    errors: list[str] = []

    def watch(asked: Request) -> None:
        address = urlsplit(asked.url)
        if address.scheme not in ("data", "blob") and address.hostname not in ("127.0.0.1", "localhost"):
            foreign.append(asked.url)

    context.on("request", watch)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    yield opened
    context.close()
    assert foreign == []
    if request.node.get_closest_marker("console_errors_allowed") is None:
        assert errors == []


@pytest.fixture(scope="session")
def serve_script() -> Iterator[ServeScript]:
    """`serve_script(path, **environment)` runs a Streamlit script from the repository's root: its address."""
    servers: list[subprocess.Popen[bytes]] = []

    def serve(script: Path, **environment: str) -> str:
        port = free_port()
        command = [sys.executable, "-m", "streamlit", "run", str(script), f"--server.port={port}"]
        places = {"PYTHONPATH": str(ROOT)} | environment
        servers.append(subprocess.Popen(command, cwd=ROOT, env=os.environ | places, stdin=subprocess.DEVNULL))
        address = f"http://127.0.0.1:{port}"
        wait_for(f"{address}/_stcore/health", servers[-1])
        return address

    yield serve
    for server in servers:
        server.terminate()
    for server in servers:
        server.wait(timeout=20)


def settle(page: Page) -> None:
    """Wait until Streamlit has run the script and drawn what came of it; charts take long on a busy machine."""
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0, timeout=30_000)


@pytest.fixture
def open_page(page: Page) -> Callable[[str], Page]:
    """`open_page(url)`: the page, once Streamlit has drawn it."""

    def visit(url: str) -> Page:
        page.goto(url)
        settle(page)
        return page

    return visit
