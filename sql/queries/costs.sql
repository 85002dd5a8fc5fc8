-- name: facts
-- The figures of every bucket by what names a model's use: the one source of cards, charts, tables and files.
SELECT p.bucket, p.kind, p.provider, p.model, p.runtime, p.profile_slug AS profile, p.status,
       CAST(sum(p.runs) AS bigint) AS runs, CAST(sum(p.requests) AS bigint) AS requests,
       CAST(sum(p.priced) AS bigint) AS priced, CAST(sum(p.unpriced) AS bigint) AS unpriced,
       CAST(sum(p.without_usage) AS bigint) AS without_usage, sum(p.cost) AS cost,
       CAST(sum(p.input_tokens) AS bigint) AS input_tokens, CAST(sum(p.cached_tokens) AS bigint) AS cached_tokens,
       CAST(sum(p.cache_write_tokens) AS bigint) AS cache_write_tokens,
       CAST(sum(p.output_tokens) AS bigint) AS output_tokens,
       CAST(sum(p.reasoning_tokens) AS bigint) AS reasoning_tokens,
       CAST(sum(p.priced_tokens) AS bigint) AS priced_tokens, CAST(sum(p.retries) AS bigint) AS retries,
       sum(p.retry_cost) AS retry_cost, sum(p.conversation_cost) AS conversation_cost,
       CAST(sum(p.stopped) AS bigint) AS stopped
FROM nexus.run_pieces(
  CAST(:workspace_id AS uuid), CAST(:cube AS text), CAST(:unit_from AS timestamptz[]),
  CAST(:unit_to AS timestamptz[]), CAST(:unit_buckets AS integer[]),
  CAST(:from_at AS timestamptz[]), CAST(:to_at AS timestamptz[]), CAST(:buckets AS integer[]),
  CAST(:kinds AS text[]), CAST(:providers AS text[]), CAST(:models AS text[]), CAST(:runtimes AS text[]),
  CAST(:profiles AS text[]), CAST(:statuses AS text[]), CAST(:projects AS uuid[]), CAST(:tasks AS uuid[]),
  CAST(:agents AS uuid[]), CAST(:people AS uuid[]), CAST(:conversations AS uuid[])) AS p
GROUP BY p.bucket, p.kind, p.provider, p.model, p.runtime, p.profile_slug, p.status
ORDER BY p.bucket, p.provider, p.model, p.kind, p.status, p.runtime, p.profile_slug;

-- name: facets
-- The figures of every bucket by one of the dimensions that facts leave out; NULL: the runs that have none.
SELECT p.bucket,
       CASE CAST(:by AS text) WHEN 'project' THEN p.project_id WHEN 'agent' THEN p.agent_id WHEN 'person' THEN p.user_id
                              WHEN 'task' THEN p.task_id END AS facet,
       CAST(sum(p.runs) AS bigint) AS runs, CAST(sum(p.requests) AS bigint) AS requests,
       CAST(sum(p.priced) AS bigint) AS priced, CAST(sum(p.unpriced) AS bigint) AS unpriced,
       CAST(sum(p.without_usage) AS bigint) AS without_usage, sum(p.cost) AS cost,
       CAST(sum(p.input_tokens) AS bigint) AS input_tokens, CAST(sum(p.cached_tokens) AS bigint) AS cached_tokens,
       CAST(sum(p.cache_write_tokens) AS bigint) AS cache_write_tokens,
       CAST(sum(p.output_tokens) AS bigint) AS output_tokens,
       CAST(sum(p.reasoning_tokens) AS bigint) AS reasoning_tokens,
       CAST(sum(p.priced_tokens) AS bigint) AS priced_tokens, CAST(sum(p.retries) AS bigint) AS retries,
       sum(p.retry_cost) AS retry_cost, sum(p.conversation_cost) AS conversation_cost,
       CAST(sum(p.stopped) AS bigint) AS stopped
FROM nexus.run_pieces(
  CAST(:workspace_id AS uuid), CAST(:cube AS text), CAST(:unit_from AS timestamptz[]),
  CAST(:unit_to AS timestamptz[]), CAST(:unit_buckets AS integer[]),
  CAST(:from_at AS timestamptz[]), CAST(:to_at AS timestamptz[]), CAST(:buckets AS integer[]),
  CAST(:kinds AS text[]), CAST(:providers AS text[]), CAST(:models AS text[]), CAST(:runtimes AS text[]),
  CAST(:profiles AS text[]), CAST(:statuses AS text[]), CAST(:projects AS uuid[]), CAST(:tasks AS uuid[]),
  CAST(:agents AS uuid[]), CAST(:people AS uuid[]), CAST(:conversations AS uuid[])) AS p
