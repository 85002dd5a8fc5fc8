-- name: list
-- A workspace's projects by name.
SELECT id, name, description, status, auto_propose, created_at, updated_at
FROM projects
WHERE workspace_id = :workspace_id AND (CAST(:archived AS boolean) OR status = 'active')
ORDER BY lower(name), id;

-- name: get
SELECT id, name, description, status, auto_propose, created_at, updated_at
FROM projects
WHERE workspace_id = :workspace_id AND id = :id;

-- name: create
-- A project and its empty memory, in one statement.
WITH made AS (
  INSERT INTO projects (workspace_id, id, name, description, created_by)
  VALUES (:workspace_id, :id, :name, :description, :user_id)
  RETURNING *
), memory AS (
  INSERT INTO project_memories (workspace_id, project_id, updated_by)
  SELECT workspace_id, id, created_by FROM made
)
SELECT id, name, description, status, auto_propose, created_at, updated_at FROM made;

-- name: update
-- Where nobody changed it since it was read.
UPDATE projects SET name = :name, description = :description, status = :status, auto_propose = :auto_propose,
  updated_at = clock_timestamp()
WHERE workspace_id = :workspace_id AND id = :id AND updated_at = :unchanged_since
RETURNING id, name, description, status, auto_propose, created_at, updated_at;

-- name: tasks
-- A project's tasks, the open ones first; from below one on.
SELECT id, project_id, title, notes, status, created_at, updated_at, closed_at
FROM tasks
WHERE workspace_id = :workspace_id AND project_id = :project_id
  AND (NOT CAST(:open_only AS boolean) OR status IN ('open', 'in_progress'))
  AND (CAST(:before AS uuid) IS NULL
       OR (status NOT IN ('done', 'cancelled'), created_at, id)
          < (SELECT b.status NOT IN ('done', 'cancelled'), b.created_at, b.id
             FROM tasks b
             WHERE b.workspace_id = :workspace_id AND b.project_id = :project_id AND b.id = CAST(:before AS uuid)))
ORDER BY status IN ('done', 'cancelled'), created_at DESC, id DESC
LIMIT CAST(:limit AS integer);

-- name: create_task
INSERT INTO tasks (workspace_id, id, project_id, title, notes, created_by)
VALUES (:workspace_id, :id, :project_id, :title, :notes, :user_id)
RETURNING id, project_id, title, notes, status, created_at, updated_at, closed_at;

-- name: task
SELECT id, project_id, title, notes, status, created_at, updated_at, closed_at
FROM tasks
WHERE workspace_id = :workspace_id AND id = :id;

-- name: update_task
-- Where nobody changed it since it was read.
UPDATE tasks SET title = :title, notes = :notes, status = :status, updated_at = clock_timestamp(),
  closed_at = CASE WHEN CAST(:status AS text) IN ('done', 'cancelled') THEN coalesce(closed_at, now()) END
WHERE workspace_id = :workspace_id AND id = :id AND updated_at = :unchanged_since
RETURNING id, project_id, title, notes, status, created_at, updated_at, closed_at;

-- name: contents
-- What goes when a project does, and whether all of it is this person's own.
SELECT p.name,
  (SELECT count(*) FROM conversations c WHERE c.workspace_id = :workspace_id AND c.project_id = p.id) AS conversations,
  (SELECT count(*) FROM tasks t WHERE t.workspace_id = :workspace_id AND t.project_id = p.id) AS tasks,
  (SELECT m.version FROM project_memories m WHERE m.workspace_id = :workspace_id AND m.project_id = p.id) AS version,
  p.created_by IS NOT DISTINCT FROM CAST(:user_id AS uuid)
    AND NOT EXISTS (SELECT FROM conversations c WHERE c.workspace_id = :workspace_id AND c.project_id = p.id
                    AND c.user_id <> :user_id)
    AND NOT EXISTS (SELECT FROM project_memory_revisions r WHERE r.workspace_id = :workspace_id AND r.project_id = p.id
                    AND r.created_by IS DISTINCT FROM CAST(:user_id AS uuid)) AS own
FROM projects p
WHERE p.workspace_id = :workspace_id AND p.id = :id;

-- name: delete_conversations
-- A project's conversations never become somebody's private ones: they go with it, those in the trash, too.
DELETE FROM conversations WHERE workspace_id = :workspace_id AND project_id = :id;

-- name: delete
-- Its memory, tasks and proposals go with it; the ledger keeps its figures.
DELETE FROM projects WHERE workspace_id = :workspace_id AND id = :id;

-- name: delete_task
DELETE FROM tasks WHERE workspace_id = :workspace_id AND id = :id;
