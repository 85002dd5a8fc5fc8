"""What administrators and operators manage through the API: settings, profiles, budgets, prices, views, the audit."""

import csv
import io
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from starlette.testclient import TestClient

from nexus_core import audit, tables
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from tests.api.conftest import Program
from tests.nexus_core import conversing, ledger
from tests.store import Corner, fill

MODEL = "openai/in-house"


@pytest.fixture
def admin(program: Program, scope: Scope) -> TestClient:
    """An administrator's program."""
    return program(scope)


def data(answer: Any, status: int = 200) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json()["data"]


def refused(answer: Any) -> tuple[int, str | None]:
    assert answer.json()["success"] is False
    return answer.status_code, answer.json()["error"]["field"]


def only_first_wins(client: TestClient, path: str, mine: dict[str, Any], theirs: dict[str, Any]) -> Any:
    """Two who read the same version and change it: the second one learns of it, and nothing of theirs is stored."""
    read = client.get(path).headers["etag"]
    after = data(client.patch(path, json=mine, headers={"if-match": read}))
    late = client.patch(path, json=theirs, headers={"if-match": read})
    assert (late.status_code, late.json()["error"]["code"]) == (409, "conflict")
    assert f'"{late.json()["error"]["detail"]["version"]}"' == client.get(path).headers["etag"] != read
    assert data(client.get(path)) == after
    assert refused(client.patch(path, json=mine, headers={"if-match": "x"})) == (422, "If-Match")
    return after


def test_workspace_profiles_and_agents(admin: TestClient, scope: Scope) -> None:
    (mine,) = data(admin.get("/api/workspaces"))
    assert (mine["slug"], mine["role"], mine["workspaceId"]) == ("default", "admin", str(scope.workspace_id))
    after = only_first_wins(
        admin, "/api/workspaces/current", {"timeZone": "Asia/Kolkata"}, {"name": "Theirs", "timeZone": "UTC"}
    )
    assert (after["name"], after["timeZone"]) == ("Nexus", "Asia/Kolkata")
    assert refused(admin.patch("/api/workspaces/current", json={"timeZone": "Mars/Olympus"})) == (422, "timeZone")
    fields = {"slug": "mini", "name": "Mini", "model": "openai/gpt-4o-mini", "params": {"temperature": 0}}
    made = data(admin.post("/api/profiles", json=fields), 201)
    assert {key: made[key] for key in fields} == fields and made["runtime"] == "remote" and not made["isDefault"]
    path = f"/api/profiles/{made['id']}"
    after = only_first_wins(admin, path, {"name": "Small", "contextTokens": 9000}, {"name": "Theirs"})
    assert (after["slug"], after["name"], after["params"]) == ("mini", "Small", {"temperature": 0})
    assert refused(admin.patch(path, json={"params": {"api_key": "x"}})) == (422, "params")
    assert data(admin.post(f"{path}/default"))["isDefault"] and admin.delete(path).status_code == 422
    first = data(admin.get("/api/profiles"))[1]
    tried = data(admin.post(f"/api/profiles/{first['id']}/trial", json={}))
    assert tried["answer"] and tried["error"] is None and tried["run"]["costEstimate"] == 0
    data(admin.post(f"/api/profiles/{first['id']}/default"))
    assert data(admin.delete(path)) == {"id": made["id"]} and admin.get(path).status_code == 404
    ada = data(admin.post("/api/agents", json={"name": "Ada", "role": "Navigator"}), 201)
    copy = data(admin.post(f"/api/agents/{ada['id']}/duplicate"), 201)
    assert data(admin.get(f"/api/agents/{ada['id']}/deletion")) == {"conversations": 0}
    assert (copy["name"], copy["role"]) == ("Ada (copy)", "Navigator") and copy["id"] != ada["id"]
    with transaction(scope) as tx:
        wanted = audit.Wanted(doors=("api",))
        said = {(entry.action, entry.entity) for entry in audit.page(tx, wanted, limit=1000).entries}
    assert said == {
        ("update", "workspace"), ("create", "profile"), ("update", "profile"), ("delete", "profile"),
        ("create", "agent"),
    }  # fmt: skip


