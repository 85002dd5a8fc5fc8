"""An embedding model that is set tells what messages mean: in the background, in the ledger, within the budgets."""

import json
import threading
from collections.abc import Iterator
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import UUID

import pytest

from nexus_core import budgets, config, embedding, llm, recall
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import ModelFailed
from nexus_core.runs import Run
from tests.nexus_core.conversing import count, project, run_of, until
from tests.nexus_core.test_recall import found, write
from tests.store import ask

MODEL = "openai/text-embedding-3-small"
WORDS = ("bridge steel river", "tea kettle cup", "rocket moon launch")


class Embedder:
    """Speaks OpenAI's embeddings: a text's vector says which of three subjects it is about; broken on request."""

    def __init__(self, size: int = 6) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.broken = False
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                owner.bodies.append(body)
                vectors = [
                    [0.1 + sum(word in text for word in words.split()) for words in WORDS] for text in body["input"]
                ]
                data = [
                    {"object": "embedding", "index": n, "embedding": [*vector, *[0.1] * (size - 3)]}
                    for n, vector in enumerate(vectors)
                ]
                usage = {"prompt_tokens": 10 * len(data), "total_tokens": 10 * len(data)}
                answer = {"object": "list", "data": data[::-1], "model": "m", "usage": usage}
                said = json.dumps({"error": {"message": "No."}} if owner.broken else answer).encode()
                self.send_response(500 if owner.broken else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()


@pytest.fixture
def embedder(me: Scope, monkeypatch: pytest.MonkeyPatch) -> Iterator[Embedder]:
    made = Embedder()
    use(monkeypatch, made)
    yield made
    made.server.shutdown()
    made.server.server_close()


def use(monkeypatch: pytest.MonkeyPatch, embedder: Embedder, model: str = MODEL) -> None:
    monkeypatch.setenv("NEXUS_EMBEDDING_MODEL", model)
    monkeypatch.setenv("NEXUS_EMBEDDING_API_BASE", f"http://127.0.0.1:{embedder.server.server_port}/v1")
    config.reset()
    embedding._recover()


def made(scope: Scope) -> list[Run]:
    rows = ask(scope, "SELECT id FROM assistant_runs WHERE kind = 'embedding' ORDER BY created_at")
    return [run_of(scope, row.id) for row in rows]


@pytest.fixture
def apollo(me: Scope) -> UUID:
    home = project(me, "Apollo")
    write(me, Place(home), "The bridge is of steel.", "Tea in a cup.", "We launch the rocket.")
    return home


def test_what_messages_mean_is_asked_once_and_finds_other_words(
    me: Scope, apollo: UUID, embedder: Embedder, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    while recall.learn_pending():
        pass
    [run] = made(me)
    assert [len(body["input"]) for body in embedder.bodies] == [3]
    assert (run.status, run.model, run.input_tokens, run.output_tokens, run.user_id) == (
        "succeeded",
        MODEL,
        30,
        0,
        None,
    )
    assert run.cost_estimate == Decimal("0.0000006") and count(database_url, "message_meaning") == 3
    monkeypatch.setattr(recall, "PATIENCE", 5)
    assert until(llm.ready) and found(me, "kettle", apollo)[0] == "Tea in a cup."  # it shares no word
    assert [(run.user_id, run.project_id) for run in made(me)] == [(None, None), (me.user_id, apollo)]
    use(monkeypatch, embedder, "openai/text-embedding-3-large")  # another model: everything is learnt anew
    assert found(me, "kettle", apollo) == []
    while recall.learn_pending():
        pass
    assert count(database_url, "message_meaning", "model = 'openai/text-embedding-3-large'") == 3
    assert found(me, "moon", apollo)[0] == "We launch the rocket."


def test_a_model_that_fails_is_left_alone_and_words_answer(
    me: Scope, apollo: UUID, embedder: Embedder, database_url: str
) -> None:
    embedder.broken = True
    with pytest.raises(ModelFailed):
        recall.learn_pending()
    assert recall.learn_pending() == 0 and found(me, "bridge", apollo)[0] == "The bridge is of steel."
    [run] = made(me)
    assert (run.status, run.error_type, run.input_tokens) == ("failed", "unavailable", None) and run.error_message
    assert len(embedder.bodies) == 1 and count(database_url, "meaning_queue") == 3


def test_a_spent_budget_asks_no_embedding_model(me: Scope, apollo: UUID, embedder: Embedder) -> None:
    with transaction(me) as tx:
        budgets.put(tx, "workspace", Decimal(0))
    with pytest.raises(ModelFailed):
        recall.learn_pending()
    assert [run.status for run in made(me)] == ["blocked"] and embedder.bodies == []
