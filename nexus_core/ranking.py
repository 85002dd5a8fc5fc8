"""How recall puts its hits in order: words and meaning together, and what stands beside a hit with it; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

Place = tuple[UUID, int]
"""A conversation and a message's number in it."""
WORDS = 0.5
"""The weight of the words beside that of the meaning."""
BESIDE = (0.3, 0.1)
"""What a hit gives to its neighbours, by their distance."""
LIKE = 100
"""How many of the most alike are weighed: the last of them counts for nothing."""


@dataclass(frozen=True)
class Found:
    """A message with the score of its words (0 or more) or the likeness of its meaning (a cosine)."""

    place: Place
    score: float


def ranked(by_words: Sequence[Found], by_meaning: Sequence[Found]) -> list[tuple[Place, float]]:
    """Places and scores, best first; neighbours of hits among them, whether or not there is a message there.

    The words' score is taken as it is (about 1 when every word of the question is met, so that a question in another
    language gives them little say); likeness is brought to 0…1 over what was found.
    """
    own: dict[Place, float] = {}
    for weight, scores in ((WORDS, {one.place: one.score for one in by_words}), (1 - WORDS, _over_range(by_meaning))):
        for place, score in scores.items():
            own[place] = own.get(place, 0.0) + weight * score
    total = dict(own)
    for (conversation, seq), score in own.items():
        for distance, share in enumerate(BESIDE, start=1):
            for beside in ((conversation, seq - distance), (conversation, seq + distance)):
                total[beside] = total.get(beside, 0.0) + share * score
    return sorted(total.items(), key=lambda item: (-item[1], item[0]))


def _over_range(found: Sequence[Found]) -> Mapping[Place, float]:
    best = sorted(found, key=lambda one: -one.score)[:LIKE]
    low, high = (best[-1].score, best[0].score) if best else (0.0, 0.0)
    return {one.place: (one.score - low) / (high - low) if high > low else 1.0 for one in best}
