"""Something in every table of a workspace, and plain SQL under a scope, for the tests of the store itself."""

from dataclasses import dataclass, fields
from typing import Any
from uuid import UUID

from sqlalchemy import CursorResult, text
from uuid6 import uuid7

from nexus_core.database import Scope, Transaction, transaction

# Every relation that people, tools and the application may ask for.
RELATIONS = """
SELECT CAST(c.oid AS regclass) AS name, c.relkind = 'v' AS is_view,
       EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'workspace_id') AS scoped,
       EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'private_to') AS private
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname IN ('public', 'system')
WHERE c.relkind IN ('r', 'v', 'p', 'm', 'f')
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
ORDER BY 1
"""

_ROWS = """
INSERT INTO projects (workspace_id, id, name) VALUES (:w, :project, 'Apollo ' || :mark);
INSERT INTO tasks (workspace_id, id, project_id, title) VALUES (:w, :task, :project, 'Engine');
INSERT INTO profiles (workspace_id, id, slug, name, model) VALUES (:w, :profile, :mark, 'Mine', 'builtin/recall');
INSERT INTO agents (workspace_id, id, user_id, profile_id, name) VALUES (:w, :agent, :u, :profile, 'Ada');
INSERT INTO project_memories (workspace_id, project_id, decisions, updated_by)
  VALUES (:w, :project, CAST('[
    {"what": "We ship on Friday", "decided_on": "2026-01-02", "who": "Ana", "status": "active"},
    "No logo"]' AS jsonb), :u);
INSERT INTO conversations (workspace_id, id, user_id, project_id, task_id, agent_id, title, next_seq)
  VALUES (:w, :open, :u, :project, :task, :agent, 'Open', 3);
INSERT INTO conversations (workspace_id, id, user_id, agent_id, title, next_seq)
  VALUES (:w, :private, :u, :agent, 'Private', 3);
INSERT INTO assistant_runs (workspace_id, id, conversation_id, project_id, task_id, agent_id, user_id, model, status,
                            prompt_summary, input_tokens, output_tokens, cost_estimate, duration_ms, started_at,
                            finished_at)
  VALUES (:w, :run, :open, :project, :task, :agent, :u, 'm', 'succeeded', 'engine words', 10, 5, 0.25, 900, now(),
          now());
INSERT INTO assistant_runs (workspace_id, id, conversation_id, agent_id, user_id, model, status, prompt_summary,
                            finished_at)
  VALUES (:w, :private_run, :private, :agent, :u, 'm', 'succeeded', 'secret words', now());
INSERT INTO messages (workspace_id, id, conversation_id, seq, role, body, parts, user_id)
  VALUES (:w, :question, :open, 1, 'user', 'Which engine?',
          CAST('[{"type": "text", "text": "Which engine?"}]' AS jsonb), :u);
INSERT INTO messages (workspace_id, id, conversation_id, seq, parent_seq, role, body, parts, run_id, tokens)
  VALUES (:w, :answer, :open, 2, 1, 'assistant', 'The big engine.', CAST('[
    {"type": "tool-look", "toolCallId": "call-1", "state": "output-available", "input": {}, "output": {"found": "one"}},
    {"type": "tool-look", "toolCallId": "call-2", "state": "output-error", "input": {}, "errorText": "no such thing"},
    {"type": "tool-look", "toolCallId": "call-3", "state": "input-available", "input": {}},
    {"type": "text", "text": "The big engine."}]' AS jsonb), :run, 40);
INSERT INTO messages (workspace_id, id, conversation_id, seq, role, body, user_id)
  VALUES (:w, :secret, :private, 1, 'user', 'My secret engine', :u);
INSERT INTO messages (workspace_id, conversation_id, seq, parent_seq, role, body, run_id)
  VALUES (:w, :private, 2, 1, 'assistant', 'It stays secret.', :private_run);
INSERT INTO summaries (workspace_id, conversation_id, from_seq, to_seq, body_md, method, run_id)
  VALUES (:w, :open, 1, 2, 'Engines', 'hand', :run), (:w, :private, 1, 2, 'Secrets', 'hand', :private_run);
INSERT INTO receipts (workspace_id, run_id, conversation_id, receipt)
  VALUES (:w, :run, :open, '{}'), (:w, :private_run, :private, '{}');
INSERT INTO conversation_reads (workspace_id, conversation_id, user_id, seq)
  VALUES (:w, :open, :u, 2), (:w, :private, :u, 2);
INSERT INTO tags (workspace_id, id, name) VALUES (:w, :tag, 'hot ' || :mark);
INSERT INTO conversation_tags (workspace_id, conversation_id, tag_id) VALUES (:w, :open, :tag), (:w, :private, :tag);
INSERT INTO shares (workspace_id, conversation_id, token_hash, snapshot, created_by)
  VALUES (:w, :open, sha256(uuid_send(:open)), '{}', :u), (:w, :private, sha256(uuid_send(:private)), '{}', :u);
INSERT INTO proposals (workspace_id, id, project_id, conversation_id, task_id, run_id, trigger, base_version, changes)
  VALUES (:w, :proposal, :project, :open, :task, :run, 'asked', 1, '[]');
INSERT INTO project_memory_revisions (workspace_id, project_id, version, summary_md, decisions, open_questions, risks,
                                      links, metadata, source, proposal_id, created_by)
  VALUES (:w, :project, 2, '', '[]', '[]', '[]', '[]', '{}', 'proposal', :proposal, :u);
INSERT INTO api_tokens (workspace_id, user_id, name, token_hash, hint, role)
  VALUES (:w, :u, 'ci', sha256(uuid_send(:project)), 'nx_', 'viewer');
INSERT INTO sign_in_sessions (token_hash, user_id, method, expires_at)
  VALUES (sha256(uuid_send(:project)), :u, 'password', now() + interval '1 day');
INSERT INTO audit (workspace_id, user_id, door, action, entity) VALUES (:w, :u, 'page', 'create', 'project');
INSERT INTO run_units (workspace_id, from_at, to_at, whole) VALUES (:w, now(), now() + interval '1 day', true);
INSERT INTO run_rollup (workspace_id, from_at, to_at, cube, n, runs, requests, priced, unpriced, without_usage,
                        priced_tokens, retries, stopped)
  VALUES (:w, now(), now() + interval '1 day', 'all', 1, 1, 1, 0, 1, 1, 0, 0, 0);
INSERT INTO run_timings (workspace_id, from_at, to_at, cube, n, measure, slots, counts)
  VALUES (:w, now(), now() + interval '1 day', 'all', 1, 'duration', '{3}', '{1}');
INSERT INTO run_conversations (workspace_id, conversation_id, runs, unpriced, first_at, last_at)
  VALUES (:w, :open, 1, 1, now(), now());
INSERT INTO model_prices (workspace_id, version, model, valid_from)
  SELECT :w, coalesce(max(version), 0) + 1, 'm', '2026-01-01' FROM model_prices WHERE workspace_id = :w;
INSERT INTO repricings (workspace_id, id, from_at, to_at, created_by)
  VALUES (:w, :repricing, '2026-01-01', '2026-01-02', :u);
INSERT INTO repriced_runs (workspace_id, repricing_id, run_id) VALUES (:w, :repricing, :run);
INSERT INTO budgets (workspace_id, id, scope, project_id, amount) VALUES (:w, :budget, 'project', :project, 10);
INSERT INTO budgets (workspace_id, scope, agent_id, amount) VALUES (:w, 'agent', :agent, 10);
INSERT INTO budget_holds (workspace_id, budget_id, request_id, amount) VALUES (:w, :budget, :run, 1);
INSERT INTO retention_rules (workspace_id, project_id, archive_after_days) VALUES (:w, :project, 30);
INSERT INTO former_members (workspace_id, user_id) VALUES (:w, :u);
INSERT INTO saved_views (workspace_id, id, user_id, page, name, query, shared)
  VALUES (:w, :view, :u, 'costs', 'Mine', '{}', false), (:w, :tag, :u, 'costs', 'Ours', '{}', true)
"""


