"""The OpenAPI document: every field described, every answer as it says, whatever is sent; the reference page."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from schemathesis import APIOperation, Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.testclient import TestClient

from nexus_core.api import api
from nexus_core.api.limits import most
from nexus_core.database import Scope
from tests.api.conftest import Program
from tests.store import ask, fill


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method, told in item.items():
            yield f"{method.upper()} {path}", told


def test_every_operation_and_field_is_described() -> None:
    document = api.openapi()
    for name, told in operations(document):
        assert told["summary"] and told["description"] and told["tags"], name
        for parameter in told.get("parameters", ()):
            assert parameter.get("description"), (name, parameter["name"])
    for name, schema in document["components"]["schemas"].items():
        for field, told in schema.get("properties", {}).items():
            assert told.get("description"), (name, field)
    names = [told["operationId"] for _name, told in operations(document)]
    assert len(names) == len(set(names))
    assert "http" not in re.sub(r"https://(ai-sdk\.dev|example\.com)|http://localhost:8501", "", json.dumps(document))


def test_the_reference_loads_nothing_and_shows_everything(client: TestClient) -> None:
    page = client.get("/api/docs")
    assert page.status_code == 200 and page.headers["content-type"].startswith("text/html")
    assert "<script" not in page.text and not re.search(r"(src|href)=\"?(https?:)?//|@import|url\(", page.text)
    for name, _told in operations(api.openapi()):
        method, _space, path = name.partition(" ")
        assert f"{method} /api{path}" in page.text, name
    assert client.get("/api/openapi.json").json()["servers"] == [{"url": "/api"}]


def test_a_body_has_a_bound(client: TestClient) -> None:
    huge = b'{"name": "' + b"x" * most("/api/projects") + b'"}'
    kind = {"content-type": "application/json"}
    said = client.post("/api/projects", content=huge, headers=kind)
    pieces = (huge[at : at + 2**16] for at in range(0, len(huge), 2**16))
    in_pieces = client.post("/api/projects", content=pieces, headers=kind)
    for answer in (said, in_pieces):
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")
    assert client.get("/api/projects").json() == []


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"null", b"[]", b'"x"', b"\xff\xfe", b'{"name": 1}', b'{"name": "a", "name": {}}',
        b'{"name": ' + b"9" * 5000 + b"}", b"[" * 100_000, b'{"name": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    ],
)  # fmt: skip
def test_what_is_no_such_json_is_refused(client: TestClient, body: bytes) -> None:
    answer = client.post("/api/projects", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422) and answer.json()["success"] is False
    assert "Traceback" not in answer.text and "File " not in answer.text


def test_odd_values_are_stored_or_refused(client: TestClient) -> None:
    made = client.post("/api/projects", json={"name": "Odd"}).json()["id"]
    path, kind = f"/api/projects/{made}/memory", {"content-type": "application/json"}
    odd = b'{"summary_md": "a\\u0000\\ud83d", "metadata": {"n": NaN, "i": 1e999, "\\u0000k": "\\udc00"}}'
    stored = client.put(path, content=odd, headers=kind)
    assert stored.status_code == 200 and stored.json()["summary_md"] == "a\ufffd"
    assert stored.json()["metadata"] == {"n": None, "i": None, "k": "\ufffd"}
    for key, value in (("metadata", b'{"a": ' * 80 + b"1" + b"}" * 80), ("risks", b"[" * 80 + b"]" * 80)):
        deep = client.put(path, content=b'{"%s": %s}' % (key.encode(), value), headers=kind)
        assert (deep.status_code, deep.json()["error"]["field"]) == (422, key)


def test_a_method_that_does_not_exist(client: TestClient) -> None:
    answer = client.put("/api/agents", json={})
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "method_not_allowed")


DOCUMENT = schemathesis.openapi.from_dict({**api.openapi(), "servers": [{"url": "/api"}]})
OPERATIONS = {found.ok().label: found.ok() for found in DOCUMENT.get_all_operations()}
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


READINGS: dict[str, list[str]] = {}
for _label, _operation in sorted(OPERATIONS.items()):
    if _operation.method == "get":
        READINGS.setdefault(f"GET {_operation.definition.raw['tags'][0]}", []).append(_label)
GROUPS = READINGS | {label: [label] for label, found in OPERATIONS.items() if found.method != "get"}


@pytest.mark.parametrize("group", sorted(GROUPS))
def test_whatever_is_sent_the_answer_is_what_the_document_says(group: str, program: Program, scope: Scope) -> None:
    """A third of what is sent fits the document and names what is there, a third fits, a third does not.

    Readings share a database; what changes something has its own. Where there is a body, eight examples are sent, else
    four: then there are only ids and words of the query to go wrong, which a bare type or bound refuses.
    """
    client, corner = program(scope), fill(scope)
    before = ask(scope, "SELECT count(*) FROM audit WHERE door NOT IN ('api', 'worker', 'gate')")
    known = {
        "agent_id": corner.agent, "project_id": corner.project, "conversation_id": corner.open, "task_id": corner.task,
        "run_id": corner.run, "proposal_id": corner.proposal, "version": 1, "share_id": corner.run,
        "token_id": corner.run,
        "person_id": scope.user_id, "session_id": corner.run,
        "rule_id": corner.run,
        "message_id": corner.answer, "profile_id": corner.profile, "budget_id": corner.budget, "view_id": corner.view,
        "repricing_id": corner.repricing, "table": "spend",
    }  # fmt: skip
    for label in GROUPS[group]:
        operation = OPERATIONS[label]
        wanted = {name: str(known[name]) for name in re.findall(r"{(\w+)}", operation.path)}
        if operation.method == "get" and wanted:
            plain = client.get("/api" + operation.path.format(**wanted))
            assert plain.status_code in (200, 204), (label, plain.text)
            operation.validate_response(plain)
        _try(client, operation, wanted)
    assert ask(scope, "SELECT count(*) FROM audit WHERE door NOT IN ('api', 'worker', 'gate')") == before, "the door"


def _sendable(value: Any) -> Any:
    """A part of a form as a client can write it: numbers, lists and the like as their text."""
    if isinstance(value, tuple):
        return (value[0], _sendable(value[1]), *value[2:])
    return value if value is None or isinstance(value, str | bytes) else str(value)


def _try(client: TestClient, operation: APIOperation[Any, Any, Any, Any], wanted: dict[str, str]) -> None:
    cases = st.one_of(
        operation.as_strategy(GenerationMode.POSITIVE, path_parameters=wanted or None),
        operation.as_strategy(GenerationMode.POSITIVE),
        operation.as_strategy(GenerationMode.NEGATIVE),
    )

    @settings(
        max_examples=8 if operation.body else 4, deadline=None, derandomize=True, database=None,
        phases=[Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=cases)
    def answers(case: Case) -> None:
        assume("%0A" not in case.formatted_path)  # is no part of any address here
        asked = case.as_transport_kwargs(base_url="http://nexus.test:8501/api")
        asked |= {"content": asked.pop("data", None), "cookies": None}
        if isinstance(asked.get("files"), list):
            asked["files"] = [(name, _sendable(value)) for name, value in asked["files"]]
        asked["headers"] = dict(asked["headers"]) | {"origin": "http://nexus.test:8501"}  # or a form is refused
        answer = client.request(**{key: value for key, value in asked.items() if value is not None})
        answer.request.read()
        case.validate_response(answer, checks=CHECKS)

    answers()
