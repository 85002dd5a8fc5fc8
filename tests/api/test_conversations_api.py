"""/api/conversations: the lists, the active one, pages of messages, in camelCase and in the envelope."""

from uuid import uuid4

import pytest
from starlette.testclient import TestClient

from nexus_core import conversations, messages, parts, recall
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from tests.api.conftest import Program
from tests.nexus_core.conversing import agent, ask, project
from tests.store import do

NOBODY = "00000000-0000-4000-8000-000000000000"
CONTRACT = {"id", "userId", "title", "agentId", "modelId", "providerId", "createdAt", "updatedAt", "messages"}


def ids(client: TestClient, query: str) -> list[str]:
    answer = client.get(f"/api/conversations?{query}")
    assert answer.status_code == 200, answer.text
    return [one["id"] for one in answer.json()["data"]]


def test_the_active_conversation_and_the_lists_never_mix(client: TestClient, operator: Scope) -> None:
    ada = agent(operator, "Ada")
    for query in ("isJustChat=true", f"agentId={ada}"):
        assert client.get(f"/api/conversations/active?{query}").json() == {"success": True, "data": None}
    turn, answer = ask(operator, "My name is Ana")
    other, _answer = ask(operator, "Hello Ada", place=Place(None, ada))
    active = client.get("/api/conversations/active?isJustChat=true").json()["data"]
    assert set(active) >= CONTRACT
    assert active["id"] == str(turn.conversation_id) and active["userId"] == str(operator.user_id)
    assert (active["title"], active["agentId"]) == ("My name is Ana", None)
    assert (active["modelId"], active["earlier"]) == ("builtin/recall", 0)
    assert [(one["role"], one["content"]) for one in active["messages"]] == [
        ("user", "My name is Ana"), ("assistant", answer.body),
    ]  # fmt: skip
    assert active["messages"][1]["id"] == str(answer.id) and active["messages"][1]["parts"] == answer.parts
    theirs = client.get(f"/api/conversations/active?agentId={ada}").json()["data"]
    assert (theirs["id"], theirs["agentId"]) == (str(other.conversation_id), str(ada))
    assert ids(client, "isJustChat=true") == [active["id"]] and ids(client, f"agentId={ada}") == [theirs["id"]]
    assert ids(client, "") == [theirs["id"], active["id"]], "all of one's own, newest first"


def test_a_new_one_leaves_the_old_one(client: TestClient, operator: Scope) -> None:
    turn, _answer = ask(operator, "First")
    made = client.post("/api/conversations", json={})
    assert made.status_code == 201 and made.json()["data"]["title"] == ""
    fresh = made.json()["data"]["id"]
    assert client.get("/api/conversations/active?isJustChat=true").json()["data"]["id"] == fresh
    assert client.post("/api/conversations", json={}).json()["data"]["id"] == fresh, "an empty one is not made twice"
    assert ids(client, "isJustChat=true") == [fresh, str(turn.conversation_id)]
    own = client.post("/api/conversations", json={"sessionId": "s-1", "metadata": {"a": 1}}).json()["data"]
    assert (own["sessionId"], own["metadata"]) == ("s-1", {"a": 1})
    assert client.post("/api/conversations", json={"sessionId": "s-1"}).json()["data"]["id"] == own["id"]


def test_sixty_conversations_at_one_time_come_on_three_pages(client: TestClient, operator: Scope) -> None:
    with transaction(operator) as tx:
        made = {str(conversations.create(tx, Place(), title=f"Number {n}").id) for n in range(60)}
    do(operator, "UPDATE conversations SET last_message_at = '2026-01-01T00:00:00Z'")
    for query in ("isJustChat=true&", ""):
        seen: list[str] = []
        for size in (25, 25, 10, 0):
            page = ids(client, f"{query}limit=25" + (f"&before={seen[-1]}" if seen else ""))
            assert len(page) == size
            seen += page
        assert set(seen) == made and len(seen) == 60


def test_messages_come_in_order_and_page_by_page(client: TestClient, operator: Scope) -> None:
    with transaction(operator) as tx:
        made = conversations.create(tx, Place())
        for n in range(1, 8):
            messages.append(tx, made.id, "user", [parts.text(f"Number {n}")])
        messages.append(tx, made.id, "tool", [parts.text("42")], metadata={"tool_call_id": "c1", "tool_name": "sum"})
    path = f"/api/conversations/{made.id}/messages"
    page = client.get(path, params={"limit": 3}).json()["data"]
    assert [one["content"] for one in page] == ["Number 6", "Number 7", "42"]
    assert page[2]["role"] == "assistant" and page[2]["parts"] == [
        {"type": "dynamic-tool", "toolName": "sum", "toolCallId": "c1", "state": "output-available", "input": {},
         "output": "42"}
    ]  # fmt: skip
    earlier = client.get(path, params={"limit": 3, "before": page[0]["seq"]}).json()["data"]
    assert [one["content"] for one in earlier] == ["Number 3", "Number 4", "Number 5"]
    opened = client.get(f"/api/conversations/{made.id}?limit=3").json()["data"]
    assert opened["messages"] == page and opened["earlier"] == 5


