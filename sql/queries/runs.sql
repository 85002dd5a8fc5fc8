-- name: get
SELECT id, request_id, attempt, kind, project_id, task_id, conversation_id, agent_id, user_id, prompt_summary, response_summary,
       model, served_model, provider, runtime, profile_slug, status, input_tokens, cached_tokens, cache_write_tokens,
       output_tokens, reasoning_tokens, usage_source, cost_estimate, cost_source, price_version, duration_ms,
       first_token_ms, stopped, error_type, error_message, metadata, created_at, started_at, finished_at
FROM assistant_runs
WHERE workspace_id = :workspace_id AND id = :id;

-- name: of
SELECT id, request_id, attempt, kind, project_id, task_id, conversation_id, agent_id, user_id, prompt_summary, response_summary,
       model, served_model, provider, runtime, profile_slug, status, input_tokens, cached_tokens, cache_write_tokens,
       output_tokens, reasoning_tokens, usage_source, cost_estimate, cost_source, price_version, duration_ms,
       first_token_ms, stopped, error_type, error_message, metadata, created_at, started_at, finished_at
FROM assistant_runs
WHERE workspace_id = :workspace_id AND id = ANY(CAST(:ids AS uuid[]));

-- name: recent
SELECT id, request_id, attempt, kind, project_id, task_id, conversation_id, agent_id, user_id, prompt_summary, response_summary,
       model, served_model, provider, runtime, profile_slug, status, input_tokens, cached_tokens, cache_write_tokens,
       output_tokens, reasoning_tokens, usage_source, cost_estimate, cost_source, price_version, duration_ms,
       first_token_ms, stopped, error_type, error_message, metadata, created_at, started_at, finished_at
FROM assistant_runs
WHERE workspace_id = :workspace_id AND project_id = :project_id
  AND (CAST(:task_id AS uuid) IS NULL OR task_id = :task_id)
ORDER BY created_at DESC, id DESC
LIMIT :limit;

-- name: of_conversation
SELECT id, request_id, attempt, kind, project_id, task_id, conversation_id, agent_id, user_id, prompt_summary, response_summary,
       model, served_model, provider, runtime, profile_slug, status, input_tokens, cached_tokens, cache_write_tokens,
       output_tokens, reasoning_tokens, usage_source, cost_estimate, cost_source, price_version, duration_ms,
       first_token_ms, stopped, error_type, error_message, metadata, created_at, started_at, finished_at
FROM assistant_runs
WHERE workspace_id = :workspace_id AND conversation_id = :conversation_id
ORDER BY created_at DESC, id DESC
LIMIT :limit;

-- name: spent
-- What conversations cost; a run that is not over yet is not unpriced.
SELECT conversation_id, count(*) AS runs,
       count(*) FILTER (WHERE cost_estimate IS NULL AND status IN ('succeeded', 'failed')) AS unpriced,
       sum(cost_estimate) AS cost
FROM assistant_runs
WHERE workspace_id = :workspace_id AND conversation_id = ANY(CAST(:conversations AS uuid[]))
GROUP BY conversation_id;

-- name: attempts
SELECT id, request_id, attempt, kind, project_id, task_id, conversation_id, agent_id, user_id, prompt_summary, response_summary,
       model, served_model, provider, runtime, profile_slug, status, input_tokens, cached_tokens, cache_write_tokens,
       output_tokens, reasoning_tokens, usage_source, cost_estimate, cost_source, price_version, duration_ms,
       first_token_ms, stopped, error_type, error_message, metadata, created_at, started_at, finished_at
FROM assistant_runs
WHERE workspace_id = :workspace_id AND request_id = :request_id
ORDER BY attempt;

-- name: receipt
SELECT receipt FROM receipts WHERE workspace_id = :workspace_id AND run_id = :id;

-- name: calibration
-- What a provider last counted for a conversation beside what was estimated; one call's, so loops are left out.
SELECT input_tokens AS reported, CAST(metadata ->> 'estimated_input_tokens' AS bigint) AS estimated
FROM assistant_runs
WHERE workspace_id = :workspace_id AND conversation_id = :conversation_id AND model = :model
  AND usage_source = 'provider' AND CAST(metadata ->> 'estimated_input_tokens' AS bigint) >= 500
ORDER BY created_at DESC
LIMIT 1;

-- name: begin
-- A call that answers nobody, entered before it is made.
INSERT INTO assistant_runs (workspace_id, id, request_id, kind, project_id, conversation_id, task_id, agent_id, user_id,
                            prompt_summary, model, provider, runtime, profile_slug, status, started_at)
VALUES (:workspace_id, :id, :id, :kind, :project_id, :conversation_id, :task_id, :agent_id, :user_id, :prompt_summary,
        :model, :provider, :runtime, :profile_slug, 'running', clock_timestamp());

-- name: newest_proposal
SELECT id, request_id, attempt, kind, project_id, task_id, conversation_id, agent_id, user_id, prompt_summary, response_summary,
       model, served_model, provider, runtime, profile_slug, status, input_tokens, cached_tokens, cache_write_tokens,
       output_tokens, reasoning_tokens, usage_source, cost_estimate, cost_source, price_version, duration_ms,
       first_token_ms, stopped, error_type, error_message, metadata, created_at, started_at, finished_at
FROM assistant_runs
WHERE workspace_id = :workspace_id AND project_id = :project_id AND kind = 'proposal'
  AND (CAST(:conversation_id AS uuid) IS NULL OR conversation_id = :conversation_id)
ORDER BY created_at DESC
LIMIT 1;

