"""A summary without a model: the sentences that say most, as they were said; TextRank over rustworkx's PageRank."""

import math
from collections.abc import Sequence
from itertools import combinations

import rustworkx

from nexus_core import tokens
from nexus_core.builtin import language_of
from nexus_core.languages import Language
from nexus_core.quotes import Passage, is_question, sentences, terms
from nexus_core.text import clip, plain

MOST = 400
"""Sentences that are compared, each with each; of more, the newest."""
FEWEST, PART, BEST = 8, 4, 20
"""One sentence in PART is kept, FEWEST at least and BEST at most: an extract of nearly everything is none."""
LONGEST = 300
"""Grapheme clusters of one sentence."""


def summary(texts: Sequence[str], budget: int) -> str:
    """A Markdown list of the best sentences of `texts`, in their order, within `budget` tokens; "" where none is.

    Two sentences are near by the stems that they share (Mihalcea and Tarau, 2004); a sentence without any such word,
    a question and the repetition of another sentence are left out. Nothing is loaded and nothing is written.
    """
    language = language_of("", [Passage(text) for text in texts[-20:]])
    said = _said(texts, language)
    ranks = _ranks([words for _sentence, words in said])
    kept: list[int] = []
    used = 0
    for place in sorted(range(len(said)), key=lambda index: (-ranks[index], -index)):
        used += tokens.count(said[place][0]) + 2
        if used > budget or len(kept) >= min(BEST, max(FEWEST, len(said) // PART)):
            break
        kept.append(place)
    return "\n".join(f"- {said[place][0]}" for place in sorted(kept))


def _said(texts: Sequence[str], language: Language) -> list[tuple[str, frozenset[str]]]:
    """Each sentence with its stems; questions alone only where nothing else was said."""
    found: dict[frozenset[str], str] = {}
    for text in texts:
        listed = text.startswith("- ")  # as a former summary is
        for sentence in text.splitlines() if listed else sentences(text):
            line = clip(plain(sentence.removeprefix("- ")), LONGEST)
            if words := frozenset(terms(line, language)):
                found.setdefault(words, line)
    told = [(line, words) for words, line in found.items() if not is_question(line)]
    return (told or [(line, words) for words, line in found.items()])[-MOST:]


def _ranks(bags: Sequence[frozenset[str]]) -> list[float]:
    graph = rustworkx.PyDiGraph()
    graph.add_nodes_from(range(len(bags)))
    for one, other in combinations(range(len(bags)), 2):
        shared = len(bags[one] & bags[other])
        if shared:
            near = shared / (math.log(len(bags[one]) + 1) + math.log(len(bags[other]) + 1))
            graph.add_edges_from([(one, other, near), (other, one, near)])
    ranks = rustworkx.pagerank(graph, weight_fn=float)
    return [ranks[place] for place in range(len(bags))]
