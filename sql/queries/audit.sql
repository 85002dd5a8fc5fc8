-- name: record
INSERT INTO audit (workspace_id, user_id, door, action, entity, entity_id, detail)
VALUES (:workspace_id, :user_id, :door, :action, :entity, :entity_id, :detail);

-- name: page
-- The newest entries that fit, from below a known one on. `person` matches who did it or whom it was about.
SELECT c.number, a.id, a.at, a.user_id, coalesce(nullif(p.name, ''), p.email) AS user_name, a.door, a.action, a.entity,
       a.entity_id, a.detail
FROM audit a
LEFT JOIN audit_chain c ON c.workspace_id = a.workspace_id AND c.audit_id = a.id
LEFT JOIN people p ON p.id = a.user_id
WHERE a.workspace_id = :workspace_id
  AND (CAST(:from_at AS timestamptz) IS NULL OR a.at >= CAST(:from_at AS timestamptz))
  AND (CAST(:to_at AS timestamptz) IS NULL OR a.at < CAST(:to_at AS timestamptz))
  AND (CAST(:person AS uuid) IS NULL OR a.user_id = CAST(:person AS uuid)
       OR (a.entity = 'person' AND a.entity_id = CAST(:person AS uuid)))
  AND (CAST(:doors AS text[]) IS NULL OR a.door = ANY(CAST(:doors AS text[])))
  AND (CAST(:actions AS text[]) IS NULL OR a.action = ANY(CAST(:actions AS text[])))
  AND (CAST(:entities AS text[]) IS NULL OR a.entity = ANY(CAST(:entities AS text[])))
  AND (CAST(:entity_id AS uuid) IS NULL OR a.entity_id = CAST(:entity_id AS uuid))
  AND (CAST(:after_at AS timestamptz) IS NULL
       OR (a.at, a.id) < (CAST(:after_at AS timestamptz), CAST(:after_id AS uuid)))
ORDER BY a.at DESC, a.id DESC
LIMIT :limit;

-- name: kinds
-- What there is to filter by: every pair of entity and action that was ever entered, found by skipping through the index.
WITH RECURSIVE entities AS (
  (SELECT a.entity FROM audit a WHERE a.workspace_id = :workspace_id ORDER BY a.entity LIMIT 1)
  UNION ALL
  SELECT (SELECT a.entity FROM audit a WHERE a.workspace_id = :workspace_id AND a.entity > e.entity
          ORDER BY a.entity LIMIT 1)
  FROM entities e WHERE e.entity IS NOT NULL
)
SELECT e.entity FROM entities e WHERE e.entity IS NOT NULL ORDER BY 1;

-- name: verify
-- Every seal made anew and compared: how many hold, where the first does not, and which entries have none.
WITH sealed AS (
  SELECT c.number, c.hash, lag(c.number) OVER chain AS before_number, lag(c.hash) OVER chain AS before_hash, a AS entry
  FROM audit_chain c
  JOIN audit a ON a.workspace_id = c.workspace_id AND a.id = c.audit_id
  WHERE c.workspace_id = :workspace_id
  WINDOW chain AS (ORDER BY c.number)
), judged AS (
  SELECT number, hash, number = coalesce(before_number, 0) + 1 AS follows,
         hash = nexus.audit_seal(before_hash, number, entry) AS holds
  FROM sealed
)
SELECT count(*) AS entries, min(j.number) FILTER (WHERE NOT (j.follows AND j.holds)) AS broken_at,
       CAST(coalesce(max(j.number), 0) AS bigint) AS last_number,
       (SELECT c.hash FROM audit_chain c WHERE c.workspace_id = :workspace_id ORDER BY c.number DESC LIMIT 1) AS last_hash,
       (SELECT count(*) FROM audit a WHERE a.workspace_id = :workspace_id
          AND NOT EXISTS (SELECT FROM audit_chain c WHERE c.workspace_id = a.workspace_id AND c.audit_id = a.id)) AS unsealed
FROM judged j;
