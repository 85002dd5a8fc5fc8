-- name: workspace
-- The demo workspace itself, in its own scope.
INSERT INTO workspaces (id, slug, name, time_zone) VALUES (:workspace_id, :slug, :name, :zone);

-- name: exists
SELECT count(*) > 0 FROM workspaces WHERE id = :workspace_id;

-- name: people
-- People without a password: nobody signs in as one of them.
INSERT INTO people (id, email, name)
SELECT r.id, r.email, r.name
FROM jsonb_populate_recordset(CAST(NULL AS people), CAST(:rows AS jsonb)) AS r
WHERE CAST(:workspace_id AS uuid) IS NOT NULL;

-- name: memberships
INSERT INTO memberships (workspace_id, user_id, role)
SELECT :workspace_id, r.user_id, r.role
FROM jsonb_populate_recordset(CAST(NULL AS memberships), CAST(:rows AS jsonb)) AS r;

-- name: profiles
INSERT INTO profiles (workspace_id, id, slug, name, model, is_default, created_at, updated_at)
SELECT :workspace_id, r.id, r.slug, r.name, r.model, r.is_default, r.created_at, r.created_at
FROM jsonb_populate_recordset(CAST(NULL AS profiles), CAST(:rows AS jsonb)) AS r;

-- name: agents
INSERT INTO agents (workspace_id, id, user_id, name, emoji, role, description, instructions, memory_mode, created_at, updated_at)
SELECT :workspace_id, r.id, :user_id, r.name, r.emoji, r.role, r.description, r.instructions, r.memory_mode, r.created_at,
       r.created_at
FROM jsonb_populate_recordset(CAST(NULL AS agents), CAST(:rows AS jsonb)) AS r;

-- name: projects
INSERT INTO projects (workspace_id, id, name, description, created_by, created_at, updated_at)
SELECT :workspace_id, r.id, r.name, r.description, :user_id, r.created_at, r.created_at
FROM jsonb_populate_recordset(CAST(NULL AS projects), CAST(:rows AS jsonb)) AS r;

-- name: tasks
INSERT INTO tasks (workspace_id, id, project_id, title, notes, status, created_by, created_at, updated_at, closed_at)
SELECT :workspace_id, r.id, r.project_id, r.title, r.notes, r.status, r.created_by, r.created_at, r.updated_at, r.closed_at
FROM jsonb_populate_recordset(CAST(NULL AS tasks), CAST(:rows AS jsonb)) AS r;

-- name: prices
INSERT INTO model_prices (workspace_id, id, version, model, valid_from, input_price, cached_price, output_price, created_by,
                          created_at)
SELECT :workspace_id, r.id, r.version, r.model, r.valid_from, r.input_price, r.cached_price, r.output_price, :user_id,
       r.created_at
FROM jsonb_populate_recordset(CAST(NULL AS model_prices), CAST(:rows AS jsonb)) AS r;

-- name: tags
INSERT INTO tags (workspace_id, id, name)
SELECT :workspace_id, r.id, r.name FROM jsonb_populate_recordset(CAST(NULL AS tags), CAST(:rows AS jsonb)) AS r;

-- name: conversations
INSERT INTO conversations (workspace_id, id, user_id, project_id, task_id, agent_id, title, title_source, kind, status,
                           summary_md, next_seq, created_at, updated_at, last_message_at)
SELECT :workspace_id, r.id, r.user_id, r.project_id, r.task_id, r.agent_id, r.title, r.title_source, r.kind, r.status,
       r.summary_md, r.next_seq, r.created_at, r.updated_at, r.last_message_at
FROM jsonb_populate_recordset(CAST(NULL AS conversations), CAST(:rows AS jsonb)) AS r;

-- name: tagged
INSERT INTO conversation_tags (workspace_id, conversation_id, tag_id)
SELECT :workspace_id, r.conversation_id, r.tag_id
FROM jsonb_populate_recordset(CAST(NULL AS conversation_tags), CAST(:rows AS jsonb)) AS r;

-- name: runs
INSERT INTO assistant_runs (
  workspace_id, id, request_id, attempt, kind, project_id, task_id, conversation_id, agent_id, user_id, prompt_summary,
  response_summary, model, served_model, provider, runtime, profile_slug, status, input_tokens, cached_tokens,
  output_tokens, reasoning_tokens, usage_source, cost_estimate, cost_source, price_version, duration_ms, first_token_ms,
  stopped, error_type, error_message, metadata, created_at, started_at, finished_at)
SELECT
  :workspace_id, r.id, r.request_id, r.attempt, r.kind, r.project_id, r.task_id, r.conversation_id, r.agent_id, r.user_id,
  r.prompt_summary, r.response_summary, r.model, r.served_model, r.provider, r.runtime, r.profile_slug, r.status,
  r.input_tokens, r.cached_tokens, r.output_tokens, r.reasoning_tokens, r.usage_source, r.cost_estimate, r.cost_source,
  r.price_version, r.duration_ms, r.first_token_ms, r.stopped, r.error_type, r.error_message, r.metadata, r.created_at,
  r.started_at, r.finished_at