GROUP BY p.bucket, facet
ORDER BY p.bucket, cost DESC NULLS LAST, facet;

-- name: dearest
-- What each project, agent, person or task cost; NULL: the runs that have none.
SELECT CASE CAST(:by AS text) WHEN 'project' THEN p.project_id WHEN 'agent' THEN p.agent_id WHEN 'person' THEN p.user_id
                              WHEN 'task' THEN p.task_id END AS id,
       sum(p.cost) AS cost, CAST(sum(p.runs) AS bigint) AS runs, CAST(sum(p.unpriced) AS bigint) AS unpriced
FROM nexus.run_pieces(
  CAST(:workspace_id AS uuid), CAST(:cube AS text), CAST(:unit_from AS timestamptz[]),
  CAST(:unit_to AS timestamptz[]), CAST(:unit_buckets AS integer[]),
  CAST(:from_at AS timestamptz[]), CAST(:to_at AS timestamptz[]), CAST(:buckets AS integer[]),
  CAST(:kinds AS text[]), CAST(:providers AS text[]), CAST(:models AS text[]), CAST(:runtimes AS text[]),
  CAST(:profiles AS text[]), CAST(:statuses AS text[]), CAST(:projects AS uuid[]), CAST(:tasks AS uuid[]),
  CAST(:agents AS uuid[]), CAST(:people AS uuid[]), CAST(:conversations AS uuid[])) AS p
GROUP BY 1
ORDER BY cost DESC NULLS LAST, id;

-- name: clock
-- Runs and spend by weekday × 100 + hour, Monday being 1.
SELECT p.bucket + coalesce(p.hour, 0) AS slot, CAST(sum(p.runs) AS bigint) AS runs, sum(p.cost) AS cost,
       CAST(sum(p.unpriced) AS bigint) AS unpriced
FROM nexus.run_pieces(
  CAST(:workspace_id AS uuid), CAST(:cube AS text), CAST(:unit_from AS timestamptz[]),
  CAST(:unit_to AS timestamptz[]), CAST(:unit_buckets AS integer[]),
  CAST(:from_at AS timestamptz[]), CAST(:to_at AS timestamptz[]), CAST(:buckets AS integer[]),
  CAST(:kinds AS text[]), CAST(:providers AS text[]), CAST(:models AS text[]), CAST(:runtimes AS text[]),
  CAST(:profiles AS text[]), CAST(:statuses AS text[]), CAST(:projects AS uuid[]), CAST(:tasks AS uuid[]),
  CAST(:agents AS uuid[]), CAST(:people AS uuid[]), CAST(:conversations AS uuid[])) AS p
GROUP BY slot
ORDER BY slot;

-- name: daily
-- What each bucket cost.
SELECT p.bucket, sum(p.cost) AS cost, CAST(sum(p.unpriced) AS bigint) AS unpriced
FROM nexus.run_pieces(
  CAST(:workspace_id AS uuid), CAST(:cube AS text), CAST(:unit_from AS timestamptz[]),
  CAST(:unit_to AS timestamptz[]), CAST(:unit_buckets AS integer[]),
  CAST(:from_at AS timestamptz[]), CAST(:to_at AS timestamptz[]), CAST(:buckets AS integer[]),
  CAST(:kinds AS text[]), CAST(:providers AS text[]), CAST(:models AS text[]), CAST(:runtimes AS text[]),
  CAST(:profiles AS text[]), CAST(:statuses AS text[]), CAST(:projects AS uuid[]), CAST(:tasks AS uuid[]),
  CAST(:agents AS uuid[]), CAST(:people AS uuid[]), CAST(:conversations AS uuid[])) AS p
GROUP BY p.bucket;