def test_budgets_and_views(admin: TestClient, client: TestClient) -> None:
    made = data(admin.post("/api/budgets", json={"amount": 100, "warnShares": [0.5]}), 201)
    assert (made["scope"], made["spent"], made["left"], made["warned"]) == ("workspace", 0, 100, None)
    path = f"/api/budgets/{made['id']}"
    after = only_first_wins(admin, path, {"amount": 12.5, "blocks": False}, {"amount": 1})
    assert (after["amount"], after["blocks"], after["warnShares"]) == (12.5, False, [0.5])
    assert data(client.get("/api/budgets")) == [after]
    wrong = {"amount": -1}, {"amount": 1, "scope": "project"}, {"amount": 1, "warnShares": [0]}
    found = [refused(admin.post("/api/budgets", json=body)) for body in wrong]
    assert found == [(422, "amount"), (422, "scope"), (422, "warnShares.0")]
    assert data(admin.delete(path)) == {"id": made["id"]} and data(admin.get("/api/budgets")) == []
    assert admin.patch(path, json={"amount": 1}).status_code == 404
    view = data(client.post("/api/views", json={"name": "Mine", "query": {"range": ["7d"]}}), 201)
    shared = data(client.post("/api/views", json={"name": "Ours", "query": {}, "shared": True}), 201)
    assert [one["id"] for one in data(client.get("/api/views"))] == [view["id"], shared["id"]]
    assert data(admin.get("/api/views?page=costs")) == [shared]
    assert admin.delete(f"/api/views/{view['id']}").status_code == 404
    assert data(admin.delete(f"/api/views/{shared['id']}")) == {"id": shared["id"]}


@pytest.fixture
def runs(database_url: str, scope: Scope) -> datetime:
    """Three runs of a model that no table knows, two days ago and further back; when the newest was made."""
    at = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=2)
    with ledger.owner(database_url) as connection:
        for days, status in ((0, "succeeded"), (1, "succeeded"), (20, "failed")):
            ledger.add(
                connection, scope, at - timedelta(days=days), model=MODEL, cost_estimate=None, cost_source=None,
                price_version=None, user_id=scope.user_id, status=status,
            )  # fmt: skip
    return at


def test_prices_past_runs_and_costs(admin: TestClient, client: TestClient, runs: datetime) -> None:
    (missing,) = data(client.get("/api/prices/unpriced?range=90d"))
    assert (missing["model"], missing["runs"], missing["inputTokens"]) == (MODEL, 3, 3000)
    day = f"{runs - timedelta(days=10):%Y-%m-%d}"
    price = data(
        admin.post("/api/prices", json={"model": MODEL, "validFrom": day, "inputPrice": 10, "outputPrice": 20}), 201
    )
    known = data(client.get("/api/prices"))
    assert known["own"] == [price] and price["version"] == 1 and known["bundledVersion"]
    half = {"model": MODEL, "validFrom": day, "inputPrice": 1}
    assert refused(admin.post("/api/prices", json=half)) == (422, "inputPrice")
    change = data(admin.post("/api/repricings/preview", json={"range": "30d"}))
    assert [(one["runs"], one["before"], one["after"]) for one in change] == [(1, None, 0.012)] * 2
    batch = data(admin.post("/api/repricings", json={"range": "30d", "models": [MODEL]}), 201)
    assert (batch["runs"], batch["undoneAt"]) == (2, None) and data(client.get("/api/repricings")) == [batch]
    assert admin.post("/api/repricings", json={"range": "30d"}).status_code == 422

    page = data(client.get("/api/costs?range=7d&by=person"))
    cards = {card["name"]: card["now"] for card in page["cards"]}
    assert (cards["spend"], cards["runs"], cards["tokens"], cards["unpriced"]) == (0.024, 2, 2200, 0)
    assert page["total"]["cost"] == sum(one["cost"] for one in page["series"]) == 0.024 and len(page["series"]) == 7
    assert page["totalBefore"]["runs"] == 0 and page["span"]["grain"] == "day"
    table = data(client.get("/api/costs/tables/spend?range=7d&by=person"))
    assert len(table["rows"]) == 2 and table["title"] == "Spend by person"
    assert sum(row["cost"] for row in table["rows"]) == 0.024
    file = client.get("/api/costs/tables/spend?range=7d&by=person&format=csv")
    lines = list(csv.DictReader(io.StringIO(file.content.decode("utf-8-sig"))))
    assert sum(Decimal(line["cost"]) for line in lines) == Decimal("0.024") and "attachment" in str(file.headers)
    for name in tables.NAMES:
        assert client.get(f"/api/costs/tables/{name}?format=parquet").content[:4] == b"PAR1", name
    failed = data(client.get(f"/api/costs?range=30d&status=failed&model={MODEL}"))["total"]
    assert (failed["runs"], failed["cost"], failed["unpriced"]) == (1, None, 1)
    assert MODEL in data(client.get("/api/costs/choices"))["values"]["model"]
    queries = "range=soon", "by=moon", "project=x", "status=odd", "first=x", "range=own", "range=own&first=0001-01-01"
    fields = [refused(client.get(f"/api/costs?{query}")) for query in queries]
    assert [field for _status, field in fields] == ["range", "by", "project", "status.0", "first", "range", "first"]

    undone = data(admin.post(f"/api/repricings/{batch['id']}/undo"))
    assert undone["undoneAt"] and admin.post(f"/api/repricings/{batch['id']}/undo").status_code == 409
    assert data(client.get("/api/costs?range=7d"))["total"]["cost"] is None