def test_renaming_archiving_and_deleting(client: TestClient, operator: Scope) -> None:
    turn, _answer = ask(operator, "Hello")
    path = f"/api/conversations/{turn.conversation_id}"
    read = client.get(path)
    changed = client.patch(path, json={"title": "Mine"}, headers={"if-match": read.headers["etag"]})
    assert changed.json()["data"]["title"] == "Mine"
    late = client.patch(path, json={"title": "Late"}, headers={"if-match": read.headers["etag"]})
    assert late.status_code == 409 and late.json()["error"]["detail"]["version"] == changed.headers["etag"].strip('"')
    ask(operator, "More", conversation_id=turn.conversation_id)
    assert client.get(path).json()["data"]["title"] == "Mine"
    client.patch(path, json={"status": "archived"})
    assert ids(client, "isJustChat=true") == [] and ids(client, "archived=true") == [str(turn.conversation_id)]
    assert client.get("/api/conversations/active?isJustChat=true").json()["data"] is None
    client.patch(path, json={"status": "open"})
    assert ids(client, "isJustChat=true") == [str(turn.conversation_id)]
    assert client.delete(path).json() == {"success": True, "data": {"id": str(turn.conversation_id)}}
    assert client.get(path).status_code == client.delete(path).status_code == 404
    assert do(operator, "DELETE FROM messages WHERE conversation_id = :id", id=turn.conversation_id) == 0


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/api/conversations?limit=0", "limit"),
        ("/api/conversations?limit=201", "limit"),
        ("/api/conversations?limit=x", "limit"),
        ("/api/conversations?before=x", "before"),
        ("/api/conversations?agentId=x", "agentId"),
        (f"/api/conversations?agentId={NOBODY}&isJustChat=true", "isJustChat"),
        (f"/api/conversations?projectId={NOBODY}", "agentId"),
        ("/api/conversations/active", "agentId"),
        ("/api/conversations/active?isJustChat=false", "agentId"),
        ("/api/conversations/not-an-id", "conversationId"),
        (f"/api/conversations/{NOBODY}/messages?before=0", "before"),
        (f"/api/conversations/{NOBODY}/messages?limit=100000", "limit"),
    ],
)
def test_what_does_not_fit_is_named(client: TestClient, path: str, field: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, field)


def test_a_private_conversation_is_nowhere_for_others(
    client: TestClient, program: Program, operator: Scope, scope: Scope, other_scope: Scope
) -> None:
    mine, _answer = ask(operator, "A secret")
    shared, _answer = ask(operator, "For all", place=Place(project(operator)))
    for other, there in ((scope, 200), (other_scope, 404)):
        stranger = program(other)
        for method, tail, body in (
            ("GET", "", None), ("GET", "/messages", None), ("PATCH", "", {"title": "x"}), ("POST", "/stop", None),
            ("DELETE", "", None),
        ):  # fmt: skip
            found = stranger.request(method, f"/api/conversations/{mine.conversation_id}{tail}", json=body)
            missing = stranger.request(method, f"/api/conversations/{uuid4()}{tail}", json=body)
            assert (found.status_code, found.json()) == (404, missing.json())
        assert stranger.get(f"/api/conversations/{shared.conversation_id}").status_code == there
        assert str(mine.conversation_id) not in stranger.get("/api/conversations").text
        assert stranger.get(f"/api/conversations?before={mine.conversation_id}").status_code == 404
    assert client.get(f"/api/conversations/{mine.conversation_id}").status_code == 200


def test_a_viewer_changes_nothing(reader: TestClient, operator: Scope) -> None:
    turn, _answer = ask(operator, "For all", place=Place(project(operator)))
    path = f"/api/conversations/{turn.conversation_id}"
    assert reader.get(path).status_code == 200
    for method, where, body in (
        ("POST", "/api/conversations", {}), ("PATCH", path, {"title": "x"}), ("DELETE", path, None),
        ("POST", f"{path}/stop", None),
    ):  # fmt: skip
        answer = reader.request(method, where, json=body)
        assert (answer.status_code, "operator role" in answer.json()["error"]["message"]) == (403, True)
    assert reader.delete(path).status_code == 403


def test_where_there_is_no_such_agent_nothing_is_made(client: TestClient, operator: Scope) -> None:
    for body in ({"agentId": str(uuid4())}, {"projectId": str(uuid4())}):
        assert client.post("/api/conversations", json=body).status_code == 404
    task = client.post("/api/conversations", json={"projectId": str(project(operator)), "taskId": str(uuid4())})
    assert task.status_code == 404
    assert client.get(f"/api/conversations?agentId={uuid4()}").status_code == 404
    assert ids(client, "") == []


