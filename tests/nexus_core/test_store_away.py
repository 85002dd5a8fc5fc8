"""The database is stopped and started again beneath the application."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from nexus_core import chat, config, database, embedded, generation, llm, migrate, signin, worker
from nexus_core.database import Scope
from nexus_core.errors import StoreUnavailable
from tests.nexus_core.conversing import (
    ask,
    attempts,
    bodies,
    connect,
    count,
    message,
    run_of,
    settled,
    until,
)
from tests.nexus_core.model_server import ModelServer, Tap


class Server:
    """A server of one test's own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.url = embedded.start(home)

    def stop(self) -> None:
        assert embedded.stop(self.home)

    def start(self) -> None:
        assert embedded.start(self.home) == self.url


@pytest.fixture
def server(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    own = Server(home)
    migrate.migrate(own.url)
    monkeypatch.setenv("NEXUS_DATABASE_URL", own.url)
    monkeypatch.setenv("NEXUS_ENV_FILE", str(home / "no.env"))
    monkeypatch.setattr(generation, "CHECKPOINT_SECONDS", 0.1)
    llm.warm()
    until(llm.ready, 60)
    for forget in (config.reset, database.reset, signin.reset):
        forget()
    yield own
    worker.close()
    database.reset()
    config.reset()
    embedded.stop(home)


@pytest.fixture
def me(server: Server) -> Scope:
    return signin.scope_for(signin.local_owner(), None, "page")


def test_an_answer_outlives_a_restart_of_the_database(
    server: Server, me: Scope, caplog: pytest.LogCaptureFixture
) -> None:
    tap = Tap()
    with ModelServer(tap) as model:
        connect(me, model.base)
        turn = chat.send(me, "Count")
        assert tap.flowing.wait(15)
        until(lambda: message(me, turn.answer_id).body)

        server.stop()
        until(lambda: "goes on while the database is away" in caplog.text)
        with pytest.raises(StoreUnavailable):
            chat.send(me, "Are you there?", client_message_id="c1")
        tap.opened.set()  # the model ends while there is nowhere to write to

        server.start()
        answer = settled(me, turn)
        assert (answer.status, answer.body) == ("complete", "One two three.")
        run = run_of(me, turn.run_id)
        assert (run.status, run.input_tokens, run.attempt) == ("succeeded", 11, 1)
        assert count(server.url, "messages") == 2 and count(server.url, "conversations") == 1

        ask(me, "Are you there?", client_message_id="c1")
        assert bodies(me, turn.conversation_id) == ["Count", "One two three.", "Are you there?", "One two three."]
        until(lambda: not count(server.url, "search_queue"))  # the background jobs came back, too


def test_stop_needs_no_database_where_this_process_writes_the_answer(server: Server, me: Scope) -> None:
    tap = Tap()
    with ModelServer(tap) as model:
        connect(me, model.base)
        turn = chat.send(me, "Count")
        assert tap.flowing.wait(15)
        until(lambda: message(me, turn.answer_id).body)

        server.stop()
        stranger = replace(me, user_id=UUID(int=7))
        assert not chat.stop_here(stranger, turn.conversation_id), (
            "only what one began oneself, without asking the rows"
        )
        with pytest.raises(StoreUnavailable):
            chat.stop(stranger, turn.conversation_id)
        assert chat.stop(me, turn.conversation_id)
        tap.opened.set()  # comes too late

        server.start()
        answer = settled(me, turn)
        assert answer.status == "stopped" and answer.body and answer.body != "One two three."


def test_an_answer_that_has_not_begun_waits_for_the_database(
    server: Server, me: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(lambda body, number: iter(["Good."])) as model:
        connect(me, model.base)
        begin = worker.Worker.submit

        def stop_first(self, turn, scope):  # type: ignore[no-untyped-def]
            server.stop()
            begin(self, turn, scope)

        monkeypatch.setattr(worker.Worker, "submit", stop_first)
        turn = chat.send(me, "Hello")
        server.start()
        assert settled(me, turn).body == "Good."
        assert len(attempts(me, turn)) == 1
