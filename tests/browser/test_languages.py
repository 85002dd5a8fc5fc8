"""Two languages in a real browser: its own by default, then the one that the person chose, wherever they look."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from playwright.sync_api import Browser, Page, expect

from nexus_core import people, projects
from nexus_core.database import Scope, transaction
from tests.browser.conftest import settle
from tests.browser.test_journeys import PATIENCE, App, app  # noqa: F401
from tests.nexus_core import ledger

SPENT = re.compile(r"1\.234,50\s*US\$")


def choose(page: Page, language: str) -> None:
    """Another language, from the menu beside one's name."""
    page.locator(".st-key-frame_language button:visible").click()
    page.get_by_role("menuitem", name=language).click()


def home(page: Page) -> str:
    """What the way home is called."""
    return (
        page.get_by_test_id("stSidebar").locator("a[data-testid='stPageLink-NavLink']").first.inner_text().split()[-1]
    )


def test_a_browsers_language_and_then_the_persons(
    app: App, browser: Browser, database_url: str, scope: Scope  # noqa: F811
) -> None:  # fmt: skip
    today = datetime.now(UTC)
    with ledger.owner(database_url) as owner:
        ledger.add(owner, scope, today - timedelta(seconds=5), cost_estimate=Decimal("1234.5"))
    with transaction(scope) as tx:
        project = projects.create(tx, "Alpha")
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="es-MX")
    page = context.new_page()
    page.goto(f"{app.address}/sign-in")
    expect(page.locator("html")).to_have_attribute("lang", "es")
    expect(page.get_by_role("heading")).to_have_text("Crear el primer administrador")

    page.goto(f"{app.address}/costs?range=365d")
    main = page.get_by_test_id("stMain")
    expect(main).to_contain_text(SPENT, timeout=PATIENCE)
    expect(main).to_contain_text(re.compile(rf"– {today.day} \w+ {today.year}"))
    expect(main.locator(".js-plotly-plot").first).to_contain_text("US$", timeout=PATIENCE)
    assert home(page) == "Inicio"
    expect(page.locator("html")).to_have_attribute("lang", "es")

    page.goto(f"{app.address}/costs?range=365d&project={project.id}")
    settle(page)
    choose(page, "English")
    expect(page.locator("html")).to_have_attribute("lang", "en", timeout=PATIENCE)
    settle(page)
    assert home(page) == "Home"
    assert "range=365d" in page.url and str(project.id) in page.url, "a switch of language leaves all where it was"

    page.reload()
    settle(page)
    assert home(page) == "Home"
    expect(page.locator("html")).to_have_attribute("lang", "en")
    tab = context.new_page()
    tab.goto(f"{app.address}/costs?range=365d")
    expect(tab.get_by_test_id("stMain")).to_contain_text("$1,234.50", timeout=PATIENCE)
    choose(tab, "Español")
    expect(tab.locator("html")).to_have_attribute("lang", "es", timeout=PATIENCE)
    settle(tab)
    choose(tab, "English")
    expect(tab.locator("html")).to_have_attribute("lang", "en", timeout=PATIENCE)
    settle(tab)
    choose(tab, "Español")
    expect(tab.locator("html")).to_have_attribute("lang", "es", timeout=PATIENCE)
    expect(tab.get_by_test_id("stMain")).to_contain_text(SPENT, timeout=PATIENCE)
    with transaction(scope) as tx:
        assert scope.user_id and people.get(tx, scope.user_id).locale == "es"
    context.close()

    elsewhere = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-US").new_page()
    elsewhere.goto(f"{app.address}/agents")
    expect(elsewhere.locator("html")).to_have_attribute("lang", "es")
    expect(elsewhere.get_by_role("heading", name="Agentes")).to_be_visible(timeout=PATIENCE)
    elsewhere.context.close()
