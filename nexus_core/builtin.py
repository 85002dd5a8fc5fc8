"""The assistant that needs no model, builtin/recall: it answers by quoting what it was given, and says what it is."""

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from nexus_core import tokens
from nexus_core.languages import ENGLISH, SPANISH, Language
from nexus_core.quotes import READ, Found, Passage, age, block, escaped, excerpt, is_question, rank, sentences, terms
from nexus_core.stream import Event, Finished, TextDelta, Usage
from nexus_core.text import clean, clip, fold

__all__ = ["MODEL", "Passage", "Place", "answer", "language_of"]

MODEL = "builtin/recall"
Place = Literal["project", "conversation", "trial"]
QUOTES = 3
LISTED = 8
_NAMED = frozenset({"name", "nombr"})
_PIECE = re.compile(r"\s*\S+\s*")
_WORD = re.compile(r"[^\W_]+")
_SPANISH_MARKS = re.compile(r"[¿¡ñÑ]")
_REMEMBER = re.compile(r"^\W*(?:please )?(?:remember|recuerda|note|anota|apunta) (?:that|que)\b")
_NEGATED = re.compile(r"^(?:not|no|n't)\b", re.IGNORECASE)
_CONDITION = re.compile(r"\b(?:if|si|suppose|imagine|supon|imagina)\b", re.IGNORECASE)
_ANOTHER_CLAUSE = re.compile(
    r",? (?:and|but|y|pero) (?:i|my|we|me|mis?|yo|vivo|soy|tengo|trabajo|nos)\b.*$", re.IGNORECASE
)
_CLOSE, _RELATED, _FEW = 0.5, 0.3, 3


@dataclass(frozen=True)
class Fact:
    """Something that the person said of themselves; `key` is None for the name, which `sure` says that it is one."""

    key: frozenset[str] | None
    said: str
    verb: str
    value: str
    sentence: str
    passage: Passage
    sure: bool = True


@dataclass(frozen=True)
class _Turn:
    question: str
    folded: str
    language: Language
    passages: tuple[Passage, ...]
    agent: str
    place: Place

    def say(self, sentence: str, /, **values: str) -> str:
        place = self.language.places[self.place]
        return self.language.says[sentence].format(scope=place, agent=self.agent, **values) + "\n\n"

    def quote(self, passage: Passage, text: str | None = None) -> str:
        wanted = set(terms(self.question, self.language))
        return block(passage, text or excerpt(passage.text, wanted, self.language), self.language) + "\n"


async def answer(
    question: str, passages: Sequence[Passage], *, agent_name: str, place: Place
) -> AsyncGenerator[Event, None]:
    """The answer, word by word, then Finished; in the question's language, English or Spanish.

    `passages` are all that may be said: quotes are verbatim, and facts about the person come only from passages
    whose author is `user`. `place` is where the passages are from.
    Usage is our own count of what was read and said. Never raises, whatever the texts are.
    """
    given = (clean(question), tuple(passages), clean(agent_name), place)
    text = await asyncio.to_thread(_answer, *given)
    for piece in _PIECE.findall(text):
        yield TextDelta(piece)
        await asyncio.sleep(0)
    read = tokens.count(question) + sum(tokens.count(passage.text) for passage in passages)
    usage = Usage(input_tokens=read, output_tokens=tokens.count(text), source="estimated")
    yield Finished("stop", MODEL, usage)


def language_of(question: str, passages: Sequence[Passage] = ()) -> Language:
    """English or Spanish, by its small words; where it has none of them, that of the newest message that has."""
    newest = sorted((p for p in passages if p.author == "user"), key=age, reverse=True)[:5]
    for text in (question, *(passage.text for passage in newest)):
        english, spanish = _signs(text[:READ], ENGLISH), _signs(text[:READ], SPANISH)
        spanish += 2 * len(_SPANISH_MARKS.findall(text[:READ]))
        if spanish != english:
            return SPANISH if spanish > english else ENGLISH
    return ENGLISH


def _signs(text: str, language: Language) -> int:
    """How much speaks for the language: its small words, and what only it would say."""
    folded = fold(text)
    heard = (language.greets, language.thanks, language.needs_model, language.about_itself)
    said = any(pattern.search(folded) for pattern in heard) or any(
        pattern.search(text) for pattern in (language.names, language.facts)
    )
    return sum(word in language.stop for word in _WORD.findall(folded)) + 2 * said


