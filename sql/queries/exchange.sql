-- name: conversation
-- Everything about a conversation but what was said in it.
SELECT c.id, c.title, c.title_source, c.kind, c.status, c.summary_md, c.session_id, c.model_id, c.provider_id, c.metadata,
       jsonb_build_object('id', c.user_id, 'name', coalesce(u.name, '')) AS owner,
       CASE WHEN p.id IS NOT NULL THEN jsonb_build_object('id', p.id, 'name', p.name) END AS project,
       CASE WHEN t.id IS NOT NULL THEN jsonb_build_object('id', t.id, 'name', t.title) END AS task,
       CASE WHEN a.id IS NOT NULL THEN jsonb_build_object('id', a.id, 'name', a.name) END AS agent,
       nexus.tag_names(c.id) AS tags, c.created_at, c.updated_at, c.last_message_at,
       coalesce(c.imported, '{}') AS imported
FROM conversations c
LEFT JOIN people u ON u.id = c.user_id
LEFT JOIN projects p ON p.workspace_id = c.workspace_id AND p.id = c.project_id
LEFT JOIN tasks t ON t.workspace_id = c.workspace_id AND t.id = c.task_id
LEFT JOIN agents a ON a.workspace_id = c.workspace_id AND a.id = c.agent_id
WHERE c.workspace_id = :workspace_id AND c.id = :id AND c.deleted_at IS NULL;

-- name: messages
-- The messages after a number, in their order, every version or the path that is shown alone.
SELECT m.id, m.seq, m.parent_seq, m.active, m.role, m.status, m.parts, m.body, m.tokens, m.user_id, p.name AS author,
       m.run_id, m.model, m.runtime, m.metadata, m.copied_from, m.created_at, m.updated_at
FROM messages m
LEFT JOIN people p ON p.id = m.user_id
WHERE m.workspace_id = :workspace_id AND m.conversation_id = :conversation_id AND m.seq > :after
  AND (m.active OR CAST(:hidden AS boolean))
ORDER BY m.seq
LIMIT :limit;

-- name: summaries
SELECT id, from_seq, to_seq, body_md, tokens, method, created_at
FROM summaries
WHERE workspace_id = :workspace_id AND conversation_id = :conversation_id
ORDER BY to_seq, created_at, id;

-- name: runs
-- The figures of a conversation's runs, without a word of what was asked and answered.
SELECT id, request_id, attempt, kind, model, served_model, provider, runtime, profile_slug, status, input_tokens,
       cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens, usage_source, cost_estimate, cost_source,
       price_version, duration_ms, first_token_ms, stopped, error_type, created_at, started_at, finished_at
FROM assistant_runs
WHERE workspace_id = :workspace_id AND conversation_id = :conversation_id
ORDER BY created_at, id;

-- name: here
-- The conversation with an id, in the trash too; no row: there is none, or it is not this person's to see.
SELECT c.deleted_at IS NOT NULL AS trashed, c.next_seq - 1 AS messages
FROM conversations c
WHERE c.workspace_id = :workspace_id AND c.id = :id;

-- name: place
-- What of a conversation's place is here, too.
SELECT p.id AS project_id, a.id AS agent_id, t.id AS task_id
FROM (SELECT 1) one
LEFT JOIN projects p ON p.workspace_id = :workspace_id AND p.id = CAST(:project_id AS uuid)
LEFT JOIN agents a ON a.workspace_id = :workspace_id AND a.id = CAST(:agent_id AS uuid)
LEFT JOIN tasks t ON t.workspace_id = :workspace_id AND t.project_id = p.id AND t.id = CAST(:task_id AS uuid);

-- name: insert_conversation
-- One that was imported; nothing where its id is taken. The caller's own name for it stays with whoever has it here.
INSERT INTO conversations (workspace_id, id, user_id, project_id, task_id, agent_id, session_id, title, title_source, kind,
                           status, summary_md, model_id, provider_id, metadata, imported, next_seq, created_at, updated_at,
                           last_message_at)
SELECT :workspace_id, :id, :user_id, :project_id, :task_id, :agent_id,
       CASE WHEN NOT EXISTS (
         SELECT FROM conversations o
         WHERE o.workspace_id = :workspace_id AND o.session_id = CAST(:session_id AS text) AND o.deleted_at IS NULL
           AND o.place = nexus.place(CAST(:user_id AS uuid), CAST(:agent_id AS uuid), CAST(:project_id AS uuid)))
         THEN CAST(:session_id AS text) END,
       :title, :title_source, :kind, :status, :summary_md, :model_id, :provider_id, :metadata, :imported, :next_seq,
       :created_at, :updated_at, :last_message_at
ON CONFLICT (workspace_id, id) DO NOTHING
RETURNING id;

-- name: insert_messages
-- Many at once; those whose id is taken are left, and the ids of the others come back.
INSERT INTO messages (workspace_id, id, conversation_id, seq, parent_seq, active, role, status, parts, body, tokens, user_id,
                      model, runtime, metadata, copied_from, created_at, updated_at)
SELECT :workspace_id, m.id, :conversation_id, m.seq, m.parent_seq, m.active, m.role, m.status, m.parts, m.body, m.tokens,
       CASE WHEN m.user_id = CAST(:user_id AS uuid) THEN m.user_id END, m.model, m.runtime, m.metadata, m.copied_from,
       m.created_at, m.updated_at
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS m (
  id uuid, seq bigint, parent_seq bigint, active boolean, role text, status text, parts jsonb, body text, tokens integer,
  user_id uuid, model text, runtime text, metadata jsonb, copied_from uuid, created_at timestamptz, updated_at timestamptz)
ON CONFLICT (workspace_id, id) DO NOTHING
RETURNING id;

-- name: insert_summaries
INSERT INTO summaries (workspace_id, id, conversation_id, from_seq, to_seq, body_md, tokens, method, created_at)
SELECT :workspace_id, s.id, :conversation_id, s.from_seq, s.to_seq, s.body_md, s.tokens, s.method, s.created_at
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS s (
  id uuid, from_seq bigint, to_seq bigint, body_md text, tokens integer, method text, created_at timestamptz)
ON CONFLICT (workspace_id, id) DO NOTHING
RETURNING id;

-- name: settle
-- When it was changed last is what the file says, whatever the import did to it since.
UPDATE conversations SET updated_at = :updated_at WHERE workspace_id = :workspace_id AND id = :id;
