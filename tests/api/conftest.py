"""What the tests of the REST door ask for: programs that are signed in, at the real gate."""

from collections.abc import Callable, Iterator
from functools import cache

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from nexus_core import config, generation, llm, sessions, worker
from nexus_core.api import peers, rates
from nexus_core.api.doors import PROGRAMS
from nexus_core.api.gate import Gate
from nexus_core.database import Scope, transaction
from nexus_core.sessions import COOKIE
from tests.api.serving import served
from tests.nexus_core.conversing import until

Program = Callable[[Scope], TestClient]
door = Starlette(routes=PROGRAMS, middleware=[Middleware(Gate)])


def token(scope: Scope) -> str:
    """A session of the person of a scope, who signed in by password."""
    assert scope.user_id
    with transaction(Scope(None, scope.user_id, "system", "gate")) as tx:
        return sessions.create(tx, scope.user_id, "password")


@pytest.fixture(autouse=True)
def not_listening(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test's own process may listen on loopback, for a model say; the application in it is not served by that.

    And what other tests asked is not counted.
    """
    rates.reset()
    if not {"listening", "elsewhere"} & set(request.fixturenames):
        monkeypatch.setattr(peers, "listens_on_loopback_only", cache(lambda: False))


@pytest.fixture
def program(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Program]:
    """`program(scope)`: a client that holds the session of the person of a scope."""
    monkeypatch.setenv("NEXUS_AUTH", "password")
    config.reset()

    def signed_in(scope: Scope) -> TestClient:
        base = "http://nexus.test:8501"
        return TestClient(door, base_url=base, cookies={COOKIE: token(scope)}, raise_server_exceptions=False)

    yield signed_in
    worker.close()


@pytest.fixture
def client(program: Program, operator: Scope) -> TestClient:
    """An operator's program."""
    return program(operator)


@pytest.fixture
def reader(program: Program, viewer: Scope) -> TestClient:
    """A viewer's program."""
    return program(viewer)


@pytest.fixture
def wire(client: TestClient, operator: Scope) -> Iterator[httpx2.Client]:
    """An operator's program that speaks to a real server, so that a stream comes as it is sent."""
    cookies = {COOKIE: token(operator)}
    with served(door) as address, httpx2.Client(base_url=address, cookies=cookies, timeout=30) as made:
        yield made


@pytest.fixture
def ready(scope: Scope, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> Scope:
    """The administrator, once models can be called; checkpoints and second attempts come fast."""
    llm.warm()
    until(llm.ready, 60)
    monkeypatch.setattr(generation, "CHECKPOINT_SECONDS", 0.1)
    monkeypatch.setattr(generation, "FIRST_WAIT", 0.05)
    return scope
