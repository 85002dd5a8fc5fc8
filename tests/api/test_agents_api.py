"""/api/agents: [A]'s agents, in camelCase and in the envelope."""

from uuid import uuid4

import pytest
from starlette.testclient import TestClient

from nexus_core import chat
from nexus_core.conversations import Place
from nexus_core.database import Scope
from tests.api.conftest import Program
from tests.nexus_core.conversing import settled

ADA = {"name": "Ada", "emoji": "🧭", "role": "Navigator", "description": "Finds the way.", "status": "active"}


def test_an_agent_is_made_read_changed_and_deleted(client: TestClient, operator: Scope) -> None:
    answer = client.post("/api/agents", json=ADA | {"userId": str(uuid4()), "unknown": 1})
    assert answer.status_code == 201 and answer.json()["success"] is True
    made = answer.json()["data"]
    assert {key: made[key] for key in ADA} == ADA
    assert made["userId"] == str(operator.user_id), "who made it is who asked, whatever the client says"
    assert {"id", "createdAt", "updatedAt", "memoryMode", "maxMessages", "profileId", "instructions"} <= set(made)
    assert not [key for key in made if "_" in key]
    path = f"/api/agents/{made['id']}"
    assert client.get(path).json() == {"success": True, "data": made}
    assert made in client.get("/api/agents").json()["data"]
    changed = client.patch(path, json={"role": "Pilot", "maxTokens": None}).json()["data"]
    assert changed == made | {"role": "Pilot", "maxTokens": None, "updatedAt": changed["updatedAt"]}
    client.patch(path, json={"status": "archived"})
    assert client.get("/api/agents").json()["data"] == []
    assert [one["id"] for one in client.get("/api/agents?archived=true").json()["data"]] == [made["id"]]
    assert client.delete(path).json() == {"success": True, "data": {"id": made["id"], "deletedConversations": 0}}
    for gone in (client.get(path), client.patch(path, json={"role": "x"}), client.delete(path)):
        assert (gone.status_code, gone.json()["error"]["code"]) == (404, "not_found")
    assert client.get("/api/agents?archived=true").json()["data"] == []


def test_a_second_writer_is_told(client: TestClient) -> None:
    made = client.post("/api/agents", json={"name": "Ada"})
    path, version = f"/api/agents/{made.json()['data']['id']}", made.headers["etag"]
    assert client.get(path).headers["etag"] == version
    first = client.patch(path, json={"role": "One"}, headers={"if-match": version})
    assert first.status_code == 200 and first.headers["etag"] != version
    second = client.patch(path, json={"role": "Two"}, headers={"if-match": version})
    assert second.status_code == 409
    assert second.json()["error"]["detail"] == {"version": first.headers["etag"].strip('"')}
    assert client.get(path).json()["data"]["role"] == "One"
    assert client.patch(path, json={"role": "Two"}, headers={"if-match": first.headers["etag"]}).status_code == 200
    odd = client.patch(path, json={"role": "x"}, headers={"if-match": '"yesterday"'})
    assert (odd.status_code, odd.json()["error"]["field"]) == (422, "If-Match")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": "  "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": "Ada", "maxMessages": -1}, "maxMessages"),
        ({"name": "Ada", "maxTokens": 2**31}, "maxTokens"),
        ({"name": "Ada", "maxSteps": 21}, "maxSteps"),
        ({"name": "Ada", "memoryMode": "all"}, "memoryMode"),
        ({"name": "Ada", "status": "deleted"}, "status"),
        ({"name": "Ada", "profileId": "x"}, "profileId"),
        ({"name": None}, "name"),
    ],
)
def test_what_does_not_fit_is_named(client: TestClient, body: dict[str, object], field: str) -> None:
    answer = client.post("/api/agents", json=body)
    assert (answer.status_code, answer.json()["success"]) == (422, False)
    assert answer.json()["error"]["field"] == field and answer.json()["error"]["message"]
    assert client.get("/api/agents").json()["data"] == []


def test_changing_nothing_is_said(client: TestClient) -> None:
    path = f"/api/agents/{client.post('/api/agents', json={'name': 'Ada'}).json()['data']['id']}"
    answer = client.patch(path, json={"nmae": "Eve"})
    assert (answer.status_code, answer.json()["error"]["message"]) == (422, "Say what to change.")


def test_a_viewer_reads_and_changes_nothing(client: TestClient, reader: TestClient) -> None:
    made = client.post("/api/agents", json={"name": "Ada"}).json()["data"]
    path = f"/api/agents/{made['id']}"
    assert reader.get(path).json()["data"] == made
    for answer in (
        reader.post("/api/agents", json={"name": "Eve"}),
        reader.patch(path, json={"name": "Eve"}),
        reader.delete(path),
    ):
        assert answer.status_code == 403
        assert answer.json()["error"]["message"] == "This needs the operator role; yours is viewer."


def test_another_workspace_has_no_such_agent(client: TestClient, program: Program, other_scope: Scope) -> None:
    path = f"/api/agents/{client.post('/api/agents', json={'name': 'Ada'}).json()['data']['id']}"
    stranger, missing = program(other_scope), f"/api/agents/{uuid4()}"
    assert stranger.get("/api/agents").json()["data"] == []
    for method, body in (("GET", None), ("PATCH", {"name": "x"}), ("DELETE", None)):
        there, nowhere = stranger.request(method, path, json=body), stranger.request(method, missing, json=body)
        assert (there.status_code, there.json()) == (404, nowhere.json())
    assert client.get("/api/agents?workspace=other").status_code == 404
    assert stranger.get("/api/agents?workspace=other").status_code == 200


def test_deleting_with_its_conversations(client: TestClient, operator: Scope) -> None:
    made = client.post("/api/agents", json={"name": "Ada"}).json()["data"]
    turn = chat.send(operator, "Hello", place=Place(None, made["id"]))
    settled(operator, turn)
    answer = client.delete(f"/api/agents/{made['id']}?conversations=true").json()["data"]
    assert answer == {"id": made["id"], "deletedConversations": 1}
    assert client.get(f"/api/conversations/{turn.conversation_id}").status_code == 404
