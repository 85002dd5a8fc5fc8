"""People over REST and by their links: invited, changed, removed; sessions listed and ended."""

from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from nexus_core import passwords, people
from nexus_core.database import Scope, transaction
from tests.api.conftest import Program
from tests.api.test_gate import app

PASSWORD = "correct horse battery"


@pytest.fixture
def admin(program: Program, scope: Scope) -> TestClient:
    """The administrator's program; they have a password."""
    with transaction(scope) as tx:
        people.set_password(tx, scope.user_id, passwords.hash_(PASSWORD))
    return program(scope)


def browser() -> TestClient:
    base = "http://nexus.test:8501"
    return TestClient(app, base_url=base, headers={"origin": base}, follow_redirects=False)


def test_an_invited_person_comes_in_by_their_link(admin: TestClient, client: TestClient) -> None:
    asked = {"email": "ana@example.com", "name": "Ana <b>"}
    made = admin.post("/api/people", json=asked | {"role": "viewer"})
    told = made.json()["data"]
    address = urlsplit(told["url"]).path
    assert made.status_code == 201 and (told["role"], told["hasPassword"]) == ("viewer", False)
    assert admin.post("/api/people", json=asked).status_code == 409
    assert client.post("/api/people", json=asked | {"email": "b@example.com"}).status_code == 403
    visitor = browser()
    shown = visitor.get(address)
    assert shown.status_code == 200 and "Ana &lt;b&gt;" in shown.text and "ana@example.com" in shown.text
    short = visitor.post(address, data={"password": "short"})
    assert short.status_code == 422 and "10 characters" in short.text
    cross = visitor.post(address, data={"password": PASSWORD}, headers={"origin": "https://evil.example"})
    assert cross.status_code == 403
    entered = visitor.post(address, data={"password": PASSWORD})
    assert (entered.status_code, entered.headers["location"]) == (303, "/") and "HttpOnly" in entered.headers[
        "set-cookie"
    ]
    assert visitor.get("/api/people").json()["success"]
    for dead in (address, "/welcome/x"):
        again = browser().get(dead)
        assert again.status_code == 404 and "too old" in again.text


def test_roles_status_sessions_and_removal(
    admin: TestClient, client: TestClient, operator: Scope, scope: Scope
) -> None:
    olga, me = f"/api/people/{operator.user_id}", f"/api/people/{scope.user_id}"
    (found, _owner) = admin.get("/api/people").json()["data"]
    assert (found["name"], found["sessions"], found["hasPassword"]) == ("Olga", 1, False)
    assert [one["sessions"] for one in client.get("/api/people").json()["data"]] == [1, None]
    (session,) = client.get(f"{olga}/sessions").json()["data"]
    assert session["method"] == "password" and client.get(f"{me}/sessions").status_code == 403
    assert admin.patch(olga, json={"role": "viewer"}).json()["data"]["role"] == "viewer"
    assert client.post("/api/agents", json={"name": "Ada"}).status_code == 403
    for change, status in (({}, 422), ({"role": "owner"}, 422), ({"status": "gone"}, 422)):
        assert admin.patch(olga, json=change).status_code == status
    assert admin.patch(me, json={"role": "viewer"}).status_code == 422
    assert admin.delete(me).status_code == 422
    changed = admin.post("/api/people/password", json={"current": PASSWORD, "password": "new " + PASSWORD})
    assert changed.json()["data"]["id"] == str(scope.user_id) and admin.get(me).status_code == 200
    assert client.post("/api/people/password", json={"current": "x", "password": "y" * 10}).status_code == 422
    link = admin.post(f"{olga}/link").json()["data"]["url"]
    assert browser().get(urlsplit(link).path).status_code == 200
    assert admin.delete(f"{olga}/sessions/{session['id']}").json()["data"] == {"sessions": 1}
    assert client.get("/api/people").status_code == 401
    assert admin.patch(olga, json={"status": "deactivated"}).json()["data"]["status"] == "deactivated"
    assert browser().get(urlsplit(link).path).status_code == 404
    assert admin.patch(olga, json={"status": "active", "role": "admin"}).json()["data"]["role"] == "admin"
    assert admin.post(f"{olga}/reset-password").json()["data"]["url"]
    assert admin.delete(f"{olga}/sessions").json()["data"] == {"sessions": 0}
    assert admin.delete(olga).status_code == 200 and admin.get(olga).status_code == 404