def _answer(question: str, passages: tuple[Passage, ...], agent: str, place: Place) -> str:
    folded = " ".join(fold(question).replace("’", "'").split())
    asked = fold(question).split()
    others = tuple(p for p in passages if p.text.strip() and fold(p.text).split() != asked and not _is_own(p))
    turn = _Turn(question, folded, language_of(question, passages), others, escaped(agent), place)
    said = "".join(_parts(turn))
    notices = [one.says[key][:30] for one in (ENGLISH, SPANISH) for key in ("short", "full")]
    told = any(notice in p.text for p in passages if p.author == "assistant" for notice in notices)
    if not told and turn.say("full") not in said:
        said += f"*{turn.language.says['short']}*"
    return said.strip()


def _is_own(passage: Passage) -> bool:
    """Whether it is one of this assistant's own answers: to quote those would be an echo."""
    if passage.author != "assistant":
        return False
    openings = {said.partition("{")[0] for one in (ENGLISH, SPANISH) for said in one.says.values()}
    return "\n> — " in passage.text or passage.text.startswith(tuple(text for text in openings if len(text) > 8))


def _parts(turn: _Turn) -> Iterator[str]:
    """The paragraphs of the answer; what the question is decides, the narrowest meaning first."""
    language, folded = turn.language, turn.folded
    asking = is_question(turn.question) or "¿" in turn.question or bool(language.asks.search(folded))
    if language.greets.match(folded):
        yield turn.say("greeting")
    elif language.thanks.match(folded):
        yield turn.say("welcome")
    elif language.needs_model.match(folded):
        yield turn.say("needs_model")
        yield from _quoted(turn, "related", _fitting(turn))
        yield turn.say("full")
    elif language.about_itself.search(folded) and (asking or len(folded.split()) < 8):
        yield turn.say("full")
    elif not asking or _REMEMBER.match(folded):
        yield from _statement(turn)
    else:
        yield from _question(turn)


def _question(turn: _Turn) -> Iterator[str]:
    language = turn.language
    asked = language.asks_fact.search(turn.folded)
    if language.asks_name.search(turn.folded):
        yield from _own(turn, None)
    elif asked and (key := frozenset(terms(asked[asked.lastindex or 0], language)) - _NAMED):
        yield from _own(turn, key)
    elif kind := next((kind for kind, asks in language.lists.items() if asks.search(turn.folded)), None):
        yield from _listed(turn, kind)
    elif language.overview.search(turn.folded):
        yield from _overview(turn)
    else:
        yield from _recalled(turn)


def _own(turn: _Turn, key: frozenset[str] | None) -> Iterator[str]:
    """What the person said of themselves: the newest word on it, and what they had said before."""
    facts = [fact for fact in _facts(turn) if fact.key == key]
    facts = [fact for fact in facts if fact.sure] or facts
    if not facts:
        fitting = _fitting(turn) if key else []
        yield turn.say("no_fact") if not fitting else ""
        yield from _quoted(turn, "closest", fitting)
        yield turn.say("full") if not fitting else ""
        return
    newest, value = facts[-1], escaped(facts[-1].value)
    if not newest.sure or set(_WORD.findall(fold(newest.value))) & turn.language.own:
        yield turn.say("closest")
    elif newest.key is None:
        yield turn.say("name", value=value)
    else:
        many = newest.verb.split()[-1] in turn.language.many
        yield turn.say("facts" if many else "fact", key=escaped(newest.said), verb=newest.verb, value=value)
    yield turn.quote(newest.passage, newest.sentence)
    earlier = [fact for fact in facts if fold(fact.value) != fold(newest.value)]
    if earlier:
        yield turn.say("earlier")
        yield turn.quote(earlier[-1].passage, earlier[-1].sentence)


