"""The schema keeps its promises: policies everywhere, keys that begin with the workspace, and nothing that can't be."""

import pytest

from nexus_core.database import Scope, transaction
from nexus_core.errors import Invalid, NexusError
from tests.store import RELATIONS, Corner, ask, do, fill, run

# Read through security definer functions alone, whose owner is exempt; the others may not touch them.
NOT_FORCED = {"message_search", "title_search", "message_meaning", "title_queue", "meaning_queue"}
UNSCOPED = {
    "people": "belong to no workspace; few enough to be copied to every shard",
    "sign_in_sessions": "a person's, whatever the workspace",
    "workspaces": "its id is the workspace",
}
# Keys and references that do not begin with workspace_id.
KEYS = UNSCOPED
REFERENCES = {
    "people": "people belong to no workspace",
    "workspaces": "its id is the workspace",
}
UNREFERENCED = {
    ("audit", "user_id"): "what was done stays on record when the person is erased",
    ("audit", "entity_id"): "what was done stays on record when the thing is deleted",
    ("conversations", "active_run_id"): "a fence that is compared, never followed",
    ("conversations", "session_id"): "the caller's own word, not an id of ours",
    ("conversations", "model_id"): "a model's name",
    ("conversations", "provider_id"): "a provider's name",
    ("assistant_runs", "request_id"): "what the attempts at one answer have in common",
    ("messages", "client_message_id"): "the sender's own word",
    ("message_search", "conversation_id"): "a copy, made with the row's own message",
    ("message_search", "project_id"): "a copy, made with the row's own message",
    ("title_search", "project_id"): "a copy, made with the row's own conversation",
    ("budget_holds", "request_id"): "what the attempts at one answer have in common",
    ("run_marks", "workspace_id"): "a trigger of workspaces does the same, without a look at it for each run",
    ("run_marks", "conversation_id"): "a mark outlives what it marks, until it is summed up",
}
ROLLUP = {"run_rollup", "run_timings"}
"""Sums by the ids that their runs had; when one of those goes, the sums are marked and made again."""


@pytest.fixture
def corner(scope: Scope) -> Corner:
    return fill(scope)


def test_every_table_is_under_policies(database_url: str, subtests: pytest.Subtests) -> None:
    query = """
      SELECT CAST(c.oid AS regclass) AS name, c.relrowsecurity AS enabled, c.relforcerowsecurity AS forced,
             coalesce(has_table_privilege(to_regrole('nexus_app'), c.oid, 'SELECT'), false) AS open,
             array(SELECT CAST(polname AS text) FROM pg_policy WHERE polrelid = c.oid) AS policies
      FROM pg_class c
      WHERE c.relkind = 'r' AND CAST(CAST(c.relnamespace AS regnamespace) AS text) IN ('public', 'system')"""
    tables = ask(Scope.system(), query)
    assert len(tables) > 20
    for table in tables:
        with subtests.test(table.name):
            assert table.enabled
            if table.name in NOT_FORCED:
                assert not table.open
            else:
                assert table.forced
                assert "scope" in table.policies


def test_every_table_carries_its_workspace(database_url: str) -> None:
    found = {row.name for row in ask(Scope.system(), RELATIONS) if not row.scoped and not row.is_view}
    assert found == set(UNSCOPED)


def test_keys_begin_with_the_workspace(database_url: str, subtests: pytest.Subtests) -> None:
    query = """
      SELECT CAST(i.indrelid AS regclass) AS name, CAST(i.indexrelid AS regclass) AS key, a.attname AS first
      FROM pg_index i
      JOIN pg_class c ON c.oid = i.indrelid AND c.relnamespace = CAST('public' AS regnamespace) AND c.relkind = 'r'
      LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
      WHERE i.indisunique"""
    keys = [row for row in ask(Scope.system(), query) if row.name not in KEYS]
    assert len(keys) > 25
    for key in keys:
        with subtests.test(key.key):
            assert key.first == "workspace_id"


def test_references_carry_the_workspace(database_url: str, subtests: pytest.Subtests) -> None:
    query = """
      SELECT CAST(c.conrelid AS regclass) AS name, c.conname, CAST(c.confrelid AS regclass) AS target,
             (SELECT attname FROM pg_attribute WHERE attrelid = c.conrelid AND attnum = c.conkey[1]) AS first,
             (SELECT attname FROM pg_attribute WHERE attrelid = c.confrelid AND attnum = c.confkey[1]) AS target_first
      FROM pg_constraint c WHERE c.contype = 'f'"""
    references = [row for row in ask(Scope.system(), query) if row.target not in REFERENCES]
    assert len(references) > 25
    for reference in references:
        with subtests.test(reference.conname):
            assert (reference.first, reference.target_first) == ("workspace_id", "workspace_id")


