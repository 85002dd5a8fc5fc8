"""The words of a text as search and recall compare them: one tokenizer for what is indexed and what is asked."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import regex

from nexus_core.languages import ENGLISH, SPANISH
from nexus_core.stems import stem
from nexus_core.text import clean, fold

INDEXED = 20_000
"""Characters of a text that are indexed."""
ASKED = 1_000
"""Characters of a question or search that are read."""
LONGEST = 64
STOP = ENGLISH.stop | SPANISH.stop
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_TOKEN = regex.compile(rf"(?=[{_UNSPACED}])\X|(?:(?![{_UNSPACED}])[\p{{L}}\p{{N}}\p{{M}}\u200c\u200d])+|(?=\S)\X")
# What _TOKEN finds where no letter takes a mark after it, in a quarter of the time: Latin and its punctuation.
_LATIN = re.compile("[\t-\r -\u02ff\u2010-\u2027\u2030-\u205e\u20ac]*")
_LATIN_TOKEN = re.compile(r"[^\W_]+|\S")
_UNSPACED_LETTER = regex.compile(rf"[{_UNSPACED}]")
_AROUND = ".,;:!?¿¡()[]…"
_QUOTED = re.compile(r'"([^"]*)(?:"|$)')


class Token(NamedTuple):
    """A word, a symbol, or one letter of a script without spaces; `start` and `end` are offsets in the text read."""

    text: str
    start: int
    end: int


def tokens(text: str) -> Iterator[Token]:
    """The folded tokens of a text, in order; never raises."""
    for match in _finder(text).finditer(text):
        for part in _folded(match[0]):
            yield Token(part, match.start(), match.end())


def _finder(text: str) -> Any:
    return _LATIN_TOKEN if _LATIN.fullmatch(text) else _TOKEN


@lru_cache(maxsize=100_000)
def _folded(piece: str) -> tuple[str, ...]:
    folded = fold(piece).replace("\0", "")
    return tuple(part[:LONGEST] for part in _finder(folded).findall(folded))


def is_word(token: str) -> bool:
    return token[:1].isalnum()


def is_letter(token: str) -> bool:
    """Whether it is one letter of a script that puts no spaces between words."""
    return _UNSPACED_LETTER.match(token) is not None


def folded(text: str) -> str:
    """The tokens of a text's indexed part, a space before and after each: sequences are found in it, literally."""
    return f" {' '.join(token.text for token in tokens(clean(text[:INDEXED])))} "


def vector(text: str) -> str:
    r"""The indexed part of a text as PostgreSQL reads a tsvector.

    Its tokens as they are; pairs of letters where a script has no spaces; `~stem` of the words that tell something,
    by the English and the Spanish stemmer, with as many positions as it occurs.
    """
    found = list(tokens(clean(text[:INDEXED])))
    plain = {token.text for token in found} | set(_pairs(found))
    stems = Counter(stem for token in found for stem in stems_of(token.text))
    lexemes = [_quoted(lexeme) for lexeme in sorted(plain)]
    lexemes += [f"{_quoted(stem)}:{','.join(map(str, range(1, min(n, 20) + 1)))}" for stem, n in sorted(stems.items())]
    return " ".join(lexemes)


def _pairs(found: Sequence[Token]) -> Iterator[str]:
    for one, two in pairwise(found):
        if one.end == two.start and is_letter(one.text) and is_letter(two.text):
            yield one.text + two.text


def stems_of(word: str) -> tuple[str, ...]:
    """The index's entries for a word's stems, one or two; none for a symbol, a single letter or a stop word."""
    if len(word) < 2 or not is_word(word) or word in STOP:
        return ()
    return tuple(dict.fromkeys(f"~{stem(language.stemmer, word)}" for language in (ENGLISH, SPANISH)))


def _quoted(lexeme: str) -> str:
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"


@dataclass(frozen=True)
class Search:
    """What a person looks for.

    `query`: all of it as a tsquery, a first sieve; `sequences`: LIKE patterns that the folded text must have, too;
    `phrase`: the whole as one sequence, which ranks first; `terms`: each as its tokens; `open`: the last is perhaps
    unfinished.
    """

    query: str
    sequences: tuple[str, ...]
    phrase: str | None
    terms: tuple[tuple[str, ...], ...]
    open: bool


