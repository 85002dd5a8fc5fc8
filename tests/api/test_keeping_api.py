"""Retention and erasure by REST: who may, what is told before and after."""

from starlette.testclient import TestClient

from nexus_core import keeping, messages, parts, projects
from nexus_core.conversations import Place, create
from nexus_core.database import Scope, transaction
from tests.api.conftest import Program


def test_rules_are_set_tried_out_and_removed(program: Program, scope: Scope, operator: Scope) -> None:
    client, other = program(scope), program(operator)
    made = client.put("/api/retention", json={"archive_after_days": 90})
    again = client.put("/api/retention", json={"archive_after_days": 30, "delete_after_days": 60}).json()
    assert made.json()["id"] == again["id"] and client.get("/api/retention").json() == [again]
    assert [rule["rule_id"] for rule in client.get("/api/retention/preview").json()] == [again["id"]]
    for body, field in (
        ({}, "archive_after_days"),
        ({"archive_after_days": 9, "delete_after_days": 9}, "delete_after_days"),
    ):
        refused = client.put("/api/retention", json=body)
        assert (refused.status_code, refused.json()["error"]["field"]) == (422, field)
    assert other.get("/api/retention").json() == [again]
    assert other.put("/api/retention", json={"archive_after_days": 1}).status_code == 403
    assert other.get("/api/retention/preview").status_code == 403
    path = f"/api/retention/{again['id']}"
    assert (other.delete(path).status_code, client.delete(path).status_code, client.delete(path).status_code) == (
        403, 204, 404)  # fmt: skip


def test_a_person_is_erased_and_told_what_stays(
    program: Program, scope: Scope, operator: Scope, other_scope: Scope
) -> None:
    client, other = program(scope), program(operator)
    with transaction(operator) as tx:
        place = Place(projects.create(tx, "Bridge").id)
        said = messages.append(tx, create(tx, place).id, "user", [parts.text("We build it of steel.")])
    keeping.keep(operator, said.id, "risks")
    who = {"email": "operator@example.com"}

    def asked(program: TestClient, email: str) -> int:
        return program.get("/api/erasures/preview", params={"email": email}).status_code

    assert asked(other, "owner@localhost") == other.post("/api/erasures", json=who).status_code == 403
    assert asked(client, "other@example.com") == asked(client, "nobody@example.com") == 404
    assert client.post("/api/erasures", json={"email": "owner@localhost"}).status_code == 422
    [stays] = client.get("/api/erasures/preview", params=who).json()
    assert (stays["project_name"], stays["field"], stays["entry"]["risk"]) == (
        "Bridge",
        "risks",
        "We build it of steel.",
    )
    done = client.post("/api/erasures", json=who)
    assert done.status_code == 201 and done.json()["whole"] and done.json()["staying"] == [stays]
    assert done.json()["removed"]["conversations"] == 1
    assert client.post("/api/erasures", json=who).status_code == 404 and other.get("/api/retention").status_code == 401
