-- name: create
-- Nothing where a project of the limit is none of this workspace's.
INSERT INTO api_tokens (workspace_id, id, user_id, name, token_hash, hint, role, project_ids, expires_at)
SELECT :workspace_id, :id, :user_id, :name, :token_hash, :hint, :role, CAST(:project_ids AS uuid[]),
       now() + make_interval(days => CAST(:days AS integer))
WHERE NOT EXISTS (
  SELECT FROM unnest(CAST(:project_ids AS uuid[])) AS wanted (id)
  WHERE NOT EXISTS (SELECT FROM projects p WHERE p.workspace_id = :workspace_id AND p.id = wanted.id));

-- name: list
-- The tokens of a person, or everybody's, that were not revoked, the newest first.
SELECT t.id, t.user_id AS person_id, coalesce(nullif(p.name, ''), p.email) AS person_name, t.name, t.hint, t.role,
       t.project_ids,
       ARRAY(SELECT j.name FROM projects j
             WHERE j.workspace_id = t.workspace_id AND j.id = ANY (t.project_ids) ORDER BY lower(j.name), j.id) AS projects,
       t.created_at, t.expires_at, t.last_used_at, coalesce(t.expires_at <= now(), false) AS expired
FROM api_tokens t
JOIN people p ON p.id = t.user_id
WHERE t.workspace_id = :workspace_id AND t.revoked_at IS NULL
  AND (CAST(:id AS uuid) IS NULL OR t.id = CAST(:id AS uuid))
  AND (CAST(:person_id AS uuid) IS NULL OR t.user_id = CAST(:person_id AS uuid))
ORDER BY t.created_at DESC, t.id DESC;

-- name: resolve
-- A living token of an active member, before any workspace is known; never above the member's own role, and a token
-- that is limited to projects never an administrator's.
SELECT t.id, t.workspace_id, t.user_id AS person_id, t.project_ids, t.last_used_at,
       (ARRAY['viewer', 'operator', 'admin'])[least(
         array_position(ARRAY['viewer', 'operator', 'admin'], t.role),
         array_position(ARRAY['viewer', 'operator', 'admin'], m.role),
         CASE WHEN t.project_ids IS NULL THEN 3 ELSE 2 END)] AS role
FROM api_tokens t
JOIN people p ON p.id = t.user_id AND p.status = 'active'
JOIN memberships m ON m.workspace_id = t.workspace_id AND m.user_id = t.user_id
WHERE t.token_hash = :token_hash AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now());

-- name: touch
-- At most once a minute, however many requests come at once.
UPDATE api_tokens SET last_used_at = now()
WHERE workspace_id = :workspace AND id = :id
  AND (last_used_at IS NULL OR last_used_at < now() - make_interval(secs => :every_seconds));

-- name: revoke
UPDATE api_tokens SET revoked_at = now()
WHERE workspace_id = :workspace_id AND id = :id AND revoked_at IS NULL
  AND (CAST(:person_id AS uuid) IS NULL OR user_id = CAST(:person_id AS uuid));

-- name: revoke_all
UPDATE api_tokens SET revoked_at = now()
WHERE user_id = :person_id AND revoked_at IS NULL AND (workspace_id = :workspace_id OR CAST(:everywhere AS boolean));
