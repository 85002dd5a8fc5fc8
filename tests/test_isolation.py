"""Nobody reads or writes beyond their workspace, nor in another's private conversation, whatever the SQL."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from uuid import UUID

import psycopg
import pytest
from sqlalchemy.exc import DBAPIError

from nexus_core import config, database, migrate, recall, search, signin, workspaces
from nexus_core.database import Scope, transaction
from nexus_core.errors import Forbidden, NotFound
from tests import debian
from tests.conftest import member
from tests.modes import MODES, empty_database
from tests.store import RELATIONS, Corner, ask, do, fill, run

# Read through functions alone, hidden from the application's role. Where the owner itself is the application they are
# its to read, or row-level security would switch their indexes off: see 0005_search.sql.
SEARCH = {"message_search", "title_search", "message_meaning", "title_queue", "meaning_queue"}

# Figures are the whole workspace's to see, those of private conversations too; no word is among them.
FIGURES = {"assistant_runs", "run_figures", "run_marks", "run_conversations"}


# Sums and logs of the whole workspace.
HIDDEN_FROM_TOKENS = {
    "audit", "run_units", "run_rollup", "run_timings", "run_conversations", "run_marks", "repricings", "repriced_runs",
    "search_queue", "saved_views",
}  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """The projects, conversations and runs that a token sees."""

    projects: set[UUID]
    conversations: set[UUID]
    runs: set[UUID]

    def columns(self, name: str) -> dict[str, set[UUID]]:
        """The columns of a relation that name one of these, and what may stand there."""
        own = {"projects": self.projects, "conversations": self.conversations, "assistant_runs": self.runs}
        own |= {"project_conversations": self.conversations, "system.ai_chats": self.conversations}
        found = {"project_id": self.projects, "conversation_id": self.conversations, "chat_id": self.conversations}
        return found | {"run_id": self.runs} | ({"id": own[name]} if name in own else {})


@dataclass(frozen=True)
class Store:
    """Two workspaces with two people in the first, and what each has there; `under_role`: works as nexus_app."""

    mine: Scope
    colleague: Scope
    other: Scope
    my: Corner
    colleagues: Corner
    others: Corner
    under_role: bool


@pytest.fixture(scope="module")
def debian_url() -> Iterator[str]:
    if not (debian.BINARIES / "initdb").exists():
        pytest.skip(f"Debian's PostgreSQL 15 is not in {debian.BINARIES}")
    with debian.cluster() as url:
        yield url


@pytest.fixture(scope="module", params=MODES)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A filled store, in each way in which the database's user may stand to its tables. No test here changes it."""
    home = tmp_path_factory.mktemp("home")
    server = request.getfixturevalue("debian_url" if request.param == MODES[3] else "server_url")
    with empty_database(server, request.param) as url, pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEXUS_DATABASE_URL", url)
        patch.setenv("NEXUS_HOME", str(home))
        patch.setenv("NEXUS_ENV_FILE", str(home / "no.env"))
        config.reset()
        database.reset()
        migrate.migrate(url)
        made = _filled()
        if request.param != MODES[0]:
            assert made.under_role == (request.param == MODES[2])
        yield made
        database.reset()
    config.reset()


def _filled() -> Store:
    mine = signin.scope_for(signin.local_owner(), None, "page")
    colleague = member(mine, "colleague@example.com", "Carlos", "operator")
    with transaction(Scope.system()) as tx:
        workspace = workspaces.create(tx, "other", "Other")
    other = member(Scope(workspace.id, None, "admin"), "other@example.com", "Otto", "admin")
    corners = fill(mine, "mine"), fill(colleague, "theirs"), fill(other, "other")
    recall.index_pending()
    do(Scope.system(), "UPDATE messages SET body = body")  # and they wait to be indexed again
    return Store(mine, colleague, other, *corners, under_role=bool(database._app_role))


def relations() -> list[tuple[str, bool, bool, bool]]:
    with transaction(Scope.system()) as tx:
        found = [tuple(row) for row in run(tx, RELATIONS)]
    assert len(found) > 25
    return found


def test_a_query_without_where_finds_nothing_of_another_workspace(store: Store, subtests: pytest.Subtests) -> None:
    allowed = {store.mine.user_id, store.colleague.user_id}
    for name, _is_view, scoped, _private in relations():
        with subtests.test(name):
            if name in SEARCH:
                if store.under_role:
                    with pytest.raises(DBAPIError, match="permission denied"):
                        ask(store.mine, f"SELECT * FROM {name}")
                continue
            rows = ask(store.mine, f"SELECT * FROM {name}")
            assert rows
            if scoped:
                assert {row.workspace_id for row in rows} == {store.mine.workspace_id}
            elif name == "workspaces":
                assert [row.id for row in rows] == [store.mine.workspace_id]
            elif name == "people":
                assert {row.id for row in rows} == allowed
            else:
                assert name == "sign_in_sessions"
                assert {row.user_id for row in rows} <= allowed


