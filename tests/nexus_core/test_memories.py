"""A project's living memory: replaced at the version that was read, kept as revisions, never overwritten unseen."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest

from nexus_core import audit, memories, projects
from nexus_core.database import Scope, transaction
from nexus_core.entries import LISTS, main_text
from nexus_core.errors import Conflict, Forbidden, Invalid, NotFound
from nexus_core.memories import Memory
from tests.nexus_core import ledger

DECISION = {"id": "d1", "what": "12 % from 100 k", "why": "Margin", "status": "active", "extra": {"x": 1}}


@pytest.fixture
def project_id(operator: Scope) -> UUID:
    with transaction(operator) as tx:
        return projects.create(tx, "Pricing").id


def replaced(scope: Scope, project_id: UUID, version: int, summary: str = "", **lists: Any) -> Memory:
    with transaction(scope) as tx:
        return memories.replace(tx, project_id, version=version, summary_md=summary, **lists)


def test_what_is_saved_comes_back_whole(operator: Scope, project_id: UUID) -> None:
    lists = {
        "decisions": [DECISION, "a plain sentence"],
        "open_questions": [{"question": "Who?"}],
        "risks": [{"risk": "Rain", "likelihood": "low"}],
        "links": [{"label": "List", "url": "https://example.com"}],
    }
    replaced(operator, project_id, 1, "# Where it stands\n\n$5", **lists)
    with transaction(operator) as tx:
        memory = memories.get(tx, project_id)
    assert (memory.version, memory.summary_md) == (2, "# Where it stands\n\n$5")
    assert {field: getattr(memory, field) for field in LISTS} == lists
    assert (memory.updated_by, memory.updated_by_name) == (operator.user_id, "Olga")


def test_replacing_leaves_the_metadata_unless_given(operator: Scope, project_id: UUID) -> None:
    assert replaced(operator, project_id, 1, metadata={"origin": "import"}).metadata == {"origin": "import"}
    assert replaced(operator, project_id, 2, "x").metadata == {"origin": "import"}
    assert replaced(operator, project_id, 3, "x", metadata={}).metadata == {}


def test_the_second_of_two_is_told_and_nothing_is_overwritten(
    operator: Scope, colleague: Scope, project_id: UUID
) -> None:
    replaced(operator, project_id, 1, "first")
    with pytest.raises(Conflict) as refused:
        replaced(colleague, project_id, 1, "second")
    nothing: dict[str, Any] = {"decisions": [], "open_questions": [], "risks": [], "links": []}
    current, base = nothing | {"summary_md": "first"}, nothing | {"summary_md": ""}
    assert refused.value.detail == {"version": 2, "current": current, "base": base}
    with transaction(operator) as tx:
        memory = memories.get(tx, project_id)
    assert (memory.version, memory.summary_md) == (2, "first")


def test_of_many_at_once_one_wins(operator: Scope, project_id: UUID) -> None:
    def attempt(number: int) -> int | None:
        try:
            return replaced(operator, project_id, 1, f"by {number}").version
        except Conflict:
            return None

    with ThreadPoolExecutor(6) as pool:
        versions = list(pool.map(attempt, range(6)))
    assert sorted(filter(None, versions)) == [2]


def test_every_version_is_kept_with_its_author(
    operator: Scope, colleague: Scope, project_id: UUID, database_url: str
) -> None:
    replaced(operator, project_id, 1, "one", decisions=[DECISION])
    replaced(colleague, project_id, 2, "two")
    with ledger.owner(database_url) as connection:
        rows = connection.execute(
            "SELECT version, summary_md, decisions, source, created_by FROM project_memory_revisions"
            " WHERE project_id = %s AND version > 1 ORDER BY version",
            (project_id,),
        ).fetchall()
    assert rows == [
        (2, "one", [DECISION], "hand", operator.user_id),
        (3, "two", [], "hand", colleague.user_id),
    ]


def test_the_audit_names_version_and_source_and_no_text(operator: Scope, scope: Scope, project_id: UUID) -> None:
    replaced(operator, project_id, 1, "a secret plan", source="api")
    with transaction(scope) as tx:
        entry = audit.latest(tx)[0]
    assert (entry.action, entry.entity, entry.entity_id) == ("update", "memory", project_id)
    assert entry.detail == {"version": 2, "source": "api"}


@pytest.mark.parametrize("value", ["text", {"what": "x"}, [1], [None], [["nested"]]])
def test_a_list_is_a_list_of_entries(operator: Scope, project_id: UUID, value: Any) -> None:
    with pytest.raises(Invalid) as refused:
        replaced(operator, project_id, 1, decisions=value)
    assert refused.value.field == "decisions"


def test_bytes_that_postgresql_refuses_are_cleaned(operator: Scope, project_id: UUID) -> None:
    memory = replaced(operator, project_id, 1, "a\x00b", decisions=[{"what": "x\x00y\ud800", "k\x00": 1}])
    assert (memory.summary_md, memory.decisions) == ("ab", [{"what": "xy\ufffd", "k": 1}])


def test_viewers_read_only(viewer: Scope, project_id: UUID) -> None:
    with pytest.raises(Forbidden):
        replaced(viewer, project_id, 1, "mine")
    with transaction(viewer) as tx:
        assert memories.get(tx, project_id).version == 1


def test_another_workspace_finds_nothing(other_scope: Scope, operator: Scope, project_id: UUID) -> None:
    with pytest.raises(NotFound):
        replaced(other_scope, project_id, 1, "mine")
    with pytest.raises(NotFound), transaction(other_scope) as tx:
        memories.get(tx, project_id)
    with transaction(operator) as tx:
        assert memories.get(tx, project_id).summary_md == ""


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("plain", "plain"),
        ({"what": "w", "question": "q"}, "w"),
        ({"what": "", "question": "q"}, "q"),
        ({"label": "l", "url": "u"}, "l"),
        ({"risk": 5}, "5"),
        ({"other": "x"}, ""),
    ],
)
def test_main_text(entry: Any, text: str) -> None:
    assert main_text(entry) == text
