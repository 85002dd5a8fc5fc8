"""Stems of words by Snowball (https://snowballstem.org), in C: in Python they held pages up when many answers ended."""

import threading
from functools import lru_cache

import Stemmer

_stemmers = {name: Stemmer.Stemmer(name, 0) for name in ("english", "spanish")}
_one_at_a_time = threading.Lock()


@lru_cache(maxsize=100_000)
def stem(language: str, word: str) -> str:
    """The stem of a folded word; `language` is english or spanish, else KeyError."""
    with _one_at_a_time:  # a stemmer keeps its state in itself
        return str(_stemmers[language].stemWord(word))