def test_every_id_of_another_row_is_a_reference(database_url: str) -> None:
    query = """
      SELECT CAST(a.attrelid AS regclass) AS name, a.attname AS column
      FROM pg_attribute a
      JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r' AND c.relnamespace = CAST('public' AS regnamespace)
      WHERE a.attnum > 0 AND a.attname LIKE '%\\_id'
        AND NOT EXISTS (SELECT FROM pg_constraint k
                        WHERE k.contype = 'f' AND k.conrelid = a.attrelid AND a.attnum = ANY (k.conkey))"""
    found = {(row.name, row.column) for row in ask(Scope.system(), query) if row.name not in ROLLUP}
    assert found == set(UNREFERENCED)


def test_views_ask_with_the_rights_of_who_asks(database_url: str) -> None:
    query = """SELECT relname, 'security_invoker=true' = ANY (reloptions) AS invoker FROM pg_class
               WHERE relkind = 'v' AND CAST(CAST(relnamespace AS regnamespace) AS text) IN ('public', 'system')"""
    views = {row.relname: row.invoker for row in ask(Scope.system(), query) if not row.relname.startswith("pg_")}
    assert views == dict.fromkeys(
        ["project_conversations", "project_conversation_messages", "ai_chats", "ai_messages", "run_figures"], True
    )


def test_definers_pin_their_search_path_and_are_not_everybodys(database_url: str, subtests: pytest.Subtests) -> None:
    query = """SELECT p.proname, p.proconfig, p.prosecdef, p.prosrc,
                      has_function_privilege('public', p.oid, 'EXECUTE') AS open,
                      p.prorettype = CAST('trigger' AS regtype) AS is_trigger,
                      has_function_privilege(to_regrole('nexus_app'), p.oid, 'EXECUTE') AS callable
               FROM pg_proc p WHERE p.pronamespace = CAST('nexus' AS regnamespace)"""
    functions = ask(Scope.system(), query)
    assert sum(row.prosecdef for row in functions) >= 3
    for function in functions:
        with subtests.test(function.proname):
            assert not function.open
            if function.prosecdef:
                assert "search_path=pg_catalog, public, pg_temp" in function.proconfig
                scoped = "nexus.workspace_id()" in function.prosrc or "nexus.is_system()" in function.prosrc
                assert scoped or function.is_trigger or not function.callable


RUN = "UPDATE assistant_runs SET {} WHERE id = :run"
IMPOSSIBLE = [
    *(RUN.format(f"{column} = -1") for column in (
        "input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens", "cost_estimate",
        "duration_ms", "first_token_ms", "attempt")),
    RUN.format("input_tokens = 10, cached_tokens = 11"),
    RUN.format("input_tokens = 10, cache_write_tokens = 11"),
    RUN.format("output_tokens = 10, reasoning_tokens = 11"),
    RUN.format("finished_at = started_at - interval '1 second'"),
    RUN.format("duration_ms = 10, first_token_ms = 11"),
    RUN.format("finished_at = NULL"),
    RUN.format("cost_estimate = 'NaN'"),
    RUN.format("status = 'done'"),
    RUN.format("kind = 'chat'"),
    RUN.format("usage_source = 'guess'"),
    RUN.format("prompt_summary = repeat('x', 2001)"),
    RUN.format("response_summary = repeat('x', 2001)"),
    RUN.format("error_message = repeat('x', 2001)"),
    "UPDATE messages SET tokens = -1 WHERE id = :answer",
    "UPDATE messages SET seq = 0 WHERE id = :question",
    "UPDATE messages SET parent_seq = seq WHERE id = :answer",
    "UPDATE messages SET role = 'robot' WHERE id = :answer",
    "UPDATE messages SET status = 'done' WHERE id = :answer",
    "UPDATE messages SET parts = '{}' WHERE id = :answer",
    "UPDATE conversations SET status = 'closed' WHERE id = :open",
    "UPDATE conversations SET kind = 'chat' WHERE id = :open",
    "UPDATE conversations SET title_source = 'guess' WHERE id = :open",
    "UPDATE conversations SET project_id = NULL WHERE id = :open",  # its task would have no project
    "UPDATE summaries SET to_seq = 0 WHERE conversation_id = :open",
    "UPDATE summaries SET tokens = -1 WHERE conversation_id = :open",
    "UPDATE summaries SET body_md = '' WHERE conversation_id = :open",
    "UPDATE summaries SET method = 'magic' WHERE conversation_id = :open",
    "UPDATE agents SET max_messages = -1 WHERE id = :agent",
    "UPDATE agents SET max_tokens = -1 WHERE id = :agent",
    "UPDATE agents SET max_steps = 0 WHERE id = :agent",
    "UPDATE agents SET memory_mode = 'all' WHERE id = :agent",
    "UPDATE agents SET status = 'x' WHERE id = :agent",
    "UPDATE agents SET name = '' WHERE id = :agent",
    "UPDATE profiles SET context_tokens = 0 WHERE id = :profile",
    "UPDATE profiles SET slug = 'Not a slug' WHERE id = :profile",
    "UPDATE projects SET status = 'x' WHERE id = :project",
    "UPDATE tasks SET status = 'x' WHERE id = :task",
    "UPDATE project_memories SET decisions = '{}' WHERE project_id = :project",
    "UPDATE project_memories SET version = 0 WHERE project_id = :project",
    "UPDATE proposals SET status = 'accepted' WHERE id = :proposal",  # decided, but when?
    "UPDATE proposals SET changes = '{}' WHERE id = :proposal",
    "UPDATE memberships SET role = 'owner'",
    "UPDATE people SET status = 'x'",
    "UPDATE sign_in_sessions SET expires_at = created_at",
    "UPDATE api_tokens SET role = 'owner'",
    "INSERT INTO audit (workspace_id, door, action, entity) VALUES (nexus.workspace_id(), 'window', 'x', 'x')",
]  # fmt: skip


