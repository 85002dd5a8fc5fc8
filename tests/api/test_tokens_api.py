"""Tokens at the gate and over REST: programs come in with them, from anywhere, and stay within their limits."""

from collections.abc import Callable

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from nexus_core import config, conversations, projects, signin
from nexus_core.api import api, rates
from nexus_core.api.gate import Gate
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from tests.api.conftest import Program


async def scope_of(request: Request) -> Response:
    """Stands for the other doors of programs, whose scope the gate sets as well."""
    scope = signin.scope_for(request.state.identity, None, "mcp")
    return JSONResponse({"role": scope.role, "projects": [str(one) for one in scope.project_ids or ()]})


app = Starlette(
    routes=[Mount("/api", app=api), Route("/{path:path}", scope_of, methods=["GET", "POST"])],
    middleware=[Middleware(Gate)],
)


def holder(token: str, **headers: str) -> TestClient:
    """A program with a token and no cookie, as a page of another site would send it, were it to know the token."""
    told = {"authorization": f"Bearer {token}", "origin": "https://elsewhere.example", "sec-fetch-site": "cross-site"}
    return TestClient(app, base_url="http://nexus.test:8501", headers=told | headers, raise_server_exceptions=False)


def test_a_token_is_made_used_and_revoked(client: TestClient, program: Program, scope: Scope) -> None:
    asked = {"name": "Nightly import", "days": 7}
    made = client.post("/api/tokens", json=asked)
    data = made.json()["data"]
    assert made.status_code == 201 and data["role"] == "operator" and data["projectIds"] is None
    token = data.pop("token")
    bot = holder(token)
    assert bot.post("/api/agents", json={"name": "Ada"}).status_code == 201
    for family in ("/v1/models", "/mcp"):
        assert bot.get(family).json() == {"role": "operator", "projects": []}
    (listed,) = client.get("/api/tokens").json()["data"]
    assert listed["lastUsedAt"] and listed | {"lastUsedAt": None} == data
    refused = bot.post("/api/tokens", json=asked)
    assert refused.status_code == 403 and "sign in" in refused.json()["error"]["message"]
    for wrong, field in (({"days": 0}, "days"), ({"role": "owner"}, "role"), ({"projectIds": []}, "projectIds")):
        answer = client.post("/api/tokens", json=asked | wrong)
        assert (answer.status_code, answer.json()["error"]["field"]) == (422, field)
    assert client.get("/api/tokens?all=true").status_code == 403
    assert len(program(scope).get("/api/tokens?all=true").json()["data"]) == 1
    assert client.delete(f"/api/tokens/{data['id']}").json()["data"] == {"id": data["id"]}
    assert client.delete(f"/api/tokens/{data['id']}").status_code == 404
    assert bot.get("/api/agents").status_code == 401


def test_what_opens_nothing_is_401_in_the_words_of_each_door(client: TestClient, scope: Scope) -> None:
    bad = holder("nxs_" + "0" * 48)
    answer = bad.get("/api/agents")
    assert answer.status_code == 401 and answer.json()["error"]["code"] == "unauthenticated"
    assert answer.headers["www-authenticate"] == 'Bearer realm="Nexus", error="invalid_token"'
    answer = bad.post("/v1/chat/completions", json={})
    assert (answer.status_code, answer.json()["error"]["type"]) == (401, "authentication_error")
    assert bad.get("/mcp").headers["www-authenticate"].startswith("Bearer ")
    unknown = holder("sk-whatever-a-client-has-to-send").get("/api/agents")
    assert (unknown.status_code, unknown.headers["www-authenticate"]) == (401, 'Bearer realm="Nexus"')
    # No other way in: a page takes no token, and a cookie goes on being asked where it came from.
    token = client.post("/api/tokens", json={"name": "x"}).json()["data"]["token"]
    assert holder(token).get("/chat", headers={"accept": "text/html"}, follow_redirects=False).status_code == 303
    assert client.post("/api/agents", json={"name": "x"}, headers={"origin": "https://evil.example"}).status_code == 403


@pytest.fixture
def limited(scope: Scope, client: TestClient) -> tuple[TestClient, dict[str, str]]:
    """A program whose token is limited to Apollo, and the ids of what there is."""
    with transaction(scope) as tx:
        apollo, other = projects.create(tx, "Apollo"), projects.create(tx, "Other")
        inside = conversations.create(tx, Place(project_id=apollo.id))
        outside = conversations.create(tx, Place(project_id=other.id))
    ids = {"apollo": apollo.id, "other": other.id, "inside": inside.id, "outside": outside.id}
    told = {name: str(one) for name, one in ids.items()}
    told["own"] = client.post("/api/conversations", json={}).json()["data"]["id"]
    made = client.post("/api/tokens", json={"name": "Apollo's", "projectIds": [told["apollo"]]}).json()["data"]
    return holder(made["token"]), told


