"""The Runs page in a real Chromium: followed live, a click opens a run, Back leads to the table, all of it as CSV."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from nexus_core import projects, runs
from nexus_core.database import Scope, transaction
from tests.browser.conftest import settle
from tests.browser.test_journeys import App, app

__all__ = ["app"]
TABLE = ".st-key-runs_table"


def test_from_a_running_row_to_its_end(app: App, page: Page, scope: Scope) -> None:
    with transaction(scope) as tx:
        project = projects.create(tx, "Apollo").id
        run = runs.record(tx, project, model="acme/big", status="running", prompt_summary="=Crawl the archive")
    page.goto(f"{app.address}/runs?kind=external&project={project}")
    settle(page)
    expect(page.get_by_text("Running ones are followed live.")).to_be_visible()
    with transaction(scope) as tx:
        runs.advance(tx, run.id, "succeeded", input_tokens=10, output_tokens=2)
    expect(page.get_by_text("Running ones are followed live.")).to_have_count(0, timeout=15_000)
    settle(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download all as CSV").click()
    text = Path(download.value.path()).read_text("utf-8-sig")
    assert re.search(rf"^{run.id},.*,succeeded,external,.*'=Crawl the archive", text, re.MULTILINE)
    assert re.fullmatch(r"runs-[0-9-]+\.csv", download.value.suggested_filename)
    box = page.locator(TABLE).bounding_box()
    assert box
    page.mouse.move(box["x"] + 250, box["y"] + 20)  # as a hand does; the table is drawn anew when it is first touched
    page.mouse.click(box["x"] + 260, box["y"] + 52, delay=50)
    expect(page.get_by_role("heading", name="=Crawl the archive")).to_be_visible(timeout=15_000)
    assert f"run={run.id}" in page.evaluate("location.href")
    page.reload()
    expect(page.get_by_role("heading", name="=Crawl the archive")).to_be_visible(timeout=15_000)
    page.go_back()
    expect(page.locator(TABLE)).to_be_visible(timeout=15_000)
    assert "kind=external" in page.evaluate("location.href") and "run=" not in page.evaluate("location.href")
