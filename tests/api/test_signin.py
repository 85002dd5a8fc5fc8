"""The forms: sign in, sign out, first set-up, as a browser without scripts meets them."""

import re

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from nexus_core import config, passwords, people, signin
from nexus_core.api import signin as pages
from nexus_core.api.gate import Gate, safe_target
from nexus_core.database import Scope, transaction
from nexus_core.sessions import COOKIE

PASSWORD = "correct horse battery"
app = Starlette(routes=pages.routes, middleware=[Middleware(Gate)])


@pytest.fixture
def client(database_url: str, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """A browser at a server that is open to others."""
    monkeypatch.setenv("NEXUS_AUTH", "password")
    config.reset()
    base = "http://nexus.test:8501"
    return TestClient(app, base_url=base, follow_redirects=False, headers={"origin": base})


@pytest.fixture
def vera(viewer: Scope) -> Scope:
    """The viewer, who has a password."""
    assert viewer.user_id
    with transaction(viewer) as tx:
        people.set_password(tx, viewer.user_id, passwords.hash_(PASSWORD))
    signin.set_up(signin.set_up_code(), "ana@example.com", "Ana", PASSWORD)
    return viewer


def test_signing_in_leads_to_the_deep_link(client: TestClient, vera: Scope) -> None:
    form = {"email": "viewer@example.com", "password": PASSWORD, "next": "/chat?conversation=1&x=a b"}
    answer = client.post("/sign-in", data=form)
    assert (answer.status_code, answer.headers["location"]) == (303, "/chat?conversation=1&x=a%20b")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie and "Secure" not in cookie
    identity = signin.resolve(client.cookies[COOKIE])
    assert identity is not None and identity.person.id == vera.user_id
    again = client.get("/sign-in?next=/agents")
    assert (again.status_code, again.headers["location"]) == (303, "/agents")


def test_over_https_the_cookie_is_secure(client: TestClient, vera: Scope) -> None:
    form = {"email": "viewer@example.com", "password": PASSWORD}
    for address, headers in (
        ("https://nexus.test/sign-in", {"origin": "https://nexus.test"}),
        ("/sign-in", {"x-forwarded-proto": "https"}),
    ):
        assert "; Secure" in client.post(address, data=form, headers=headers).headers["set-cookie"]


def test_a_failure_says_so_and_keeps_the_email_alone(client: TestClient, vera: Scope) -> None:
    form = {"email": '"><script>x</script>', "password": "hunter2-hunter2", "next": "/chat"}
    answer = client.post("/sign-in", data=form)
    assert answer.status_code == 401
    assert 'role="alert"' in answer.text and "The e-mail or the password is wrong." in answer.text
    assert "<script>" not in answer.text and "&lt;script&gt;" in answer.text
    assert "hunter2" not in answer.text and 'value="/chat"' in answer.text
    assert "set-cookie" not in answer.headers and answer.headers["cache-control"] == "no-store"


def test_too_many_tries_say_when_to_come_back(client: TestClient, vera: Scope) -> None:
    form = {"email": "viewer@example.com", "password": "wrong"}
    answers = [client.post("/sign-in", data=form) for _try in range(11)]
    assert [answer.status_code for answer in answers] == [401] * 10 + [429]
    assert 0 < int(answers[-1].headers["retry-after"]) <= 301


def test_a_huge_form_is_not_read(client: TestClient, vera: Scope) -> None:
    form = {"email": "viewer@example.com", "password": PASSWORD, "x": "y" * 100_000}
    assert client.post("/sign-in", data=form).status_code == 401


def test_signing_out_ends_the_session_everywhere(client: TestClient, vera: Scope) -> None:
    token = signin.sign_in("viewer@example.com", PASSWORD)
    client.cookies.set(COOKIE, token)
    assert client.get("/sign-out").status_code == 200
    assert signin.resolve(token)
    answer = client.post("/sign-out")
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
    assert f'{COOKIE}=""' in answer.headers["set-cookie"] and "Max-Age=0" in answer.headers["set-cookie"]
    assert signin.resolve(token) is None


def test_the_first_administrator(client: TestClient, capsys: pytest.CaptureFixture[str]) -> None:
    assert client.get("/sign-in?next=/chat").headers["location"] == "/setup?next=%2Fchat"
    assert client.get("/setup").status_code == 200
    code = re.search(r"[0-9A-Z]{4}(-[0-9A-Z]{4}){2}", capsys.readouterr().err)
    assert code is not None
    form = {"code": code[0], "name": "Ana", "email": "ana@example.com", "password": "short", "next": "/chat"}
    refused = client.post("/setup", data=form)
    assert refused.status_code == 422
    assert 'value="ana@example.com"' in refused.text and "short" not in refused.text.replace("shorter", "")
    wrong = client.post("/setup", data=form | {"code": "AAAA-AAAA-AAAA", "password": PASSWORD})
    assert wrong.status_code == 422 and code[0] not in wrong.text
    done = client.post("/setup", data=form | {"password": PASSWORD})
    assert (done.status_code, done.headers["location"]) == (303, "/chat")
    identity = signin.resolve(client.cookies[COOKIE])
    assert identity is not None and identity.workspaces[0].role == "admin"
    assert client.get("/setup").headers["location"] == "/sign-in"
    assert client.post("/setup", data=form | {"password": PASSWORD}).status_code == 403


@pytest.mark.parametrize(
    ("target", "safe"),
    [
        ("/chat?conversation=1#x", "/chat?conversation=1#x"),
        (None, "/"), ("", "/"), ("chat", "/"), ("//evil.example", "/"), ("/\\evil.example", "/"), ("\\\\evil", "/"),
        ("https://evil.example", "/"), ("javascript:alert(1)", "/"), ("/\t/evil.example", "/"),
        ("/x\r\nSet-Cookie: a", "/"),
        ("/\u202e", "/"), ("/sign-in?next=/sign-in", "/"), ("/sign-out", "/"), ("/setup", "/"),
    ],
)  # fmt: skip
def test_only_this_site_is_a_target(target: str | None, safe: str) -> None:
    assert safe_target(target) == safe


@pytest.mark.parametrize("path", ["/setup", "/sign-out"])
def test_the_pages_need_nothing_from_elsewhere(client: TestClient, path: str) -> None:
    text = client.get(path).text
    assert not re.search(r"(src|href)=\"?(https?:)?//", text) and "<script" not in text
    for identifier in re.findall(r'<input id="(\w+)"', text):
        assert f'<label for="{identifier}">' in text
