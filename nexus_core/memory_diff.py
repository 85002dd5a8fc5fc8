"""What changed between two versions of a memory, as people read it; pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from nexus_core.entries import LISTS, Values, Words, as_stored, by_key, entry_line, is_closed

CONTEXT = 2
"""Unchanged lines that are shown around a changed one."""
WORDS_LIMIT = 4_000
"""Characters of a line up to which its words are compared; a longer one is shown whole, before and after."""
SAME, DROP, ADD, GAP = "same", "drop", "add", "gap"
_WORD = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True)
class Piece:
    """A stretch of text: SAME in both, only before (DROP) or only after (ADD); GAP stands for lines left out."""

    op: str
    text: str


Line = tuple[Piece, ...]


@dataclass(frozen=True)
class Change:
    """One change: `kind` is added, removed, changed, closed or reopened, or moved (of a whole list).

    `before` and `after` are entries, or the summary's texts; None where there is none.
    """

    field: str
    kind: str
    before: Any
    after: Any


def changes(before: Values, after: Values) -> list[Change]:
    """Every change, the summary first, then list by list in the order of the later version, what was removed last."""
    found: list[Change] = []
    if before["summary_md"] != after["summary_md"]:
        found.append(Change("summary_md", "changed", before["summary_md"], after["summary_md"]))
    for field in LISTS:
        found += _of_list(field, by_key(before[field]), by_key(after[field]))
    return found


def _of_list(field: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for key, entry in new.items():
        if key not in old:
            yield Change(field, "added", None, entry)
        elif old[key] != entry:
            was, now = is_closed(old[key]), is_closed(entry)
            kind = "changed" if was == now else "closed" if now else "reopened"
            yield Change(field, kind, old[key], entry)
    for key, entry in old.items():
        if key not in new:
            yield Change(field, "removed", entry, None)
    kept = [key for key in old if key in new]
    if kept != [key for key in new if key in old]:
        yield Change(field, "moved", None, None)


def lines_of(change: Change, say: Words = as_stored) -> list[Line]:
    """A change as lines: the summary's with the unchanged ones around, an entry as the line that it is in a prompt."""
    if change.field == "summary_md":
        return list(lines(change.before, change.after))
    if change.kind == "moved":
        return []
    states = _state(change.before), _state(change.after)
    told = states[0] != states[1] and change.before is not None and change.after is not None
    before, after = (
        _entry(entry, state if told else "", say) for entry, state in zip(_sides(change), states, strict=True)
    )
    return [words(before, after)]


def lines(before: str, after: str, context: int = CONTEXT) -> Iterator[Line]:
    """Two texts line by line, word by word where a line was changed; unchanged stretches but `context` are a GAP."""
    old, new = before.split("\n"), after.split("\n")
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(context):
        if group[0][1] or group[0][3]:
            yield (Piece(GAP, ""),)
        for op, i1, i2, j1, j2 in group:
            if op == "equal":
                yield from ((Piece(SAME, line),) for line in old[i1:i2])
            elif op == "replace" and i2 - i1 == j2 - j1:
                yield from (words(one, two) for one, two in zip(old[i1:i2], new[j1:j2], strict=True))
            else:
                yield from ((Piece(DROP, line),) for line in old[i1:i2])
                yield from ((Piece(ADD, line),) for line in new[j1:j2])


def words(before: str, after: str) -> Line:
    """One line word by word; where hardly anything stayed, the whole line before and the whole line after."""
    if not before or not after or max(len(before), len(after)) > WORDS_LIMIT:
        return _whole(before, after)
    old, new = _WORD.findall(before), _WORD.findall(after)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < 0.3:
        return _whole(before, after)
    pieces: list[Piece] = []
    for op, i1, i2, j1, j2 in matcher.get_opcodes():
        if op == "equal":
            pieces.append(Piece(SAME, "".join(old[i1:i2])))
            continue
        pieces += [Piece(DROP, "".join(old[i1:i2]))] * (i2 > i1)
        pieces += [Piece(ADD, "".join(new[j1:j2]))] * (j2 > j1)
    return tuple(pieces)


def _whole(before: str, after: str) -> Line:
    if before == after:
        return (Piece(SAME, before),)
    return tuple(piece for piece in (Piece(DROP, before), Piece(ADD, after)) if piece.text)


def _sides(change: Change) -> tuple[Any, Any]:
    return change.before, change.after


def _state(entry: Any) -> str:
    return str(entry.get("status") or "") if isinstance(entry, Mapping) else ""


def _entry(entry: Any, state: str, say: Words) -> str:
    """An entry on one line, with its state where that is what changed; empty for none."""
    return "" if entry is None else entry_line(entry, say) + (f" [{say('status', state)}]" if state else "")


def sides(line: Sequence[Piece]) -> tuple[str, str]:
    """A line as it was before and as it is after."""
    before = "".join(piece.text for piece in line if piece.op in (SAME, DROP))
    return before, "".join(piece.text for piece in line if piece.op in (SAME, ADD))
