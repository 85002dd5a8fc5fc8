"""What the doctor finds: the models that profiles reach, and whether Nexus itself is what answers."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from nexus_core import config, doctor, profiles
from nexus_core.database import Scope, transaction
from nexus_core.providers import PROVIDERS


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in PROVIDERS.values():
        for name in (*provider.keys, *provider.bases):
            monkeypatch.delenv(name, raising=False)


@pytest.fixture
def found() -> Callable[[str], str]:
    """`found("Models")`: what the doctor says of it."""
    return lambda what: next(str(each) for each in doctor.examine() if each.what.startswith(what))


def saved(scope: Scope, model: str, base: str | None, *, default: bool) -> None:
    with transaction(scope) as tx:
        made = profiles.save(tx, slug="own", name="Own", model=model, api_base=base)
        if default:
            profiles.make_default(tx, made.id)


def test_no_model(scope: Scope, found: Callable[[str], str]) -> None:
    assert "the built-in assistant answers" in found("Models")


def test_a_profile_with_an_address_is_a_connected_model(scope: Scope, found: Callable[[str], str]) -> None:
    saved(scope, "openai/llama", "http://localhost:1234/v1", default=True)
    said = found("Models")
    assert "profile Own (openai/llama)" in said
    assert "built-in" not in said


def test_a_connected_model_that_nobody_is_answered_by_is_told(scope: Scope, found: Callable[[str], str]) -> None:
    saved(scope, "openai/llama", "http://localhost:1234/v1", default=False)
    assert "the built-in assistant is the default" in found("Models")


def test_a_profile_whose_key_is_missing_is_none(
    scope: Scope, found: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(scope, "newcomer/x", None, default=True)
    assert "the built-in assistant answers" in found("Models")
    monkeypatch.setenv("NEWCOMER_API_KEY", "secret")
    assert "profile Own (newcomer/x)" in found("Models")


@contextmanager
def listening(status: int, body: bytes) -> Iterator[int]:
    """The port of something that gives every question the same answer."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join(5)


@pytest.mark.parametrize(
    ("status", "body", "ours"),
    [
        (200, b'{"success": true, "data": {}}', True),
        (503, b'{"success": true, "data": {"database": "unreachable"}}', True),
        (421, b'{"success": false, "error": {}}', True),
        (200, b"<html>", False),
        (404, b'{"detail": "Not Found"}', False),
        (200, b"[]", False),
    ],
)
def test_a_port_that_nexus_itself_holds_is_no_fault(
    scope: Scope, found: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, status: int, body: bytes, ours: bool
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")  # is not asked for what is on this machine
    with listening(status, body) as port:
        monkeypatch.setenv("PORT", str(port))
        config.reset()
        said = found("Port")
    assert said.endswith("Nexus runs there") is ours
    assert said.startswith("✓") is ours
