"""Tags: one word whatever its case, on one or many conversations, and gone when nothing carries it."""

from uuid import UUID, uuid4

import pytest

from nexus_core import audit, conversations, search, tags
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import Forbidden, Invalid, NotFound
from nexus_core.search import Filter
from tests.nexus_core.conversing import owner, project


def make(scope: Scope, *titles: str, place: Place = Place()) -> list[UUID]:  # noqa: B008
    with transaction(scope) as tx:
        return [conversations.create(tx, place, title=title).id for title in titles]


def of(scope: Scope, *ids: UUID) -> list[list[str] | None]:
    with transaction(scope) as tx:
        found = tags.of(tx, ids)
    return [found.get(each) for each in ids]


def test_many_at_once_and_a_word_once_whatever_its_case(scope: Scope) -> None:
    one, two = make(scope, "One", "Two")
    with transaction(scope) as tx:
        tags.add(tx, [one, two], ["Pricing", " #pricing\n", "", "q3  2026"])
        tags.add(tx, [two], ["PRICING", "é"])
        tags.add(tx, [two], [])
    assert of(scope, one, two) == [["Pricing", "q3 2026"], ["Pricing", "q3 2026", "é"]]
    with transaction(scope) as tx:
        assert [tag.name for tag in tags.list_(tx)] == ["Pricing", "q3 2026", "é"]
        tags.remove(tx, [one, two], ["pricing", "never was"])
        tags.replace(tx, two, ["New", "É"])
        found = [(entry.action, entry.entity_id) for entry in audit.latest(tx) if entry.action == "tag"]
    assert of(scope, one, two) == [["q3 2026"], ["New", "é"]]
    assert len(found) == 6 and {entity for _action, entity in found} == {one, two}


def test_tagging_makes_a_new_version_and_moves_nothing(scope: Scope) -> None:
    one, two = make(scope, "One", "Two")
    with transaction(scope) as tx:
        before = conversations.get(tx, one)
        tags.add(tx, [one], ["x"])
        after = conversations.get(tx, one)
        assert after.updated_at > before.updated_at and after.last_message_at == before.last_message_at
        assert [hit.id for hit in search.find(tx).hits] == [two, one]
        (tag,) = tags.list_(tx)
        assert [hit.tags for hit in search.find(tx, "", Filter(tag_id=tag.id)).hits] == [["x"]]


def test_what_is_not_here_is_not_tagged(operator: Scope, colleague: Scope, viewer: Scope) -> None:
    (private,) = make(operator, "Mine")
    (shared,) = make(operator, "Ours", place=Place(project(operator)))
    for wrong in (private, uuid4()):
        with pytest.raises(NotFound), transaction(colleague) as tx:
            tags.add(tx, [shared, wrong], ["x"])
    assert of(operator, shared) == [[]] and of(colleague, private) == [None]
    with transaction(colleague) as tx:
        tags.add(tx, [shared], ["x"])
        assert tags.list_(tx)
    with pytest.raises(Forbidden), transaction(viewer) as tx:
        tags.add(tx, [shared], ["y"])
    with pytest.raises(Invalid), transaction(operator) as tx:
        tags.add(tx, [shared], [f"tag {n}" for n in range(tags.MOST + 1)])


def test_a_tag_that_nothing_carries_goes_a_private_one_stays(scope: Scope, colleague: Scope, database_url: str) -> None:
    (mine,) = make(scope, "Mine")
    (theirs,) = make(colleague, "Theirs")
    with transaction(scope) as tx:
        tags.add(tx, [mine], ["spent"])
    with transaction(colleague) as tx:
        tags.add(tx, [theirs], ["kept"])
    with transaction(scope) as tx:
        conversations.delete(tx, mine)
        tags.prune(tx)  # the system's alone: others' private conversations carry tags that are not seen here
        assert len(tags.list_(tx)) == 2
    with transaction(Scope.system()) as tx:
        assert tags.prune(tx) == 0, "a day's grace"
    with owner(database_url) as connection:
        connection.execute("UPDATE tags SET created_at = now() - interval '2 days'")
    with transaction(Scope.system()) as tx:
        assert tags.prune(tx) == 1
    with transaction(colleague) as tx:
        assert [tag.name for tag in tags.list_(tx)] == ["kept"]
