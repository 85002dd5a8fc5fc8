"""Import of what other products export: branches become versions, and what can't come along is told."""

import io
import json
import time
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nexus_core import conversations, foreign, importing, messages
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import NotFound
from nexus_core.messages import Message
from tests.nexus_core.conversing import ask, project, shown
from tests.nexus_core.exchanging import JSON, bring, taken
from tests.store import ask as rows

FILES = Path(__file__).with_name("files")
CHATGPT = (FILES / "chatgpt.json").read_bytes()
CLAUDE = (FILES / "claude.json").read_bytes()


def said(scope: Scope, conversation_id: UUID | None) -> list[Message]:
    assert conversation_id
    return shown(scope, conversation_id)


def packed(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(f"export/{name}.json", content)
        made.writestr("chat.html", "<script>alert(1)</script>")
        made.writestr("export/broken.json", "{")
        made.writestr("export/users.json", '[{"email": "ana@example.com"}]')
    return buffer.getvalue()


def test_chatgpts_branches_become_versions(operator: Scope) -> None:
    ship, odd = bring(operator, CHATGPT)
    assert (ship.title, ship.status, ship.messages) == ("Naming a ship", "imported", 5)
    assert ship.left == {"images": 1, "attachments": 1, "tool_calls": 2, "thoughts": 1}
    path = said(operator, ship.conversation_id)
    assert [(one.role, one.version, one.versions) for one in path] == [
        ("user", 1, 1), ("assistant", 2, 2), ("user", 1, 1), ("assistant", 1, 1),
    ]  # fmt: skip
    assert path[1].body == "Call it Halcyon."
    assert path[2].body.split("\n\n") == [
        "[Image, not imported]", "What is in this picture, and how long is the hull?",
        "[Attached file, not imported: plan.pdf]",
    ]  # fmt: skip
    assert (path[3].body, path[3].model) == ("A hull of 12 m.", "o3")
    assert {one.user_id for one in path if one.role == "user"} == {operator.user_id}
    with transaction(operator) as tx:
        found = conversations.get(tx, path[0].conversation_id)
        assert path[1].previous_id
        assert messages.get(tx, path[1].previous_id).body == "Call it **Zephyr**."
    assert (found.status, found.title_source, found.agent_id) == ("archived", "person", None)
    assert found.created_at == datetime.fromtimestamp(1714550400.25, UTC)
    assert odd.left == {"unknown": 3}


def test_a_broken_conversation_gives_what_it_has(operator: Scope) -> None:
    _ship, odd = bring(operator, CHATGPT)
    path = said(operator, odd.conversation_id)
    assert [one.body for one in path] == ["Hi 😀 ?", "Hello!"]
    with transaction(operator) as tx:
        found = conversations.get(tx, path[0].conversation_id)
    assert (found.title, found.title_source) == ("Hi 😀 ?", "question")
    assert found.created_at == found.last_message_at == foreign.FIRST, "nobody's newest conversation"


def test_claudes_conversations(operator: Scope) -> None:
    garden, linear, empty = bring(operator, CLAUDE)
    assert garden.left == {"attachments": 2, "tool_calls": 1}
    path = said(operator, garden.conversation_id)
    assert [(one.body, one.version, one.versions) for one in path] == [
        ("What grows in shade?\n\n[Attached file, not imported: soil.txt]\n\n[Attached file, not imported: garden.jpg]",
         1, 1),
        ("Only ferns.", 2, 2),
    ]  # fmt: skip
    with transaction(operator) as tx:
        assert path[1].previous_id
        first = messages.get(tx, path[1].previous_id)
    assert [part["type"] for part in first.parts] == ["reasoning", "text"]
    assert [one.body for one in said(operator, linear.conversation_id)] == ["Linear question", "Linear answer"]
    assert linear.left == {"unknown": 2}
    assert (empty.status, empty.messages) == ("imported", 0)


def test_importing_twice_adds_nothing(operator: Scope, colleague: Scope) -> None:
    tables = ("conversations", "messages", "summaries", "tags")

    def counts() -> list[int]:
        return [rows(operator, f"SELECT count(*) FROM {table}")[0][0] for table in tables]

    first = bring(operator, packed(conversations=CHATGPT, more=CLAUDE))
    assert [one.status for one in first] == ["imported"] * 5
    before = counts()
    for again in (packed(conversations=CHATGPT), CHATGPT, CLAUDE):
        assert {one.status for one in bring(operator, again)} == {"known"}
    assert counts() == before
    theirs = bring(colleague, CHATGPT)  # one's own, though another has the same file
    assert [one.status for one in theirs] == ["imported"] * 2
    assert {one.status for one in bring(colleague, CHATGPT)} == {"known"}


def test_what_was_imported_goes_out_and_comes_back(operator: Scope) -> None:
    ship, _odd = bring(operator, CHATGPT)
    file = taken(operator, ship.conversation_id)
    assert json.loads(file)["imported_from"] == {
        "format": "chatgpt", "id": "6631d1c0-0000-8000-a000-000000000001",
    }  # fmt: skip
    with transaction(operator) as tx:
        assert ship.conversation_id
        conversations.delete(tx, ship.conversation_id)
    bring(operator, file)
    assert taken(operator, ship.conversation_id) == file
    assert bring(operator, CHATGPT)[0].status == "known"


def test_a_chat_goes_on_where_it_was_imported(scope: Scope, operator: Scope) -> None:
    mine = json.loads(CLAUDE)[1]
    mine["chat_messages"][0]["text"] = "My name is Ana"
    (outcome,) = bring(operator, mine)
    _turn, answer = ask(operator, "What is my name?", conversation_id=outcome.conversation_id)
    assert "Ana" in answer.body


def test_into_a_project(operator: Scope, colleague: Scope) -> None:
    apollo = project(operator)
    outcomes = bring(operator, CLAUDE, Place(apollo))
    with transaction(colleague) as tx:
        found = conversations.of_project(tx, apollo)
    assert {one.id for one in found} == {one.conversation_id for one in outcomes}
    with pytest.raises(NotFound):
        bring(operator, CLAUDE, Place(operator.user_id))
    entries = rows(operator, "SELECT detail FROM audit WHERE action = 'import'")
    assert [row.detail["format"] for row in entries] == ["claude"] * 3


def test_one_conversation_that_fails_leaves_the_others(operator: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "MOST_MESSAGES", 4)
    file = json.loads(CHATGPT)
    outcomes = bring(operator, [file[0], {"mapping": 5}, 7, file[1]])
    assert [one.status for one in outcomes] == ["failed", "failed", "failed", "imported"]
    assert rows(operator, "SELECT count(*) FROM conversations")[0][0] == 1
    cut = json.dumps(file[::-1]).encode()[:-500]
    assert [one.status for one in bring(operator, cut)] == ["known", "failed"]


def test_a_long_import(operator: Scope) -> None:
    """5,000 messages, one of 1 MB on one line, in seconds."""
    long = [{"uuid": str(n), "text": f"message {n}", "sender": ("human", "assistant")[n % 2]} for n in range(5000)]
    long[7]["text"] = "x" * 1_000_000
    began = time.monotonic()
    (outcome,) = bring(operator, [{"uuid": "long", "name": "Long", "chat_messages": long}])
    assert (outcome.messages, outcome.reason) == (5000, "")
    assert time.monotonic() - began < 30
    file = taken(operator, outcome.conversation_id)
    assert len(json.loads(file)["messages"]) == 5000


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, None), ("0", None), (None, None), (True, None), ("", None), (1714550400, 2024), ("1714550400.5", 2024),
        (1e300, None), (float("nan"), None), ("2025-03-01", 2025), ("-5", None), ({}, None), ("9" * 400, None),
    ],
)  # fmt: skip
def test_times(value: Any, expected: int | None) -> None:
    found = foreign.instant(value)
    assert (found and found.year) == expected


