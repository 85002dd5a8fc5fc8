"""Recall: what of a project's other conversations is found for a question, and what never is."""

from uuid import UUID

import pytest

from nexus_core import chat, conversations, messages, recall
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.parts import text
from tests.nexus_core.conversing import ask, count, owner, project, settled, until


def write(scope: Scope, place: Place, *said: str, index: bool = True) -> UUID:
    with transaction(scope) as tx:
        where = conversations.create(tx, place, title="Written").id
        for words in said:
            messages.append(tx, where, "user", [text(words)])
    if index:
        indexed()
    return where


def indexed() -> None:
    while recall.index_pending():
        pass


def found(scope: Scope, question: str, project_id: UUID | None, **more: object) -> list[str]:
    vector = recall.meant(scope, question, project_id)
    with transaction(scope) as tx:
        hits = recall.passages(tx, question, project_id, vector=vector, **more)  # type: ignore[arg-type]
        return [hit.body for hit in hits]


@pytest.fixture
def apollo(scope: Scope) -> UUID:
    return project(scope, "Apollo")


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Jérôme signs the contract", "who is jerome"),
        ("A łąka na wiosnę", "laka"),
        ("Η ΣΑΣ έφτασε", "σας"),
        ("ＡＢＣ company", "abc"),
        ("这是一个问题。", "有什么问题吗"),
        ("東京タワーで会う", "東京タワー"),
        ("We launched the rocket", "When do we launch?"),
        ("The launch of rockets", "rocket launching"),
        ("Las decisiones fueron tomadas", "¿Qué decisión se tomó?"),
        ("El cohete despegará mañana", "cohetes"),
        ("foo_bar_baz is slow", "foo_bar_baz"),
        ("Write to ana@example.com", "ana@example.com"),
        ("See nexus_core/chat.py", "chat.py"),
        ("Version 3.14 is out", "3.14"),
    ],
)
def test_words_are_found_in_other_forms(scope: Scope, apollo: UUID, said: str, asked: str) -> None:
    write(scope, Place(apollo), said, "Something else entirely")
    assert found(scope, asked, apollo)[:1] == [said]


def test_the_most_telling_comes_first_and_small_words_find_nothing_by_themselves(scope: Scope, apollo: UUID) -> None:
    write(
        scope, Place(apollo), "The cat is on the mat and it is the best of all.",
        "The budget of the rocket is 4711 euros.", "The rocket is on the launch pad.",
    )  # fmt: skip
    hits = found(scope, "What is the budget of the rocket?", apollo)
    assert hits[0] == "The budget of the rocket is 4711 euros."
    assert "The cat is on the mat and it is the best of all." not in hits[:2]


@pytest.mark.parametrize(
    "asked",
    ["", " \n", "?!", "'", "''", "\\", "a' | 'b", "rocket:*", "!rocket", "(rocket", "rocket & ", "<->", "%", "_", "\0",
     "x" * 100_000, "word " * 5_000, "🚀", "👨‍👩‍👧‍👦" * 40, "\ud83d"],
)  # fmt: skip
def test_whatever_is_asked_is_only_words(scope: Scope, apollo: UUID, asked: str) -> None:
    write(scope, Place(apollo), "The rocket flies")
    assert found(scope, asked, apollo) in ([], ["The rocket flies"])


def test_nothing_of_another_project_person_or_workspace(
    scope: Scope, colleague: Scope, viewer: Scope, other_scope: Scope, apollo: UUID
) -> None:
    hermes, foreign = project(scope, "Hermes"), project(other_scope, "Apollo")
    write(scope, Place(apollo), "rocket in apollo")
    write(scope, Place(hermes), "rocket in hermes")
    write(scope, Place(), "rocket of mine")
    write(colleague, Place(), "rocket of carlos")
    write(other_scope, Place(foreign), "rocket of others")
    assert found(scope, "rocket", apollo) == ["rocket in apollo"]
    assert found(colleague, "rocket", apollo) == found(viewer, "rocket", apollo) == ["rocket in apollo"]
    assert found(scope, "rocket", hermes) == ["rocket in hermes"]
    assert found(scope, "rocket", None) == ["rocket of mine"]
    assert found(colleague, "rocket", None) == ["rocket of carlos"]
    assert found(scope, "rocket", foreign) == []
    assert found(other_scope, "rocket", apollo) == []
    assert found(other_scope, "rocket", foreign) == ["rocket of others"]


