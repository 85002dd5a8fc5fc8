"""Export and import of our own: nothing is lost, nothing is added twice, nobody's things go with another's."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any
from uuid import UUID

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from pathvalidate import is_valid_filename
from uuid6 import uuid7

from nexus_core import conversations, database, exchange, importing, messages, parts, reading, shelf, tags
from nexus_core.__main__ import main
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import Forbidden, Invalid, NotFound
from nexus_core.filenames import attachment, stem
from nexus_core.formats import FORMAT, VERSION, Document
from nexus_core.search import Filter
from tests.nexus_core.conversing import ask, project
from tests.nexus_core.exchanging import TEXT, bring, documents, taken
from tests.store import ask as rows
from tests.store import do, fill

NOWHERE = Place()
EXAMPLES = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def delete(scope: Scope, conversation_id: UUID | None) -> None:
    assert conversation_id
    with transaction(scope) as tx:
        shelf.delete(tx, [conversation_id])


def made(scope: Scope, *said: str, title: str = "", place: Place = NOWHERE) -> UUID:
    with transaction(scope) as tx:
        found = conversations.create(tx, place, title=title, metadata={"new": str(uuid7())})
        for number, text in enumerate(said):
            messages.append(tx, found.id, "assistant" if number % 2 else "user", [parts.text(text)])
    return found.id


def test_what_is_imported_comes_out_as_it_was(operator: Scope) -> None:
    @EXAMPLES
    @given(documents())
    def there_and_back(document: dict[str, Any]) -> None:
        do(operator, "DELETE FROM conversations")
        (outcome,) = bring(operator, document)
        assert (outcome.status, outcome.reason, outcome.messages) == ("imported", "", len(document["messages"]))
        first = taken(operator, outcome.conversation_id)
        told = json.loads(first)
        owner = told.pop("owner")
        assert owner["id"] == str(operator.user_id)
        assert told == {name: value for name, value in document.items() if name != "owner"}
        assert Document.model_validate(json.loads(first))
        jsonschema.validate(json.loads(first), Document.model_json_schema())
        (again,) = bring(operator, first)
        assert (again.status, again.conversation_id) == ("known", outcome.conversation_id)
        assert taken(operator, outcome.conversation_id) == first
        delete(operator, outcome.conversation_id)
        (back,) = bring(operator, first)
        assert back.status == "imported" and taken(operator, back.conversation_id) == first
        delete(operator, back.conversation_id)

    there_and_back()


def test_a_real_conversation_goes_out_and_comes_back(scope: Scope) -> None:
    """With its runs, versions, tags, summary, task and agent; the arguments of its tool calls to the byte."""
    corner = fill(scope)
    odd = '{"b": 1,  "a": "\\u0000", "a": 2}'
    with transaction(scope) as tx:
        messages.append(tx, corner.open, "assistant", [parts.tool("call-9", "look", odd, output="x")])
    before = taken(scope, corner.open)
    told = json.loads(before)
    assert told["task"]["name"] == "Engine" and told["agent"]["name"] == "Ada" and told["tags"] == ["hot mine"]
    assert told["messages"][2]["parts"][0]["callProviderMetadata"]["nexus"]["arguments"] == odd
    assert told["runs"][0]["cost_estimate"] == "0.25" and told["messages"][1]["run_id"] == str(corner.run)
    assert "engine words" not in before.decode()
    assert told["summaries"][0]["body_md"] == "Engines"
    delete(scope, corner.open)
    (outcome,) = bring(scope, before)
    assert (outcome.conversation_id, outcome.left) == (corner.open, {})
    assert taken(scope, corner.open) == before
    figures = "SELECT count(*), sum(cost_estimate) FROM assistant_runs WHERE workspace_id = :w"
    assert rows(scope, figures, w=scope.workspace_id) == [(2, told_cost(scope))]


def told_cost(scope: Scope) -> Any:
    return rows(scope, "SELECT CAST(0.25 AS numeric(20, 10))")[0][0]


def test_a_chat_with_versions_goes_on_after_its_import(scope: Scope, operator: Scope) -> None:
    turn, _answer = ask(operator, "My name is Ana")
    before = taken(operator, turn.conversation_id)
    assert json.loads(before)["messages"][0]["author"] == "Olga"
    delete(operator, turn.conversation_id)
    bring(operator, before)
    assert taken(operator, turn.conversation_id) == before
    _turn, answer = ask(operator, "What is my name?", conversation_id=turn.conversation_id)
    assert "Ana" in answer.body and answer.seq == 4


def test_into_another_workspace(scope: Scope, other_scope: Scope) -> None:
    """What is not there is told, ids stay, and the figures of runs are in no sum there."""
    corner = fill(scope)
    before = taken(scope, corner.open)
    (outcome,) = bring(other_scope, before)
    assert outcome.left == {"project": 1, "agent": 1, "task": 1, "authors": 1}
    told, after = json.loads(before), json.loads(taken(other_scope, outcome.conversation_id))
    gone = {"owner", "project", "agent", "task", "messages"}
    assert {k: v for k, v in told.items() if k not in gone} == {k: v for k, v in after.items() if k not in gone}
    assert [one | {"user_id": None, "author": None} for one in told["messages"]] == after["messages"]
    assert rows(other_scope, "SELECT count(*) FROM assistant_runs")[0][0] == 0
    with transaction(other_scope) as tx:
        found = conversations.get(tx, corner.open)
    assert (found.user_id, found.project_id) == (other_scope.user_id, None)


def test_an_id_that_somebody_else_has_is_mapped_the_same_each_time(operator: Scope, colleague: Scope) -> None:
    theirs = made(colleague, "A secret", "An answer")
    file = taken(colleague, theirs)
    (first,) = bring(operator, file)
    assert first.status == "imported" and first.conversation_id != theirs and first.left == {"authors": 1}
    (again,) = bring(operator, file)
    assert (again.status, again.conversation_id) == ("known", first.conversation_id)
    after = json.loads(taken(operator, first.conversation_id))
    assert after["imported_from"] == {"format": "nexus", "id": str(theirs)}
    assert [one["body"] for one in after["messages"]] == ["A secret", "An answer"]
    assert after["messages"][0]["user_id"] is None
    assert [one["id"] for one in json.loads(taken(colleague, theirs))["messages"]] != [
        one["id"] for one in after["messages"]
    ]


def test_what_is_in_the_trash_is_said_to_be_there(operator: Scope) -> None:
    mine = made(operator, "x")
    file = taken(operator, mine)
    with transaction(operator) as tx:
        shelf.trash(tx, [mine])
    assert [(one.status, one.conversation_id) for one in bring(operator, file)] == [("trashed", None)]
    with pytest.raises(NotFound):
        exchange.one(operator, mine, "json")


def test_nobody_exports_what_is_not_theirs_to_see(operator: Scope, colleague: Scope, other_scope: Scope) -> None:
    shared = made(colleague, "In a project", place=Place(project(colleague)))
    private = made(colleague, "Private")
    for format in exchange.FORMATS:
        with pytest.raises(NotFound):
            exchange.one(operator, private, format)
        with pytest.raises(NotFound):
            exchange.one(other_scope, shared, format)
    assert exchange.wanted(operator, Filter()) == [shared]
    zipped = zip_of(operator, [private, shared])
    assert len(zipped) == 1 and "In a project" in next(iter(zipped.values()))
    exported = rows(operator, "SELECT action, entity_id, user_id FROM audit WHERE action = 'export'")
    assert [tuple(row) for row in exported] == [("export", shared, operator.user_id)]


def test_a_viewer_exports_and_imports_nothing(viewer: Scope, operator: Scope) -> None:
    shared = made(operator, "x", place=Place(project(operator)))
    file = taken(viewer, shared)
    with pytest.raises(Forbidden):
        importing.run(viewer, io.BytesIO(file))


def zip_of(scope: Scope, ids: list[UUID], format: exchange.Format = "json") -> dict[str, str]:
    content = b"".join(exchange.many(scope, ids, format).chunks)
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        assert packed.testzip() is None
        return {name: packed.read(name).decode() for name in packed.namelist()}


def test_many_are_a_zip_that_is_imported_whole(operator: Scope) -> None:
    titles = ["../../etc/passwd", 'a "x"\r\nX: y 🚀', "CON", "", "same", "same"]
    ids = [made(operator, f"message {number}", title=title) for number, title in enumerate(titles)]
    content = b"".join(exchange.many(operator, ids, "json").chunks)
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        names = packed.namelist()
    assert len(set(names)) == len(ids)
    for name in names:
        assert is_valid_filename(name, platform="universal") and not name.startswith(".")
    assert set(zip_of(operator, ids, "markdown")) == {name.replace(".json", ".md") for name in names}
    for conversation_id in ids:
        delete(operator, conversation_id)
    assert [(one.status, one.conversation_id) for one in bring(operator, content)] == [("imported", one) for one in ids]
    assert {one.status for one in bring(operator, content)} == {"known"}
    assert b"".join(exchange.many(operator, [], "json").chunks)


def test_an_export_holds_no_connection_while_it_is_read(operator: Scope) -> None:
    ids = [made(operator, "x" * 1000) for _number in range(5)]
    chunks = exchange.many(operator, ids, "json").chunks
    next(chunks)
    assert database.engine().pool.checkedout() == 0  # type: ignore[attr-defined]
    delete(operator, ids[-1])
    assert len(zip_of(operator, ids)) == 4


@EXAMPLES
@given(TEXT | TEXT.map(lambda text: text * 30))
def test_a_title_makes_a_safe_file_name(title: str) -> None:
    name = stem(title) + ".json"
    assert is_valid_filename(name, platform="universal") and len(name.encode()) <= 170
    assert not name.startswith((".", "-", "~"))
    header = attachment(name)["content-disposition"]
    assert header.isascii() and header.isprintable() and header.startswith("attachment; filename*=UTF-8''")


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ('日本/语 "x"\r\nX: y 🚀', "日本 语 x X y 🚀"), ("../../etc/passwd", "etc passwd"), ("CON", "CON_"),
        (".CON", "CON_"), ("", "Conversation"), ("...", "Conversation"), ("a" + "\u0301" * 5000, "Conversation"),
    ],
)  # fmt: skip
def test_known_titles_make_known_names(title: str, expected: str) -> None:
    assert stem(title) == expected


def test_the_trash_of_a_person_is_not_in_what_they_want(operator: Scope) -> None:
    kept, gone = made(operator, "kept"), made(operator, "gone")
    with transaction(operator) as tx:
        tags.add(tx, [kept], ["one"])
        shelf.trash(tx, [gone])
    assert exchange.wanted(operator, Filter()) == [kept]


def test_a_broken_import_stores_nothing_of_that_conversation(operator: Scope) -> None:
    file = json.loads(taken(operator, made(operator, "a", "b")))
    do(operator, "DELETE FROM conversations")
    for change in (
        {"version": 2}, {"messages": [file["messages"][0], file["messages"][0]]}, {"id": "x"}, {"messages": None},
        {"messages": [file["messages"][0] | {"seq": 2**40}]}, {"messages": [file["messages"][0] | {"role": "root"}]},
        {"messages": [file["messages"][0] | {"parent_seq": 1}]}, {"title": 5}, {"created_at": "yesterday"},
        {"messages": [file["messages"][0] | {"body": "x" * (importing.LONGEST + 1)}]},
    ):  # fmt: skip
        (outcome,) = bring(operator, file | change)
        assert outcome.status == "failed" and outcome.reason, change
    assert rows(operator, "SELECT count(*) FROM conversations")[0][0] == 0
    (outcome,) = bring(operator, file)
    assert outcome.status == "imported"


@pytest.mark.parametrize("packed", [False, True])
def test_what_is_no_export_is_refused_in_a_sentence(operator: Scope, packed: bool, subtests: pytest.Subtests) -> None:
    for content in (
        b"", b"{", b"[", b"[]", b"null", b"5", b"\xff\xfe{}", b"PK\3\4 broken", b"[1]", b"[" * 100_000,
        b'{"a":' * 50_000, b'[{"mapping": ' + b'{"a":' * 50_000, b'[{"mapping"', b"\x00" * 100, b"hello",
        b'{"format": "nexus-conversation"}', b'[{"a": 1e999}]', b'{"x": "\xed\xa0\x80"}',
        b'{"a": ' + b"9" * 10_000 + b"}",
    ):  # fmt: skip
        with subtests.test(content[:20]):
            reasons = []
            try:
                reasons = [one.reason for one in bring(operator, zipped(content) if packed else content)]
            except Invalid as error:
                reasons = [error.message]
            assert len(reasons) == 1 and reasons[0].endswith(".")
    assert rows(operator, "SELECT count(*) FROM conversations")[0][0] == 0


def zipped(content: bytes, name: str = "conversations.json") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("user.json", '{"email": "ana@example.com"}')
        packed.writestr(name, content)
    return buffer.getvalue()


def test_what_is_read_is_bounded(operator: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_OF_ONE", 10_000)
    bomb = b'{"format": "nexus-conversation", "title": "' + b"x" * 1_000_000 + b'"}'
    listed = b"[" + b",".join([bomb] * 3) + b"]"
    for content in (bomb, zipped(bomb), listed, zipped(listed)):
        (outcome,) = bring(operator, content)
        assert (outcome.status, "larger than" in outcome.reason) == ("failed", True)
    monkeypatch.setattr(reading, "MOST_UNPACKED", 500_000)
    (outcome,) = bring(operator, zipped(bomb))
    assert "more than Nexus unpacks" in outcome.reason


def test_the_schema_is_documented() -> None:
    written = json.loads((database.ROOT / "docs" / "nexus-conversation-1.schema.json").read_text("utf-8"))
    assert written == {
        "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "nexus-conversation-1",
        **Document.model_json_schema(),
    }, "docs/nexus-conversation-1.schema.json is the model's schema"  # fmt: skip
    jsonschema.Draft202012Validator.check_schema(written)
    page = (database.ROOT / "docs" / "export.md").read_text("utf-8")
    assert FORMAT in page and f"version {VERSION}" in page
    for number in (reading.MOST_BYTES >> 20, reading.MOST_OF_ONE >> 20, importing.MOST_MESSAGES, importing.LONGEST):
        assert f"{number:,}" in page


def test_the_command_line_carries_conversations(
    scope: Scope, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = [made(scope, "one", title="One"), made(scope, "two", title="CON")]
    assert main(["export", str(tmp_path / "out")]) == 0
    files = sorted((tmp_path / "out").iterdir())
    assert len(files) == 2 and "2 conversations." in capsys.readouterr().out
    for conversation_id in ids:
        delete(scope, conversation_id)
    assert [main(["import", str(file)]) for file in files] == [0, 0]
    assert sorted(exchange.wanted(scope, Filter())) == sorted(ids)
    assert main(["import", str(tmp_path / "none")]) == 1
    (tmp_path / "bad").write_text("hello")
    assert main(["import", str(tmp_path / "bad")]) == 1
    assert "No conversations were found" in capsys.readouterr().err