NODE = st.fixed_dictionaries(
    {}, optional={"parent": st.sampled_from("abcdx") | JSON, "children": JSON, "message": JSON | st.fixed_dictionaries(
        {"author": JSON | st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "tool"]) | JSON}),
         "content": JSON | st.fixed_dictionaries(
             {"content_type": st.sampled_from(["text", "code", "multimodal_text", "thoughts"]) | JSON},
             optional={"parts": JSON | st.lists(JSON), "text": JSON})},
        optional={"create_time": JSON, "metadata": JSON, "recipient": JSON})},
)  # fmt: skip
BLOCK = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "thinking"]) | JSON}, optional={"text": JSON, "thinking": JSON}
)
SAID = st.fixed_dictionaries({}, optional={
    "uuid": st.sampled_from("abc") | JSON, "text": JSON, "sender": st.sampled_from(["human", "assistant"]) | JSON,
    "content": JSON | st.lists(BLOCK), "parent_message_uuid": st.sampled_from("abc") | JSON, "attachments": JSON,
    "created_at": JSON,
})  # fmt: skip
FOREIGN = st.one_of(
    st.fixed_dictionaries({"mapping": st.dictionaries(st.sampled_from("abcd"), NODE | JSON)},
                          optional={"title": JSON, "create_time": JSON, "id": JSON, "current_node": JSON}),
    st.fixed_dictionaries({"chat_messages": st.lists(SAID | JSON, max_size=4)},
                          optional={"name": JSON, "created_at": JSON, "uuid": JSON}),
)  # fmt: skip


def test_whatever_is_in_it_an_import_ends_in_a_report(operator: Scope) -> None:
    @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
    @given(FOREIGN)
    def import_(raw: Any) -> None:
        (outcome,) = bring(operator, raw)
        assert outcome.status in ("imported", "known"), outcome.reason
        if outcome.conversation_id:
            for one in said(operator, outcome.conversation_id):
                assert one.parent_seq is None or one.parent_seq < one.seq
            taken(operator, outcome.conversation_id)

    import_()
