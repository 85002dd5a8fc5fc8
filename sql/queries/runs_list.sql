-- name: page
-- Runs of a range, the newest first, from below one run on.
SELECT r.id, r.request_id, r.attempt, r.kind, r.project_id, r.task_id, r.conversation_id, r.agent_id, r.user_id,
       r.prompt_summary, r.response_summary, r.model, r.served_model, r.provider, r.runtime, r.profile_slug, r.status,
       r.input_tokens, r.cached_tokens, r.cache_write_tokens, r.output_tokens, r.reasoning_tokens, r.usage_source,
       r.cost_estimate, r.cost_source, r.price_version, r.duration_ms, r.first_token_ms, r.stopped, r.error_type,
       r.error_message, r.metadata, r.created_at, r.started_at, r.finished_at
FROM assistant_runs r
WHERE r.workspace_id = :workspace_id AND r.created_at >= :from_at AND r.created_at < :to_at
  AND (CAST(:after_at AS timestamptz) IS NULL OR (r.created_at, r.id) < (CAST(:after_at AS timestamptz), CAST(:after_id AS uuid)))
  AND nexus.wanted(r.kind, CAST(:kinds AS text[])) AND nexus.wanted(r.provider, CAST(:providers AS text[]))
  AND nexus.wanted(r.model, CAST(:models AS text[])) AND nexus.wanted(r.runtime, CAST(:runtimes AS text[]))
  AND nexus.wanted(r.profile_slug, CAST(:profiles AS text[])) AND nexus.wanted(r.status, CAST(:statuses AS text[]))
  AND nexus.wanted(r.project_id, CAST(:projects AS uuid[])) AND nexus.wanted(r.task_id, CAST(:tasks AS uuid[]))
  AND nexus.wanted(r.agent_id, CAST(:agents AS uuid[])) AND nexus.wanted(r.user_id, CAST(:people AS uuid[]))
  AND nexus.wanted(r.conversation_id, CAST(:conversations AS uuid[]))
  AND (CAST(:unpriced AS boolean) IS NULL
       OR :unpriced = (r.cost_estimate IS NULL AND r.status IN ('succeeded', 'failed')))
  AND (CAST(:search AS text) IS NULL OR r.prompt_summary ILIKE :search OR r.response_summary ILIKE :search
       OR r.error_message ILIKE :search OR r.model ILIKE :search)
ORDER BY r.created_at DESC, r.id DESC
LIMIT :limit;

-- name: stretch
-- When the run was entered that stands so many below the cursor, of those of one dimension or of all; nothing where
-- the range ends before.
SELECT r.created_at
FROM assistant_runs r
WHERE r.workspace_id = :workspace_id AND r.created_at >= :from_at AND r.created_at < :to_at
  AND (CAST(:after_at AS timestamptz) IS NULL OR (r.created_at, r.id) < (CAST(:after_at AS timestamptz), CAST(:after_id AS uuid)))
  AND nexus.wanted(r.conversation_id, CAST(:conversations AS uuid[])) AND nexus.wanted(r.task_id, CAST(:tasks AS uuid[]))
  AND nexus.wanted(r.user_id, CAST(:people AS uuid[])) AND nexus.wanted(r.agent_id, CAST(:agents AS uuid[]))
  AND nexus.wanted(r.status, CAST(:statuses AS text[])) AND nexus.wanted(r.project_id, CAST(:projects AS uuid[]))
ORDER BY r.created_at DESC, r.id DESC
OFFSET :rows
LIMIT 1;
