"""Two people's changes to one memory: nothing of either is lost, and what can't be joined is said to clash."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nexus_core.entries import LISTS, by_key
from nexus_core.memory_merge import BOTH, THEIRS, Clash, merge

NOTHING: dict[str, Any] = {"summary_md": "", **{field: [] for field in LISTS}}
TEXT = st.lists(st.sampled_from(["", "a", "b", "c", "d", "# e"]), max_size=6).map("\n".join)
ENTRY = st.one_of(
    st.sampled_from(["plain", "other"]),
    st.fixed_dictionaries(
        {"id": st.sampled_from("12345")},
        optional={"what": st.sampled_from(["x", "y", "z"]), "why": st.sampled_from(["p", "q"]), "status": st.just("s")},
    ),
)
LIST = st.lists(ENTRY, max_size=5, unique_by=lambda entry: entry if isinstance(entry, str) else entry["id"])
MEMORY = st.fixed_dictionaries({"summary_md": TEXT, **dict.fromkeys(LISTS, LIST)})


def memory(**fields: Any) -> dict[str, Any]:
    return NOTHING | fields


def choose(clashes: list[Clash], side: str) -> dict[str, str]:
    return {clash.id: side for clash in clashes}


@given(MEMORY, MEMORY)
def test_what_one_alone_changed_is_taken_as_it_is(base: dict[str, Any], changed: dict[str, Any]) -> None:
    for merged in (merge(base, changed, base), merge(base, base, changed), merge(base, changed, changed)):
        assert not merged.clashes
        assert merged.values() == changed


@given(MEMORY, MEMORY, MEMORY)
def test_nothing_of_either_is_lost(base: dict[str, Any], mine: dict[str, Any], theirs: dict[str, Any]) -> None:
    merged = merge(base, mine, theirs)
    clashing = {clash.id for clash in merged.clashes}
    assert len(clashing) == len(merged.clashes)
    for field in LISTS:
        befores, ours, others = by_key(base[field]), by_key(mine[field]), by_key(theirs[field])
        kept = by_key(merged.values()[field])
        for key in befores.keys() | ours.keys() | others.keys():
            if f"{field}/{key}" in clashing:
                continue
            before, my, their = befores.get(key), ours.get(key), others.get(key)
            if my in (before, their):
                assert kept.get(key) == their
            elif their == before:
                assert kept.get(key) == my
            else:  # both changed it, in different fields
                assert isinstance(my, dict) and isinstance(their, dict) and isinstance(kept[key], dict)
                old = before if isinstance(before, dict) else {}
                for name in my.keys() | their.keys() | old.keys():
                    one, two = my.get(name), their.get(name)
                    assert kept[key].get(name) == (two if one == old.get(name) else one)


@given(MEMORY, MEMORY, MEMORY)
def test_both_sides_see_the_same_clashes(base: dict[str, Any], mine: dict[str, Any], theirs: dict[str, Any]) -> None:
    one, two = merge(base, mine, theirs), merge(base, theirs, mine)
    lists = [{clash.id for clash in merged.clashes if clash.field != "summary_md"} for merged in (one, two)]
    assert lists[0] == lists[1]
    for field in LISTS:
        assert by_key(one.values(choose(one.clashes, THEIRS))[field]) == by_key(two.values()[field])
    assert one.values(choose(one.clashes, THEIRS))["summary_md"] == two.values()["summary_md"]


def test_paragraphs_changed_apart_are_joined_and_the_same_one_clashes() -> None:
    base = memory(summary_md="# Pricing\n\nOne.\n\nTwo.\n\nThree.")
    merged = merge(base, memory(summary_md="# Pricing\n\nOne!\n\nTwo.\n\nThree."),
                   memory(summary_md="# Pricing\n\nOne.\n\nTwo.\n\nThree.\n\nFour."))  # fmt: skip
    assert merged.values()["summary_md"] == "# Pricing\n\nOne!\n\nTwo.\n\nThree.\n\nFour."
    assert not merged.clashes
    clashing = merge(base, memory(summary_md="# Pricing\n\nOne!\n\nTwo.\n\nThree."),
                     memory(summary_md="# Pricing\n\nOne?\n\nTwo.\n\nThree."))  # fmt: skip
    [clash] = clashing.clashes
    assert (clash.base, clash.mine, clash.theirs) == (["One."], ["One!"], ["One?"])
    assert "One!\nOne?" in clashing.values({clash.id: BOTH})["summary_md"]
    assert "One?" in clashing.values({clash.id: THEIRS})["summary_md"]


def test_fields_of_one_entry_changed_apart_are_joined() -> None:
    base = memory(decisions=[{"id": "1", "what": "Lisbon", "why": "sun", "status": "active"}])
    mine = memory(decisions=[{"id": "1", "what": "Lisbon", "why": "cost", "status": "active"}])
    theirs = memory(decisions=[{"id": "1", "what": "Lisbon", "why": "sun", "status": "superseded"}])
    merged = merge(base, mine, theirs)
    assert merged.values()["decisions"] == [{"id": "1", "what": "Lisbon", "why": "cost", "status": "superseded"}]
    [clash] = merge(base, mine, memory(decisions=[{"id": "1", "what": "Oslo", "why": "rain"}])).clashes
    assert clash.mine == {"id": "1", "what": "Oslo", "why": "cost"}  # what only they changed is in mine, too
    assert clash.theirs == {"id": "1", "what": "Oslo", "why": "rain"}


def test_removed_by_one_and_changed_by_the_other_clashes() -> None:
    base = memory(risks=[{"id": "1", "risk": "Rain"}])
    merged = merge(base, memory(), memory(risks=[{"id": "1", "risk": "Hail"}]))
    [clash] = merged.clashes
    assert clash.mine is None
    assert merged.values()["risks"] == []
    assert merged.values({clash.id: THEIRS})["risks"] == [{"id": "1", "risk": "Hail"}]


def test_my_order_holds_and_what_they_added_stays_with_its_neighbour() -> None:
    one, two, three, new = ({"id": key, "what": key} for key in ("1", "2", "3", "new"))
    merged = merge(memory(decisions=[one, two, three]), memory(decisions=[three, one, two]),
                   memory(decisions=[one, new, two, three]))  # fmt: skip
    assert merged.values()["decisions"] == [three, one, new, two]