def _listed(turn: _Turn, kind: str) -> Iterator[str]:
    """All of a kind, or those of them that fit the rest of the question."""
    of_kind = [passage for passage in turn.passages if passage.kind == kind]
    if not of_kind:
        yield from _recalled(turn)
        return
    rest = terms(turn.language.lists[kind].sub(" ", turn.folded), turn.language)
    fitting = [one.passage for one in rank(rest, of_kind, turn.language)]
    if rest and not fitting and _fitting(turn):
        yield from _recalled(turn)
        return
    yield turn.say("closest" if rest and not fitting else kind)
    for passage in (fitting or sorted(of_kind, key=age, reverse=True))[:LISTED]:
        yield turn.quote(passage)


def _overview(turn: _Turn) -> Iterator[str]:
    """Summaries and decisions, then the last things that people said."""
    made = [p for p in turn.passages if p.kind in ("summary", "decision")]
    said = [p for p in turn.passages if p.kind == "message" and p.author != "assistant" and not is_question(p.text)]
    chosen = [*sorted(made, key=age)[-LISTED:], *sorted(said, key=age)[-LISTED:]]
    if not chosen:
        yield turn.say("empty")
        yield turn.say("full")
        return
    yield turn.say("overview")
    for passage in chosen:
        yield turn.quote(passage)


def _recalled(turn: _Turn) -> Iterator[str]:
    found = _fitting(turn)
    if not found:
        yield turn.say("nothing" if turn.passages else "empty")
        yield turn.say("full")
        return
    yield from _quoted(turn, "found" if found[0].share >= _CLOSE else "closest", found)


def _statement(turn: _Turn) -> Iterator[str]:
    """Taken note of, with what is already known; a word or two may also be meant as a search."""
    own = list(_facts_in(Passage(turn.question), turn.language))
    name = next((fact.value for fact in own if fact.key is None and fact.sure), None)
    fitting = [one for one in _fitting(turn) if one.share >= _RELATED]
    if fitting and not own and len(turn.folded.split()) <= _FEW:
        yield from _quoted(turn, "found", fitting)
        return
    yield turn.say("noted_name", value=escaped(name)) if name else turn.say("noted")
    yield from _quoted(turn, "related", fitting)


def _quoted(turn: _Turn, heading: str, found: Sequence[Found]) -> Iterator[str]:
    if found:
        yield turn.say(heading)
        for one in found[:QUOTES]:
            yield turn.quote(one.passage)


def _fitting(turn: _Turn) -> list[Found]:
    """What fits the question, the same text once, nothing far behind the best; to have asked before is no answer."""
    passages = turn.passages
    if not turn.language.asked.search(turn.folded):
        passages = tuple(p for p in passages if not _asked_before(p))
    found = rank(terms(turn.question, turn.language), passages, turn.language)
    once = {fold(one.passage.text): one for one in reversed(found)}
    return [one for one in found if once[fold(one.passage.text)] is one and one.score >= found[0].score / 2]


def _asked_before(passage: Passage) -> bool:
    return passage.kind == "message" and passage.author == "user" and is_question(passage.text)


def _facts(turn: _Turn) -> list[Fact]:
    """What the person said of themselves, oldest first; a name is understood in either language."""
    own = sorted((p for p in turn.passages if p.author == "user" and p.kind == "message"), key=age)
    other = SPANISH if turn.language is ENGLISH else ENGLISH
    facts: list[Fact] = []
    for passage in own:
        facts += _facts_in(passage, turn.language)
        facts += [fact for fact in _facts_in(passage, other) if fact.key is None]
    return facts


def _facts_in(passage: Passage, language: Language) -> Iterator[Fact]:
    for sentence in sentences(passage.text):
        if is_question(sentence) or _CONDITION.search(sentence):
            continue
        for match in language.names.finditer(sentence):
            value, sure = match[match.lastgroup or 0], match.lastgroup != "maybe"
            if not _NEGATED.match(value) and fold(value) not in ENGLISH.stop | SPANISH.stop:
                yield Fact(None, "", "", clip(value, 60), sentence, passage, sure)
        for match in language.facts.finditer(sentence):
            value = _ANOTHER_CLAUSE.sub("", match["value"]).strip(" ,:")
            key = frozenset(terms(match["key"], language)) - _NAMED
            if key and value and not _NEGATED.match(value):
                yield Fact(key, match["key"].strip(), match["verb"], value, sentence, passage)
