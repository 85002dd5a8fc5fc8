"""[C]'s routes: projects, tasks, memory, conversations, messages and runs, plain and in snake_case."""

import csv
import io
import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID, uuid4

import pytest
from starlette.testclient import TestClient

from nexus_core import audit, leases
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from tests.api.conftest import Program
from tests.nexus_core.conversing import ask
from tests.store import do, fill

LISTS = ("decisions", "open_questions", "risks", "links")


@pytest.fixture
def apollo(client: TestClient) -> str:
    """A project's id."""
    return str(client.post("/api/projects", json={"name": "Apollo"}).json()["id"])


def test_projects_and_tasks(client: TestClient) -> None:
    made = client.post("/api/projects", json={"name": "Apollo", "description": "To the moon"})
    assert made.status_code == 201 and made.json()["name"] == "Apollo" and made.json()["status"] == "active"
    path = f"/api/projects/{made.json()['id']}"
    assert client.get("/api/projects").json() == [made.json()] and client.get(path).json() == made.json()
    taken = client.post("/api/projects", json={"name": "apollo"})
    assert (taken.status_code, taken.json()["success"]) == (409, False)
    etag = client.get(path).headers["etag"]
    assert client.patch(path, json={"name": "Artemis"}, headers={"if-match": etag}).json()["name"] == "Artemis"
    quiet = client.patch(path, json={"auto_propose": False}).json()
    assert (quiet["auto_propose"], quiet["name"], made.json()["auto_propose"]) == (False, "Artemis", True)
    late = client.patch(path, json={"name": "Gemini"}, headers={"if-match": etag})
    assert (late.status_code, late.json()["error"]["code"]) == (409, "conflict")
    task = client.post(f"{path}/tasks", json={"title": "Choose the engine"})
    assert (task.status_code, task.json()["status"], task.json()["closed_at"]) == (201, "open", None)
    done = client.patch(f"/api/tasks/{task.json()['id']}", json={"status": "done"}).json()
    assert done["status"] == "done" and done["closed_at"]
    assert client.get(f"{path}/tasks").json() == [done] and client.get(f"{path}/tasks?open_only=true").json() == []
    made = [client.post(f"{path}/tasks", json={"title": f"{n}"}).json()["id"] for n in range(3)]
    pages = [client.get(f"{path}/tasks?limit=2").json()]
    pages.append(client.get(f"{path}/tasks?limit=2&before={pages[0][-1]['id']}").json())
    assert [one["id"] for page in pages for one in page] == [*reversed(made), done["id"]]
    assert client.get(f"{path}/tasks?before={uuid4()}").status_code == 404
    assert client.patch(f"/api/tasks/{uuid4()}", json={"status": "done"}).status_code == 404
    odd = client.patch(f"/api/tasks/{done['id']}", json={"status": "closed"})
    assert (odd.status_code, odd.json()["error"]["field"]) == (422, "status")


def test_a_project_is_deleted_with_what_is_in_it(client: TestClient, operator: Scope, apollo: str) -> None:
    path = f"/api/projects/{apollo}"
    turn, _answer = ask(operator, "Which engine?", place=Place(UUID(apollo)))
    deleted = client.delete(path)
    assert (deleted.status_code, deleted.json()) == (200, {"id": apollo, "deleted_conversations": 1})
    assert client.get(path).status_code == client.delete(path).status_code == 404
    assert client.get(f"/api/project-conversations/{turn.conversation_id}").status_code == 404
    assert client.post("/api/projects", json={"name": "Apollo"}).status_code == 201


