-- name: of_page
-- One's own views of a page and those that others share.
SELECT v.id, v.user_id, v.page, v.name, v.query, v.shared, v.updated_at
FROM saved_views v
WHERE v.workspace_id = :workspace_id AND v.page = :page
ORDER BY lower(v.name), v.id;

-- name: save
INSERT INTO saved_views (workspace_id, id, user_id, page, name, query, shared)
VALUES (:workspace_id, :id, :user_id, :page, :name, :query, :shared)
ON CONFLICT (workspace_id, user_id, page, lower(name)) DO UPDATE
SET name = EXCLUDED.name, query = EXCLUDED.query, shared = EXCLUDED.shared, updated_at = clock_timestamp()
RETURNING id, user_id, page, name, query, shared, updated_at;

-- name: remove
-- One's own; an admin also removes what others share.
DELETE FROM saved_views
WHERE workspace_id = :workspace_id AND id = :id AND (user_id = :user_id OR CAST(:any AS boolean))
RETURNING name, shared;
