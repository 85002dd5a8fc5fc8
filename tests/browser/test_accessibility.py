"""Every page by axe (WCAG 2.1 A and AA), light and dark: nothing serious."""

from collections.abc import Iterator
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from bench.pages import places
from nexus_core import demo, signin
from tests.browser.conftest import settle
from tests.browser.test_journeys import App, app
from tests.nexus_core.test_demo import SMALL

__all__ = ["app"]
ALL = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}}
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}  # all that another theme changes
VARIANTS = {"costs_365", "found", "conversation", "agent", "prices"}  # of pages that are looked at already
DARK = {"chat", "project", "costs"}  # where what a theme colours is met
CHARTS = {"exclude": [".main-svg"]}  # read by their alternative text; thousands of elements


def serious(page: Page, rules: dict[str, Any]) -> Iterator[str]:
    """What axe finds that is serious or critical: rule, element, why."""
    for fault in Axe().run(page, context=CHARTS, options=rules).response["violations"]:
        if fault["impact"] in ("serious", "critical"):
            for node in fault["nodes"]:
                yield f"{fault['id']}: {node['html'][:160]}: {' '.join(node['failureSummary'].split())}"


def test_no_page_has_a_serious_fault(app: App, browser: Browser) -> None:
    there = demo.load(signin.scope_for(signin.local_owner(), None, "cli"), size=SMALL)
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme="light")
    page = context.new_page()
    faults = []
    for name, (path, query) in places(there, demo.SLUG, "Europe/Madrid").items():
        if name in VARIANTS:
            continue
        if name == "health":  # its address is the API's
            page.locator('[data-testid="stPageLink-NavLink"]', has_text="Health").click()
        else:
            page.goto(f"{app.address}/{path}?{query}")
        settle(page)
        page.wait_for_timeout(300)  # colours come in by a transition
        faults += [f"{name}: {fault}" for fault in serious(page, ALL)]
        if name in DARK:
            page.emulate_media(color_scheme="dark")
            settle(page)
            page.wait_for_timeout(500)
            faults += [f"{name}, dark: {fault}" for fault in serious(page, COLOURS)]
            page.emulate_media(color_scheme="light")
    context.close()
    assert not faults, "\n".join(faults)
