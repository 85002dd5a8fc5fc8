-- name: stuck
-- Runs that have gone on for ten minutes though nobody holds their conversation; the reaper ends them.
SELECT count(*) AS runs, min(r.started_at) AS since
FROM assistant_runs r
WHERE r.workspace_id = :workspace_id AND r.status = 'running' AND r.kind <> 'external'
  AND r.started_at < clock_timestamp() - interval '10 minutes'
  AND NOT EXISTS (SELECT FROM conversations c
                  WHERE c.workspace_id = r.workspace_id AND c.active_run_id = r.id AND c.lease_until > clock_timestamp());

-- name: waiting
-- Messages that wait to be found by search, and since when.
SELECT count(*) AS messages, min(q.queued_at) AS since
FROM (SELECT queued_at FROM search_queue WHERE workspace_id = :workspace_id ORDER BY queued_at LIMIT 10000) q;

-- name: keep_size
-- The database's size of today, the largest that was seen.
INSERT INTO nexus.sizes (day, bytes)
VALUES (CAST(timezone('UTC', clock_timestamp()) AS date), pg_database_size(current_database()))
ON CONFLICT (day) DO UPDATE SET bytes = greatest(nexus.sizes.bytes, EXCLUDED.bytes);

-- name: size
-- How large the database is, and how large it was on the first day that is known of the last thirty.
SELECT pg_database_size(current_database()) AS bytes, s.day AS since, s.bytes AS then_bytes
FROM (SELECT) now_
LEFT JOIN LATERAL (SELECT day, bytes FROM nexus.sizes
                   WHERE day >= CAST(timezone('UTC', clock_timestamp()) AS date) - 30 ORDER BY day LIMIT 1) s ON true;

-- name: slow
SELECT statement, calls, mean_ms, total_ms FROM nexus.slow_statements(:limit);