def test_other_projects_are_not_found(limited: tuple[TestClient, dict[str, str]]) -> None:
    bot, ids = limited
    assert bot.get("/mcp").json() == {"role": "operator", "projects": [ids["apollo"]]}
    assert [one["id"] for one in bot.get("/api/projects").json()] == [ids["apollo"]]
    assert bot.put(f"/api/projects/{ids['apollo']}/memory", json={"summary_md": "x"}).status_code == 200
    assert bot.get(f"/api/conversations/{ids['inside']}").status_code == 200
    hidden: list[tuple[Callable[..., Response], str, dict[str, object]]] = [
        (bot.get, "/api/projects/{other}", {}),
        (bot.get, "/api/projects/{other}/memory", {}),
        (bot.put, "/api/projects/{other}/memory", {"json": {"summary_md": "x"}}),
        (bot.get, "/api/projects/{other}/assistant-runs", {}),
        (bot.post, "/api/projects/{other}/assistant-runs", {"json": {"model": "m", "status": "planned"}}),
        (bot.get, "/api/projects/{other}/conversations", {}),
        (bot.get, "/api/conversations/{outside}", {}),
        (bot.get, "/api/conversations/{own}/messages", {}),
        (bot.get, "/api/chat/{own}/stream", {}),
        (bot.post, "/api/conversations/{outside}/stop", {}),
        (bot.delete, "/api/conversations/{outside}", {}),
        (bot.post, "/api/conversations/{inside}/move", {"json": {"projectId": "{other}"}}),
        (bot.post, "/api/chat", {"json": {"message": "x", "conversationId": "{outside}"}}),
    ]
    for call, path, options in hidden:
        body = {key: value.format(**ids) for key, value in options.get("json", {}).items()}
        answer = call(path.format(**ids), **({"json": body} if body else {}))
        assert answer.status_code == 404, (path, body, answer.text)
    # Nothing is made outside, whether there is such a project or not.
    for place in ({}, {"projectId": ids["other"]}, {"projectId": ids["own"]}):
        assert bot.post("/api/chat", json={"message": "x"} | place).status_code == 403
    assert bot.post("/api/projects", json={"name": "Third"}).status_code == 403
    assert bot.post("/api/agents", json={"name": "Ada"}).status_code == 403
    assert [one["id"] for one in bot.get("/api/conversations?q=&status=active").json()["data"]] in ([], [ids["inside"]])


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch, client: TestClient) -> TestClient:
    """A program where little may be asked."""
    monkeypatch.setenv("NEXUS_RATE_TOKEN", "2/minute")
    monkeypatch.setenv("NEXUS_RATE_PERSON", "4/minute")
    monkeypatch.setenv("NEXUS_RATE_ADDRESS", "9/minute")
    monkeypatch.setenv("NEXUS_MAX_BODY_MB", "1")
    config.reset()
    rates.reset()
    return client


def test_who_asks_too_often_is_told_when_to_come_back(few: TestClient) -> None:
    token, other = (few.post("/api/tokens", json={"name": "x"}).json()["data"]["token"] for _n in range(2))
    assert [holder(token).get("/mcp").status_code for _n in range(3)] == [200, 200, 429]
    assert holder(other).get("/mcp").status_code == 200
    assert [few.get("/api/agents").status_code for _n in range(2)] == [200, 200]
    answer = few.get("/api/agents")  # the person's limit: two tokens made, two lists read
    assert (answer.status_code, answer.json()["error"]["code"]) == (429, "too_many")
    assert 0 < int(answer.headers["retry-after"]) <= 61
    answer = holder("nxs_guess").get("/v1/models")  # and the address', whoever asks
    assert (answer.status_code, answer.json()["error"]["type"]) == (429, "rate_limit_error")


def test_what_is_too_large_and_what_every_answer_says(few: TestClient) -> None:
    answer = few.post("/api/projects", content=b"x" * (1024**2 + 1), headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["message"]) == (413, "A request has at most 1 MB.")
    answer = few.get("/api/agents", headers={"x-forwarded-proto": "https"})
    told = {name: answer.headers[name] for name in ("cache-control", "x-content-type-options", "x-frame-options")}
    assert told == {"cache-control": "no-store", "x-content-type-options": "nosniff", "x-frame-options": "SAMEORIGIN"}
    assert "max-age" in answer.headers["strict-transport-security"]
    assert "strict-transport-security" not in few.get("/api/agents").headers
