"""What the assistant may look up by itself."""

import json
from typing import Any
from uuid import UUID

import pytest

from nexus_core import conversations, memories, messages, recall, tools
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from tests.nexus_core.conversing import project


def write(scope: Scope, place: Place, *said: str, title: str = "") -> UUID:
    with transaction(scope) as tx:
        where = conversations.create(tx, place, title=title).id
        for text in said:
            messages.append(tx, where, "user", [{"type": "text", "text": text}])
    return where


def run(scope: Scope, project_id: UUID | None, name: str, **arguments: Any) -> tuple[Any, str | None]:
    return tools.run(scope, project_id, name, json.dumps(arguments))


@pytest.fixture
def apollo(scope: Scope) -> UUID:
    return project(scope, "Apollo")


def test_search_finds_what_was_said_in_this_project_alone(
    scope: Scope, colleague: Scope, other_scope: Scope, apollo: UUID
) -> None:
    here = write(colleague, Place(apollo), "The rocket is turquoise", title="Colours")
    write(scope, Place(project(scope, "Hermes")), "The rocket is red")
    write(scope, Place(), "The rocket is blue")
    foreign = project(other_scope, "Apollo")
    write(other_scope, Place(foreign), "The rocket is green")
    while recall.index_pending():
        pass
    (hit,), error = run(scope, apollo, "search_memory", query="rocket")
    assert error is None
    assert hit == {
        "conversation_id": str(here), "conversation": "Colours", "message": 1, "date": hit["date"],
        "said_by": "Carlos", "text": "The rocket is turquoise",
    }  # fmt: skip
    assert run(scope, foreign, "search_memory", query="rocket") == ([], None)
    assert run(scope, apollo, "search_memory", query="submarine") == ([], None)
    assert run(scope, apollo, "search_memory", query="") == ([], None)


def test_search_gives_as_many_as_asked_ten_at_most(scope: Scope, apollo: UUID) -> None:
    write(scope, Place(apollo), *(f"Rocket number {number}" for number in range(15)))
    while recall.index_pending():
        pass
    for asked, given in ((None, 5), (3, 3), (99, 10), (-1, 1)):
        found, error = run(scope, apollo, "search_memory", query="rocket", **({"limit": asked} if asked else {}))
        assert (len(found), error) == (given, None)


def test_a_conversation_of_this_project_is_read_page_by_page(scope: Scope, other_scope: Scope, apollo: UUID) -> None:
    here = write(scope, Place(apollo), *(f"Line {number}" for number in range(1, 31)), title="Long")
    found, error = run(scope, apollo, "read_conversation", conversation_id=str(here))
    assert error is None and found["title"] == "Long"
    assert [one["message"] for one in found["messages"]] == list(range(11, 31))
    found, _error = run(scope, apollo, "read_conversation", conversation_id=str(here), before=11)
    assert [one["text"] for one in found["messages"]] == [f"Line {number}" for number in range(1, 11)]
    elsewhere = write(scope, Place(project(scope, "Hermes")), "secret")
    mine = write(scope, Place(), "secret")
    foreign = write(other_scope, Place(), "secret")
    for conversation in (elsewhere, mine, foreign, UUID(int=5), "no id", None):
        found, error = run(scope, apollo, "read_conversation", conversation_id=str(conversation))
        assert found is None and error and "secret" not in error


def test_decisions_are_listed_the_superseded_ones_when_asked(scope: Scope, apollo: UUID) -> None:
    decisions = [{"what": "Lisbon", "status": "active"}, {"what": "Oslo", "status": "superseded"}, "Turquoise"]
    with transaction(scope) as tx:
        memories.replace(tx, apollo, version=1, summary_md="", decisions=decisions)
    assert run(scope, apollo, "list_decisions")[0] == [decisions[0], decisions[2]]
    assert run(scope, apollo, "list_decisions", superseded=True)[0] == decisions


ODD = [
    "",
    "{",
    "[]",
    '"x"',
    '{"limit": "many"}',
    '{"query": {"a": 1}}',
    "null",
    "[" * 5000,
    '{"limit": 1e400, "before": 1e400}',
]


@pytest.mark.parametrize("arguments", ODD)
def test_whatever_the_arguments_are_it_is_a_result(scope: Scope, apollo: UUID, arguments: str) -> None:
    for name in ("search_memory", "read_conversation", "list_decisions", "drop_table", ""):
        output, error = tools.run(scope, apollo, name, arguments)
        assert (output is None) != (error is None)


def test_without_a_project_there_are_no_tools(scope: Scope) -> None:
    assert run(scope, None, "list_decisions") == (None, "There is no tool list_decisions here.")


def test_a_viewer_looks_up_like_anybody(viewer: Scope, scope: Scope, apollo: UUID) -> None:
    assert run(viewer, apollo, "list_decisions") == ([], None)


def test_what_is_offered_is_what_can_be_run(scope: Scope, apollo: UUID) -> None:
    for offered in tools.OFFERED:
        _output, error = run(scope, apollo, offered["function"]["name"], query="x", conversation_id="x")
        assert error is None or "There is no tool" not in error
