"""Signing in by an identity provider: a real one on loopback, over HTTP; only the clicks there are ours."""

from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from hashlib import sha256
from urllib.parse import parse_qs, urlsplit

import httpx2
import oidc_provider_mock
import pytest
from starlette.testclient import TestClient

from nexus_core import accounts, config, oidc, passwords, people, signin
from nexus_core.database import Scope, transaction
from nexus_core.oidc_provider import ProviderFailed
from nexus_core.sessions import COOKIE
from tests.api.test_gate import app
from tests.store import ask, do

BASE = "http://nexus.test:8501"
SignIn = Callable[..., httpx2.Response]


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with oidc_provider_mock.run_server_in_thread() as server:
        yield f"http://localhost:{server.server_port}"


@pytest.fixture
def provider(issuer: str, database_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Nexus knows the provider."""
    for name, value in {"ISSUER": issuer, "CLIENT_ID": "nexus", "CLIENT_SECRET": "secret", "NAME": "Acme"}.items():
        monkeypatch.setenv(f"NEXUS_OIDC_{name}", value)
    monkeypatch.setenv("NEXUS_AUTH", "password")
    config.reset()
    return issuer


@pytest.fixture
def browser(provider: str) -> TestClient:
    return TestClient(app, base_url=BASE, follow_redirects=False)


@pytest.fixture
def come(browser: TestClient, provider: str) -> SignIn:
    """`come("ana", email=…)`: what Nexus answers when the provider has signed somebody in with these claims."""

    def come_(subject: str, **claims: object) -> httpx2.Response:
        browser.cookies.clear()
        told = {"email": f"{subject}@example.com", "email_verified": True} | claims
        assert httpx2.put(f"{provider}/users/{subject}", json=told).status_code == 204
        asked = browser.get("/sign-in/oidc?next=/chat%3Fx%3D1").headers["location"]
        back = httpx2.post(asked, data={"sub": subject}).headers["location"]
        return browser.get(back.removeprefix(BASE))

    return come_


def setting(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    for name, value in values.items():
        monkeypatch.setenv(f"NEXUS_OIDC_{name}", value)
    config.reset()


def roles(scope: Scope) -> dict[str, str]:
    with transaction(scope) as tx:
        return {one.email: one.role for one in people.members(tx)}


def test_the_way_there_and_back(browser: TestClient, provider: str, scope: Scope, come: SignIn) -> None:
    shown = browser.get("/sign-in?next=/chat").text
    assert 'href="/sign-in/oidc?next=/chat"' in shown and "Sign in with Acme" in shown
    sent = browser.get("/sign-in/oidc?next=https://evil.example")
    asked = {name: values[0] for name, values in parse_qs(urlsplit(sent.headers["location"]).query).items()}
    assert (asked["response_type"], asked["client_id"], asked["redirect_uri"]) == (
        "code",
        "nexus",
        f"{BASE}/sign-in/oidc/callback",
    )
    cookie = sent.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie and "Path=/sign-in/oidc" in cookie and "evil" not in cookie
    assert asked["code_challenge_method"] == "S256" and len(asked["nonce"]) == len(asked["state"]) == 43
    _url, attempt = oidc.begin("http://x/")
    challenge = urlsafe_b64encode(sha256(attempt.verifier.encode()).digest()).rstrip(b"=").decode()
    assert f"code_challenge={challenge}" in _url
    accounts_, code = invited(scope, "ana@example.com")
    answer = come("ana", name="Ana")
    assert (answer.status_code, answer.headers["location"]) == (303, "/chat?x=1"), answer.text
    identity = signin.resolve(browser.cookies[COOKIE])
    assert identity and (identity.person.id, identity.method) == (accounts_, "oidc") and code
    assert browser.get("/api/people").status_code == 200
    with transaction(scope) as tx:
        (account,) = people.accounts(tx, accounts_)
    assert (account.has_oidc, account.has_password, account.role) == (True, False, "operator")


def invited(scope: Scope, email: str) -> tuple[object, str | None]:
    with transaction(scope) as tx:
        people.set_password(tx, scope.user_id, passwords.hash_("correct horse battery"))
    made, code = accounts.invite(scope, email, "Ana", "operator")
    return made.id, code


def test_who_may_not_come_in(scope: Scope, come: SignIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is made; each is told why, at the form."""
    person_id, _code = invited(scope, "ana@example.com")
    for claims, sentence in (
        ({"email": "stranger@example.com"}, "ask an administrator to invite you"),
        ({"email_verified": False}, "has not verified"),
        ({"email": None}, "has not verified"),
    ):
        answer = come("ana", **claims)
        assert answer.status_code == 403 and sentence in answer.text and COOKIE not in answer.headers["set-cookie"]
    assert list(roles(scope)) == ["ana@example.com", "owner@localhost"]
    assert come("ana").status_code == 303
    assert come("ana", email="renamed@example.com", email_verified=False).status_code == 303  # the subject is who it is
    taken = come("mallory", email="ANA@example.com")
    assert taken.status_code == 403 and "another account" in taken.text
    accounts.deactivate(scope, person_id)
    assert "deactivated" in come("ana").text
    assert ask(Scope.system(), "SELECT count(*) FROM people")[0][0] == 2


def test_groups_give_roles_with_each_sign_in(scope: Scope, come: SignIn, monkeypatch: pytest.MonkeyPatch) -> None:
    setting(monkeypatch, GROUPS="nexus-admins=admin, staff=operator", GROUPS_CLAIM="groups")
    assert come("bo", groups=["staff", "chess"], name="Bo\nB").status_code == 303
    assert roles(scope)["bo@example.com"] == "operator"
    assert come("bo", groups=["nexus-admins", "staff"]).status_code == 303 and roles(scope)["bo@example.com"] == "admin"
    refused = come("bo", groups=["chess"])
    assert refused.status_code == 403 and "None of your groups" in refused.text
    do(Scope.system(), "UPDATE memberships SET role = 'viewer' WHERE user_id = :u", u=scope.user_id)
    assert come("bo", groups="staff").status_code == 303
    assert roles(scope)["bo@example.com"] == "admin"  # the only one who can sign in
    setting(monkeypatch, DEFAULT_ROLE="viewer")
    assert come("cy").status_code == 303 and roles(scope)["cy@example.com"] == "viewer"


def test_what_this_browser_did_not_ask_for(browser: TestClient, provider: str, come: SignIn, scope: Scope) -> None:
    invited(scope, "ana@example.com")
    assert come("ana").status_code == 303
    sent = browser.get("/sign-in/oidc").headers["location"]
    back = httpx2.post(sent, data={"sub": "ana"}).headers["location"].removeprefix(BASE)
    wrong = back.replace("state=", "state=x")
    assert browser.get(wrong).status_code == 401 and browser.get(back).status_code == 401  # the attempt is used up
    assert TestClient(app, base_url=BASE).get(back).status_code == 401
    for cookie in ("nonsense", "[1]", "%5B%22%5Cud800%22%2C%22%22%2C%22%22%2C%22%22%5D"):
        odd = TestClient(app, base_url=BASE, cookies={"nexus_oidc": cookie})
        assert odd.get("/sign-in/oidc/callback?code=x&state=x").status_code == 401
    url, attempt = oidc.begin(f"{BASE}/sign-in/oidc/callback")
    code = parse_qs(urlsplit(httpx2.post(url, data={"sub": "ana"}).headers["location"]).query)["code"][0]
    other = oidc.Attempt(attempt.state, "another nonce", attempt.verifier)
    with pytest.raises(ProviderFailed):
        oidc.finish(other, attempt.state, code, f"{BASE}/sign-in/oidc/callback")


def test_a_provider_that_is_not_there(browser: TestClient, monkeypatch: pytest.MonkeyPatch, issuer: str) -> None:
    for wrong in ("http://localhost:9", f"{issuer}/elsewhere"):
        setting(monkeypatch, ISSUER=wrong)
        answer = browser.get("/sign-in/oidc")
        assert (
            answer.status_code == 502 and "did not let this sign-in" in answer.text and "Traceback" not in answer.text
        )
    monkeypatch.delenv("NEXUS_OIDC_ISSUER")
    config.reset()
    assert browser.get("/sign-in/oidc").status_code == 422 and "Sign in with" not in browser.get("/sign-in").text
