"""The gate: who passes by which door, what another site can't do, and how the way in looks from outside."""

import re
import socket
from collections.abc import Iterator
from html import unescape
from urllib.parse import unquote

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from nexus_core import config, database, passwords, people, signin
from nexus_core.api import api, health, peers
from nexus_core.api import signin as pages
from nexus_core.api.gate import Gate
from nexus_core.database import Scope, transaction
from nexus_core.sessions import COOKIE

PASSWORD = "correct horse battery"
HOST = "http://localhost:8501"
STREAM = "ws://localhost:8501/_stcore/stream"
PROXY = {"x-forwarded-for": "203.0.113.9"}


async def page(request: Request) -> Response:
    """Stands for the cockpit: says who got through."""
    return JSONResponse({"who": request.state.identity.person.email, "method": request.state.identity.method})


async def stream(websocket: WebSocket) -> None:
    """Stands for Streamlit's WebSocket, behind which the scripts run."""
    await websocket.accept()
    await websocket.send_text(websocket.state.identity.person.email)
    await websocket.close()


app = Starlette(
    routes=[
        Route("/health", health),
        *pages.routes,
        Mount("/api", app=api),
        WebSocketRoute("/_stcore/stream", stream),
        Route("/{path:path}", page, methods=["GET", "HEAD", "POST", "PUT", "DELETE"]),
    ],
    middleware=[Middleware(Gate)],
)


@pytest.fixture
def listening() -> Iterator[None]:
    """This process listens, on loopback alone, as a server on somebody's own machine does."""
    with socket.create_server(("127.0.0.1", 0)):
        peers.listens_on_loopback_only.cache_clear()
        yield
    peers.listens_on_loopback_only.cache_clear()


@pytest.fixture
def elsewhere() -> Iterator[None]:
    """This process listens on every address."""
    with socket.create_server(("127.0.0.1", 0)), socket.create_server(("0.0.0.0", 0)):
        peers.listens_on_loopback_only.cache_clear()
        yield
    peers.listens_on_loopback_only.cache_clear()


@pytest.fixture
def member(viewer: Scope, monkeypatch: pytest.MonkeyPatch) -> str:
    """The token of a viewer who signed in by password, where local mode is off."""
    monkeypatch.setenv("NEXUS_AUTH", "password")
    config.reset()
    assert viewer.user_id
    with transaction(viewer) as tx:
        people.set_password(tx, viewer.user_id, passwords.hash_(PASSWORD))
    signin.set_up(signin.set_up_code(), "ana@example.com", "Ana", PASSWORD)
    return signin.sign_in("viewer@example.com", PASSWORD)


def visitor(base: str = HOST, address: str = "127.0.0.1", token: str | None = None) -> TestClient:
    cookies = {COOKIE: token} if token else None
    return TestClient(
        app, base_url=base, client=(address, 50000), follow_redirects=False, cookies=cookies,
        raise_server_exceptions=False,
    )  # fmt: skip


# The owner of this machine


def test_the_owner_comes_in_without_a_form(database_url: str, listening: None) -> None:
    client = visitor()
    answer = client.get("/chat?conversation=1")
    assert answer.json() == {"who": "owner@localhost", "method": "local"}
    cookie = answer.headers["set-cookie"]
    assert re.match(rf"{COOKIE}=[\w-]{{43}}; HttpOnly; Max-Age=7776000; Path=/; SameSite=lax$", cookie)
    assert "set-cookie" not in client.get("/").headers
    with client.websocket_connect(STREAM) as websocket:
        assert websocket.receive_text() == "owner@localhost"


@pytest.mark.parametrize(
    ("base", "address", "headers"),
    [
        (HOST, "192.168.1.20", {}),
        (HOST, "testclient", {}),
        (HOST, "127.0.0.1", PROXY),
        (HOST, "127.0.0.1", {"forwarded": "for=203.0.113.9"}),
        (HOST, "127.0.0.1", {"x-real-ip": "127.0.0.1"}),
        (HOST, "127.0.0.1", {"x-forwarded-host": "nexus.example.com"}),
        (HOST, "127.0.0.1", {"x-forwarded-proto": "https"}),
        (HOST, "127.0.0.1", {"via": "1.1 proxy"}),
    ],
)
def test_nobody_else_is_taken_for_the_owner(
    database_url: str, listening: None, base: str, address: str, headers: dict[str, str]
) -> None:
    owner = signin.sign_in_locally()
    for token in (None, owner):
        client = visitor(base, address, token)
        answer = client.get("/chat", headers=headers)
        assert (answer.status_code, answer.headers["location"]) == (303, "/setup?next=/chat")
        assert "set-cookie" not in answer.headers
        assert client.get("/api/agents", headers=headers).status_code == 401
        with pytest.raises(WebSocketDisconnect), client.websocket_connect(STREAM, headers=headers):
            pass


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "127.8.9.1", "[::1]", "nexus.localhost", "LOCALHOST"])
def test_loopback_has_several_names(database_url: str, listening: None, name: str) -> None:
    assert visitor(f"http://{name}:8501").get("/").json()["method"] == "local"


