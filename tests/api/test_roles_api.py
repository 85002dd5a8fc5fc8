"""Who may do what through the API: what the reference says of each operation is what the core refuses."""

import re
from collections.abc import Iterator
from typing import Any

from starlette.testclient import TestClient

from nexus_core.api import api
from nexus_core.database import Scope
from tests.api.conftest import Program
from tests.store import Corner, ask, fill

NEEDS = re.compile(r"Needs the role (operator|admin)\b")
VIEWERS = {"save_view", "delete_view", "weigh_draft"}
"""Viewers' own: their views, and a reading with a body."""


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


def tried(client: TestClient, corner: Corner, method: str, path: str, told: dict[str, Any]) -> int:
    """The status of a request that fits the reference and names what is there."""
    known = {name: str(value) for name, value in vars(corner).items()}
    ids = {f"{name}_id": value for name, value in known.items()} | {"conversation_id": known["open"]}
    ids |= {"message_id": known["answer"], "share_id": known["run"], "version": "1", "table": "spend"}
    if "multipart/form-data" in told.get("requestBody", {}).get("content", {}):
        here = {"origin": "http://nexus.test:8501"}
        return client.post(f"/api{path}", files={"file": ("a.json", b"{}")}, headers=here).status_code
    body = body_of(told, {"messageId": known["answer"], "projectId": None, "ids": [known["open"]], "lines": None})
    return client.request(method.upper(), f"/api{path.format(**ids)}", json=body).status_code


def test_each_operation_asks_for_the_role_that_it_names(
    program: Program, scope: Scope, operator: Scope, viewer: Scope
) -> None:
    """And what names none is refused to viewers too, but for what is theirs to do; a refusal leaves nothing."""
    corner, reader, writer = fill(scope), program(viewer), program(operator)
    for method, path, told in operations():
        needs = role_of(told)
        if needs is not None:
            assert tried(reader, corner, method, path, told) == 403, (method, path)
        elif method != "get" and told["operationId"] not in VIEWERS:
            assert tried(reader, corner, method, path, told) in (403, 404), (method, path)
        if needs == "admin":
            assert tried(writer, corner, method, path, told) == 403, (method, path)
    assert ask(scope, "SELECT action FROM audit WHERE door = 'api' AND action <> 'read'") == []
