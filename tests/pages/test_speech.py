"""The cockpit in the language of who looks: pages, what a click says, charts that are drawn once for many."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from streamlit.testing.v1 import AppTest

from nexus_core import accounts, i18n, people
from nexus_core.database import Scope, transaction
from pages.components import speech
from tests.nexus_core import ledger

COSTS, TOKENS = "insight/costs.py", "system/tokens.py"


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """All tests of pages are one session to Streamlit."""
    yield
    speech._spoken.clear()


@pytest.fixture
def owner(database_url: str) -> Iterator[psycopg.Connection]:
    with ledger.owner(database_url) as connection:
        yield connection


def chosen(page: AppTest, code: str) -> AppTest:
    return page.menu_button(key=speech.KEY).click(code).run()


def locale(scope: Scope) -> str | None:
    with transaction(Scope.system()) as tx:
        return people.get(tx, scope.user_id).locale


def test_a_viewer_chooses_and_everything_follows(viewer: Scope, open_page: Any) -> None:
    page = open_page(viewer, TOKENS)
    assert page.title[0].value == "Tokens"
    assert page.menu_button(key=speech.KEY).label == "EN" and locale(viewer) is None
    accounts.speak(viewer, "es")
    page = open_page(viewer, TOKENS)
    assert page.menu_button(key=speech.KEY).label == "ES"
    assert "lector" in "".join(caption.value for caption in page.sidebar.caption)
    assert [link.label for link in page.sidebar.page_link][:2] == ["Inicio", "Chat"]
    chosen(page, "en")
    assert locale(viewer) == "en"


def test_a_refused_click_says_so_in_the_persons_language(scope: Scope, open_page: Any) -> None:
    accounts.speak(scope, "es")
    for _twice in range(2):
        page = open_page(scope, "work/home.py")
        page = page.menu_button(key="project_menu").click("project_new").run()
        page.text_input(key="project_new_name").set_value("Alpha")
        page = page.button(key="project_new_make").click().run()
    assert [error.value for error in page.error] == ["Ya existe un proyecto con este nombre."]


def test_a_chart_that_is_drawn_once_is_drawn_once_a_language(
    scope: Scope, open_page: Any, owner: psycopg.Connection
) -> None:
    ledger.add(owner, scope, datetime.now(UTC) - timedelta(seconds=5), cost_estimate=Decimal("1204.11"))
    seen = {}
    for code in ("en", "es", "en"):
        accounts.speak(scope, code)
        page = open_page(scope, COSTS)
        layout = json.loads(page.get("plotly_chart")[0].proto.spec)["layout"]
        seen[code] = (layout["yaxis"]["tickprefix"], layout["yaxis"]["ticksuffix"], layout["separators"])
        assert page.metric[0].value.replace("\\", "") == {"en": "$1,204.11", "es": "1.204,11\xa0US$"}[code]
    assert seen == {"en": ("$", "", ".,"), "es": ("", "\xa0US$", ",.")}


def test_a_thread_of_no_session_speaks_english() -> None:
    assert (speech.here(), i18n.language()) == (None, "en")
