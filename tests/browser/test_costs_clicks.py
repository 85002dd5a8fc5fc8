"""The Costs page in a real Chromium: pictures, the way from a bar and a cell to the runs, a quiet hidden tab."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from nexus_core.database import Scope
from pages.components import costs_runs
from tests.browser.conftest import settle
from tests.browser.test_journeys import App
from tests.nexus_core import ledger

PATIENCE = 30_000
AN_HOUR_LATER = "(now => { Date.now = () => now() + 3_600_000 })(Date.now)"
SHOW = """shown => {
  Object.defineProperty(document, "visibilityState", { get: () => (shown ? "visible" : "hidden"), configurable: true })
  document.dispatchEvent(new Event("visibilitychange"))
}"""


@pytest.fixture
def app(database_url: str, scope: Scope, tmp_path: Path) -> Iterator[App]:
    """Nexus with a run a day at this hour, three weeks long."""
    with ledger.owner(database_url) as owner:
        for days in range(22):
            ledger.add(owner, scope, datetime.now(UTC) - timedelta(days=days, seconds=1), model=f"m/{days % 2}")
    running = App(tmp_path / "log")
    yield running
    running.end()


def query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.evaluate("location.href")).query)


def middle(page: Page, place: Locator) -> None:
    """Click where a pointer would: plotly listens to the plane above its bars."""
    place.scroll_into_view_if_needed()
    box = place.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def _saved_as_picture(page: Page) -> None:
    """The camera in a chart's corner saves what it shows, at twice its size."""
    chart = page.locator(".st-key-costs_panel_spend .js-plotly-plot")
    box = chart.bounding_box()
    assert box
    chart.hover()
    with page.expect_download(timeout=PATIENCE) as found:
        page.locator(".st-key-costs_panel_spend .modebar-btn").click()
    picture = found.value.path().read_bytes()
    assert found.value.suggested_filename.endswith(".png") and picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert abs(int.from_bytes(picture[16:20], "big") - 2 * box["width"]) < 4, "its width stands in its header"


def test_clicks_lead_to_the_runs_and_back(app: App, page: Page) -> None:
    page.goto(f"{app.address}/costs?range=30d&by=kind")
    bars = page.locator(".st-key-costs_panel_spend .barlayer .point path")
    expect(bars).to_have_count(22, timeout=PATIENCE)
    settle(page)
    _saved_as_picture(page)
    now = datetime.now(UTC)
    place = (now.isoweekday() - 1) * 24 + now.hour
    middle(page, page.locator(".st-key-costs_panel_clock .scatterlayer .point").nth(place))
    expect(page.locator(".st-key-costs_cell")).to_contain_text("1 runs", timeout=PATIENCE)
    assert query(page)["cell"] == [f"{now.isoweekday()}-{now.hour}"]
    page.go_back()
    expect(page.locator(".st-key-costs_cell")).to_have_count(0, timeout=PATIENCE)
    settle(page)
    assert query(page) == {"range": ["30d"], "by": ["kind"]}
    if costs_runs.there():
        middle(page, bars.nth(0))
        page.wait_for_url("**/runs?**", timeout=PATIENCE)
        behind = query(page)
        assert behind["kind"] == ["answer"]
        begin, end = (datetime.fromisoformat(behind[key][0]) for key in ("from", "to"))
        assert end - begin == timedelta(days=1)
        page.go_back()
        expect(bars).to_have_count(22, timeout=PATIENCE)
        settle(page)
        assert query(page) == {"range": ["30d"], "by": ["kind"]}


def test_live_is_quiet_while_the_tab_is_hidden(app: App, page: Page) -> None:
    sent: list[object] = []

    def note(frame: object) -> None:
        sent.append(frame)

    page.on("websocket", lambda socket: socket.on("framesent", note))
    page.goto(f"{app.address}/costs?live=1")
    expect(page.locator(".st-key-costs_panel_forecast")).to_be_visible(timeout=PATIENCE)
    settle(page)
    page.evaluate(SHOW, False)
    page.evaluate(AN_HOUR_LATER)
    before = len(sent)
    page.evaluate(SHOW, False)
    page.evaluate("new Promise(done => setTimeout(done, 100))")
    assert len(sent) == before
    page.evaluate(SHOW, True)
    for _look in range(PATIENCE // 50):  # the page runs for a moment only: its request is what can be waited for
        if len(sent) > before:
            break
        page.wait_for_timeout(50)
    settle(page)
    assert len(sent) == before + 1