-- name: timings
-- Percentiles by nearest rank over merged slots: of every bucket, and of all buckets from 0 on (bucket NULL). Buckets
-- below 0 belong to the time before.
WITH slots AS (
  SELECT u.bucket, t.measure, s.slot, s.runs
  FROM unnest(CAST(:unit_from AS timestamptz[]), CAST(:unit_to AS timestamptz[]), CAST(:unit_buckets AS integer[]))
    AS u (from_at, to_at, bucket)
  JOIN run_timings t
    ON t.workspace_id = :workspace_id AND t.from_at = u.from_at AND t.to_at = u.to_at AND t.cube = :cube
  CROSS JOIN LATERAL unnest(t.slots, t.counts) AS s (slot, runs)
  WHERE nexus.wanted(t.kind, CAST(:kinds AS text[])) AND nexus.wanted(t.provider, CAST(:providers AS text[]))
    AND nexus.wanted(t.model, CAST(:models AS text[])) AND nexus.wanted(t.runtime, CAST(:runtimes AS text[]))
    AND nexus.wanted(t.profile_slug, CAST(:profiles AS text[])) AND nexus.wanted(t.status, CAST(:statuses AS text[]))
    AND nexus.wanted(t.project_id, CAST(:projects AS uuid[]))
  UNION ALL
  SELECT i.bucket, t.measure, nexus.time_slot(t.ms), 1
  FROM unnest(CAST(:from_at AS timestamptz[]), CAST(:to_at AS timestamptz[]), CAST(:buckets AS integer[]))
    AS i (from_at, to_at, bucket)
  CROSS JOIN LATERAL (
    SELECT f.duration_ms, f.first_token_ms
    FROM run_figures f
    WHERE f.workspace_id = :workspace_id AND f.created_at >= i.from_at AND f.created_at < i.to_at
      AND nexus.wanted(f.kind, CAST(:kinds AS text[])) AND nexus.wanted(f.provider, CAST(:providers AS text[]))
      AND nexus.wanted(f.model, CAST(:models AS text[])) AND nexus.wanted(f.runtime, CAST(:runtimes AS text[]))
      AND nexus.wanted(f.profile_slug, CAST(:profiles AS text[])) AND nexus.wanted(f.status, CAST(:statuses AS text[]))
      AND nexus.wanted(f.project_id, CAST(:projects AS uuid[])) AND nexus.wanted(f.task_id, CAST(:tasks AS uuid[]))
      AND nexus.wanted(f.agent_id, CAST(:agents AS uuid[])) AND nexus.wanted(f.user_id, CAST(:people AS uuid[]))
      AND nexus.wanted(f.conversation_id, CAST(:conversations AS uuid[]))
    OFFSET 0) f
  CROSS JOIN LATERAL (VALUES ('duration', f.duration_ms), ('first_token', f.first_token_ms)) AS t (measure, ms)
  WHERE t.ms IS NOT NULL
), counted AS (
  SELECT bucket, measure, slot, sum(CAST(runs AS double precision)) AS runs FROM slots GROUP BY bucket, measure, slot
), with_total AS (
  SELECT bucket, measure, slot, runs FROM counted
  UNION ALL
  SELECT NULL, measure, slot, sum(runs) FROM counted WHERE bucket >= 0 GROUP BY measure, slot
), ranked AS (
  SELECT bucket, measure, slot, sum(runs) OVER up AS upto, sum(runs) OVER every AS total
  FROM with_total
  WINDOW every AS (PARTITION BY bucket, measure), up AS (PARTITION BY bucket, measure ORDER BY slot)
)
SELECT bucket, measure, CAST(max(total) AS bigint) AS runs,
       min(slot) FILTER (WHERE upto >= 0.5 * total) AS p50, min(slot) FILTER (WHERE upto >= 0.95 * total) AS p95,
       min(slot) FILTER (WHERE upto >= 0.99 * total) AS p99
FROM ranked
GROUP BY bucket, measure
ORDER BY bucket NULLS FIRST, measure;

