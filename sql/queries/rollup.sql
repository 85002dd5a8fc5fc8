-- name: clean
-- The units within a stretch of time whose sums hold: no run of theirs was changed since. Hours of some days (NULL: all).
SELECT u.from_at, u.to_at, u.whole
FROM run_units u
WHERE u.workspace_id = :workspace_id AND u.from_at >= :from_at AND u.to_at <= :to_at
  AND (CAST(:hours_from AS timestamptz[]) IS NULL OR u.to_at - u.from_at > interval '1 hour'
       OR EXISTS (SELECT FROM unnest(CAST(:hours_from AS timestamptz[]), CAST(:hours_to AS timestamptz[])) AS h (from_at, to_at)
                  WHERE u.from_at >= h.from_at AND u.to_at <= h.to_at))
  AND NOT EXISTS (SELECT FROM run_marks m
                  WHERE m.workspace_id = u.workspace_id AND m.at > u.from_at - interval '1 hour' AND m.at < u.to_at);

-- name: plan
-- Reports differ too much from call to call for a plan that fits them all, and are too short for a compiler.
SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('jit', 'off', true),
       set_config('work_mem', '64MB', true);

-- name: lock
-- One process sums up a workspace at a time, or a mark could be taken away before its change was seen.
SELECT pg_advisory_xact_lock(hashtextextended(CAST(CAST(:workspace_id AS uuid) AS text), 6398013));

-- name: fold
-- Takes marks away, makes the units that they name void, and gives back the conversations that they name.
WITH gone AS (
  DELETE FROM run_marks m
  USING (SELECT at, id FROM run_marks WHERE workspace_id = :workspace_id ORDER BY at, id LIMIT :limit) AS oldest
  WHERE m.workspace_id = :workspace_id AND m.at = oldest.at AND m.id = oldest.id
  RETURNING m.at, m.conversation_id
), void AS (
  DELETE FROM run_units u
  USING (SELECT DISTINCT at FROM gone) hours
  WHERE u.workspace_id = :workspace_id AND u.from_at < hours.at + interval '1 hour' AND u.from_at > hours.at - interval '2 days'
    AND u.to_at > hours.at
)
SELECT count(*) AS marks, coalesce(array_agg(DISTINCT conversation_id) FILTER (WHERE conversation_id IS NOT NULL), '{}') AS ids
FROM gone;

-- name: sum_conversations
-- What these conversations cost by now; those without runs have no row.
WITH sums AS (
  SELECT f.conversation_id, sum(f.runs) AS runs, sum(f.unpriced) AS unpriced, sum(f.cost) AS cost,
         min(f.created_at) AS first_at, max(f.created_at) AS last_at
  FROM run_figures f
  WHERE f.workspace_id = :workspace_id AND f.conversation_id = ANY(CAST(:ids AS uuid[]))
  GROUP BY f.conversation_id
), gone AS (
  DELETE FROM run_conversations c
  WHERE c.workspace_id = :workspace_id AND c.conversation_id = ANY(CAST(:ids AS uuid[]))
    AND NOT EXISTS (SELECT FROM sums s WHERE s.conversation_id = c.conversation_id)
)
INSERT INTO run_conversations (workspace_id, conversation_id, runs, unpriced, cost, first_at, last_at)
SELECT :workspace_id, conversation_id, runs, unpriced, cost, first_at, last_at FROM sums
ON CONFLICT (workspace_id, conversation_id) DO UPDATE
SET runs = EXCLUDED.runs, unpriced = EXCLUDED.unpriced, cost = EXCLUDED.cost, first_at = EXCLUDED.first_at,
    last_at = EXCLUDED.last_at;

-- name: oldest
-- When the oldest run was entered.
SELECT min(created_at) FROM assistant_runs WHERE workspace_id = :workspace_id;

-- name: forget_units
DELETE FROM run_units WHERE workspace_id = :workspace_id AND from_at >= :from_at AND to_at <= :to_at;

