"""Two people's changes to one memory, joined: lists entry by entry, the summary line by line; pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from nexus_core.entries import FIELDS, LISTS, Values, by_key

MINE, THEIRS, BOTH = "mine", "theirs", "both"


@dataclass(frozen=True)
class Clash:
    """What both changed, each otherwise. Of a list: entries, None where one removed it; of the summary: its lines.

    Where both changed different fields of an entry, `mine` and `theirs` hold the other's changes, too.
    """

    id: str
    field: str
    base: Any
    mine: Any
    theirs: Any


@dataclass(frozen=True)
class Merge:
    """The joined memory, part by part: of the summary stretches of lines, of a list its entries, clashes among them."""

    parts: Mapping[str, Sequence[Any]]

    @property
    def clashes(self) -> list[Clash]:
        """What a person has to choose."""
        return [part for field in FIELDS for part in self.parts[field] if isinstance(part, Clash)]

    def values(self, choices: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The memory with each clash chosen: MINE (where nothing is said), THEIRS, or of the summary BOTH."""
        chosen = choices or {}
        found: dict[str, Any] = {}
        lines = [line for part in self.parts["summary_md"] for line in _lines(part, chosen)]
        found["summary_md"] = "\n".join(lines)
        for field in LISTS:
            entries = [_chosen(part, chosen) for part in self.parts[field]]
            found[field] = [entry for entry in entries if entry is not None]
        return found


def merge(base: Values, mine: Values, theirs: Values) -> Merge:
    """What both made of `base`: whatever one of them changed is changed, what both changed differently is a clash."""
    texts = (str(side["summary_md"]).split("\n") for side in (base, mine, theirs))
    parts: dict[str, Sequence[Any]] = {"summary_md": tuple(_merged_lines(*texts))}
    for field in LISTS:
        parts[field] = tuple(_merged_list(field, base[field], mine[field], theirs[field]))
    return Merge(parts)


def _lines(part: Any, choices: Mapping[str, str]) -> list[str]:
    if not isinstance(part, Clash):
        return list(part)
    if choices.get(part.id) == BOTH:
        return [*part.mine, *part.theirs]
    return list(_chosen(part, choices))


def _chosen(part: Any, choices: Mapping[str, str]) -> Any:
    if not isinstance(part, Clash):
        return part
    return part.theirs if choices.get(part.id) == THEIRS else part.mine


def _merged_lines(base: list[str], mine: list[str], theirs: list[str]) -> Iterator[Sequence[str] | Clash]:
    """Stretches of lines after diff3 (Khanna, Kunal and Pierce, "A formal investigation of diff3", 2007)."""
    at = (0, 0, 0)
    for starts, length in _common(base, mine, theirs):
        ours = [side[begin:end] for side, begin, end in zip((base, mine, theirs), at, starts, strict=True)]
        if any(ours):
            yield _decided("summary_md", f"{at[0]}:{at[1]}:{at[2]}", *ours)
        if length:
            yield base[starts[0] : starts[0] + length]
        at = (starts[0] + length, starts[1] + length, starts[2] + length)


def _common(base: list[str], mine: list[str], theirs: list[str]) -> Iterator[tuple[tuple[int, int, int], int]]:
    """Stretches that all three have, in order, as (where each has it, its length); the last one is empty."""
    left = SequenceMatcher(None, base, mine, autojunk=False).get_matching_blocks()
    right = SequenceMatcher(None, base, theirs, autojunk=False).get_matching_blocks()
    one = two = 0
    while one < len(left) and two < len(right):
        a, b = left[one], right[two]
        begin, end = max(a.a, b.a), min(a.a + a.size, b.a + b.size)
        if begin < end:
            yield (begin, a.b + begin - a.a, b.b + begin - b.a), end - begin
        if a.a + a.size < b.a + b.size:
            one += 1
        else:
            two += 1
    yield (len(base), len(mine), len(theirs)), 0


def _decided(field: str, key: str, base: Any, mine: Any, theirs: Any) -> Any:
    """What stands in a place: what one of them made of it, what both agree on, or a clash."""
    if mine in (theirs, base):
        return theirs
    return mine if theirs == base else Clash(f"{field}/{key}", field, base, mine, theirs)


def _merged_list(field: str, base: Sequence[Any], mine: Sequence[Any], theirs: Sequence[Any]) -> Iterator[Any]:
    befores, ours, others = by_key(base), by_key(mine), by_key(theirs)
    for key in _order(list(befores), list(ours), list(others)):
        before, my, their = befores.get(key), ours.get(key), others.get(key)
        found = _decided(field, key, before, my, their)
        if isinstance(found, Clash) and isinstance(my, Mapping) and isinstance(their, Mapping):
            found = _joined(found, before if isinstance(before, Mapping) else {})
        if found is not None:
            yield found


def _joined(clash: Clash, base: Mapping[str, Any]) -> Any:
    """The entry with the changed fields of both; a clash where they changed the same one."""
    my, their = dict(clash.mine), dict(clash.theirs)
    for name in [*base, *my, *their]:
        before, one, two = base.get(name), my.get(name), their.get(name)
        if one == before:
            _put(my, name, two)
        elif two == before:
            _put(their, name, one)
    return my if my == their else Clash(clash.id, clash.field, clash.base, my, their)


def _put(entry: dict[str, Any], name: str, value: Any) -> None:
    if value is None:
        entry.pop(name, None)
    else:
        entry[name] = value


def _order(base: list[str], mine: list[str], theirs: list[str]) -> list[str]:
    """Every key once, in their order, or in mine where I moved something; what the other added keeps its neighbour."""
    kept = set(base) & set(mine)
    moved = [key for key in mine if key in kept] != [key for key in base if key in kept]
    first, second = (mine, theirs) if moved else (theirs, mine)
    order = list(first)
    before: str | None = None
    for key in second:
        if key not in order:
            order.insert(order.index(before) + 1 if before is not None else 0, key)
        before = key
    return order
