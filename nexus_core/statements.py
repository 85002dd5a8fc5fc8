"""What a message states plainly, in English or Spanish: a decision, an open question, a risk; by its words alone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nexus_core.quotes import is_question, sentences

LONGEST = 400
"""Characters; a longer sentence is a text, not a statement."""
_MARKED = re.compile(
    r"^\W*(?:(?P<decisions>decisions?|decided|decisi[oó]n|decidido|acuerdo)"
    r"|(?P<open_questions>open questions?|question|pregunta(?: abierta)?|duda)"
    r"|(?P<risks>risks?|riesgos?))\W{0,3}[:–—]\W*(?P<said>\w.*)$",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"\b(?:we(?:['’]ve| have)?(?: now| finally| all| also| just)* (?:decided|agreed|settled)(?: on)?"
    r"|(?:it (?:was|is|has been)|it['’]s) (?:decided|agreed)"
    r"|(?:hemos|se ha) (?:decidido|acordado)|decidimos|acordamos|quedamos en|se (?:decidi[oó]|acord[oó]))\b"
    r"(?: (?:that|que|to|on|en))?[ :,]+(?P<said>\w.*)$",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:if|whether|when|once|until|unless|suppose|not|never|should|si|cuando|hasta|no|nunca|ojal[aá])\b|n['’]t\b|\?|¿",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Statement:
    """A sentence that states something for the list `field` of a memory."""

    field: str
    text: str


def stated(text: str) -> Iterator[Statement]:
    """What a text states, in order: sentences that are marked ("Decision: …", "Riesgo: …") or say that we decided.

    Questions, conditions and denials before the words that decide are none.
    """
    for sentence in sentences(text):
        line = " ".join(sentence.split())
        if len(line) > LONGEST:
            continue
        if marked := _MARKED.match(line):
            yield Statement(_field(marked), _tidy(marked["said"]))
            continue
        said = None if is_question(line) else _DECIDED.search(line)
        if said and not _UNSURE.search(line[: said.start("said")]):
            yield Statement("decisions", _tidy(said["said"]))


def _field(marked: "re.Match[str]") -> str:
    return next(name for name in ("decisions", "open_questions", "risks") if marked[name])


def _tidy(said: str) -> str:
    said = said.strip().rstrip(".!;, ")
    return said[:1].upper() + said[1:]