FROM jsonb_populate_recordset(CAST(NULL AS assistant_runs), CAST(:rows AS jsonb)) AS r;

-- name: messages
INSERT INTO messages (workspace_id, id, conversation_id, seq, parent_seq, role, status, parts, body, tokens, user_id, run_id,
                      model, runtime, created_at, updated_at)
SELECT :workspace_id, r.id, r.conversation_id, r.seq, r.parent_seq, r.role, r.status, r.parts, r.body, r.tokens, r.user_id,
       r.run_id, r.model, r.runtime, r.created_at, r.created_at
FROM jsonb_populate_recordset(CAST(NULL AS messages), CAST(:rows AS jsonb)) AS r;

-- name: summaries
INSERT INTO summaries (workspace_id, id, conversation_id, from_seq, to_seq, body_md, tokens, method, created_at)
SELECT :workspace_id, r.id, r.conversation_id, r.from_seq, r.to_seq, r.body_md, r.tokens, r.method, r.created_at
FROM jsonb_populate_recordset(CAST(NULL AS summaries), CAST(:rows AS jsonb)) AS r;

-- name: reads
INSERT INTO conversation_reads (workspace_id, conversation_id, user_id, seq)
SELECT :workspace_id, r.conversation_id, :user_id, r.seq
FROM jsonb_populate_recordset(CAST(NULL AS conversation_reads), CAST(:rows AS jsonb)) AS r;

-- name: proposals
INSERT INTO proposals (workspace_id, id, project_id, conversation_id, trigger, base_version, changes, status, created_by,
                       created_at, decided_by, decided_at)
SELECT :workspace_id, r.id, r.project_id, r.conversation_id, r.trigger, r.base_version, r.changes, r.status, r.created_by,
       r.created_at, r.decided_by, r.decided_at
FROM jsonb_populate_recordset(CAST(NULL AS proposals), CAST(:rows AS jsonb)) AS r;

-- name: revisions
-- Before the memories: whoever writes a memory without its revision gets one made.
INSERT INTO project_memory_revisions (workspace_id, project_id, version, summary_md, decisions, open_questions, risks,
                                      links, metadata, source, note, created_by, created_at)
SELECT :workspace_id, r.project_id, r.version, r.summary_md, r.decisions, r.open_questions, r.risks, r.links, '{}',
       r.source, r.note, r.created_by, r.created_at
FROM jsonb_populate_recordset(CAST(NULL AS project_memory_revisions), CAST(:rows AS jsonb)) AS r;

-- name: memories
INSERT INTO project_memories (workspace_id, project_id, version, summary_md, decisions, open_questions, risks, links,
                              updated_by, updated_at)
SELECT :workspace_id, r.project_id, r.version, r.summary_md, r.decisions, r.open_questions, r.risks, r.links, r.updated_by,
       r.updated_at
FROM jsonb_populate_recordset(CAST(NULL AS project_memories), CAST(:rows AS jsonb)) AS r;

-- name: budgets
INSERT INTO budgets (workspace_id, id, scope, project_id, agent_id, amount, blocks)
SELECT :workspace_id, r.id, r.scope, r.project_id, r.agent_id, r.amount, r.blocks
FROM jsonb_populate_recordset(CAST(NULL AS budgets), CAST(:rows AS jsonb)) AS r;

-- name: remove
-- With everything in it; of its audit the rules of the database let go with the whole workspace alone.
DELETE FROM workspaces WHERE id = :workspace_id;

-- name: remove_people
-- The made-up people, where nobody made them members of another workspace meanwhile.
DELETE FROM people p
WHERE p.email LIKE '%@' || CAST(:mail AS text) AND CAST(:workspace_id AS uuid) IS NOT NULL
  AND NOT EXISTS (SELECT FROM memberships m WHERE m.user_id = p.id AND m.workspace_id <> :workspace_id);

-- name: role
-- What a person may do in the demo workspace.
SELECT role FROM memberships WHERE workspace_id = :workspace_id AND user_id = :person_id;

-- name: homes
-- The other workspaces of a person, for the system's scope.
SELECT workspace_id FROM memberships WHERE user_id = :person_id AND workspace_id <> :workspace_id ORDER BY workspace_id;

-- name: audit
INSERT INTO audit (workspace_id, id, at, user_id, door, action, entity, entity_id, detail)
SELECT :workspace_id, r.id, r.at, r.user_id, r.door, r.action, r.entity, r.entity_id, r.detail
FROM jsonb_populate_recordset(CAST(NULL AS audit), CAST(:rows AS jsonb)) AS r
ORDER BY r.at, r.id;