def test_a_private_conversation_is_its_owners_alone(store: Store, subtests: pytest.Subtests) -> None:
    secret, run_id = {store.my.private}, store.my.private_run
    for name, _is_view, _scoped, _private in relations():
        with transaction(store.mine) as tx:
            columns = set(run(tx, f"SELECT * FROM {name} LIMIT 0").keys()) if name not in SEARCH else set()
        column = next((each for each in ("conversation_id", "chat_id") if each in columns), None)
        column = "id" if name in ("conversations", "system.ai_chats") else column
        if column is None or name in FIGURES:
            continue
        with subtests.test(name):
            seen = {row[0] for row in ask(store.colleague, f"SELECT {column} FROM {name}")}
            assert seen
            assert not seen & secret
            if "project" not in name and name != "proposals":
                assert secret <= {row[0] for row in ask(store.mine, f"SELECT {column} FROM {name}")}
    with subtests.test("the ledger holds its figures and no words"):
        found = ask(store.colleague, "SELECT * FROM assistant_runs WHERE id = :id", id=run_id)
        assert [(row.prompt_summary, row.response_summary) for row in found] == [(None, None)]
    with subtests.test("recall"):
        for who, found in ((store.mine, store.my), (store.colleague, store.colleagues), (store.other, store.others)):
            with transaction(who) as tx:
                passages = recall.passages(tx, "What is my secret?", None)
            assert {passage.conversation_id for passage in passages} == {found.private}


WRITES = [
    "UPDATE conversations SET title = 'x' WHERE id = :private",
    "UPDATE messages SET body = 'x' WHERE conversation_id = :private",
    "UPDATE system.ai_chats SET metadata = '{}' WHERE id = :private",
    "UPDATE system.ai_messages SET parts = '[]' WHERE chat_id = :private",
    "DELETE FROM conversations WHERE id = :private",
    "DELETE FROM messages WHERE conversation_id = :private",
    "DELETE FROM summaries WHERE conversation_id = :private",
    "DELETE FROM receipts WHERE conversation_id = :private",
    "DELETE FROM shares WHERE conversation_id = :private",
    "DELETE FROM conversation_tags WHERE conversation_id = :private",
    "DELETE FROM conversation_reads WHERE conversation_id = :private",
    "DELETE FROM system.ai_chats WHERE id = :private",
    "DELETE FROM system.ai_messages WHERE chat_id = :private",
    "DELETE FROM project_conversations WHERE id = :private",
    "DELETE FROM project_conversation_messages WHERE conversation_id = :private",
]
INSERTS = [
    "INSERT INTO messages (conversation_id, seq, role) VALUES (:private, 9, 'user')",
    "INSERT INTO summaries (conversation_id, from_seq, to_seq, body_md, method) VALUES (:private, 1, 1, 'x', 'hand')",
    "INSERT INTO receipts (workspace_id, run_id, conversation_id, receipt) VALUES (:w, :run, :private, '{}')",
    "INSERT INTO shares (conversation_id, token_hash, snapshot) VALUES (:private, 'x', '{}')",
    "INSERT INTO conversation_tags (conversation_id, tag_id) VALUES (:private, :tag)",
    "INSERT INTO conversation_reads (workspace_id, conversation_id, user_id, seq) VALUES (:w, :private, :u, 9)",
    "INSERT INTO system.ai_messages (chat_id, role, parts) VALUES (:private, 'user', '[]')",
    "INSERT INTO project_conversation_messages (conversation_id, role, body) VALUES (:private, 'user', 'x')",
    "INSERT INTO conversations (user_id) VALUES (:u)",
    "INSERT INTO system.ai_chats (user_id) VALUES (:u)",
    "UPDATE messages SET conversation_id = :private WHERE id = :own",
]


def test_nor_theirs_to_write(store: Store, subtests: pytest.Subtests) -> None:
    params = vars(store.my) | {"w": store.mine.workspace_id, "u": store.mine.user_id, "own": store.colleagues.question}
    params["run"] = store.colleagues.run
    for statement in WRITES:
        with subtests.test(statement):
            assert do(store.colleague, statement, **params) == 0
            assert do(store.other, statement, **params) == 0
    for statement in INSERTS:
        for intruder in (store.colleague, store.other):
            with subtests.test(statement, intruder=intruder.role):
                if statement.startswith("UPDATE") and intruder is store.other:
                    assert do(intruder, statement, **params) == 0
                    continue
                with pytest.raises((DBAPIError, NotFound)):
                    do(intruder, statement, **params)
    left = "SELECT title, (SELECT count(*) FROM messages WHERE conversation_id = :id) FROM conversations WHERE id = :id"
    titles = ask(store.mine, left, id=store.my.private)
    assert [tuple(row) for row in titles] == [("Private", 2)]