@dataclass(frozen=True)
class Corner:
    """What one person has in one workspace: an open conversation in a project, and a private one."""

    project: UUID
    task: UUID
    profile: UUID
    agent: UUID
    open: UUID
    private: UUID
    run: UUID
    private_run: UUID
    question: UUID
    answer: UUID
    secret: UUID
    tag: UUID
    proposal: UUID
    repricing: UUID
    budget: UUID
    view: UUID


def fill(scope: Scope, mark: str = "mine") -> Corner:
    """Rows in every table of the scope's workspace, as this person's; `mark` (letters) sets names apart."""
    made = Corner(*(uuid7() for _field in fields(Corner)))
    with transaction(Scope(scope.workspace_id, scope.user_id, "system")) as tx:
        for statement in _ROWS.split(";\n"):
            run(tx, statement, w=scope.workspace_id, u=scope.user_id, mark=mark, **vars(made))
    return made


def run(tx: Transaction, statement: str, /, **params: Any) -> CursorResult[Any]:
    """Plain SQL inside a transaction's scope."""
    made = text(statement)
    return tx.connection.execute(made, {key: value for key, value in params.items() if key in made._bindparams})


def do(scope: Scope, statement: str, /, **params: Any) -> int:
    """Plain SQL in a transaction of its own; how many rows it touched."""
    with transaction(scope) as tx:
        return run(tx, statement, **params).rowcount


def ask(scope: Scope, statement: str, /, **params: Any) -> list[Any]:
    """The rows of plain SQL in a transaction of its own."""
    with transaction(scope) as tx:
        return list(run(tx, statement, **params))
