"""Who may do what through the API: what the reference says of each operation is what the core refuses."""

import re
from collections.abc import Iterator
from typing import Any

from httpx2 import Response
from starlette.testclient import TestClient

from nexus_core.api import api
from nexus_core.database import Scope
from tests.api.conftest import Program, door
from tests.store import Corner, ask, fill

NEEDS = re.compile(r"Needs the role (operator|admin)\b")
VIEWERS = {"save_view", "delete_view", "weigh_draft", "change_password", "choose_language"}
"""Viewers' own: their views, password and language, and a reading with a body."""


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in api.openapi()["paths"].items():
        for method, told in item.items():
            yield method, path, told


def role_of(told: dict[str, Any]) -> str | None:
    found = NEEDS.search(" ".join(told["description"].split()))
    return found[1] if found else None


def body_of(told: dict[str, Any], known: dict[str, Any]) -> dict[str, Any] | None:
    """What a request may hold: the examples of its fields, and what is known where an id is needed."""
    schema = told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if schema is None:
        return None
    fields = api.openapi()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]["properties"]
    shown = {name: field["examples"][0] for name, field in fields.items() if "examples" in field}
    return shown | {name: known[name] for name in fields if name in known}


def tried(client: TestClient, corner: Corner, method: str, path: str, told: dict[str, Any]) -> Response:
    """The answer to a request that fits the reference and names what is there."""
    known = {name: str(value) for name, value in vars(corner).items()}
    ids = {f"{name}_id": value for name, value in known.items()} | {"conversation_id": known["open"]}
    ids |= {"message_id": known["answer"], "version": "1", "table": "spend"}
    if "multipart/form-data" in told.get("requestBody", {}).get("content", {}):
        here = {"origin": "http://nexus.test:8501"}
        return client.post(f"/api{path}", files={"file": ("a.json", b"{}")}, headers=here)
    needed = [one["name"] for one in told.get("parameters", ()) if one["in"] == "query" and one.get("required")]
    asked = {name: {"email": "ana@example.com"}[name] for name in needed}
    body = body_of(told, {"messageId": known["answer"], "projectId": None, "ids": [known["open"]], "lines": None})
    return client.request(method.upper(), f"/api{_filled(path, ids, known['run'])}", json=body, params=asked)


def _filled(path: str, ids: dict[str, str], other: str) -> str:
    """The address with what is there, or with an id of nothing."""
    return re.sub(r"{(\w+)}", lambda name: ids.get(name[1], other), path)


def test_each_operation_asks_for_the_role_that_it_names(
    program: Program, scope: Scope, operator: Scope, viewer: Scope
) -> None:
    """And what names none is refused to viewers too, but for what is theirs to do; a refusal leaves nothing."""
    corner, reader, writer = fill(scope), program(viewer), program(operator)
    for method, path, told in operations():
        needs = role_of(told)
        if needs is not None:
            assert tried(reader, corner, method, path, told).status_code == 403, (method, path)
        elif method != "get" and told["operationId"] not in VIEWERS:
            assert tried(reader, corner, method, path, told).status_code in (403, 404), (method, path)
        if needs == "admin":
            assert tried(writer, corner, method, path, told).status_code == 403, (method, path)
    assert ask(scope, "SELECT action FROM audit WHERE door = 'api' AND action <> 'read'") == []


def test_a_token_of_another_project_learns_nothing_and_breaks_nothing(program: Program, scope: Scope) -> None:
    """Whatever is asked with a token that is limited to a project without anything in it."""
    corner, admin = fill(scope), program(scope)
    empty = admin.post("/api/projects", json={"name": "Empty"}).json()["id"]
    token = admin.post("/api/tokens", json={"name": "x", "projectIds": [empty]}).json()["data"]["token"]
    bot = TestClient(door, base_url="http://nexus.test:8501", headers={"authorization": f"Bearer {token}"})
    said = {str(getattr(corner, name)) for name in ("open", "private", "run", "private_run", "question", "budget")}
    for method, path, told in operations():
        answer = tried(bot, corner, method, path, told)
        assert answer.status_code < 500, (method, path, answer.text)
        if method == "get" and answer.status_code == 200:
            assert not [one for one in said if one in answer.text], (path, answer.text)
    assert bot.get("/api/costs").json()["data"]["total"]["runs"] == 0
    assert admin.get("/api/costs").json()["data"]["total"]["runs"] > 0