def test_a_process_that_listens_elsewhere_knows_no_owner(database_url: str, elsewhere: None) -> None:
    assert visitor().get("/").headers["location"] == "/setup?next=/"
    assert visitor("http://192.168.1.5:8501", "192.168.1.20").get("/").status_code == 303


def test_a_process_that_does_not_listen_knows_no_owner(database_url: str) -> None:
    peers.listens_on_loopback_only.cache_clear()
    assert visitor().get("/").status_code == 303
    peers.listens_on_loopback_only.cache_clear()


def test_the_owners_programs_need_no_cookie_and_other_sites_get_nothing(database_url: str, listening: None) -> None:
    assert visitor().get("/api/nothing").status_code == 404
    for headers in (
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://localhost:3000"},
        {"origin": "null"},
    ):
        assert visitor().get("/api/nothing", headers=headers).status_code == 401


def test_the_first_administrator_ends_local_mode(database_url: str, listening: None) -> None:
    client = visitor()
    assert client.get("/").json()["method"] == "local"
    signin.set_up(signin.set_up_code(), "ana@example.com", "Ana", PASSWORD)
    assert client.get("/").headers["location"] == "/sign-in?next=/"
    assert visitor().get("/api/agents").status_code == 401


# Anonymous visitors


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/", "/"),
        ("/chat?conversation=a%20b&x=%2F", "/chat%3Fconversation%3Da%2520b%26x%3D%252F"),
        ("/ünïcode", "/%C3%BCn%C3%AFcode"),
        ("//evil.example/x", "//evil.example/x"),
    ],
)
def test_an_anonymous_page_leads_to_the_form(member: str, path: str, target: str) -> None:
    answer = visitor().get(HOST + path)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/sign-in?next={target}")
    form = visitor().get(answer.headers["location"])
    shown = re.search(r'name="next" value="([^"]*)"', form.text)
    assert shown is not None
    assert unescape(shown[1]) == ("/" if path.startswith("//") else unquote(target))


def test_nothing_but_pages_is_redirected(member: str) -> None:
    for path in (
        "/_stcore/health", "/_stcore/metrics", "/_stcore/host-config", "/media/a.png", "/static/x",
        "/component/a/b", "/favicon.png", "/manifest.json", "/app/static/x",
    ):  # fmt: skip
        answer = visitor().get(path)
        assert (answer.status_code, answer.text) == (401, "Sign in first."), path
        assert visitor(token=member).get(path).status_code == 200


def test_an_anonymous_program_gets_json(member: str) -> None:
    for method in ("GET", "POST", "PATCH", "DELETE"):
        for path in ("/api", "/api/agents", "/api/"):
            answer = visitor().request(method, path, headers={"origin": HOST})
            assert answer.status_code == 401
            assert answer.json() == {
                "success": False,
                "error": {"code": "unauthenticated", "message": "Sign in first.", "field": None},
            }


def test_an_anonymous_upload_is_refused(member: str) -> None:
    for method in ("PUT", "POST", "DELETE"):
        answer = visitor().request(method, "/_stcore/upload_file/a/b", headers={"origin": HOST})
        assert answer.status_code == 401


@pytest.mark.parametrize("token", [None, "wrong", "é", "x" * 5000])
def test_an_anonymous_websocket_reaches_no_script(member: str, token: str | None) -> None:
    cookie = {"cookie": f"{COOKIE}={token}".encode()} if token else {}
    with pytest.raises(WebSocketDisconnect), visitor().websocket_connect(STREAM, headers=cookie):
        pass


def test_who_is_signed_in_passes(member: str) -> None:
    client = visitor(token=member)
    assert client.get("/chat").json() == {"who": "viewer@example.com", "method": "password"}
    with client.websocket_connect(STREAM, headers={"origin": HOST}) as websocket:
        assert websocket.receive_text() == "viewer@example.com"
    assert client.get("/api/nothing").status_code == 404


