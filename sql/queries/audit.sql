-- name: record
INSERT INTO audit (workspace_id, user_id, door, action, entity, entity_id, detail)
VALUES (:workspace_id, :user_id, :door, :action, :entity, :entity_id, :detail);

-- name: latest
-- The newest entries of a workspace.
SELECT a.id, a.at, a.user_id, p.name AS user_name, a.door, a.action, a.entity, a.entity_id, a.detail
FROM audit a
LEFT JOIN people p ON p.id = a.user_id
WHERE a.workspace_id = :workspace_id
ORDER BY a.at DESC, a.id DESC
LIMIT :limit;