def test_memory_is_replaced_and_no_writer_overwrites_another(client: TestClient, apollo: str) -> None:
    path = f"/api/projects/{apollo}/memory"
    first = client.get(path)
    assert first.headers["etag"] == '"1"' and first.json()["version"] == 1
    said = {
        "summary_md": "We go to the **moon**.",
        "decisions": [{"what": "Launch from Lisbon"}, "No logo"],
        "open_questions": [{"question": "Which engine?"}],
        "risks": [{"risk": "Weather"}],
        "links": [{"label": "Plan", "url": "https://example.com"}],
    }
    second = client.put(path, json=said | {"version": 1})
    assert second.status_code == 200 and second.headers["etag"] == '"2"'
    assert {key: second.json()[key] for key in said} == said and second.json()["version"] == 2
    assert client.get(path).json() == second.json()
    for late in (
        client.put(path, json={"summary_md": "Mine", "version": 1}),
        client.put(path, json={"summary_md": "Mine"}, headers={"if-match": '"1"'}),
    ):
        assert (late.status_code, late.json()["success"]) == (409, False)
        assert late.json()["error"]["detail"]["version"] == 2
    assert client.get(path).json() == second.json()
    round_trip = client.put(path, json=second.json())
    assert round_trip.status_code == 200 and round_trip.json()["version"] == 3
    unversioned = client.put(path, json={"summary_md": "Short"}).json()
    assert unversioned["version"] == 4 and [unversioned[key] for key in LISTS] == [[], [], [], []]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"decisions": "none"}, "decisions"),
        ({"risks": [1]}, "risks"),
        ({"version": 0}, "version"),
        ({"version": 2**40}, "version"),
        ({"metadata": []}, "metadata"),
    ],
)
def test_a_memory_that_does_not_fit(client: TestClient, apollo: str, body: dict[str, Any], field: str) -> None:
    answer = client.put(f"/api/projects/{apollo}/memory", json=body)
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, field)
    odd = client.put(f"/api/projects/{apollo}/memory", json={}, headers={"if-match": "abc"})
    assert (odd.status_code, odd.json()["error"]["field"]) == (422, "If-Match")


def test_conversations_of_a_project(client: TestClient, apollo: str) -> None:
    path = f"/api/projects/{apollo}/conversations"
    task = client.post(f"/api/projects/{apollo}/tasks", json={"title": "Engine"}).json()["id"]
    made = client.post(path, json={"title": "Which?", "kind": "task", "task_id": task, "metadata": {"x": 1}})
    assert made.status_code == 201
    one = made.json()
    assert (one["title"], one["kind"], one["task_id"], one["status"]) == ("Which?", "task", task, "open")
    assert (one["project_id"], one["metadata"], one["summary_md"]) == (apollo, {"x": 1}, "")
    other = client.post(path, json={"kind": "support"}).json()
    assert [found["id"] for found in client.get(path).json()] == [other["id"], one["id"]]
    assert client.get(f"{path}?limit=1").json() == [other]
    assert client.get(f"{path}?limit=1&before={other['id']}").json() == [one]
    assert client.get(path, params={"task_id": task}).json() == [one]
    assert client.get(f"{path}?status=archived").json() == []
    item = f"/api/project-conversations/{one['id']}"
    etag = client.get(item).headers["etag"]
    changed = client.patch(item, json={"status": "summarized", "summary_md": "Big one.", "task_id": None})
    assert (changed.json()["summary_md"], changed.json()["task_id"]) == ("Big one.", None)
    assert client.get(f"{path}?status=summarized").json() == [changed.json()]
    assert client.patch(item, json={"kind": "run"}, headers={"if-match": etag}).status_code == 409
    assert client.patch(item, json={"task_id": str(uuid4())}).status_code == 404
    for query, field in (("status=closed", "status"), ("limit=0", "limit"), ("task_id=7", "task_id")):
        answer = client.get(f"{path}?{query}")
        assert (answer.status_code, answer.json()["error"]["field"]) == (422, field)


