"""The cockpit as somebody sees it, without a browser."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from nexus_core import people, worker, workspaces
from nexus_core.database import Scope, transaction
from nexus_core.signin import Identity
from pages.components import session

ROOT = Path(__file__).resolve().parents[2]
Open = Callable[..., AppTest]


@pytest.fixture(scope="session", autouse=True)
def installed_once() -> Iterator[None]:
    """Streamlit looks through all installed packages for components of theirs, with each AppTest; once is enough."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture
def open_page(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """`open_page(scope, "memory/agents.py", agent=…)`: a page as the person of a scope sees it, with its URL.

    Only who is there is put in place of the browser's cookie; frame, store and worker are the real ones.
    """

    def open_(scope: Scope, file: str, **query: object) -> AppTest:
        with transaction(Scope.system()) as tx:
            person = people.get(tx, scope.user_id)
            found = tuple(workspaces.of_person(tx, person.id))
        monkeypatch.setattr(session, "who", lambda: Identity(person, found, "local"))
        page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30).run()
        for name, value in query.items():
            page.query_params[name] = str(value)
        page.switch_page(f"pages/{file}").run()
        assert not page.exception
        return page

    yield open_
    worker.close()