WORKSPACE_WIDE = {
    "workspaces", "people", "memberships", "former_members", "sign_in_sessions", "api_tokens", "agents", "profiles",
    "tags", "model_prices", "budget_holds", "audit_chain",
}  # fmt: skip
"""What a token sees though it is limited to a project: none of it says what was said in another one."""


def test_a_token_sees_its_projects_alone(store: Store, subtests: pytest.Subtests) -> None:
    """The second project of the workspace, and the colleague's own space, are not there for a token of the first."""
    mine = Limits({store.my.project}, {store.my.open}, {store.my.run})
    limited = replace(store.mine, role="operator", project_ids=(store.my.project,))
    for name, _is_view, _scoped, _private in relations():
        if name in SEARCH | WORKSPACE_WIDE:
            continue
        with subtests.test(name):
            rows = [row._mapping for row in ask(limited, f"SELECT * FROM {name}")]
            assert bool(rows) == (name not in HIDDEN_FROM_TOKENS)
            for row in rows:
                for column, allowed in mine.columns(name).items():
                    assert row.get(column) in (None, *allowed)
    with transaction(limited) as tx:
        assert (
            recall.passages(tx, "Which engine?", None) == [] == recall.passages(tx, "engine", store.colleagues.project)
        )
        assert recall.passages(tx, "Which engine?", store.my.project)
        assert {one.id for one in search.find(tx, "engine").hits} == {store.my.open}


def test_nor_does_it_write_beyond_them(store: Store, subtests: pytest.Subtests) -> None:
    limited = replace(store.mine, role="operator", project_ids=(store.my.project,))
    params = vars(store.my) | {"w": store.mine.workspace_id, "u": store.mine.user_id}
    for other in (store.my.private, store.colleagues.open):
        for statement in WRITES:
            with subtests.test(statement):
                assert do(limited, statement, **params | {"private": other}) == 0
    inserts = [
        "INSERT INTO projects (name) VALUES ('Mine alone')",
        "INSERT INTO conversations (user_id) VALUES (:u)",
        "INSERT INTO conversations (user_id, project_id) VALUES (:u, :theirs)",
        "INSERT INTO tasks (workspace_id, project_id, title) VALUES (:w, :theirs, 'x')",
        "INSERT INTO messages (workspace_id, conversation_id, seq, role) VALUES (:w, :private, 9, 'user')",
        "INSERT INTO agents (workspace_id, user_id, name) VALUES (:w, :u, 'x')",
        "UPDATE conversations SET project_id = :theirs, task_id = NULL WHERE id = :open",
    ]
    for statement in inserts:
        with subtests.test(statement), pytest.raises((Forbidden, NotFound)):
            do(limited, statement, **params | {"theirs": store.colleagues.project})
    assert do(limited, "UPDATE agents SET name = 'x'") == 0
    assert do(limited, "UPDATE tasks SET title = 'Engine' WHERE workspace_id = :w", **params) == 1


def test_a_row_cannot_say_that_it_is_less_private_than_its_conversation(store: Store) -> None:
    do(store.mine, "UPDATE messages SET private_to = NULL WHERE conversation_id = :id", id=store.my.private)
    do(store.mine, "UPDATE summaries SET private_to = NULL WHERE conversation_id = :id", id=store.my.private)
    for table in ("messages", "summaries"):
        query = f"SELECT DISTINCT private_to FROM {table} WHERE conversation_id = :id"
        assert [row[0] for row in ask(store.mine, query, id=store.my.private)] == [store.mine.user_id]


KEYS = """
SELECT CAST(c.conrelid AS regclass) AS name, c.conname,
       array_agg(CAST(a.attname AS text)) FILTER (WHERE a.attname <> 'workspace_id') AS columns
FROM pg_constraint c
CROSS JOIN LATERAL unnest(c.conkey) AS k (number)
JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.number
WHERE c.contype = 'f' AND c.connamespace = CAST('public' AS regnamespace)
GROUP BY c.oid, c.conrelid, c.conname
HAVING bool_or(a.attname = 'workspace_id') AND count(*) > 1
"""