def test_messages_are_stored_as_given(client: TestClient, apollo: str, operator: Scope) -> None:
    made = client.post(f"/api/projects/{apollo}/conversations", json={"title": "Talk"}).json()
    path = f"/api/project-conversations/{made['id']}/messages"
    said: list[dict[str, Any]] = [
        {"role": "system", "body": "Be brief."},
        {"role": "user", "body": "How many?"},
        {"role": "assistant", "body": "", "model": "m-1", "runtime": "elsewhere"},
        {"role": "tool", "body": '{"n": 42}', "metadata": {"tool_call_id": "c1", "tool_name": "count"}},
        {"role": "assistant", "body": "42 😀\0", "model": "m-1", "runtime": "elsewhere"},
    ]
    for message in said:
        written = json.dumps(message)  # as JavaScript writes it: \\ud83d\\ude00\\u0000
        stored = client.post(path, content=written, headers={"content-type": "application/json"})
        assert stored.status_code == 201, stored.text
        assert {key: stored.json()[key] for key in message} == message | {"body": message["body"].strip("\0")}
    rows = client.get(path).json()
    assert [row["role"] for row in rows] == [message["role"] for message in said]
    assert [row["seq"] for row in rows] == [1, 2, 3, 4, 5] and rows[4]["body"] == "42 😀"
    assert [row["seq"] for row in client.get(f"{path}?limit=2&before=4").json()] == [2, 3]
    assert client.get(f"/api/projects/{apollo}/assistant-runs").json() == [], "no model was called"
    odd = client.post(path, json={"role": "robot", "body": "x"})
    assert (odd.status_code, odd.json()["error"]["field"]) == (422, "role")


def test_an_answer_with_tools_is_shown_as_rows(client: TestClient, operator: Scope) -> None:
    corner = fill(operator)
    rows = client.get(f"/api/project-conversations/{corner.open}/messages").json()
    assert [(row["role"], row["body"]) for row in rows] == [
        ("user", "Which engine?"), ("assistant", "The big engine."), ("tool", '{"found": "one"}'),
        ("tool", "no such thing"),
    ]  # fmt: skip
    assert rows[2]["metadata"] == {"message_id": str(corner.answer), "tool_call_id": "call-1"}


def test_runs_are_recorded_and_planned(client: TestClient, apollo: str, operator: Scope) -> None:
    path = f"/api/projects/{apollo}/assistant-runs"
    task = client.post(f"/api/projects/{apollo}/tasks", json={"title": "Engine"}).json()["id"]
    talk = client.post(f"/api/projects/{apollo}/conversations", json={"title": "Talk"}).json()["id"]
    said = {
        "task_id": task, "conversation_id": talk, "prompt_summary": "Which?", "response_summary": "Big.",
        "model": "openai/gpt-4o-mini", "runtime": "remote", "profile_slug": "fast", "status": "succeeded",
        "input_tokens": 1200, "output_tokens": 80, "cost_estimate": 0.00021, "duration_ms": 900,
        "metadata": {"ci": True},
    }  # fmt: skip
    stored = client.post(path, json=said)
    assert stored.status_code == 201, stored.text
    assert {key: stored.json()[key] for key in said} == said
    assert stored.json()["kind"] == "external" and stored.json()["finished_at"]
    planned = client.post(path, json={"model": "m", "status": "planned"}).json()
    assert (planned["cost_estimate"], planned["input_tokens"], planned["finished_at"]) == (None, None, None)
    assert [run["id"] for run in client.get(path).json()] == [planned["id"], stored.json()["id"]]
    assert client.get(path, params={"task_id": task}).json() == [stored.json()]
    assert client.get(f"{path}?limit=1").json() == [planned]


