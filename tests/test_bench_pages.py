"""The measurement of bench.pages on a small demo: every page is drawn whole."""

import pytest

from bench.pages import PLAIN, measure_here
from nexus_core import demo, signin
from tests.nexus_core.test_demo import SMALL


@pytest.mark.usefixtures("database_url")
def test_every_page_is_drawn() -> None:
    there = demo.load(signin.scope_for(signin.local_owner(), None, "cli"), size=SMALL)
    found = measure_here(there, demo.SLUG, "Europe/Madrid", rounds=1)
    assert {"home", "chat", "project", "conversation", "run", *PLAIN} <= set(found)
    assert all(took > 0 for took in found.values())
