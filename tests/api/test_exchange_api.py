"""Export and import over HTTP: files with safe names, a zip that comes as it is made, a report of what was left."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from starlette.testclient import TestClient

from nexus_core import conversations, messages, parts, tags
from nexus_core.api import limits
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from tests.api.conftest import Program
from tests.nexus_core.conversing import project
from tests.store import do

CHATGPT = (Path(__file__).parents[1] / "nexus_core" / "files" / "chatgpt.json").read_bytes()


def made(scope: Scope, title: str, *, tag: str = "", project_id: Any = None) -> str:
    with transaction(scope) as tx:
        found = conversations.create(tx, Place(project_id), title=title, metadata={"n": title})
        messages.append(tx, found.id, "user", [parts.text("```\n## User")])
        if tag:
            tags.add(tx, [found.id], [tag])
    return str(found.id)


def names(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
        assert packed.testzip() is None
        return [name[11:].rpartition(" ")[0] for name in packed.namelist()]


def upload(client: TestClient, content: bytes, **fields: str) -> Any:
    return client.post(
        "/api/import",
        files={"file": ("export.zip", content)},
        data=fields,
        headers={"origin": "http://nexus.test:8501"},
    )


def test_a_conversation_is_downloaded_under_a_safe_name(client: TestClient, operator: Scope) -> None:
    found = made(operator, '日本/语 "x"\r\nX: y 🚀')
    whole = client.get(f"/api/conversations/{found}/export")
    assert whole.headers["content-type"] == "application/json" and whole.json()["id"] == found
    assert "x" not in whole.headers
    disposition = whole.headers["content-disposition"]
    assert disposition.startswith("attachment; filename*=UTF-8''") and disposition.isascii()
    assert unquote(disposition.partition("''")[2]) == "日本 语 x X y 🚀.json"
    read = client.get(f"/api/conversations/{found}/export?format=markdown")
    assert read.headers["content-type"] == "text/markdown; charset=utf-8"
    assert "> ```\n> ## User\n" in read.text
    assert client.get(f"/api/conversations/{found}/export?format=pdf").status_code == 422


def test_another_persons_is_not_there(client: TestClient, program: Program, colleague: Scope) -> None:
    found = made(colleague, "Private")
    assert client.get(f"/api/conversations/{found}/export").status_code == 404
    assert names(client.get(f"/api/export?id={found}")) == []
    assert names(program(colleague).get(f"/api/export?id={found}")) == ["Private"]


def test_many_as_a_zip(client: TestClient, operator: Scope, colleague: Scope) -> None:
    apollo = project(operator)
    one, _two = made(operator, "one", tag="hot"), made(operator, "two")
    made(colleague, "theirs", project_id=apollo)
    do(operator, "UPDATE conversations SET last_message_at = '2026-01-01', status = 'archived' WHERE id = :id", id=one)
    for query, expected in (
        ("", ["theirs", "two", "one"]), ("tag=hot", ["one"]), (f"projectId={apollo}", ["theirs"]),
        (f"personId={operator.user_id}", ["two", "one"]), ("until=2026-01-02T00:00:00Z", ["one"]),
        ("status=active&format=markdown", ["theirs", "two"]), (f"id={one}", ["one"]), ("tag=hot&status=open", []),
    ):  # fmt: skip
        assert names(client.get(f"/api/export?{query}")) == expected, query
    assert client.get("/api/export?tag=cold").status_code == 404


def test_an_import_and_its_report(client: TestClient, reader: TestClient, operator: Scope) -> None:
    report = upload(client, CHATGPT).json()["data"]
    assert (report["imported"], report["known"], report["failed"]) == (2, 0, 0)
    ship = report["conversations"][0]
    assert ship["left"] == {"images": 1, "attachments": 1, "tool_calls": 2, "thoughts": 1}
    said = client.get(f"/api/conversations/{ship['conversationId']}/messages").json()["data"]
    assert [one["role"] for one in said] == ["user", "assistant", "user", "assistant"]
    assert upload(client, CHATGPT).json()["data"]["known"] == 2
    refused = upload(client, b"hello")
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "invalid")
    assert upload(client, CHATGPT, projectId="01a22f37-e68b-71be-9de8-363b5958b5c8").status_code == 404
    assert upload(reader, CHATGPT).status_code == 403
    other = client.post("/api/import", files={"file": CHATGPT}, headers={"origin": "https://evil.example"})
    assert other.status_code == 403


def test_what_was_exported_is_imported_into_a_project(client: TestClient, operator: Scope) -> None:
    made(operator, "one"), made(operator, "two")
    content = client.get("/api/export").content
    do(operator, "DELETE FROM conversations")
    apollo = project(operator)
    report = upload(client, content, projectId=str(apollo)).json()["data"]
    assert report["imported"] == 2
    found = client.get(f"/api/conversations?projectId={apollo}&isJustChat=true").json()["data"]
    assert {one["title"] for one in found} == {"one", "two"}


def test_a_file_may_be_large_but_not_too_large(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    long = {
        "uuid": "long",
        "chat_messages": [{"uuid": "a", "sender": "human", "text": "x" * (limits.most("/api/x") + 10)}],
    }
    assert upload(client, json.dumps(long).encode()).json()["data"]["imported"] == 1
    monkeypatch.setattr(limits, "MOST_IMPORTED", -3 * 1024 * 1024)  # 1 MB in all
    answer = upload(client, b"x" * 2 * 1024 * 1024)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")