def test_the_ledger_page_by_page_and_a_run_whole(client: TestClient, runs: datetime, operator: Scope) -> None:
    found: list[str] = []
    after = ""
    while True:
        page = client.get("/api/assistant-runs", params={"limit": 1, "after": after, "q": "house"}).json()
        found += [run["id"] for run in page["runs"]]
        after = page["after"]
        if not after:
            break
    assert len(set(found)) == len(found) == 3 and page["reached"] is None
    assert client.get("/api/assistant-runs?status=failed").json()["runs"][0]["id"] == found[2]
    window = {"from": runs.isoformat(), "to": (runs + timedelta(hours=1)).isoformat()}
    assert [run["id"] for run in client.get("/api/assistant-runs", params=window).json()["runs"]] == found[:1]
    queries = "after=x", "limit=201", "from=x", "to=0001-01-02T00:00:00Z", "kind=odd"
    fields = [refused(client.get(f"/api/assistant-runs?{query}"))[1] for query in queries]
    assert fields == ["after", "limit", "from", "to", "kind.0"]
    whole = client.get(f"/api/assistant-runs/{found[0]}/whole").json()
    assert whole["run"]["model"] == MODEL and whole["price"] == {"known": False, "lines": whole["price"]["lines"]}
    assert whole["receipt"] is None and whole["open_telemetry"]["attributes"]["gen_ai.request.model"]


def test_the_audit_is_read_proved_and_exported(admin: TestClient, client: TestClient, scope: Scope) -> None:
    for name in ("Ada", "Bo", "Cy"):
        data(client.post("/api/agents", json={"name": name}), 201)
    query = "entity=agent&door=api&limit=2"
    first = admin.get(f"/api/audit?{query}").json()
    after = first["page"]["after"]
    second = admin.get("/api/audit", params={"entity": "agent", "door": "api", "limit": 2, "after": after}).json()
    entries = [*first["data"], *second["data"]]
    assert [one["detail"]["name"] for one in entries] == ["Cy", "Bo", "Ada"] and second["page"]["after"] is None
    assert {(one["door"], one["action"]) for one in entries} == {("api", "create")}
    one = data(admin.get("/api/audit", params={"entityId": entries[0]["entityId"], "from": entries[0]["at"]}))
    assert one == entries[:1] and "agent" in data(admin.get("/api/audit/entities"))
    proof = data(admin.get("/api/audit/verify"))
    assert proof["holds"] and proof["entries"] == proof["lastNumber"] >= 3 and len(proof["lastHash"]) == 64
    file = admin.get("/api/audit/export?entity=agent").content.decode("utf-8-sig")
    assert [line["action"] for line in csv.DictReader(io.StringIO(file))] == ["create"] * 3
    assert data(admin.get("/api/audit?action=export&entity=audit"))[0]["userId"] == str(scope.user_id)
    queries = "after=x", "from=2026-01-01T00:00:00", "door=window", "limit=0", "person=x"
    assert [refused(admin.get(f"/api/audit?{query}"))[1] for query in queries] == [
        "after", "from", "door.0", "limit", "person",
    ]  # fmt: skip
    for path in ("/api/audit", "/api/audit/verify", "/api/audit/export", "/api/self-check/statements"):
        assert client.get(path).status_code == 403
    checks = {one["title"]: one["state"] for one in data(client.get("/api/self-check?range=7d"))}
    assert checks["Stuck runs"] == "well" and len(checks) == 6
    proved = [one["state"] for one in data(admin.get("/api/self-check/proof?range=7d"))]
    assert proved == ["well"] * 3 and admin.get("/api/self-check/statements").status_code == 200