def test_the_conversation_that_asks_is_left_out_and_the_number_is_bounded(scope: Scope, apollo: UUID) -> None:
    here = write(scope, Place(apollo), "rocket here")
    write(scope, Place(apollo), *(f"rocket number {number}" for number in range(20)))
    hits = found(scope, "rocket", apollo, besides=here, limit=5)
    assert len(hits) == 5 and "rocket here" not in hits


def test_hidden_versions_and_deleted_conversations_are_not_found(scope: Scope, me: Scope, apollo: UUID) -> None:
    turn, _answer = ask(me, "My rocket is turquoise", place=Place(apollo))
    until(lambda: "My rocket is turquoise" in found(me, "turquoise rocket", apollo))
    with transaction(me) as tx:
        question = chat.read(tx, turn.conversation_id)[0]
    settled(me, chat.edit(me, question.id, "My rocket is crimson"))
    until(lambda: "My rocket is crimson" in found(me, "rocket", apollo))
    assert "My rocket is turquoise" not in found(me, "turquoise rocket", apollo)
    with transaction(me) as tx:
        conversations.delete(tx, turn.conversation_id)
    assert found(me, "rocket", apollo) == []


def test_an_answer_is_indexed_once_it_has_ended_in_the_background(me: Scope, database_url: str, apollo: UUID) -> None:
    ask(me, "The rocket is turquoise", place=Place(apollo))
    until(lambda: count(database_url, "message_search") == 2 and not count(database_url, "search_queue"))


def test_a_change_of_the_text_takes_the_place_of_the_old_one(scope: Scope, database_url: str, apollo: UUID) -> None:
    write(scope, Place(apollo), "rocket one")
    with owner(database_url) as connection:
        connection.execute("UPDATE messages SET body = 'submarine two'")
    indexed()
    assert found(scope, "rocket", apollo) == []
    assert found(scope, "submarine", apollo) == ["submarine two"]


def test_a_long_odd_text_never_blocks_the_index(scope: Scope, apollo: UUID) -> None:
    write(scope, Place(apollo), "x" * 1_000_000, " ".join(f"w{number}" for number in range(200_000)), "rocket")
    assert found(scope, "rocket", apollo)[0] == "rocket"
    assert found(scope, "w17", apollo)[0].startswith("w0 w1 ")


def scans(url: str) -> tuple[int, int]:
    """How often the search table was read from end to end, and how often by its words' index."""
    with owner(url) as connection:
        row = connection.execute(
            "SELECT t.seq_scan, i.idx_scan FROM pg_stat_user_tables t JOIN pg_stat_user_indexes i USING (relid)"
            " WHERE i.indexrelname = 'message_search_words_idx'"
        ).fetchone()
    assert row is not None
    return row


def test_among_50000_rows_the_index_is_used(scope: Scope, database_url: str, apollo: UUID) -> None:
    where = write(scope, Place(apollo), "The rocket is painted turquoise")
    with owner(database_url) as connection:
        connection.execute("ALTER TABLE messages DISABLE TRIGGER messages_queue_insert")
        connection.execute(
            "INSERT INTO messages (workspace_id, id, conversation_id, seq, role, body, parts)"
            " SELECT %s, gen_random_uuid(), %s, n + 1, 'user', 'we met and talked of plan ' || mod(n, 1000), '[]'"
            " FROM generate_series(1, 50000) n",
            (scope.workspace_id, where),
        )
        connection.execute(
            "INSERT INTO message_search"
            " (workspace_id, message_id, conversation_id, project_id, seq, created_at, folded, words)"
            " SELECT workspace_id, id, conversation_id, %s, seq, created_at, body, to_tsvector('simple', body)"
            " FROM messages WHERE seq > 1",
            (apollo,),
        )
        connection.execute("VACUUM ANALYZE message_search")
    before = scans(database_url)
    with transaction(scope) as tx:
        hits = recall.passages(tx, "Is the rocket turquoise?", apollo)
        tx.connection.exec_driver_sql("SELECT pg_stat_force_next_flush()")
    assert [hit.body for hit in hits][:1] == ["The rocket is painted turquoise"]
    after = scans(database_url)
    assert after[1] > before[1]
    assert after[0] == before[0]


def test_what_the_application_can_not_do_with_the_index(scope: Scope, apollo: UUID) -> None:
    write(scope, Place(apollo), "rocket")
    for statement in ("SELECT * FROM message_search", "DELETE FROM message_search"):
        with transaction(scope) as tx:
            if tx.connection.exec_driver_sql("SELECT current_user").scalar() != "nexus_app":
                pytest.skip("no role of its own here: the owner works")
            with pytest.raises(Exception, match="permission denied"):
                tx.connection.exec_driver_sql(statement)
            tx.connection.rollback()
