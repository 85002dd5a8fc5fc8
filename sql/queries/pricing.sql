-- name: own
-- Every own price with the instant from which it holds: each model's highest version of each day.
SELECT DISTINCT ON (p.model, p.valid_from) p.id, p.version, p.model, p.valid_from, p.input_price, p.cached_price,
       p.cache_write_price, p.output_price, p.created_by, p.created_at
FROM model_prices p
WHERE p.workspace_id = :workspace_id
ORDER BY p.model, p.valid_from, p.version DESC;

-- name: history
-- Every version, the newest first.
SELECT p.id, p.version, p.model, p.valid_from, p.input_price, p.cached_price, p.cache_write_price, p.output_price,
       p.created_by, p.created_at
FROM model_prices p
WHERE p.workspace_id = :workspace_id
ORDER BY p.version DESC;

-- name: set
INSERT INTO model_prices (workspace_id, id, version, model, valid_from, input_price, cached_price, cache_write_price,
                          output_price, created_by)
SELECT :workspace_id, :id, 1 + coalesce(max(p.version), 0), :model, :valid_from, CAST(:input_price AS numeric),
       CAST(:cached_price AS numeric), CAST(:cache_write_price AS numeric), CAST(:output_price AS numeric),
       CAST(:user_id AS uuid)
FROM model_prices p
WHERE p.workspace_id = :workspace_id
RETURNING id, version, model, valid_from, input_price, cached_price, cache_write_price, output_price, created_by, created_at;

-- name: unpriced
-- Models that were called and left without a price, those with most such runs first.
SELECT r.model, r.provider, CAST(count(*) AS bigint) AS runs, CAST(sum(r.input_tokens) AS bigint) AS input_tokens,
       CAST(sum(r.output_tokens) AS bigint) AS output_tokens, min(r.created_at) AS first_at, max(r.created_at) AS last_at
FROM assistant_runs r
WHERE r.workspace_id = :workspace_id AND r.cost_estimate IS NULL AND r.status IN ('succeeded', 'failed')
  AND r.usage_source <> 'none' AND r.created_at >= :from_at AND r.created_at < :to_at
GROUP BY r.model, r.provider
ORDER BY runs DESC, r.model;

-- name: runs
-- Runs of a range that ended and told their tokens, in the order of their ids, from below one on.
SELECT r.id, r.model, r.created_at, r.input_tokens, r.cached_tokens, r.cache_write_tokens, r.output_tokens,
       r.reasoning_tokens, r.usage_source, r.cost_estimate, r.cost_source, r.price_version,
       coalesce(CAST(r.metadata ->> 'steps' AS integer), 1) AS steps
FROM assistant_runs r
WHERE r.workspace_id = :workspace_id AND r.created_at >= :from_at AND r.created_at < :to_at
  AND r.status IN ('succeeded', 'failed') AND r.input_tokens IS NOT NULL AND r.output_tokens IS NOT NULL
  AND nexus.wanted(r.model, CAST(:models AS text[]))
  AND (CAST(:after_at AS timestamptz) IS NULL OR (r.created_at, r.id) > (CAST(:after_at AS timestamptz), CAST(:after_id AS uuid)))
ORDER BY r.created_at, r.id
LIMIT :limit;

-- name: begin
INSERT INTO repricings (workspace_id, id, models, from_at, to_at, created_by)
VALUES (:workspace_id, :id, CAST(:models AS text[]), :from_at, :to_at, :user_id);

-- name: apply
-- New prices for runs that still have the old ones; what was replaced is kept.
WITH wanted AS (
  SELECT * FROM unnest(CAST(:ids AS uuid[]), CAST(:old_costs AS numeric[]), CAST(:costs AS numeric[]),
                       CAST(:sources AS text[]), CAST(:versions AS text[]))
    AS w (id, old_cost, cost, source, version)
), held AS (
  SELECT r.id, r.cost_estimate, r.cost_source, r.price_version, w.cost, w.source, w.version
  FROM wanted w
  JOIN assistant_runs r ON r.workspace_id = :workspace_id AND r.id = w.id
  WHERE r.cost_estimate IS NOT DISTINCT FROM w.old_cost
  FOR UPDATE OF r
), kept AS (
  INSERT INTO repriced_runs (workspace_id, repricing_id, run_id, old_cost, old_source, old_version, new_cost, new_source,
                             new_version)
  SELECT :workspace_id, :repricing_id, id, cost_estimate, cost_source, price_version, cost, source, version FROM held
)
UPDATE assistant_runs r
SET cost_estimate = held.cost, cost_source = held.source, price_version = held.version
FROM held
WHERE r.workspace_id = :workspace_id AND r.id = held.id;

-- name: close
UPDATE repricings SET runs = :runs WHERE workspace_id = :workspace_id AND id = :id;

-- name: batch
SELECT b.id, b.models, b.from_at, b.to_at, b.runs, b.created_by, b.created_at, b.undone_by, b.undone_at
FROM repricings b
WHERE b.workspace_id = :workspace_id AND b.id = :id
FOR UPDATE;

-- name: batches
SELECT b.id, b.models, b.from_at, b.to_at, b.runs, b.created_by, b.created_at, b.undone_by, b.undone_at
FROM repricings b
WHERE b.workspace_id = :workspace_id
ORDER BY b.created_at DESC, b.id DESC;

-- name: later
-- Whether a later re-pricing that holds touched the same runs.
SELECT EXISTS (
  SELECT FROM repriced_runs mine
  JOIN repriced_runs other ON other.workspace_id = mine.workspace_id AND other.run_id = mine.run_id
    AND other.repricing_id <> mine.repricing_id
  JOIN repricings b ON b.workspace_id = other.workspace_id AND b.id = other.repricing_id
  WHERE mine.workspace_id = :workspace_id AND mine.repricing_id = :id AND b.undone_at IS NULL
    AND b.created_at > (SELECT created_at FROM repricings WHERE workspace_id = :workspace_id AND id = :id));

-- name: undo
UPDATE assistant_runs r
SET cost_estimate = k.old_cost, cost_source = k.old_source, price_version = k.old_version
FROM repriced_runs k
WHERE k.workspace_id = :workspace_id AND k.repricing_id = :id AND r.workspace_id = k.workspace_id AND r.id = k.run_id;

-- name: undone
UPDATE repricings SET undone_at = clock_timestamp(), undone_by = :user_id WHERE workspace_id = :workspace_id AND id = :id;

-- name: lock
-- One change of prices at a time in a workspace.
SELECT pg_advisory_xact_lock(hashtextextended(CAST(CAST(:workspace_id AS uuid) AS text), 6398014));