def test_search_finds_what_was_said_and_goes_on(client: TestClient, operator: Scope, colleague: Scope) -> None:
    home = project(operator)
    for number in range(5):
        with transaction(colleague if number else operator) as tx:
            made = conversations.create(tx, Place(home), title=f"Kettle {number}", session_id=f"s-{number}")
            messages.append(tx, made.id, "user", [parts.text(f"The kettle is blue, said {number}.")])
    with transaction(colleague) as tx:
        secret = conversations.create(tx, Place(), title="Kettle of mine")
    while recall.index_pending():
        pass
    seen: list[str] = []
    after = ""
    for size in (2, 2, 1):
        query = {"q": "blue kettle", "limit": 2, "projectId": str(home)} | ({"after": after} if after else {})
        answer = client.get("/api/conversations", params=query).json()
        assert len(answer["data"]) == size and answer["page"]["total"] == 5 and answer["page"]["exact"] is True
        seen += [one["id"] for one in answer["data"]]
        after = answer["page"]["after"]
    assert after is None and len(set(seen)) == 5, "colleagues' in projects too"
    passage = answer["data"][0]["passage"]
    assert [passage["text"][a:b] for a, b in passage["marks"]] == ["kettle", "blue"] and passage["seq"] == 1
    assert str(secret.id) not in client.get("/api/conversations?q=").text
    mine = client.get("/api/conversations").json()
    assert len(mine["data"]) == 1 and mine["page"] is None and mine["data"][0]["passage"] is None
    assert client.get("/api/conversations?q=zzz").json() == {
        "success": True, "data": [], "page": {"total": 0, "exact": True, "after": None},
    }  # fmt: skip


def test_tags_are_read_written_and_searched_by(client: TestClient, operator: Scope) -> None:
    turn, _answer = ask(operator, "Hello")
    path = f"/api/conversations/{turn.conversation_id}"
    read = client.get(path)
    assert read.json()["data"]["tags"] == []
    changed = client.patch(path, json={"tags": ["Pricing", "q3"], "kind": "decision"})
    assert (changed.json()["data"]["tags"], changed.json()["data"]["kind"]) == (["Pricing", "q3"], "decision")
    assert changed.headers["etag"] != read.headers["etag"]
    late = client.patch(path, json={"tags": []}, headers={"if-match": read.headers["etag"]})
    assert late.status_code == 409 and client.get(path).json()["data"]["tags"] == ["Pricing", "q3"]
    assert ids(client, "tag=PRICING&status=active&kind=decision") == [str(turn.conversation_id)]
    assert ids(client, "tag=q3&status=archived") == []
    assert client.get("/api/conversations?tag=none").json()["error"]["field"] == "tag"
    assert client.get("/api/conversations?since=2026-01-01T00:00:00").json()["error"]["field"] == "since"
    client.patch(path, json={"tags": []})
    assert client.get(path).json()["data"]["tags"] == []


def test_the_trash_gives_back_until_it_is_emptied(client: TestClient, operator: Scope) -> None:
    turn, _answer = ask(operator, "Hello")
    one = str(turn.conversation_id)
    path = f"/api/conversations/{one}"
    assert client.delete(f"{path}?trash=true").status_code == 200
    assert client.get(path).status_code == client.patch(path, json={"title": "x"}).status_code == 404
    (row,) = client.get("/api/conversations/trash").json()["data"]
    assert row["id"] == one and row["goneAt"] > row["deletedAt"] and row["messages"] == 2
    assert client.get(f"/api/conversations/trash?before={one}").json()["data"] == []
    assert client.post(f"{path}/restore").json()["data"]["id"] == one
    assert client.get(path).status_code == 200 and client.post(f"{path}/restore").status_code == 404
    client.delete(f"{path}?trash=true")
    assert client.delete(path).status_code == 200, "for good, out of the trash"
    assert do(operator, "DELETE FROM messages WHERE conversation_id = :id", id=one) == 0


def test_fork_and_move(client: TestClient, operator: Scope, program: Program, colleague: Scope) -> None:
    turn, answer = ask(operator, "Hello")
    path = f"/api/conversations/{turn.conversation_id}"
    made = client.post(f"{path}/fork", json={"messageId": str(answer.id)})
    assert made.status_code == 201 and made.json()["data"]["metadata"]["forked_from"]["message_id"] == str(answer.id)
    fork = f"/api/conversations/{made.json()['data']['id']}"
    assert [one["content"] for one in client.get(f"{fork}/messages").json()["data"]] == ["Hello", answer.body]
    assert client.post(f"{fork}/fork", json={"messageId": str(answer.id)}).status_code == 404
    home = project(operator)
    moved = client.post(f"{fork}/move", json={"projectId": str(home)})
    assert moved.json()["data"]["projectId"] == str(home)
    other = program(colleague)
    assert other.get(fork).status_code == 200 and other.get(path).status_code == 404
    assert other.post(f"{fork}/move", json={"projectId": None}).status_code == 403
    assert other.post(f"{path}/move", json={"projectId": str(home)}).status_code == 404
    assert client.post(f"{fork}/move", json={"projectId": NOBODY}).status_code == 404
    assert client.post(f"{fork}/move", json={"projectId": None}).json()["data"]["projectId"] is None
