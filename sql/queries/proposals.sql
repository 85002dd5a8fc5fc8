-- name: create
INSERT INTO proposals (workspace_id, id, project_id, conversation_id, task_id, run_id, trigger, base_version, changes,
                       created_by)
VALUES (:workspace_id, :id, :project_id, :conversation_id, :task_id, :run_id, :trigger, :base_version, :changes, :user_id);

-- name: get
SELECT q.id, q.project_id, q.conversation_id, c.title AS conversation_title, q.task_id, t.title AS task_title, q.run_id,
       q.trigger, q.base_version, q.changes, q.status, q.created_by, p.name AS created_by_name, q.created_at, q.decided_by,
       d.name AS decided_by_name, q.decided_at
FROM proposals q
LEFT JOIN conversations c ON c.workspace_id = q.workspace_id AND c.id = q.conversation_id
LEFT JOIN tasks t ON t.workspace_id = q.workspace_id AND t.id = q.task_id
LEFT JOIN people p ON p.id = q.created_by
LEFT JOIN people d ON d.id = q.decided_by
WHERE q.workspace_id = :workspace_id AND q.id = :id;

-- name: lock
SELECT id FROM proposals WHERE workspace_id = :workspace_id AND id = :id FOR UPDATE;

-- name: list
-- A project's proposals, newest first, by keyset on time and id.
SELECT q.id, q.project_id, q.conversation_id, c.title AS conversation_title, q.task_id, t.title AS task_title, q.run_id,
       q.trigger, q.base_version, q.changes, q.status, q.created_by, p.name AS created_by_name, q.created_at, q.decided_by,
       d.name AS decided_by_name, q.decided_at
FROM proposals q
LEFT JOIN conversations c ON c.workspace_id = q.workspace_id AND c.id = q.conversation_id
LEFT JOIN tasks t ON t.workspace_id = q.workspace_id AND t.id = q.task_id
LEFT JOIN people p ON p.id = q.created_by
LEFT JOIN people d ON d.id = q.decided_by
WHERE q.workspace_id = :workspace_id AND q.project_id = :project_id
  AND (CAST(:status AS text) IS NULL OR q.status = :status)
  AND (q.created_at, q.id) < (
    CASE WHEN CAST(:before_at AS timestamptz) IS NULL THEN 'infinity' ELSE CAST(:before_at AS timestamptz) END,
    CASE WHEN CAST(:before_id AS uuid) IS NULL THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff' ELSE CAST(:before_id AS uuid) END)
ORDER BY q.created_at DESC, q.id DESC
LIMIT :limit;

-- name: waiting
-- How many wait in a project, or in all of the workspace; the badge, so by the index of pending ones alone.
SELECT count(*) FROM proposals
WHERE workspace_id = :workspace_id AND status = 'pending'
  AND project_id = CASE WHEN CAST(:project_id AS uuid) IS NULL THEN project_id ELSE CAST(:project_id AS uuid) END;

-- name: former
-- The lines of the latest proposals that wait or were refused, so that they are not proposed again.
SELECT line.value AS line
FROM (
  SELECT changes FROM proposals
  WHERE workspace_id = :workspace_id AND project_id = :project_id
  ORDER BY created_at DESC
  LIMIT 200
) q
CROSS JOIN LATERAL jsonb_array_elements(q.changes) AS line
WHERE line.value ->> 'status' IN ('pending', 'rejected');

-- name: decide
UPDATE proposals SET changes = :changes, status = :status,
  decided_by = CASE WHEN CAST(:status AS text) <> 'pending' THEN CAST(:user_id AS uuid) END,
  decided_at = CASE WHEN CAST(:status AS text) <> 'pending' THEN clock_timestamp() END
WHERE workspace_id = :workspace_id AND id = :id;

-- name: material
-- What was said of late in a project (in some conversations, or about one task where asked), newest first: the path that
-- is shown, people's words and answers, never what tools returned.
SELECT m.id, m.conversation_id, c.title AS conversation_title, m.seq, m.role, m.user_id, p.name AS author, m.body,
       m.created_at
FROM messages m
JOIN conversations c ON c.workspace_id = m.workspace_id AND c.id = m.conversation_id AND c.deleted_at IS NULL
LEFT JOIN people p ON p.id = m.user_id
WHERE m.workspace_id = :workspace_id AND m.active AND m.role IN ('user', 'assistant') AND m.body <> ''
  AND m.status IN ('complete', 'stopped') AND m.conversation_id IN (
    SELECT r.id FROM conversations r
    WHERE r.workspace_id = :workspace_id AND r.home = CAST(:project_id AS uuid) AND r.project_id = :project_id
      AND r.deleted_at IS NULL
      AND (CAST(:conversation_ids AS uuid[]) IS NULL OR r.id = ANY(CAST(:conversation_ids AS uuid[])))
      AND (CAST(:task_id AS uuid) IS NULL OR r.task_id = :task_id)
    ORDER BY r.last_message_at DESC
    LIMIT 20)
ORDER BY m.created_at DESC, m.seq DESC
LIMIT :limit;

-- name: count_left
-- How many of these messages are still there.
SELECT count(*) FROM messages WHERE workspace_id = :workspace_id AND id = ANY(CAST(:ids AS uuid[]));

-- name: evidence
-- The messages that lines rest on; those that are gone are left out.
SELECT m.id, m.conversation_id, c.title AS conversation_title, m.seq, m.role, m.user_id, p.name AS author, m.body,
       m.created_at
FROM messages m
JOIN conversations c ON c.workspace_id = m.workspace_id AND c.id = m.conversation_id AND c.deleted_at IS NULL
LEFT JOIN people p ON p.id = m.user_id
WHERE m.workspace_id = :workspace_id AND m.id = ANY(CAST(:ids AS uuid[]));
