-- name: load
-- The conversation, locked, with the settings of its agent (or Just Chat's) and of the profile that serves it: the one
-- asked for, else the agent's, else the default.
SELECT c.workspace_id, c.id AS conversation_id, c.project_id, c.user_id, c.active_run_id, c.lease_owner,
       c.title_source = 'none' AS untitled,
       EXISTS (SELECT FROM summaries s WHERE s.workspace_id = c.workspace_id AND s.conversation_id = c.id) AS summarized,
       coalesce(c.lease_until < clock_timestamp(), true) AS lease_free,
       a.id AS agent_id, a.name AS agent_name, a.status AS agent_status, coalesce(a.instructions, '') AS instructions,
       coalesce(a.memory_mode, 'session') AS memory_mode,
       CASE WHEN a.id IS NULL THEN 40 ELSE a.max_messages END AS max_messages,
       CASE WHEN a.id IS NULL THEN 16000 ELSE a.max_tokens END AS max_tokens,
       coalesce(a.recall, true) AS recall, coalesce(a.tools, true) AS tools, coalesce(a.max_steps, 5) AS max_steps,
       p.slug AS profile_slug, p.model, p.api_base, p.params, p.context_tokens, w.slug AS workspace_slug, w.time_zone,
       EXISTS (SELECT FROM budgets b WHERE b.workspace_id = c.workspace_id) AS budgeted,
       EXISTS (SELECT FROM model_prices o WHERE o.workspace_id = c.workspace_id) AS own_prices
FROM conversations c
JOIN workspaces w ON w.id = c.workspace_id
LEFT JOIN agents a ON a.workspace_id = c.workspace_id AND a.id = c.agent_id
JOIN LATERAL (
  SELECT p.* FROM profiles p
  WHERE p.workspace_id = c.workspace_id AND (p.id IN (CAST(:profile_id AS uuid), a.profile_id) OR p.is_default)
  ORDER BY p.id = CAST(:profile_id AS uuid) DESC NULLS LAST, p.id = a.profile_id DESC NULLS LAST
  LIMIT 1
) p ON true
WHERE c.workspace_id = :workspace_id AND c.id = :conversation_id AND c.deleted_at IS NULL
FOR UPDATE OF c;

-- name: accept
-- The lease, the question, the run and the answer's row, after the newest message of the path that is shown;
-- nothing where somebody else holds the lease.
WITH lease AS (
  UPDATE conversations c
  SET next_seq = c.next_seq + :numbers, active_run_id = :run_id, stop_requested = false, lease_owner = :lease_owner,
      lease_until = clock_timestamp() + make_interval(secs => CAST(:lease_seconds AS double precision)),
      last_message_at = clock_timestamp(),
      title = CASE WHEN c.title_source = 'none' AND CAST(:asks AS boolean) THEN :title ELSE c.title END,
      title_source = CASE WHEN c.title_source = 'none' AND CAST(:asks AS boolean) THEN 'question' ELSE c.title_source END,
      status = CASE WHEN c.status = 'archived' THEN 'open' ELSE c.status END
  WHERE c.workspace_id = :workspace_id AND c.id = :conversation_id AND c.active_run_id IS NULL
  RETURNING c.*, c.next_seq - :numbers AS first_seq
), question AS (
  INSERT INTO messages (workspace_id, id, conversation_id, seq, parent_seq, role, parts, body, tokens, user_id,
                        client_message_id, created_at)
  SELECT lease.workspace_id, :question_id, lease.id, lease.first_seq,
         (SELECT max(m.seq) FROM messages m
          WHERE m.workspace_id = lease.workspace_id AND m.conversation_id = lease.id AND m.active),
         'user', :parts, :body, :tokens, :user_id, :client_message_id, lease.last_message_at
  FROM lease WHERE CAST(:asks AS boolean)
), run AS (
  INSERT INTO assistant_runs (workspace_id, id, request_id, project_id, task_id, conversation_id, agent_id, user_id,
                              prompt_summary, model, provider, runtime, profile_slug, status, started_at)
  SELECT lease.workspace_id, :run_id, :request_id, lease.project_id, lease.task_id, lease.id, :agent_id, :user_id,
         CASE WHEN lease.private_to IS NULL THEN nullif(CAST(:prompt_summary AS text), '') END, :model, :provider, :runtime,
         :profile_slug, 'running', clock_timestamp()
  FROM lease
), answer AS (
  INSERT INTO messages (workspace_id, id, conversation_id, seq, parent_seq, role, status, run_id, model, runtime, created_at)
  SELECT lease.workspace_id, :answer_id, lease.id, lease.next_seq - 1,
         CASE WHEN CAST(:asks AS boolean) THEN lease.first_seq ELSE CAST(:base_seq AS bigint) END,
         'assistant', 'streaming', :run_id, :model, :runtime, lease.last_message_at + interval '1 microsecond'
  FROM lease
)
SELECT first_seq FROM lease;

-- name: go_on
-- An answer whose calls a program has run goes on in its own row, under a new run; nothing where somebody else answers.
WITH lease AS (
  UPDATE conversations c
  SET active_run_id = :run_id, stop_requested = false, lease_owner = :lease_owner,
      lease_until = clock_timestamp() + make_interval(secs => CAST(:lease_seconds AS double precision)),
      last_message_at = clock_timestamp(), status = CASE WHEN c.status = 'archived' THEN 'open' ELSE c.status END
  WHERE c.workspace_id = :workspace_id AND c.id = :conversation_id AND c.active_run_id IS NULL
  RETURNING c.*
), run AS (
  INSERT INTO assistant_runs (workspace_id, id, request_id, project_id, task_id, conversation_id, agent_id, user_id,
                              prompt_summary, model, provider, runtime, profile_slug, status, started_at)
  SELECT lease.workspace_id, :run_id, :request_id, lease.project_id, lease.task_id, lease.id, :agent_id, :user_id,
         CASE WHEN lease.private_to IS NULL THEN nullif(CAST(:prompt_summary AS text), '') END, :model, :provider, :runtime,
         :profile_slug, 'running', clock_timestamp()
  FROM lease
), answer AS (
  UPDATE messages
  SET status = 'streaming', run_id = :run_id, parts = :parts, model = :model, runtime = :runtime,
      metadata = metadata - 'error' - 'error_type', updated_at = clock_timestamp()
  WHERE workspace_id = :workspace_id AND id = :answer_id AND EXISTS (SELECT FROM lease)
)
SELECT id FROM lease;

-- name: fill_in
-- Results that came for the calls of an answer that has ended.
UPDATE messages SET parts = :parts, updated_at = clock_timestamp()
WHERE workspace_id = :workspace_id AND id = :answer_id AND status <> 'streaming';

-- name: expected
-- The tokens of the newest messages of a conversation: what the next call will read of them at most.
SELECT CAST(coalesce(sum(newest.tokens), 0) AS bigint) AS tokens
FROM (
  SELECT m.tokens FROM messages m
  WHERE m.workspace_id = :workspace_id AND m.conversation_id = :conversation_id AND m.active
  ORDER BY m.seq DESC
  LIMIT least(coalesce(CAST(:max_messages AS bigint), 10000), 10000) + 1
) newest;

-- name: block
-- A turn that a budget did not let begin: nobody answers, and the answer's row says why.
WITH held AS (
  UPDATE conversations SET active_run_id = NULL, lease_until = NULL, lease_owner = NULL
  WHERE workspace_id = :workspace_id AND id = :conversation_id
)
UPDATE messages SET status = 'failed', metadata = metadata || :error, updated_at = clock_timestamp()
WHERE workspace_id = :workspace_id AND id = :answer_id;

-- name: replaced
-- The message whose place a new version takes, and the one that it follows: its role, and whether it is shown.
SELECT m.role, m.parent_seq, b.role AS follows_role, left(b.body, 10000) AS follows_body,
       m.parent_seq IS NULL OR coalesce(b.active, false) AS follows_shown
FROM messages m
LEFT JOIN messages b
  ON b.workspace_id = m.workspace_id AND b.conversation_id = m.conversation_id AND b.seq = m.parent_seq
WHERE m.workspace_id = :workspace_id AND m.conversation_id = :conversation_id AND m.id = :message_id;

-- name: repeated
-- The turn that a person's message id began; its answer may have newer versions, then the newest.
SELECT q.conversation_id, q.seq AS question_seq, q.body, c.session_id, a.id AS answer_id, r.id AS run_id, r.request_id,
       r.attempt
FROM messages q
JOIN conversations c ON c.workspace_id = q.workspace_id AND c.id = q.conversation_id
JOIN messages a ON a.workspace_id = q.workspace_id AND a.conversation_id = q.conversation_id AND a.parent_seq = q.seq
JOIN assistant_runs r ON r.workspace_id = a.workspace_id AND r.id = a.run_id
WHERE q.workspace_id = :workspace_id AND q.user_id = :user_id AND q.client_message_id = :client_message_id
ORDER BY a.seq DESC
LIMIT 1;

-- name: checkpoint
-- Fenced by the run: no row where the lease is lost or the conversation gone.
WITH held AS (
  UPDATE conversations
  SET lease_until = clock_timestamp() + make_interval(secs => CAST(:lease_seconds AS double precision))
  WHERE workspace_id = :workspace_id AND id = :conversation_id AND active_run_id = :run_id
  RETURNING stop_requested
), kept AS (
  UPDATE messages SET parts = :parts, body = :body, updated_at = clock_timestamp()
  WHERE workspace_id = :workspace_id AND id = :answer_id AND status = 'streaming' AND EXISTS (SELECT FROM held)
)
SELECT stop_requested FROM held;

-- name: try_again
-- The failed attempt ends with its figures; the next one takes its place under the same request.
WITH held AS (
  UPDATE conversations
  SET active_run_id = :next_run_id,
      lease_until = clock_timestamp() + make_interval(secs => CAST(:lease_seconds AS double precision))
  WHERE workspace_id = :workspace_id AND id = :conversation_id AND active_run_id = :run_id
  RETURNING id
), ended AS (
  UPDATE assistant_runs
  SET status = :run_status, served_model = :served_model, input_tokens = :input_tokens, cached_tokens = :cached_tokens,
      cache_write_tokens = :cache_write_tokens, output_tokens = :output_tokens, reasoning_tokens = :reasoning_tokens,
      usage_source = :usage_source, cost_estimate = :cost, cost_source = :cost_source, price_version = :price_version,
      duration_ms = :duration_ms, first_token_ms = :first_token_ms, stopped = :stopped, error_type = :error_type,
      error_message = :error_message, metadata = metadata || :estimated, finished_at = clock_timestamp()
  WHERE workspace_id = :workspace_id AND id = :run_id AND status = 'running'
  RETURNING *
), next AS (
  INSERT INTO assistant_runs (workspace_id, id, request_id, attempt, kind, project_id, task_id, conversation_id, agent_id,
                              user_id, prompt_summary, model, provider, runtime, profile_slug, status, started_at)
  SELECT workspace_id, :next_run_id, request_id, attempt + 1, kind, project_id, task_id, conversation_id, agent_id,
         user_id, prompt_summary, coalesce(CAST(:next_model AS text), model), provider, runtime, profile_slug, 'running', clock_timestamp()
  FROM ended WHERE EXISTS (SELECT FROM held)
), answer AS (
  UPDATE messages SET run_id = :next_run_id, parts = :parts, body = ''
  WHERE workspace_id = :workspace_id AND id = :answer_id AND EXISTS (SELECT FROM held)
), receipt AS (
  INSERT INTO receipts (workspace_id, run_id, conversation_id, receipt, provider_error)
  SELECT :workspace_id, :run_id, held.id, :receipt, :provider_error FROM held
)
SELECT id FROM held;

-- name: finish
-- The answer, its receipt and the lease are this run's to write only while it holds the lease; the run ends anyway.
WITH held AS (
  UPDATE conversations
  SET active_run_id = NULL, lease_until = NULL, lease_owner = NULL, stop_requested = false,
      last_message_at = clock_timestamp(), model_id = :model, provider_id = :provider
  WHERE workspace_id = :workspace_id AND id = :conversation_id AND active_run_id = :run_id
  RETURNING id, private_to
), answer AS (
  UPDATE messages
  SET status = :message_status, parts = :parts, body = :body, tokens = :tokens, model = :model,
      metadata = metadata || :error, updated_at = clock_timestamp()
  WHERE workspace_id = :workspace_id AND id = :answer_id AND EXISTS (SELECT FROM held)
), run AS (
  UPDATE assistant_runs
  SET status = :run_status, served_model = :served_model, input_tokens = :input_tokens, cached_tokens = :cached_tokens,
      cache_write_tokens = :cache_write_tokens, output_tokens = :output_tokens, reasoning_tokens = :reasoning_tokens,
      usage_source = :usage_source, cost_estimate = :cost, cost_source = :cost_source, price_version = :price_version,
      duration_ms = :duration_ms, first_token_ms = :first_token_ms, stopped = :stopped, error_type = :error_type,
      error_message = :error_message, metadata = metadata || :estimated, finished_at = clock_timestamp(),
      response_summary = CASE WHEN EXISTS (SELECT FROM held WHERE private_to IS NULL)
                              THEN nullif(CAST(:response_summary AS text), '') END
  WHERE workspace_id = :workspace_id AND id = :run_id AND status = 'running'
), receipt AS (
  INSERT INTO receipts (workspace_id, run_id, conversation_id, receipt, provider_error)
  SELECT :workspace_id, :run_id, held.id, :receipt, :provider_error FROM held
)
SELECT id FROM held;

-- name: request_stop
UPDATE conversations SET stop_requested = true
WHERE workspace_id = :workspace_id AND id = :conversation_id AND active_run_id IS NOT NULL;

-- name: leases
-- Every lease in this scope; in the system's scope, every workspace's.
SELECT workspace_id, id, active_run_id, lease_owner, coalesce(lease_until < clock_timestamp(), true) AS expired
FROM conversations
WHERE active_run_id IS NOT NULL AND (CAST(:workspace_id AS uuid) IS NULL OR workspace_id = :workspace_id);

-- name: end_interrupted
-- Ends a run whose process is gone: what it wrote stays, the conversation is free.
WITH held AS (
  UPDATE conversations
  SET active_run_id = NULL, lease_until = NULL, lease_owner = NULL, stop_requested = false
  WHERE workspace_id = :workspace_id AND id = :conversation_id AND active_run_id = :run_id
  RETURNING id
), answer AS (
  UPDATE messages
  SET status = 'failed', updated_at = clock_timestamp(),
      metadata = metadata || jsonb_build_object('error', CAST(:message AS text), 'error_type', 'interrupted')
  WHERE workspace_id = :workspace_id AND conversation_id = :conversation_id AND run_id = :run_id AND status = 'streaming'
    AND EXISTS (SELECT FROM held)
), run AS (
  UPDATE assistant_runs
  SET status = 'failed', error_type = 'interrupted', error_message = :message, finished_at = clock_timestamp(),
      duration_ms = greatest(0, CAST(extract(epoch FROM clock_timestamp() - started_at) * 1000 AS bigint))
  WHERE workspace_id = :workspace_id AND id = :run_id AND status = 'running' AND EXISTS (SELECT FROM held)
)
SELECT id FROM held;

-- name: end_orphans
-- Runs that nobody holds: their conversation was deleted while a process died. What runs elsewhere is not ours to end.
UPDATE assistant_runs r
SET status = 'failed', error_type = 'interrupted', error_message = :message, finished_at = clock_timestamp(),
    duration_ms = greatest(0, CAST(extract(epoch FROM clock_timestamp() - r.started_at) * 1000 AS bigint))
WHERE r.status = 'running' AND r.kind <> 'external' AND r.started_at < clock_timestamp() - interval '10 minutes'
  AND (CAST(:workspace_id AS uuid) IS NULL OR r.workspace_id = :workspace_id)
  AND NOT EXISTS (SELECT FROM conversations c WHERE c.workspace_id = r.workspace_id AND c.active_run_id = r.id);
