"""What the built-in assistant may quote: passages, which of them fit a question, and how they are shown safely."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

from nexus_core.languages import Language
from nexus_core.stems import stem
from nexus_core.text import clip, fold, one_line

QUOTE_CLUSTERS = 320
READ = 20_000
"""Characters of a passage that are read when it is compared or understood."""

_WORD = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+(?=\s|$)|[.!?]+(?=\S)[^.!?\n]*)*[.!?]*")
_ADDRESS = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://|www\.|mailto:)[^\s`]*[^\s`.,;:!?)\]>\"']|[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.IGNORECASE
)
_MARKS = re.compile(r"[\\`*_{}\[\]<>~$|&#!]")
_OPENING = re.compile(r"^([-+=:]|\d+(?=[.)]))")


@dataclass(frozen=True)
class Passage:
    """Something remembered. `author` is user (the person who asks), assistant, or another person's name.

    `kind` is message, decision, question, risk, summary or link; `when` is in the reader's time zone; `source` the
    title of where it stands; `link` leads there, within the application; `seq` its number in this conversation.
    """

    text: str
    kind: str = "message"
    author: str = "user"
    when: datetime | None = None
    source: str = ""
    link: str | None = None
    seq: int | None = None


@dataclass(frozen=True)
class Found:
    """A passage that fits: `share` (0 to 1) of the question's weight is met; `score` only orders."""

    passage: Passage
    share: float
    score: float


def age(passage: Passage) -> tuple[float, int]:
    """Sorts passages oldest first."""
    when = passage.when or datetime.min.replace(tzinfo=UTC)
    return when.replace(tzinfo=when.tzinfo or UTC).timestamp() if passage.when else 0.0, passage.seq or 0


def terms(text: str, language: Language) -> list[str]:
    """The stems of the words that carry meaning, in order."""
    words = _WORD.findall(fold(text[:READ]))
    return [stem(language.stemmer, word) for word in words if word not in language.stop]


def rank(wanted: Iterable[str], passages: Sequence[Passage], language: Language) -> list[Found]:
    """Passages with at least one of the wanted stems, best first.

    Rare words weigh more (inverse document frequency); what a person said or decided goes before an assistant's
    words, statements before questions, newer before older.
    """
    wanted = set(wanted)
    bags = [set(terms(passage.text, language)) for passage in passages]
    spread = Counter(term for bag in bags for term in bag & wanted)
    weight = {term: math.log(1 + (len(bags) + 1) / (spread[term] + 0.5)) for term in wanted}
    total = sum(weight.values())
    found = []
    for passage, bag in zip(passages, bags, strict=True):
        met = sum(weight[term] for term in bag & wanted)
        if met:
            found.append(Found(passage, met / total, met * _trust(passage)))
    return sorted(found, key=lambda one: (-one.score, *(-part for part in age(one.passage))))


def is_question(text: str) -> bool:
    return text.rstrip(" \"'»”)*_").endswith("?")


def sentences(text: str) -> list[str]:
    return [part for match in _SENTENCE.finditer(text[:READ]) if (part := match[0].strip())]


def excerpt(text: str, wanted: set[str], language: Language) -> str:
    """The text itself, or of a long one the sentences around the wanted words, at most 320 clusters."""
    if len(text) <= QUOTE_CLUSTERS:
        return text.strip()
    parts = sentences(text)
    hits = [len(wanted & set(terms(part, language))) for part in parts]
    best = hits.index(max(hits, default=0)) if any(hits) else 0
    start = "… " if best else ""
    return start + clip(" ".join(parts[best:]), QUOTE_CLUSTERS)


def escaped(text: str) -> str:
    """The text as Markdown that shows it literally: no links, images, HTML, formulas or blocks; addresses as code."""
    return "\n".join(_line(line.strip()) for line in text.splitlines())


def block(passage: Passage, text: str, language: Language) -> str:
    """A Markdown blockquote of `text` with who, when and where below it."""
    lines = [line for line in escaped(text).splitlines() if line] or ["…"]
    return "> " + "  \n> ".join(lines) + f"\n>\n> — {_origin(passage, language)}\n"


def _origin(passage: Passage, language: Language) -> str:
    says = language.says
    who = says.get(f"kind_{passage.kind}") or says.get(passage.author) or escaped(one_line(passage.author))
    where = escaped(clip(one_line(passage.source), 60))
    if passage.link and passage.link.startswith(("/", "?", "#")) and not passage.link.startswith("//"):
        where = f"[{where or language.places['memory']}]({quote(passage.link, safe='/?#&=%:+,;@-._~')})"
    when = passage.when.strftime("%Y-%m-%d") if passage.when else ""
    return ", ".join(part for part in (who, when, where) if part)


def _line(line: str) -> str:
    pieces, end = [], 0
    for match in _ADDRESS.finditer(line):
        pieces += [_MARKS.sub(r"\\\g<0>", line[end : match.start()]), f"`{match[0]}`"]
        end = match.end()
    pieces.append(_MARKS.sub(r"\\\g<0>", line[end:]))
    return _OPENING.sub(_opening, "".join(pieces))


def _opening(match: re.Match[str]) -> str:
    return match[0] + "\\" if match[0].isdigit() else "\\" + match[0]


def _trust(passage: Passage) -> float:
    kinds = {"decision": 1.4, "summary": 0.9, "question": 0.9}
    trust = kinds.get(passage.kind, 0.5 if passage.author == "assistant" else 1.0)
    return trust * (0.4 if passage.kind == "message" and is_question(passage.text) else 1.0)