def test_no_row_points_into_another_workspace(store: Store, subtests: pytest.Subtests) -> None:
    with transaction(Scope.system()) as tx:
        keys = [row for row in run(tx, KEYS) if row.name not in SEARCH]
    assert len(keys) > 20
    for key in keys:
        with subtests.test(key.conname):
            filled = " AND ".join(f"{column} IS NOT NULL" for column in key.columns)
            row = f"FROM {key.name} WHERE workspace_id = :w AND {filled} LIMIT 1"
            foreign = tuple(
                ask(Scope.system(), f"SELECT {', '.join(key.columns)} {row}", w=store.other.workspace_id)[0]
            )
            changes = ", ".join(f"{column} = '{value}'" for column, value in zip(key.columns, foreign, strict=True))
            point = f"UPDATE {key.name} SET {changes} WHERE workspace_id = :w AND ctid = (SELECT ctid {row})"
            never = key.name == "audit_chain"  # nobody changes a row of it, wherever it would point
            with pytest.raises(
                Exception if never else NotFound, match="append-only|permission denied" if never else None
            ):
                do(Scope.system(), point, w=store.mine.workspace_id)


def test_a_transaction_that_forgot_its_scope_sees_nothing(store: Store, subtests: pytest.Subtests) -> None:
    found = [row[0] for row in relations() if row[0] not in SEARCH]
    with database.engine().connect() as connection:
        if store.under_role:
            connection.exec_driver_sql("SET ROLE nexus_app")
        for name in found:
            with subtests.test(name):
                assert connection.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar() == 0
        with pytest.raises(DBAPIError, match="row-level security"):
            connection.exec_driver_sql("INSERT INTO tags (workspace_id, name) SELECT gen_random_uuid(), 'x'")


as_given = pytest.mark.parametrize("store", [MODES[0]], indirect=True)


@contextmanager
def _reader(*settings: tuple[str, object]) -> Iterator[psycopg.Connection]:
    with psycopg.connect(config.settings().database_url, autocommit=True) as connection:
        try:
            connection.execute("SET ROLE nexus_reader")
        except psycopg.Error:
            pytest.skip("this server's user may not make the role nexus_reader")
        for name, value in settings:
            connection.execute("SELECT set_config(%s, %s, false)", (name, str(value)))
        yield connection


HIDDEN = SEARCH | {"api_tokens", "sign_in_sessions", "receipts", "shares", "search_queue", "conversation_reads"}


@as_given
def test_a_reader_sees_what_is_open_in_one_workspace(store: Store, subtests: pytest.Subtests) -> None:
    privileges = ("nexus.role", "system"), ("nexus.user_id", store.mine.user_id)
    names = relations()
    with _reader(("nexus.workspace_id", store.mine.workspace_id), *privileges) as connection:
        for name, _is_view, scoped, private in names:
            with subtests.test(name):
                if name in HIDDEN:
                    with pytest.raises(psycopg.errors.InsufficientPrivilege):
                        connection.execute(f"SELECT * FROM {name}")
                elif name == "people":
                    rows = connection.execute("SELECT id FROM people").fetchall()
                    assert {row[0] for row in rows} == {store.mine.user_id, store.colleague.user_id}
                elif scoped:
                    rows = connection.execute(f"SELECT DISTINCT workspace_id FROM {name}").fetchall()
                    assert rows == [(store.mine.workspace_id,)]
                    if private:
                        count = connection.execute(
                            f"SELECT count(*) FROM {name} WHERE private_to IS NOT NULL"
                        ).fetchone()
                        assert count == (0,)
        chats = {row[0] for row in connection.execute("SELECT id FROM system.ai_chats")}
        assert chats == {store.my.open, store.colleagues.open}
        tagged = {row[0] for row in connection.execute("SELECT conversation_id FROM conversation_tags")}
        assert tagged == chats


@as_given
def test_a_reader_without_scope_sees_nothing(store: Store, subtests: pytest.Subtests) -> None:
    names = relations()
    with _reader(("nexus.role", "system")) as connection:
        for name, *_rest in names:
            if name not in HIDDEN:
                with subtests.test(name):
                    columns = "id" if name == "people" else "*"
                    assert connection.execute(f"SELECT {columns} FROM {name}").fetchall() == []


@as_given
def test_a_reader_writes_nothing_and_reads_no_secret(store: Store, subtests: pytest.Subtests) -> None:
    refused = ["SELECT password_hash FROM people", "CREATE TABLE x ()", "SELECT nexus.admit_roles()"]
    refused.append("SELECT * FROM nexus.migrations")
    for name, *_rest in relations():
        refused += [f"DELETE FROM {name}", f"INSERT INTO {name} DEFAULT VALUES", f"TRUNCATE {name}"]
    with _reader(("nexus.workspace_id", store.mine.workspace_id)) as connection:
        for statement in refused:
            with (
                subtests.test(statement),
                pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.WrongObjectType)),
            ):
                connection.execute(statement)
