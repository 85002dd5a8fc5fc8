"""The parts of a project's memory as values: what its lists hold, which entries are the same, what is settled; pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from nexus_core.languages import ENGLISH, SPANISH
from nexus_core.text import fold, one_line

LISTS = ("decisions", "open_questions", "risks", "links")
FIELDS = ("summary_md", *LISTS)
MAIN = {"decisions": "what", "open_questions": "question", "risks": "risk", "links": "label"}
"""Where an entry of each list has its sentence."""
DETAIL = {"decisions": "why", "open_questions": "answer", "risks": "mitigation", "links": "url"}
"""Where it has what is added to that."""
OPEN = {"decisions": "active", "open_questions": "open", "risks": "open"}
SETTLED = {"decisions": "superseded", "open_questions": "answered", "risks": "closed"}
CLOSED = frozenset({"superseded", "answered", "closed", "done", "cancelled"})
_NEGATIONS = frozenset(["no", "not", "never", "nor", "cannot", "without", "nunca", "ni", "jamas", "sin", "tampoco"])
_FILLERS = (
    ENGLISH.stop
    | SPANISH.stop
    | frozenset(["decided", "agreed", "decision", "decidido", "acordado", "decidimos", "acordamos"])
)

Values = Mapping[str, Any]
"""A memory's FIELDS: the summary's text, and of each list its entries, objects or plain sentences."""
Words = Callable[[str, str], str]
"""How a value of an entry's key is told; the key's own name is the value of ""."""


def main_text(entry: Any) -> str:
    """The sentence of an entry of any of the lists."""
    if isinstance(entry, str):
        return entry
    keys = ("what", "question", "risk", "label", "text", "title")
    return next((str(entry[key]) for key in keys if entry.get(key)), "")


def detail_text(entry: Any) -> str:
    """What an entry adds to its sentence: a reason, an answer, a mitigation or an address; empty without one."""
    if not isinstance(entry, Mapping):
        return ""
    return next((str(entry[key]) for key in ("why", "answer", "mitigation", "url") if entry.get(key)), "")


def is_closed(entry: Any) -> bool:
    """Whether an entry of a memory's list is settled, so that no prompt needs it."""
    return isinstance(entry, Mapping) and str(entry.get("status")) in CLOSED


def as_stored(_key: str, value: str) -> str:
    """Values as prompts have them."""
    return value


def entry_line(entry: Any, words: Words = as_stored) -> str:
    """An entry of a memory's list on one line: its sentence, then date, person and reason where it has them."""
    line = one_line(main_text(entry))
    if not isinstance(entry, Mapping):
        return line
    told = {key: words(key, one_line(str(value))) for key, value in entry.items() if value}
    when = ", ".join(told[key] for key in ("decided_on", "who") if key in told)
    weight = ", ".join(f"{words('', key)} {told[key]}" for key in ("likelihood", "impact") if key in told)
    reason = one_line(detail_text(entry))
    aside = "; ".join(text for text in (when, weight) if text)
    return line + (f" ({aside})" if aside else "") + (f": {reason}" if reason else "")


def keys_of(entries: Iterable[Any]) -> list[str]:
    """What tells each entry of a list from the others: its id, or its sentence where it has none; all different."""
    seen: Counter[str] = Counter()
    found = []
    for entry in entries:
        known = entry.get("id") if isinstance(entry, Mapping) else None
        key = f"id:{known}" if known else f"text:{main_text(entry)}"
        seen[key] += 1
        found.append(key if seen[key] == 1 else f"{key}#{seen[key]}")
    return found


def by_key(entries: Iterable[Any]) -> dict[str, Any]:
    """The entries of a list by what tells them apart, in their order."""
    entries = list(entries)
    return dict(zip(keys_of(entries), entries, strict=True))


def put(entries: Sequence[Any], key: str | None, entry: Any) -> list[Any]:
    """The list with `entry` in the place that `key` names, at its end where there is none; None takes it away."""
    found = by_key(entries)
    found[key if key is not None and key in found else ""] = entry
    return [one for one in found.values() if one is not None]


def is_web(url: str) -> bool:
    """Whether an address leads to the web or to a mailbox, so that it may be clicked."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return (parts.scheme in ("http", "https") and bool(parts.hostname)) or (
        parts.scheme == "mailto" and "@" in parts.path
    )


def is_known(text: str, sentences: Sequence[str]) -> bool:
    """Whether one of the sentences says what `text` says: all its words that carry meaning, and neither denies it."""
    words, denied = _essence(text)
    if not words:
        return any(fold(text).split() == fold(sentence).split() for sentence in sentences)
    return any(words <= known and denied == also for known, also in map(_essence, sentences))


def _essence(text: str) -> tuple[frozenset[str], bool]:
    words = frozenset("".join(sign if sign.isalnum() else " " for sign in fold(text)).split())
    return words - _FILLERS - _NEGATIONS, bool(words & _NEGATIONS)