-- name: conversations
-- The dearest conversations of a range. A conversation's whole cost bounds what it cost within the range, so the
-- dearest ones as a whole are enough to look at while `bound`, the least of theirs, is below the last of the result.
WITH dirty AS MATERIALIZED (
  SELECT DISTINCT conversation_id FROM run_marks WHERE workspace_id = :workspace_id AND conversation_id IS NOT NULL
), looked_at AS MATERIALIZED (
  SELECT c.conversation_id, c.cost, c.runs, c.unpriced, c.first_at >= :from_at AND c.last_at < :to_at AS inside
  FROM run_conversations c
  WHERE c.workspace_id = :workspace_id AND c.cost IS NOT NULL AND c.first_at < :to_at AND c.last_at >= :from_at
    AND NOT EXISTS (SELECT FROM dirty d WHERE d.conversation_id = c.conversation_id)
  ORDER BY c.cost DESC
  LIMIT :looked_at
), sums AS (
  SELECT conversation_id, cost, runs, unpriced FROM looked_at WHERE inside
  UNION ALL
  SELECT l.conversation_id, s.cost, s.runs, s.unpriced
  FROM (SELECT conversation_id FROM looked_at WHERE NOT inside UNION ALL SELECT conversation_id FROM dirty) l
  CROSS JOIN LATERAL (
    SELECT sum(f.cost) AS cost, sum(f.runs) AS runs, sum(f.unpriced) AS unpriced
    FROM run_figures f
    WHERE f.workspace_id = :workspace_id AND f.conversation_id = l.conversation_id
      AND f.created_at >= :from_at AND f.created_at < :to_at) s
  WHERE s.cost IS NOT NULL
)
SELECT s.conversation_id AS id, c.title AS name, s.cost, CAST(s.runs AS bigint) AS runs,
       CAST(s.unpriced AS bigint) AS unpriced,
       (SELECT min(cost) FROM looked_at HAVING count(*) = :looked_at) AS bound
FROM (SELECT * FROM sums ORDER BY cost DESC, conversation_id LIMIT :limit) s
LEFT JOIN conversations c ON c.workspace_id = :workspace_id AND c.id = s.conversation_id
ORDER BY s.cost DESC, s.conversation_id;

-- name: conversations_filtered
-- The same from the runs, for reports with filters.
WITH sums AS (
  SELECT f.conversation_id, sum(f.cost) AS cost, sum(f.runs) AS runs, sum(f.unpriced) AS unpriced
  FROM run_figures f
  WHERE f.workspace_id = :workspace_id AND f.created_at >= :from_at AND f.created_at < :to_at
    AND f.conversation_id IS NOT NULL
    AND nexus.wanted(f.kind, CAST(:kinds AS text[])) AND nexus.wanted(f.provider, CAST(:providers AS text[]))
    AND nexus.wanted(f.model, CAST(:models AS text[])) AND nexus.wanted(f.runtime, CAST(:runtimes AS text[]))
    AND nexus.wanted(f.profile_slug, CAST(:profiles AS text[])) AND nexus.wanted(f.status, CAST(:statuses AS text[]))
    AND nexus.wanted(f.project_id, CAST(:projects AS uuid[])) AND nexus.wanted(f.task_id, CAST(:tasks AS uuid[]))
    AND nexus.wanted(f.agent_id, CAST(:agents AS uuid[])) AND nexus.wanted(f.user_id, CAST(:people AS uuid[]))
    AND nexus.wanted(f.conversation_id, CAST(:conversations AS uuid[]))
  GROUP BY f.conversation_id
  HAVING sum(f.cost) IS NOT NULL
  ORDER BY cost DESC, f.conversation_id
  LIMIT :limit
)
SELECT s.conversation_id AS id, c.title AS name, s.cost, CAST(s.runs AS bigint) AS runs,
       CAST(s.unpriced AS bigint) AS unpriced,
       CAST(NULL AS numeric) AS bound
FROM sums s
LEFT JOIN conversations c ON c.workspace_id = :workspace_id AND c.id = s.conversation_id
ORDER BY s.cost DESC, s.conversation_id;

-- name: count_conversations
-- How many conversations have a run in a range: by their ends, and by their runs where both ends lie outside.
WITH dirty AS MATERIALIZED (
  SELECT DISTINCT conversation_id FROM run_marks WHERE workspace_id = :workspace_id AND conversation_id IS NOT NULL
), wide AS (
  SELECT c.conversation_id FROM run_conversations c
  WHERE c.workspace_id = :workspace_id AND c.last_at >= :to_at AND c.first_at < :from_at
  UNION
  SELECT conversation_id FROM dirty
)
SELECT (SELECT count(*) FROM run_conversations c
        WHERE c.workspace_id = :workspace_id AND c.last_at >= :from_at AND c.first_at < :to_at
          AND (c.last_at < :to_at OR c.first_at >= :from_at))
     - (SELECT count(*) FROM dirty d
        JOIN run_conversations c ON c.workspace_id = :workspace_id AND c.conversation_id = d.conversation_id
        WHERE c.last_at >= :from_at AND c.first_at < :to_at AND (c.last_at < :to_at OR c.first_at >= :from_at))
     + (SELECT count(*) FROM wide w
        WHERE EXISTS (SELECT FROM assistant_runs r
                      WHERE r.workspace_id = :workspace_id AND r.conversation_id = w.conversation_id
                        AND r.created_at >= :from_at AND r.created_at < :to_at));

