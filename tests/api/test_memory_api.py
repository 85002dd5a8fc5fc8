"""The living memory over REST: versions, both sides of a conflict, revisions, proposals, tasks."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from starlette.testclient import TestClient

from nexus_core.database import Scope
from tests.api.conftest import Program
from tests.nexus_core.conversing import until

NOTHING: dict[str, Any] = {"decisions": [], "open_questions": [], "risks": [], "links": []}


@pytest.fixture
def apollo(client: TestClient) -> str:
    """The path of a project whose memory is at version 2."""
    made = client.post("/api/projects", json={"name": "Apollo"}).json()["id"]
    path = f"/api/projects/{made}"
    assert client.put(f"{path}/memory", json={"summary_md": "One.", "version": 1}).json()["version"] == 2
    return path


def test_a_lost_race_tells_both_sides(client: TestClient, apollo: str) -> None:
    assert client.get(f"{apollo}/memory").headers["etag"] == '"2"'
    for how in (
        {"json": {"summary_md": "Mine", "version": 1}},
        {"json": {"summary_md": "x"}, "headers": {"if-match": "1"}},
    ):
        lost = client.put(f"{apollo}/memory", **how)
        assert (lost.status_code, lost.json()["error"]["code"]) == (409, "conflict")
        detail = lost.json()["error"]["detail"]
        assert detail == {
            "version": 2,
            "current": NOTHING | {"summary_md": "One."},
            "base": NOTHING | {"summary_md": ""},
        }
    assert client.get(f"{apollo}/memory").json()["summary_md"] == "One."


def test_revisions_are_listed_compared_and_restored(client: TestClient, apollo: str) -> None:
    then = datetime.now(UTC)
    client.put(f"{apollo}/memory", json={"summary_md": "One two.", "decisions": [{"id": "d", "what": "Lisbon"}]})
    listed = client.get(f"{apollo}/memory/revisions").json()
    assert [(one["version"], one["source"]) for one in listed] == [(3, "api"), (2, "api"), (1, "hand")]
    assert listed[0]["created_by_name"] == "Olga" and "summary_md" not in listed[0]
    assert [one["version"] for one in client.get(f"{apollo}/memory/revisions?before=3&limit=1").json()] == [2]
    diff = client.get(f"{apollo}/memory/revisions/2/diff").json()
    assert [(one["field"], one["kind"], one["lines"]) for one in diff] == [
        ("summary_md", "changed", ["One{+ two+}."]), ("decisions", "added", ["{+Lisbon+}"]),
    ]  # fmt: skip
    assert diff == client.get(f"{apollo}/memory/revisions/2/diff?to=3").json()
    assert client.get(f"{apollo}/memory/as-of", params={"at": then.isoformat()}).json()["summary_md"] == "One."
    assert client.get(f"{apollo}/memory/as-of", params={"at": "2001-01-01T00:00:00Z"}).status_code == 404
    assert client.get(f"{apollo}/memory/as-of", params={"at": "2001-01-01T00:00:00"}).status_code == 422
    restore = f"{apollo}/memory/revisions/2/restore"
    assert client.post(restore, headers={"if-match": '"2"'}).status_code == 409
    restored = client.post(restore, headers={"if-match": '"3"'}).json()
    assert (restored["version"], restored["summary_md"], restored["decisions"]) == (4, "One.", [])
    last = client.get(f"{apollo}/memory/revisions/4").json()
    assert (last["source"], last["restored_from"]) == ("restore", 2)
    assert client.get(f"{apollo}/memory/revisions/9").status_code == 404


def test_a_proposal_is_asked_for_and_decided(client: TestClient, apollo: str) -> None:
    assert client.post(f"{apollo}/proposals", json={}).status_code == 422  # nothing was said
    talk = client.post(f"{apollo}/conversations", json={"title": "Talk"}).json()["id"]
    said = client.post(
        f"/api/project-conversations/{talk}/messages",
        json={"role": "user", "body": "We agreed on turquoise. Risk: hail. Risk: snow."},
    ).json()
    asked = client.post(f"{apollo}/proposals", json={"conversation_id": talk})
    assert asked.status_code == 202
    until(lambda: client.get(f"{apollo}/proposals?status=pending").json())
    [proposal] = client.get(f"{apollo}/proposals").json()
    [run] = client.get(f"{apollo}/assistant-runs").json()
    assert (proposal["run_id"], run["kind"]) == (asked.json()["run_id"], "proposal") == (run["id"], "proposal")
    first, second, third = proposal["lines"]
    assert first["evidence"] == [said["id"]] and first["after"]["what"] == "Turquoise"
    path = f"/api/proposals/{proposal['id']}"
    body = {"lines": [first["id"]], "edits": {first["id"]: {"what": "Blue"}}, "version": 2}
    done = client.post(f"{path}/accept", json=body).json()
    assert (done["memory"]["version"], done["clashes"], done["proposal"]["status"]) == (3, {}, "pending")
    assert [entry["what"] for entry in done["memory"]["decisions"]] == ["Blue"]
    assert client.post(f"{path}/accept", json=body | {"version": 3}).status_code == 409
    assert client.post(f"{path}/reject", json={"lines": [second["id"]]}).json()["lines"][1]["status"] == "rejected"
    assert client.post(f"{path}/accept", json={"lines": [str(uuid4())]}).status_code == 422
    assert client.post(f"{path}/accept", json={}).json()["proposal"]["status"] == "accepted"
    assert client.get(path).json()["lines"][2]["status"] == "accepted" and third["status"] == "pending"
    assert client.post(f"{path}/reject", json={}).status_code == 409


def test_tasks_are_changed_and_deleted(client: TestClient, apollo: str) -> None:
    task = client.post(f"{apollo}/tasks", json={"title": "Engine"}).json()
    path = f"/api/tasks/{task['id']}"
    tag = client.get(path).headers["etag"]
    changed = client.patch(path, json={"title": "Choose", "notes": "Soon", "status": "in_progress"}).json()
    assert (changed["title"], changed["notes"], changed["status"]) == ("Choose", "Soon", "in_progress")
    assert client.patch(path, json={"title": "x"}, headers={"if-match": tag}).status_code == 409
    assert client.patch(path, json={"title": " "}).status_code == 422
    talk = client.post(f"{apollo}/conversations", json={"title": "Talk", "task_id": task["id"]}).json()["id"]
    assert client.delete(path).status_code == 204 and client.get(path).status_code == 404
    assert client.get(f"/api/project-conversations/{talk}").json()["task_id"] is None


def test_roles_and_other_workspaces(
    client: TestClient, reader: TestClient, program: Program, apollo: str, other_scope: Scope
) -> None:
    stranger = program(other_scope)
    task = client.post(f"{apollo}/tasks", json={"title": "Engine"}).json()["id"]
    for path in ("memory/revisions", "memory/revisions/1", "memory/revisions/1/diff", "proposals"):
        assert reader.get(f"{apollo}/{path}").status_code == 200
        assert stranger.get(f"{apollo}/{path}").status_code == 404
    for method, path in (
        ("POST", f"{apollo}/memory/revisions/1/restore"),
        ("POST", f"{apollo}/proposals"),
        ("DELETE", f"/api/tasks/{task}"),
    ):
        assert reader.request(method, path, json={}).status_code == 403, path
        assert stranger.request(method, path, json={}).status_code == 404, path