def test_what_cannot_be_is_refused(scope: Scope, corner: Corner, subtests: pytest.Subtests) -> None:
    system = Scope(scope.workspace_id, scope.user_id, "system")
    for statement in IMPOSSIBLE:
        with subtests.test(statement):
            with pytest.raises(Invalid):
                do(system, statement, **vars(corner))
            if statement.startswith("UPDATE"):  # the same row can be written, so it is the value that was refused
                table, where = statement.split()[1], statement.partition(" WHERE ")[2] or "true"
                column = "id" if table in UNSCOPED else "workspace_id"
                assert do(system, f"UPDATE {table} SET {column} = {column} WHERE {where}", **vars(corner))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET action = 'x'",
        "DELETE FROM audit",
        "TRUNCATE audit, audit_chain",
        "TRUNCATE workspaces CASCADE",
    ],
)
def test_the_audit_is_only_added_to(scope: Scope, corner: Corner, statement: str) -> None:
    before = ask(scope, "SELECT * FROM audit ORDER BY id")
    with pytest.raises(Exception, match=r"append-only|permission denied"):
        do(Scope(scope.workspace_id, scope.user_id, "system"), statement)
    with transaction(Scope(scope.workspace_id, scope.user_id, "system")) as tx:  # its owner neither
        run(tx, "RESET ROLE")
        with pytest.raises(Exception, match="append-only"):
            run(tx, statement)
        tx.connection.rollback()
    assert ask(scope, "SELECT * FROM audit ORDER BY id") == before


def test_a_workspace_takes_everything_with_it(
    scope: Scope, other_scope: Scope, corner: Corner, subtests: pytest.Subtests
) -> None:
    fill(other_scope, "other")
    tables = [row.name for row in ask(Scope.system(), RELATIONS) if row.scoped and not row.is_view]
    tables = [name for name in tables if name not in NOT_FORCED]
    count = " UNION ALL ".join(f"SELECT '{name}' AS name, workspace_id FROM {name}" for name in tables)
    kept = ask(Scope.system(), f"SELECT name, count(*) FROM ({count}) x WHERE workspace_id = :w GROUP BY 1 ORDER BY 1",
               w=other_scope.workspace_id)  # fmt: skip
    assert do(scope, "DELETE FROM workspaces WHERE id = :w", w=scope.workspace_id) == 1
    left = ask(Scope.system(), f"SELECT name, count(*) FROM ({count}) x GROUP BY 1 ORDER BY 1")
    assert left == kept
    assert {row.name for row in left} == set(tables)


def test_a_repeated_name_is_said_to_be_taken(scope: Scope, corner: Corner) -> None:
    with pytest.raises(NexusError, match="A project with this name exists already"):
        do(scope, "INSERT INTO projects (name) VALUES ('APOLLO MINE')")