@pytest.fixture
def corner(operator: Scope) -> Corner:
    return fill(operator)


def test_messages_are_kept_shown_and_forgotten(client: TestClient, operator: Scope) -> None:
    place = Place(conversing.project(operator, "Apollo"))
    turn, answer = conversing.ask(operator, "We decided to launch from Lisbon.", place=place)
    memory = f"/api/projects/{place.project_id}/memory"
    asked = conversing.shown(operator, turn.conversation_id)[0].id
    kept = data(client.post(f"/api/messages/{asked}/keep", json={"kind": "decisions"}))
    assert kept["new"] and kept["entry"]["message_id"] == str(asked)
    assert not data(client.post(f"/api/messages/{asked}/keep", json={"kind": "decisions"}))["new"]
    weight = client.get(f"{memory}/weight").json()[0]
    assert weight["tokens"] > 0 and weight["names"] == [None] and weight["left_out"] == []
    heavy = client.post(f"{memory}/weight", json={"risks": ["x " * 900] * 40}).json()[0]
    assert heavy["left_out"] and heavy["left_out"][0]["list"] == "risks"
    (known,) = client.get(f"{memory}/answer?q=launch").json()["entries"]
    assert (known["field"], known["message_id"]) == ("decisions", str(asked))
    wrong = client.post(f"{memory}/forget", json={"field": "decisions", "entry": kept["entry"] | {"what": "Oslo"}})
    assert wrong.status_code == 409
    gone = client.post(f"{memory}/forget", json={"field": "decisions", "entry": kept["entry"]})
    assert gone.status_code == 200 and gone.json()["decisions"] == []

    talk = f"/api/conversations/{turn.conversation_id}"
    data(client.post("/api/chat", json={"id": str(turn.conversation_id), "trigger": "regenerate-message",
                                        "projectId": str(place.project_id),
                                        "messages": [{"role": "user", "parts": []}], "stream": False}))  # fmt: skip
    both = data(client.get(f"/api/messages/{answer.id}/versions"))
    assert [(one["version"], one["versions"]) for one in both] == [(1, 2), (2, 2)] and both[0]["id"] == str(answer.id)
    assert data(client.get(f"{talk}/messages"))[-1]["id"] == both[1]["id"]
    assert data(client.post(f"/api/messages/{answer.id}/show"))["version"] == 1
    assert data(client.get(f"{talk}/messages"))[-1]["id"] == both[0]["id"]
    gauge = data(client.get(f"{talk}/gauge"))
    assert gauge["mode"] == "session" and gauge["messages"] == 2 and 0 < gauge["share"] < 1
    going, effect = data(client.get(f"{talk}/deletion")), data(client.get(f"{talk}/move"))
    assert (going["conversations"], going["messages"]) == (1, 3) and (effect["moving"], effect["closed"]) == (1, 1)


def test_many_conversations_are_changed_at_once(client: TestClient, corner: Corner) -> None:
    ids = [str(corner.open), str(corner.private)]

    def change(action: str, **more: Any) -> Any:
        return client.post("/api/conversations/many", json={"ids": ids, "action": action} | more)

    assert data(change("tag", tags=["cold", "Hot mine"])) == {"changed": 2}
    assert [one["name"] for one in data(client.get("/api/tags"))] == ["cold", "hot mine"]
    data(change("untag", tags=["hot mine"]))
    assert data(client.get(f"/api/conversations/{corner.open}"))["tags"] == ["cold"]
    assert data(change("archive")) == {"changed": 2} and data(change("archive")) == {"changed": 0}
    assert data(change("unarchive")) == {"changed": 2}
    assert data(change("move")) == {"changed": 1} and data(change("trash")) == {"changed": 2}
    assert change("archive").status_code == 404 and data(change("restore")) == {"changed": 2}
    assert data(change("delete")) == {"changed": 2} and change("delete").status_code == 404
    assert refused(client.post("/api/conversations/many", json={"ids": [], "action": "trash"})) == (422, "ids")
