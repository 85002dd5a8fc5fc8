"""What the tests of the core may ask for beside a database."""

from collections.abc import Iterator

import pytest

from nexus_core import generation, llm, memories, worker
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.providers import PROVIDERS
from tests.nexus_core.conversing import project, until


@pytest.fixture
def me(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scope]:
    """The administrator, with a worker of this test's own, which looks up ten times as often as in earnest."""
    for provider in PROVIDERS.values():
        for name in (*provider.keys, *provider.bases):
            monkeypatch.delenv(name, raising=False)
    llm.warm()
    until(llm.ready, 60)
    monkeypatch.setattr(generation, "CHECKPOINT_SECONDS", 0.1)
    monkeypatch.setattr(generation, "FIRST_WAIT", 0.05)
    yield scope
    worker.close()


@pytest.fixture
def apollo(scope: Scope) -> Place:
    """A project with two decisions in its memory."""
    place = Place(project(scope, "Apollo"))
    assert place.project_id
    with transaction(scope) as tx:
        decisions = [("Launch from Lisbon", "active"), ("Launch from Oslo", "superseded")]
        entries = [{"what": what, "status": status} for what, status in decisions]
        memories.replace(tx, place.project_id, version=1, summary_md="We go to the moon.", decisions=entries)
    return place
