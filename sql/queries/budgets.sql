-- name: all
-- Every budget, with what its target is called.
SELECT b.id, b.scope, coalesce(b.project_id, b.agent_id, b.user_id) AS target_id,
       coalesce(p.name, a.name, nullif(u.name, ''), u.email) AS target_name, b.amount, b.warn_shares, b.blocks, b.unknown_price,
       b.updated_at
FROM budgets b
LEFT JOIN projects p ON p.workspace_id = b.workspace_id AND p.id = b.project_id
LEFT JOIN agents a ON a.workspace_id = b.workspace_id AND a.id = b.agent_id
LEFT JOIN people u ON u.id = b.user_id
WHERE b.workspace_id = :workspace_id
ORDER BY array_position(ARRAY['workspace', 'project', 'agent', 'person'], b.scope), target_name, b.id;

-- name: hold_on
-- The budgets that a run counts against, held until the transaction ends, always in the same order.
SELECT b.id, b.scope, coalesce(b.project_id, b.agent_id, b.user_id) AS target_id, CAST(NULL AS text) AS target_name,
       b.amount, b.warn_shares, b.blocks, b.unknown_price, b.updated_at
FROM budgets b
WHERE b.workspace_id = :workspace_id
  AND (b.scope = 'workspace' OR b.project_id = :project_id OR b.agent_id = :agent_id OR b.user_id = :person_id)
ORDER BY b.id
FOR UPDATE;

-- name: held_for_change
-- One budget, held until the transaction ends, so that nobody changes it in between.
SELECT b.id, b.scope, coalesce(b.project_id, b.agent_id, b.user_id) AS target_id, CAST(NULL AS text) AS target_name,
       b.amount, b.warn_shares, b.blocks, b.unknown_price, b.updated_at
FROM budgets b
WHERE b.workspace_id = :workspace_id AND b.id = :id
FOR UPDATE;

-- name: set
INSERT INTO budgets (workspace_id, id, scope, project_id, agent_id, user_id, amount, warn_shares, blocks, unknown_price)
VALUES (:workspace_id, :id, :scope, CAST(:project_id AS uuid), CAST(:agent_id AS uuid), CAST(:person_id AS uuid),
        CAST(:amount AS numeric), CAST(:warn_shares AS numeric[]), :blocks, :unknown_price)
ON CONFLICT (workspace_id, scope, project_id, agent_id, user_id) DO UPDATE
SET amount = EXCLUDED.amount, warn_shares = EXCLUDED.warn_shares, blocks = EXCLUDED.blocks,
    unknown_price = EXCLUDED.unknown_price, updated_at = clock_timestamp()
RETURNING id;

-- name: remove
DELETE FROM budgets WHERE workspace_id = :workspace_id AND id = :id RETURNING scope;

-- name: held
-- What requests that are still planned or running have reserved, by budget.
SELECT h.budget_id, sum(h.amount) AS amount
FROM budget_holds h
WHERE h.workspace_id = :workspace_id AND h.budget_id = ANY(CAST(:ids AS uuid[]))
  AND EXISTS (SELECT FROM assistant_runs r
              WHERE r.workspace_id = h.workspace_id AND r.request_id = h.request_id AND r.status IN ('planned', 'running'))
GROUP BY h.budget_id;

-- name: reserve
INSERT INTO budget_holds (workspace_id, budget_id, request_id, amount)
SELECT :workspace_id, b.id, :request_id, CAST(:amount AS numeric) FROM unnest(CAST(:ids AS uuid[])) AS b (id)
ON CONFLICT (workspace_id, budget_id, request_id) DO UPDATE SET amount = EXCLUDED.amount;

-- name: settle
DELETE FROM budget_holds WHERE workspace_id = :workspace_id AND request_id = :request_id;

-- name: sweep
-- Holds whose request ended without settling; in the system's scope, every workspace's.
DELETE FROM budget_holds h
WHERE (CAST(:workspace_id AS uuid) IS NULL OR h.workspace_id = :workspace_id) AND h.created_at < clock_timestamp() - interval '10 minutes'
  AND NOT EXISTS (SELECT FROM assistant_runs r
                  WHERE r.workspace_id = h.workspace_id AND r.request_id = h.request_id AND r.status IN ('planned', 'running'));

-- name: block
-- A run that a budget did not let begin.
UPDATE assistant_runs
SET status = 'blocked', started_at = NULL, error_type = 'budget', error_message = :reason
WHERE workspace_id = :workspace_id AND id = :run_id;

-- name: warn
-- What its budgets have to say of a run that may begin.
UPDATE assistant_runs
SET metadata = metadata || jsonb_build_object('budget_warnings', CAST(:warnings AS text[]))
WHERE workspace_id = :workspace_id AND id = :run_id;