-- name: add_unit
INSERT INTO run_units (workspace_id, from_at, to_at, whole) VALUES (:workspace_id, :from_at, :to_at, true);

-- name: add_hours
INSERT INTO run_units (workspace_id, from_at, to_at, whole)
SELECT :workspace_id, h.from_at, h.to_at, false
FROM unnest(CAST(:starts AS timestamptz[]), CAST(:ends AS timestamptz[])) AS h (from_at, to_at);

-- name: sum_unit
-- Every cube of a unit in one pass over its runs.
WITH sums AS (
  SELECT CASE WHEN GROUPING(user_id) = 0 THEN 'person' WHEN GROUPING(task_id) = 0 THEN 'task'
              WHEN GROUPING(hour) = 0 THEN 'clock' WHEN GROUPING(agent_id) = 0 AND GROUPING(kind) = 0 THEN 'work'
              WHEN GROUPING(agent_id) = 0 THEN 'agent' WHEN GROUPING(project_id) = 0 THEN 'project'
              WHEN GROUPING(model) = 0 THEN 'model' ELSE 'all' END AS cube,
         hour, kind, provider, model, runtime, profile_slug, status, project_id, task_id, agent_id, user_id,
         sum(runs) AS runs, sum(requests) AS requests, sum(priced) AS priced, sum(unpriced) AS unpriced,
         sum(without_usage) AS without_usage, sum(cost) AS cost, sum(input_tokens) AS input_tokens,
         sum(cached_tokens) AS cached_tokens, sum(cache_write_tokens) AS cache_write_tokens,
         sum(output_tokens) AS output_tokens, sum(reasoning_tokens) AS reasoning_tokens,
         sum(priced_tokens) AS priced_tokens, sum(retries) AS retries, sum(retry_cost) AS retry_cost,
         sum(conversation_cost) AS conversation_cost, sum(stopped) AS stopped
  FROM (
    SELECT f.*, (CAST(:hours AS smallint[]))[width_bucket(f.created_at, CAST(:starts AS timestamptz[]))] AS hour
    FROM run_figures f
    WHERE f.workspace_id = :workspace_id AND f.created_at >= :from_at AND f.created_at < :to_at
    OFFSET 0
  ) runs
  GROUP BY GROUPING SETS (
    (),
    (hour),
    (agent_id),
    (user_id),
    (project_id, task_id),
    (kind, status, project_id, agent_id),
    (kind, status, provider, model, runtime, profile_slug),
    (kind, status, provider, model, runtime, profile_slug, project_id)
  )
  HAVING count(*) > 0
)
INSERT INTO run_rollup (
  workspace_id, from_at, to_at, cube, n, hour, kind, provider, model, runtime, profile_slug, status, project_id, task_id, agent_id,
  user_id, runs, requests, priced, unpriced, without_usage, cost, input_tokens, cached_tokens, cache_write_tokens,
  output_tokens, reasoning_tokens, priced_tokens, retries, retry_cost, conversation_cost, stopped)
SELECT :workspace_id, :from_at, :to_at, cube, row_number() OVER (PARTITION BY cube), hour, kind, provider, model, runtime,
       profile_slug, status, project_id, task_id, agent_id, user_id, runs, requests, priced, unpriced, without_usage, cost,
       input_tokens, cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens, priced_tokens, retries, retry_cost,
       conversation_cost, stopped
FROM sums;

