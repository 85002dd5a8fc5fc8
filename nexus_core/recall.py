"""Recall: the few messages of a project's other conversations that matter to a prompt, and the index behind it."""

import logging
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from nexus_core import embedding, meaning, ranking, terms
from nexus_core.database import Scope, Transaction, transaction
from nexus_core.ranking import Found

BATCH = 200
MEANT, EMBEDDED = 16, 64
"""Messages whose meaning is found out at a time: about half a second, or one call to an embedding model."""
ANEW = 2_000
"""Messages that are put into the queue at a time because another model is set now."""
POOL, WIDER = 200, 600
"""The nearest by words and by code, which are then weighed exactly; wider for codes that no middle was found for."""
PATIENCE = 0.5
"""Seconds that a prompt waits for the meaning of its question."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Passage:
    """A recalled message: where it stands, when it was said and by whom (`author` is a name); `score` only orders."""

    message_id: UUID
    conversation_id: UUID
    conversation_title: str
    seq: int
    role: str
    user_id: UUID | None
    author: str | None
    body: str
    tokens: int | None
    created_at: datetime
    score: float


def meant(scope: Scope, question: str, project_id: UUID | None) -> "meaning.Floats | None":
    """What a question means to the embedding model that is set, asked before `passages` opens a transaction.

    None where the built-in model is used, which is asked there, and when it is not known in time.
    """
    return _result(embedding.ask(scope, question, project_id)) if embedding.model() and question.strip() else None


def passages(
    tx: Transaction,
    question: str,
    project_id: UUID | None,
    *,
    besides: UUID | None = None,
    limit: int = 8,
    vector: "meaning.Floats | None" = None,
) -> list[Passage]:
    """The messages of one project (None: of this person's own space) that answer a question best, best first.

    By their words (BM25) and, once it is known, by their meaning, whatever the language; what stands beside a hit is
    raised with it. `besides` is the conversation that asks; what it holds is in the window already. No words, no
    passages. `vector` is what `meant` gave; where an embedding model is set and it is None, words alone count.
    """
    asked = terms.question(question)
    if not asked:
        return []
    built_in = None if embedding.model() else meaning.ask(question)
    place = {"project_id": project_id, "besides": besides, "limit": POOL}
    by_words = [_found(row) for row in tx.rows("recall.words", terms=asked, **place)]
    by_meaning: list[Found] = []
    if built_in is not None:
        vector = _result(built_in)
    if vector is not None:
        near = (
            {"code": meaning.projected(vector).code, "limit": WIDER}
            if embedding.model()
            else {"code": meaning.code_of(vector)}
        )
        found = tx.rows("recall.meaning", model=_model(), **place | near)
        rows = [row for row in found if len(row["vector"]) == 2 * len(vector)]
        likeness = meaning.similarities(vector, [row["vector"] for row in rows])
        by_meaning = [
            Found((row["conversation_id"], row["seq"]), float(like)) for row, like in zip(rows, likeness, strict=True)
        ]
    best = ranking.ranked(by_words, by_meaning)[: limit * 2 + 10]
    return tx.all(
        Passage,
        "recall.read",
        conversation_ids=[place[0] for place, _score in best],
        seqs=[place[1] for place, _score in best],
        scores=[score for _place, score in best],
        limit=limit,
    )


def _found(row: dict[str, object]) -> Found:
    return Found((row["conversation_id"], row["seq"]), float(row["score"]))  # type: ignore[arg-type]


def _result(meant: "Future[meaning.Floats] | None") -> "meaning.Floats | None":
    """The question's vector; None when it is not known in time, for a prompt does not wait."""
    if meant is None:
        return None
    try:
        return meant.result(PATIENCE)
    except (TimeoutError, CancelledError):
        meant.cancel()
    except Exception:  # noqa: BLE001 - words alone answer then
        _log.exception("the meaning of a question was not found out")
    return None


def index_pending() -> int:
    """Bring a batch of new and changed messages and titles into the index; returns how many, 0 when none wait.

    Runs in the background after each turn, for every workspace; a row that can't be indexed never blocks a write.
    """
    with transaction(Scope.system()) as tx:
        titles = tx.rows("recall.pending_titles", limit=BATCH)
        for row in titles:
            tx.execute("recall.index_title", **_indexed(row, "conversation_id", row["title"]))
        waiting = tx.rows("recall.pending", limit=BATCH)
        for row in waiting:
            tx.execute("recall.index", **_indexed(row, "message_id", row["body"]))
        if waiting:
            tx.execute("recall.indexed", message_ids=[row["message_id"] for row in waiting])
    return len(waiting) + len(titles)


def _indexed(row: dict[str, object], key: str, text: object) -> dict[str, object]:
    said = str(text)
    entry = {"item_workspace": row["workspace_id"], "item_id": row[key]}
    return entry | {"folded": terms.folded(said), "words": terms.vector(said)}


def learn_pending() -> int:
    """Find out what a small batch of messages mean, the newest first; returns how many, 0 when none wait.

    For the background, after the words: it never delays an answer, and recall does without until it is done. Raises
    ModelFailed where an embedding model is set and fails; then it is left alone for a while.
    """
    remote = embedding.model() is not None
    if embedding.rests() if remote else not meaning.available():
        return 0
    with transaction(Scope.system()) as tx:
        waiting = tx.rows("recall.claim_meanings", limit=EMBEDDED if remote else MEANT)
    if not waiting:
        return _queue_others()
    for workspace_id in dict.fromkeys(row["workspace_id"] for row in waiting):
        rows = [row for row in waiting if row["workspace_id"] == workspace_id]
        texts = [row["body"] for row in rows]
        if remote:
            made = embedding.vectors(Scope(workspace_id, None, "system", "worker"), texts)
            found = [meaning.projected(vector) for vector in made]
        else:
            found = meaning.passages(texts)
        with transaction(Scope.system()) as tx:
            for row, meant in zip(rows, found, strict=True):
                place = {"item_workspace": workspace_id, "item_id": row["message_id"]}
                tx.execute("recall.keep_meaning", model=_model(), code=meant.code, vector=meant.vector, **place)
    return len(waiting)


def _model() -> str:
    """Whose vectors are asked for and kept."""
    return embedding.model() or meaning.MODEL


_settled: set[str] = set()
"""Models of which this process knows that no message waits to be learnt anew with them."""


def _queue_others() -> int:
    """Let messages whose meaning is another model's be learnt anew, some at a time; looked for once in a process."""
    if _model() in _settled:
        return 0
    with transaction(Scope.system()) as tx:
        count = int(tx.execute("recall.queue_other_meanings", model=_model(), limit=ANEW).scalar_one())
    if not count:
        _settled.add(_model())
    return count
