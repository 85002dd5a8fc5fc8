-- name: create
INSERT INTO workspaces (id, slug, name, time_zone)
VALUES (:id, :slug, :name, :time_zone)
RETURNING id, slug, name, time_zone, updated_at;

-- name: create_once
-- Two processes that start at once make one.
INSERT INTO workspaces (id, slug, name)
VALUES (:id, :slug, :name)
ON CONFLICT (slug) DO NOTHING;

-- name: get
SELECT id, slug, name, time_zone, updated_at FROM workspaces WHERE id = :workspace_id;

-- name: update
UPDATE workspaces SET name = :name, time_zone = :time_zone, updated_at = clock_timestamp()
WHERE id = :workspace_id AND updated_at = coalesce(CAST(:unchanged_since AS timestamptz), updated_at)
RETURNING id, slug, name, time_zone, updated_at;

-- name: by_slug
-- For the system's scope, before any workspace is known.
SELECT id, slug, name, time_zone, updated_at FROM workspaces WHERE slug = :slug;

-- name: lock
-- Others who would seed the same workspace wait until this transaction ends.
SELECT id FROM workspaces WHERE id = :workspace_id FOR UPDATE;

-- name: of_person
-- Where a person is a member, the default workspace first.
SELECT w.id AS workspace_id, w.slug, w.name, w.time_zone, m.role
FROM memberships m
JOIN workspaces w ON w.id = m.workspace_id
WHERE m.user_id = :person_id
ORDER BY w.slug = 'default' DESC, lower(w.name), w.id;