def test_what_runs_elsewhere_is_not_reaped(client: TestClient, apollo: str, operator: Scope) -> None:
    path = f"/api/projects/{apollo}/assistant-runs"
    client.post(path, json={"model": "m", "status": "running"})
    do(operator, "UPDATE assistant_runs SET started_at = now() - interval '1 day'")
    with transaction(Scope.system()) as tx:
        assert leases.reap(tx) == 0
    assert client.get(path).json()[0]["status"] == "running"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"model": ""},
        {"model": "m", "status": "done"},
        {"model": "m", "input_tokens": -1},
        {"model": "m", "input_tokens": 5, "cached_tokens": 6},
        {"model": "m", "output_tokens": 5, "reasoning_tokens": 6},
        {"model": "m", "cost_estimate": -0.1},
        {"model": "m", "cost_estimate": "NaN"},
        {"model": "m", "cost_estimate": 1e12},
        {"model": "m", "duration_ms": 2**70},
        {"model": "m", "prompt_summary": "x" * 2001},
    ],
)
def test_what_the_ledger_refuses(client: TestClient, apollo: str, body: dict[str, Any]) -> None:
    answer = client.post(f"/api/projects/{apollo}/assistant-runs", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid")
    assert client.get(f"/api/projects/{apollo}/assistant-runs").json() == []


def test_nothing_of_another_project_can_be_pointed_at(client: TestClient, apollo: str, operator: Scope) -> None:
    gemini = client.post("/api/projects", json={"name": "Gemini"}).json()["id"]
    task = client.post(f"/api/projects/{gemini}/tasks", json={"title": "Engine"}).json()["id"]
    talk = client.post(f"/api/projects/{gemini}/conversations", json={"title": "Talk"}).json()["id"]
    private, _answer = ask(operator, "Alone")
    runs = f"/api/projects/{apollo}/assistant-runs"
    for body in ({"task_id": task}, {"conversation_id": talk}, {"conversation_id": str(private.conversation_id)}):
        assert client.post(runs, json={"model": "m"} | body).status_code == 404
    assert client.post(f"/api/projects/{apollo}/conversations", json={"title": "x", "task_id": task}).status_code == 404
    for tail in ("", "/messages"):
        outside = client.get(f"/api/project-conversations/{private.conversation_id}{tail}")
        assert outside.status_code == 404, "a conversation outside any project is none of [C]'s"
    assert client.get(f"/api/projects/{apollo}/conversations").json() == []


def test_roles_and_other_workspaces(
    client: TestClient, reader: TestClient, program: Program, apollo: str, operator: Scope, other_scope: Scope
) -> None:
    turn, _answer = ask(operator, "Hello", place=Place(apollo))  # type: ignore[arg-type]
    stranger, talk = program(other_scope), f"/api/project-conversations/{turn.conversation_id}"
    project = f"/api/projects/{apollo}"
    task = client.post(f"{project}/tasks", json={"title": "Engine"}).json()["id"]
    reads = [project, *(f"{project}/{name}" for name in ("memory", "tasks", "conversations", "assistant-runs"))]
    for path in [*reads, talk, f"{talk}/messages"]:
        assert reader.get(path).status_code == 200
        elsewhere = stranger.get(path)
        missing = stranger.get(path.replace(apollo, str(uuid4())).replace(str(turn.conversation_id), str(uuid4())))
        assert (elsewhere.status_code, elsewhere.json()) == (404, missing.json())
    for method, path, body in (
        ("POST", "/api/projects", {"name": "x"}),
        ("PATCH", project, {"name": "x"}),
        ("DELETE", project, None),
        ("PUT", f"{project}/memory", {"summary_md": "x"}),
        ("POST", f"{project}/tasks", {"title": "x"}),
        ("PATCH", f"/api/tasks/{task}", {"status": "done"}),
        ("POST", f"{project}/conversations", {"title": "x"}),
        ("POST", f"{project}/assistant-runs", {"model": "x"}),
        ("PATCH", talk, {"title": "x"}),
        ("POST", f"{talk}/messages", {"role": "user", "body": "x"}),
    ):
        answer = reader.request(method, path, json=body)
        assert (answer.status_code, answer.json()["success"]) == (403, False), path
        assert "needs the operator role" in answer.json()["error"]["message"]
        if path != "/api/projects":
            assert stranger.request(method, path, json=body).status_code == 404, path


def test_a_planned_run_is_started_finished_or_cancelled(client: TestClient, apollo: str, scope: Scope) -> None:
    path = f"/api/projects/{apollo}/assistant-runs"

    def planned() -> str:
        return f"/api/assistant-runs/{client.post(path, json={'model': 'm', 'status': 'planned'}).json()['id']}"

    run = planned()
    started = client.patch(run, json={"status": "running"})
    assert started.status_code == 200 and started.json()["status"] == "running" and started.json()["started_at"]
    said = {"input_tokens": 9, "output_tokens": 3, "cost_estimate": 0.5, "response_summary": "Done", "duration_ms": 700}
    done = client.patch(run, json={"status": "succeeded"} | said).json()
    assert {key: done[key] for key in said} == said and done["finished_at"] and client.get(run).json() == done
    for status in ("running", "succeeded", "failed", "blocked", "cancelled"):
        late = client.patch(run, json={"status": status, "input_tokens": 1})
        assert (late.status_code, late.json()["error"]["detail"]) == (409, {"status": "succeeded"})
    assert client.get(run).json() == done
    failed = planned()
    client.patch(failed, json={"status": "running"})
    ended = client.patch(failed, json={"status": "failed", "error_type": "timeout", "error_message": "Too slow"}).json()
    assert (ended["status"], ended["error_type"], ended["error_message"]) == ("failed", "timeout", "Too slow")
    assert ended["duration_ms"] is not None
    cancelled = client.patch(planned(), json={"status": "cancelled"}).json()
    assert (cancelled["status"], cancelled["error_type"], cancelled["duration_ms"]) == ("failed", "cancelled", None)
    blocked = client.patch(planned(), json={"status": "blocked", "error_message": "Over the budget"}).json()
    assert (blocked["status"], blocked["finished_at"]) == ("blocked", None)
    assert client.patch(planned(), json={"status": "succeeded"}).status_code == 409, "it was not started"
    for body in ({}, {"status": "planned"}, {"status": "running", "input_tokens": 1, "cached_tokens": 2}):
        assert client.patch(planned(), json=body).status_code == 422
    assert {one["status"] for one in client.get(path).json()} == {"planned", "succeeded", "failed", "blocked"}
    with transaction(scope) as tx:
        changes = [entry.detail for entry in audit.latest(tx) if (entry.entity, entry.action) == ("run", "update")]
    assert {"before": "planned", "status": "failed", "error_type": "cancelled"} in changes


def test_of_two_that_move_a_run_on_one_is_too_late(client: TestClient, apollo: str) -> None:
    made = client.post(f"/api/projects/{apollo}/assistant-runs", json={"model": "m", "status": "planned"}).json()
    path = f"/api/assistant-runs/{made['id']}"
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _n: client.patch(path, json={"status": "running"}), range(8)))
    assert sorted(answer.status_code for answer in answers) == [200, *[409] * 7]