def search(text: str) -> Search | None:
    """How to look for what a person typed: words in any order, "quoted" as a phrase; None when there is nothing.

    What stands together without spaces (`foo_bar`, `100%`) is found together; the last word, of three letters or
    more and not yet closed by a space or a quote, also finds what begins with it.
    """
    asked = clean(text[:ASKED])
    terms = [term for term in map(_term, _chunks(asked)) if term]
    if not terms and asked.strip():  # nothing but quotes
        terms = [term for term in map(_term, asked.split()) if term]
    if not terms:
        return None
    last = terms[-1]
    is_open = asked[-1:] not in (" ", '"') and is_word(last[-1]) and (len(last[-1]) > 2 or len(last) > 1)
    is_open = is_open and not is_letter(last[-1])
    sequences = [_pattern(_sequence(term, is_open and term is last)) for term in terms if len(term) > 1]
    every = tuple(token for term in terms for token in term)
    lexemes = [_lexemes(term, is_open and term is last) for term in terms]
    return Search(
        " & ".join(dict.fromkeys(lexeme for group in lexemes for lexeme in group)),
        tuple(dict.fromkeys(sequences)),
        _sequence(every, is_open) if len(terms) > 1 else None,
        tuple(terms),
        is_open,
    )


def _chunks(text: str) -> Iterator[str]:
    end = 0
    for match in _QUOTED.finditer(text):
        yield from map(_bare, text[end : match.start()].split())
        yield match[1]
        end = match.end()
    yield from map(_bare, text[end:].split())


def _bare(chunk: str) -> str:
    """A chunk without the punctuation of the sentence that it was pasted from, unless that is all of it."""
    return chunk.strip(_AROUND) or chunk


def _term(chunk: str) -> tuple[str, ...]:
    return tuple(token.text for token in tokens(chunk))


def _sequence(term: Sequence[str], is_open: bool) -> str:
    return f" {' '.join(term)}" + ("" if is_open else " ")


def _pattern(sequence: str) -> str:
    return "%" + re.sub(r"([\\%_])", r"\\\1", sequence) + "%"


def _lexemes(term: Sequence[str], is_open: bool) -> list[str]:
    body, last = list(term), ""
    if is_open:
        body, last = body[:-1], term[-1]
    pairs = [one + two for one, two in pairwise(body) if is_letter(one) and is_letter(two)]
    covered = {letter for pair in pairs for letter in pair}
    lexemes = [_quoted(token) for token in body if token not in covered] + [_quoted(pair) for pair in pairs]
    # What begins with one or two letters is nearly everything: the sequence alone decides there.
    prefix = [f"{_quoted(last)}:*"] if len(last) > 2 else []
    return lexemes + prefix


def question(text: str, limit: int = 40) -> list[str]:
    """The telling terms of a question, each as a tsquery of its stems or letter pairs, at most `limit`.

    Small words count only where there are no others: they would find everything.
    """
    found = list(tokens(clean(text[:ASKED])))
    stems = [" | ".join(map(_quoted, stems_of(token.text))) for token in found]
    pairs = [_quoted(pair) for pair in _pairs(found)]
    telling = [term for term in stems if term] + pairs
    rest = [_quoted(token.text) for token in found if is_word(token.text)]
    return list(dict.fromkeys(telling or rest))[:limit]


def marks(text: str, search: Search) -> list[tuple[int, int]]:
    """Where what was looked for stands in the original text, as (start, end) offsets, in order, not overlapping."""
    finder = _finder(text)
    found = [(part, number) for number, piece in enumerate(finder.findall(text)) for part in _folded(piece)]
    heard = [part for part, _number in found]
    ends = [end for term in _asked(search) for end in _occurrences(heard, *term)]
    if not ends:
        return []
    places = [match.span() for match in finder.finditer(text)]
    merged: list[tuple[int, int]] = []
    for start, end in sorted({(places[found[one][1]][0], places[found[other][1]][1]) for one, other in ends}):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _asked(search: Search) -> Iterator[tuple[tuple[str, ...], bool]]:
    for number, term in enumerate(search.terms):
        yield term, search.open and number == len(search.terms) - 1


def _occurrences(heard: Sequence[str], term: tuple[str, ...], is_open: bool) -> Iterator[tuple[int, int]]:
    """The first and last index of each place where `heard` has a term, its last word perhaps unfinished."""
    *body, last = term
    for end in range(len(body), len(heard)):
        said = heard[end]
        if (said == last or (is_open and said.startswith(last))) and heard[end - len(body) : end] == body:
            yield end - len(body), end