-- name: time_unit
-- How long the runs of a unit took, and their first token, as counts by slot.
WITH times AS MATERIALIZED (
  SELECT t.measure, nexus.time_slot(t.ms) AS slot, f.kind, f.provider, f.model, f.runtime, f.profile_slug, f.status,
         f.project_id
  FROM run_figures f
  CROSS JOIN LATERAL (VALUES ('duration', f.duration_ms), ('first_token', f.first_token_ms)) AS t (measure, ms)
  WHERE f.workspace_id = :workspace_id AND f.created_at >= :from_at AND f.created_at < :to_at AND t.ms IS NOT NULL
), slots AS (
  SELECT CASE WHEN GROUPING(model) = 0 THEN 'model' WHEN GROUPING(project_id) = 0 THEN 'project' ELSE 'all' END AS cube,
         measure, slot, kind, provider, model, runtime, profile_slug, status, project_id, count(*) AS runs
  FROM times
  GROUP BY GROUPING SETS (
    (measure, slot),
    (measure, slot, kind, provider, model, runtime, profile_slug, status),
    (measure, slot, project_id)
  )
)
INSERT INTO run_timings (workspace_id, from_at, to_at, cube, n, kind, provider, model, runtime, profile_slug, status, project_id,
                         measure, slots, counts)
SELECT :workspace_id, :from_at, :to_at, cube, row_number() OVER (PARTITION BY cube), kind, provider, model, runtime,
       profile_slug, status, project_id, measure, array_agg(slot ORDER BY slot), array_agg(runs ORDER BY slot)
FROM slots
GROUP BY cube, kind, provider, model, runtime, profile_slug, status, project_id, measure;

-- name: sum_hours
-- The model cube of each hour of a day.
WITH runs AS MATERIALIZED (
  SELECT f.*, width_bucket(f.created_at, CAST(:starts AS timestamptz[])) AS place
  FROM run_figures f
  WHERE f.workspace_id = :workspace_id AND f.created_at >= :from_at AND f.created_at < :to_at
)
INSERT INTO run_rollup (
  workspace_id, from_at, to_at, cube, n, kind, provider, model, runtime, profile_slug, status,
  runs, requests, priced, unpriced, without_usage, cost, input_tokens, cached_tokens, cache_write_tokens,
  output_tokens, reasoning_tokens, priced_tokens, retries, retry_cost, conversation_cost, stopped)
SELECT :workspace_id, (CAST(:starts AS timestamptz[]))[place], (CAST(:ends AS timestamptz[]))[place], 'model',
       row_number() OVER (PARTITION BY place), kind, provider, model, runtime, profile_slug, status,
       sum(runs), sum(requests), sum(priced), sum(unpriced), sum(without_usage), sum(cost), sum(input_tokens),
       sum(cached_tokens), sum(cache_write_tokens), sum(output_tokens), sum(reasoning_tokens),
       sum(priced_tokens), sum(retries), sum(retry_cost), sum(conversation_cost), sum(stopped)
FROM runs
GROUP BY place, kind, provider, model, runtime, profile_slug, status;

-- name: time_hours
-- How long the runs of each hour of a day took.
WITH times AS MATERIALIZED (
  SELECT t.measure, nexus.time_slot(t.ms) AS slot, width_bucket(f.created_at, CAST(:starts AS timestamptz[])) AS place
  FROM run_figures f
  CROSS JOIN LATERAL (VALUES ('duration', f.duration_ms), ('first_token', f.first_token_ms)) AS t (measure, ms)
  WHERE f.workspace_id = :workspace_id AND f.created_at >= :from_at AND f.created_at < :to_at AND t.ms IS NOT NULL
), slots AS (
  SELECT place, measure, slot, count(*) AS runs FROM times GROUP BY place, measure, slot
)
INSERT INTO run_timings (workspace_id, from_at, to_at, cube, n, measure, slots, counts)
SELECT :workspace_id, (CAST(:starts AS timestamptz[]))[place], (CAST(:ends AS timestamptz[]))[place], 'all',
       row_number() OVER (PARTITION BY place), measure, array_agg(slot ORDER BY slot), array_agg(runs ORDER BY slot)
FROM slots
GROUP BY place, measure;

-- name: workspaces
-- Every workspace, with the time zone of its days; for the system's scope.
SELECT id, time_zone FROM workspaces ORDER BY id;

-- name: zone
-- The time zone of the scope's own workspace.
SELECT time_zone FROM workspaces WHERE id = :workspace_id;