def test_who_may_move_which_run_on(
    client: TestClient, reader: TestClient, program: Program, apollo: str, operator: Scope, other_scope: Scope
) -> None:
    made = client.post(f"/api/projects/{apollo}/assistant-runs", json={"model": "m", "status": "planned"}).json()
    path, start = f"/api/assistant-runs/{made['id']}", {"status": "running"}
    assert reader.get(path).json() == made and reader.patch(path, json=start).status_code == 403
    stranger, missing = program(other_scope), f"/api/assistant-runs/{uuid4()}"
    for method in ("GET", "PATCH"):
        answers = [stranger.request(method, address, json=start) for address in (path, missing)]
        assert [answer.status_code for answer in answers] == [404, 404] and answers[0].json() == answers[1].json()
    _turn, answer = ask(operator, "Hello")
    own = client.patch(f"/api/assistant-runs/{answer.run_id}", json={"status": "failed"})
    assert (own.status_code, own.json()["error"]["detail"]) == (409, {"status": "succeeded"})


def test_runs_as_a_file(client: TestClient, reader: TestClient, apollo: str, operator: Scope) -> None:
    for status in ("planned", "succeeded", "failed"):
        client.post(f"/api/projects/{apollo}/assistant-runs", json={"model": "=m", "status": status})
    ask(operator, "My secret is blue")
    answer = reader.get("/api/assistant-runs.csv", params={"project": apollo, "status": ["planned", "failed"]})
    assert answer.status_code == 200 and answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert re.fullmatch(r'attachment; filename="runs-[0-9-]+\.csv"', answer.headers["content-disposition"])
    rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"), newline="")))
    assert [(row["status"], row["model"], row["cost_estimate"]) for row in rows] == [
        ("failed", "'=m", ""), ("planned", "'=m", ""),
    ]  # fmt: skip
    whole = reader.get("/api/assistant-runs.csv", params={"range": "today"})
    assert whole.text.count("\r\n") == 5 and "secret" not in whole.text
    bad = reader.get("/api/assistant-runs.csv", params={"from": "x"})
    assert (bad.status_code, bad.json()["error"]["field"]) == (422, "from")