-- name: record
-- A run that was made elsewhere, or that is planned; nothing where task or conversation are not the project's.
INSERT INTO assistant_runs (workspace_id, id, request_id, kind, project_id, task_id, conversation_id, agent_id, user_id,
                            prompt_summary, response_summary, model, served_model, provider, runtime, profile_slug, status,
                            input_tokens, cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens, usage_source,
                            cost_estimate, cost_source, duration_ms, error_type, error_message, metadata, started_at,
                            finished_at)
SELECT :workspace_id, :id, :id, 'external', p.id, :task_id, :conversation_id, c.agent_id, :user_id,
       :prompt_summary, :response_summary, :model, :served_model, :provider, :runtime, :profile_slug, :status,
       :input_tokens, :cached_tokens, :cache_write_tokens, :output_tokens, :reasoning_tokens, :usage_source,
       :cost_estimate, :cost_source, :duration_ms, :error_type, :error_message, :metadata,
       CASE WHEN CAST(:status AS text) = 'running' THEN clock_timestamp()
            WHEN CAST(:status AS text) IN ('succeeded', 'failed')
              THEN now() - make_interval(secs => coalesce(CAST(:duration_ms AS bigint), 0) / 1000.0) END,
       CASE WHEN CAST(:status AS text) IN ('succeeded', 'failed') THEN now() END
FROM projects p
LEFT JOIN conversations c
  ON c.workspace_id = p.workspace_id AND c.project_id = p.id AND c.id = CAST(:conversation_id AS uuid) AND c.deleted_at IS NULL
LEFT JOIN tasks t ON t.workspace_id = p.workspace_id AND t.project_id = p.id AND t.id = CAST(:task_id AS uuid)
WHERE p.workspace_id = :workspace_id AND p.id = :project_id
  AND (CAST(:conversation_id AS uuid) IS NULL OR c.id IS NOT NULL) AND (CAST(:task_id AS uuid) IS NULL OR t.id IS NOT NULL)
RETURNING id, request_id, attempt, kind, project_id, task_id, conversation_id, agent_id, user_id, prompt_summary,
          response_summary, model, served_model, provider, runtime, profile_slug, status, input_tokens, cached_tokens,
          cache_write_tokens, output_tokens, reasoning_tokens, usage_source, cost_estimate, cost_source, price_version,
          duration_ms, first_token_ms, stopped, error_type, error_message, metadata, created_at, started_at, finished_at;

-- name: end
-- How such a call ended; one that has ended already stays as it is.
UPDATE assistant_runs
SET status = :status, served_model = :served_model, response_summary = nullif(CAST(:response_summary AS text), ''),
    input_tokens = :input_tokens, cached_tokens = :cached_tokens, cache_write_tokens = :cache_write_tokens,
    output_tokens = :output_tokens, reasoning_tokens = :reasoning_tokens, usage_source = :usage_source,
    cost_estimate = :cost, cost_source = :cost_source, price_version = :price_version, duration_ms = :duration_ms,
    first_token_ms = :first_token_ms, error_type = :error_type, error_message = :error_message,
    finished_at = clock_timestamp()
WHERE workspace_id = :workspace_id AND id = :id AND status = 'running';

-- name: advance
-- The next state of a run that is made elsewhere; nothing where somebody was faster. What is not told stays as it is.
UPDATE assistant_runs
SET status = :status, served_model = coalesce(CAST(:served_model AS text), served_model),
    response_summary = coalesce(CAST(:response_summary AS text), response_summary),
    input_tokens = coalesce(CAST(:input_tokens AS bigint), input_tokens),
    cached_tokens = coalesce(CAST(:cached_tokens AS bigint), cached_tokens),
    cache_write_tokens = coalesce(CAST(:cache_write_tokens AS bigint), cache_write_tokens),
    output_tokens = coalesce(CAST(:output_tokens AS bigint), output_tokens),
    reasoning_tokens = coalesce(CAST(:reasoning_tokens AS bigint), reasoning_tokens),
    usage_source = coalesce(CAST(:usage_source AS text), usage_source),
    cost_estimate = coalesce(CAST(:cost_estimate AS numeric), cost_estimate),
    cost_source = coalesce(CAST(:cost_source AS text), cost_source),
    error_type = coalesce(CAST(:error_type AS text), error_type),
    error_message = coalesce(CAST(:error_message AS text), error_message), metadata = metadata || :metadata,
    started_at = CASE WHEN CAST(:status AS text) = 'running' THEN clock_timestamp() ELSE started_at END,
    finished_at = CASE WHEN CAST(:status AS text) IN ('succeeded', 'failed') THEN clock_timestamp() END,
    duration_ms = CASE WHEN CAST(:duration_ms AS bigint) IS NOT NULL THEN CAST(:duration_ms AS bigint)
                       WHEN CAST(:status AS text) IN ('succeeded', 'failed')
                         THEN CAST(extract(epoch FROM clock_timestamp() - started_at) * 1000 AS bigint)
                       ELSE duration_ms END
WHERE workspace_id = :workspace_id AND id = :id AND kind = 'external' AND status = :was
RETURNING id, request_id, attempt, kind, project_id, task_id, conversation_id, agent_id, user_id, prompt_summary,
          response_summary, model, served_model, provider, runtime, profile_slug, status, input_tokens, cached_tokens,
          cache_write_tokens, output_tokens, reasoning_tokens, usage_source, cost_estimate, cost_source, price_version,
          duration_ms, first_token_ms, stopped, error_type, error_message, metadata, created_at, started_at, finished_at;