# Other sites


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site", "origin": "https://evil.example"},
        {"sec-fetch-site": "same-site", "origin": "http://localhost:3000"},
        {"origin": "https://evil.example"},
        {"origin": "http://localhost:85010"},
        {"origin": "http://localhost:8501.evil.example"},
        {"origin": "null"},
        {"origin": "file://"},
        {"content-type": "application/x-www-form-urlencoded"},
        {"content-type": "text/plain; charset=utf-8"},
        {"content-type": "multipart/form-data; boundary=x"},
    ],
)
def test_another_site_can_send_nothing(member: str, headers: dict[str, str]) -> None:
    for path in ("/sign-in", "/sign-out", "/setup", "/api/agents", "/_stcore/upload_file/a/b", "/"):
        answer = visitor(token=member).post(path, headers=headers, content=b"email=x")
        assert (path, answer.status_code) == (path, 403)
        assert "another site" in answer.text
    assert signin.resolve(member)


@pytest.mark.parametrize("origin", ["https://evil.example", "http://localhost:3000", "null", "http://[::1"])
def test_another_sites_websocket_is_refused(member: str, origin: str) -> None:
    client = visitor(token=member)
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect(STREAM, headers={"origin": origin}),
    ):
        pass


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:8501", "localhost@evil", ""],
)
def test_a_rebound_name_is_refused(database_url: str, listening: None, host: str) -> None:
    client = visitor()
    answer = client.get("/", headers={"host": host, "accept": "text/html"})
    assert answer.status_code == 421
    assert "NEXUS_ALLOWED_HOSTS" in answer.text and "set-cookie" not in answer.headers
    assert client.get("/api/agents", headers={"host": host}).json()["error"]["code"] == "misdirected"
    with pytest.raises(WebSocketDisconnect), client.websocket_connect(STREAM, headers={"host": host}):
        pass
    assert client.get("/health", headers={"host": host}).status_code == 200


def test_allowed_hosts_are_the_only_ones(member: str, elsewhere: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert visitor("http://anything.example").get("/").status_code == 303
    monkeypatch.setenv("NEXUS_ALLOWED_HOSTS", "nexus.example.com, *.corp.example")
    for base, status in (
        ("https://nexus.example.com", 200),
        ("https://a.b.corp.example:8443", 200),
        (HOST, 200),
        ("https://corp.example", 421),
        ("https://nexus.example.com.evil.example", 421),
        ("https://evilcorp.example", 421),
        ("http://10.0.0.5:8501", 421),
    ):
        assert visitor(base, "10.0.0.9", member).get("/").status_code == status, base
    behind = {"origin": "https://nexus.example.com", "host": "localhost:8501"}
    assert visitor(token=member).post("/", headers=behind).status_code == 200


# What every answer carries


def test_every_answer_carries_the_security_headers(member: str) -> None:
    for path in ("/", "/sign-in", "/api/agents", "/health", "/_stcore/health"):
        for token in (None, member):
            headers = visitor(token=token).get(path).headers
            policy = headers["content-security-policy"]
            rules = {rule.split()[0]: rule.split()[1:] for rule in policy.split(";")}
            assert rules["default-src"] == rules["frame-ancestors"] == rules["form-action"] == ["'self'"]
            assert rules["object-src"] == ["'none'"]
            assert all(source == "'self'" or source.startswith("'sha256-") for source in rules["script-src"])
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "same-origin"


def test_the_api_answers_unknown_addresses_and_methods_in_its_own_form(member: str) -> None:
    client = visitor(token=member)
    missing = client.get("/api/no-such-thing").json()
    assert missing == {
        "success": False,
        "error": {"code": "not_found", "message": "There is no such address here.", "field": None},
    }


def test_health_needs_nobody_and_tells_the_truth(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = visitor("http://10.1.2.3:8501", "10.9.9.9").get("/health")
    assert answer.status_code == 200
    assert answer.json()["success"] is True
    assert answer.json()["data"] == {"status": "ok", "database": "ok", "version": "0.1.0"}
    monkeypatch.setenv("NEXUS_DATABASE_URL", "postgresql://nobody@127.0.0.1:9/none")
    config.reset()
    database.reset()
    away = visitor().get("/health")
    assert away.status_code == 503
    assert away.json()["data"]["status"] == "degraded" and away.json()["data"]["database"] == "unreachable"
    for path, kind in (("/chat", "text/html"), ("/api/agents", "application/json"), ("/_stcore/health", "text/plain")):
        answer = visitor(token="anything").get(path, headers={"accept": kind})
        assert answer.status_code == 503 and answer.headers["content-type"].startswith(kind)
        assert "be reached" in answer.text and "Traceback" not in answer.text