-- name: count_conversations_filtered
SELECT count(DISTINCT f.conversation_id)
FROM run_figures f
WHERE f.workspace_id = :workspace_id AND f.created_at >= :from_at AND f.created_at < :to_at
  AND nexus.wanted(f.kind, CAST(:kinds AS text[])) AND nexus.wanted(f.provider, CAST(:providers AS text[]))
  AND nexus.wanted(f.model, CAST(:models AS text[])) AND nexus.wanted(f.runtime, CAST(:runtimes AS text[]))
  AND nexus.wanted(f.profile_slug, CAST(:profiles AS text[])) AND nexus.wanted(f.status, CAST(:statuses AS text[]))
  AND nexus.wanted(f.project_id, CAST(:projects AS uuid[])) AND nexus.wanted(f.task_id, CAST(:tasks AS uuid[]))
  AND nexus.wanted(f.agent_id, CAST(:agents AS uuid[])) AND nexus.wanted(f.user_id, CAST(:people AS uuid[]))
  AND nexus.wanted(f.conversation_id, CAST(:conversations AS uuid[]));

-- name: finished_tasks
-- The tasks that were finished in a range.
SELECT t.id, t.created_at
FROM tasks t
WHERE t.workspace_id = :workspace_id AND t.status = 'done' AND t.closed_at >= :from_at AND t.closed_at < :to_at
  AND nexus.wanted(t.project_id, CAST(:projects AS uuid[])) AND nexus.wanted(t.id, CAST(:tasks AS uuid[]));

-- name: oldest_run
-- When the oldest run was entered.
SELECT min(created_at) FROM assistant_runs WHERE workspace_id = :workspace_id;

-- name: names
-- What people call these projects, agents, people, tasks and conversations.
SELECT id, name FROM projects WHERE workspace_id = :workspace_id AND id = ANY(CAST(:ids AS uuid[]))
UNION ALL
SELECT id, name FROM agents WHERE workspace_id = :workspace_id AND id = ANY(CAST(:ids AS uuid[]))
UNION ALL
SELECT id, title FROM tasks WHERE workspace_id = :workspace_id AND id = ANY(CAST(:ids AS uuid[]))
UNION ALL
SELECT id, title FROM conversations WHERE workspace_id = :workspace_id AND id = ANY(CAST(:ids AS uuid[]))
UNION ALL
SELECT p.id, coalesce(nullif(p.name, ''), p.email) FROM people p
JOIN memberships m ON m.workspace_id = :workspace_id AND m.user_id = p.id
WHERE p.id = ANY(CAST(:ids AS uuid[]));

-- name: choices
-- What the use of models in a range is told apart by: from the sums of its days and of the hours since the newest of
-- them, and from the runs since the newest of those.
WITH newest AS MATERIALIZED (
  SELECT max(to_at) AS unit, max(to_at) FILTER (WHERE to_at - from_at > interval '2 hours') AS day
  FROM run_units
  WHERE workspace_id = :workspace_id AND from_at >= :from_at AND from_at < :to_at
)
SELECT r.kind, r.provider, r.model, r.runtime, r.profile_slug AS profile, r.status
FROM run_units u
JOIN run_rollup r ON r.workspace_id = :workspace_id AND r.from_at = u.from_at AND r.to_at = u.to_at AND r.cube = 'model'
WHERE u.workspace_id = :workspace_id AND u.from_at >= :from_at AND u.from_at < :to_at
  AND (u.to_at - u.from_at > interval '2 hours' OR u.from_at >= (SELECT coalesce(day, :from_at) FROM newest))
UNION
SELECT kind, provider, model, runtime, profile_slug, status
FROM assistant_runs
WHERE workspace_id = :workspace_id AND created_at < :to_at
  AND created_at >= (SELECT coalesce(unit, :from_at) FROM newest);
