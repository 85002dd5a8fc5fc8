"""Photographs every page of the demo, light and dark, at 1440 and 480 pixels, into docs/screens.

A temporary store, a server of its own, Debian's Chromium. A picture is written only where it differs from the one that
is there; errors of the browser's console are printed. `python .ci/screenshots.py costs chat` takes those alone.
"""

import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from urllib.request import urlopen

from PIL import Image, ImageChops
from playwright.sync_api import Browser, Page, sync_playwright

from nexus_core import agents, config, conversations, database, demo, embedded, migrate, projects, runs_list, signin
from nexus_core.database import Scope, transaction
from nexus_core.filters import Filters
from nexus_core.providers import PROVIDERS
from nexus_core.ranges import make
from tests.serving import Server

ROOT = Path(__file__).resolve().parents[1]
SCREENS = ROOT / "docs" / "screens"
SIZES = {1440: 900, 480: 900}
SAME = 0.0005
"""The share of pixels that may differ before a picture counts as another one."""
_CHROMIUM = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
_STILL = '[data-testid="stApp"][data-test-script-state="notRunning"]'
_BUSY = '[data-testid="stSkeleton"], [data-testid="stSpinner"], [data-stale="true"]'


@contextmanager
def served(home: Path) -> Iterator[str]:
    """Nexus on a store of its own; yields its address."""
    for provider in PROVIDERS.values():
        for name in (*provider.keys, *provider.bases):
            os.environ.pop(name, None)
    os.environ.update({"NEXUS_HOME": str(home), "NEXUS_ENV_FILE": str(home / "no.env"), "NEXUS_AUTH": "local"})
    os.environ.pop("NEXUS_DATABASE_URL", None)
    config.reset()
    migrate.migrate(database.url())
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = Server(home / "server.log", port)
    try:
        address = f"http://127.0.0.1:{port}"
        for _try in range(600):
            try:
                urlopen(f"{address}/health", timeout=2).close()
                break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)
        database.reset()
        embedded.stop()


def addresses(there: Scope) -> dict[str, str]:
    """Every page of the demo by its picture's name."""
    with transaction(there) as tx:
        found = {project.name: project.id for project in projects.list_(tx)}
        project = found["Subscription relaunch"]
        talk = next(one for one in conversations.recent(tx, project, limit=50) if one.next_seq > 5)
        own = conversations.recent(tx, None, limit=1)[0]
        agent = next(one for one in agents.list_(tx) if one.id == talk.agent_id)
        span = make("365d", "Europe/Madrid", datetime.now(UTC))
        asked = runs_list.page(tx, span, Filters(conversation=(talk.id,))).runs[0]
    here, in_ = "?workspace=demo", f"?workspace=demo&project={project}"
    return {
        "home": f"/{in_}", "home-start": f"/{here}", "chat": f"/chat{in_}&conversation={talk.id}&agent={agent.id}",
        "chat-own": f"/chat{here}&conversation={own.id}", "project": f"/project{in_}",
        "project-proposals": f"/project{in_}&tab=proposals", "project-tasks": f"/project{in_}&tab=tasks",
        "project-versions": f"/project?workspace=demo&project={found['Apertura en Valencia']}&tab=revisions",
        "conversations": f"/conversations{here}", "agents": f"/agents{here}",
        "agent": f"/agents{here}&agent={agent.id}",
        "costs": f"/costs{here}&range=365d", "costs-30": f"/costs{here}&range=30d", "runs": f"/runs{here}",
        "run": f"/runs{here}&run={asked.id}", "audit": f"/audit{here}", "models": f"/models{here}",
        "prices": f"/models{here}&tab=prices", "people": f"/people{here}", "tokens": f"/tokens{here}",
        "settings": f"/settings{here}", "health": f"/settings{here}",
    }  # fmt: skip


def photograph(pages: dict[str, Page], base: str, name: str, path: str) -> None:
    """One page in as many pictures as there are browsers' pages. Health has no deep link: its address is the API's."""
    for look, page in pages.items():
        page.goto(base + path)
        if name == "health":
            _settle(page)
            page.locator('[data-testid="stPageLink-NavLink"]', has_text="Health").evaluate("link => link.click()")
        _settle(page)
        _keep(page.screenshot(), SCREENS / f"{name}-{look}.png")


def looks(browser: Browser) -> dict[str, Page]:
    """A page for each theme and width; what its console says of errors is printed."""
    found = {}
    for width, height in SIZES.items():
        for theme in ("light", "dark"):
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)  # type: ignore[arg-type]
            found[f"{theme}-{width}"] = page = context.new_page()
            page.on("console", lambda told: told.type == "error" and print(told.page and told.page.url, told.text))
    return found


def _settle(page: Page) -> None:
    """Until the page has stood still for a moment."""
    page.wait_for_selector(_STILL, timeout=60_000)
    for _try in range(40):
        page.wait_for_timeout(400)
        if page.locator(_STILL).count() and not page.locator(_BUSY).count():
            break
    page.wait_for_timeout(900)


def _keep(picture: bytes, file: Path) -> None:
    fresh = Image.open(BytesIO(picture)).convert("RGB")
    if file.exists() and _same(fresh, Image.open(file).convert("RGB")):
        return
    fresh.quantize(200, dither=Image.Dither.NONE).save(file, optimize=True)
    print(f"{file.name}: {file.stat().st_size // 1024} KiB", flush=True)


def _same(fresh: Image.Image, former: Image.Image) -> bool:
    if fresh.size != former.size:
        return False
    apart = ImageChops.difference(fresh, former).convert("L").point(lambda value: 255 if value > 24 else 0)
    return apart.histogram()[255] / (fresh.width * fresh.height) < SAME


def main() -> None:
    """Take the pictures that are asked for, or all."""
    wanted = sys.argv[1:]
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("There is no chromium here.")
    SCREENS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="nexus-screens-", ignore_cleanup_errors=True) as home, \
            served(Path(home)) as base, sync_playwright() as playwright:  # fmt: skip
        browser = playwright.chromium.launch(executable_path=chromium, args=_CHROMIUM)
        owner = signin.scope_for(signin.local_owner(), None, "cli")
        pages = looks(browser)
        if not wanted or "first-run" in wanted:
            photograph(pages, base, "first-run", "/")
        for name, path in addresses(demo.load(owner)).items():
            if not wanted or name in wanted:
                photograph(pages, base, name, path)
        browser.close()


if __name__ == "__main__":
    main()
