-- name: after
-- This person's conversations of programs in a place that had heard just this when they were asked last, newest first,
-- with the newest message that is shown; never one in which somebody answers now.
SELECT c.id AS conversation_id, m.id AS answer_id
FROM conversations c
CROSS JOIN LATERAL (
  SELECT m.id, m.role FROM messages m
  WHERE m.workspace_id = c.workspace_id AND m.conversation_id = c.id AND m.active
  ORDER BY m.seq DESC
  LIMIT 1
) m
WHERE c.workspace_id = :workspace_id AND c.deleted_at IS NULL AND c.heard = :heard AND c.end_user IS NULL
  AND c.place = nexus.place(CAST(:user_id AS uuid), CAST(:agent_id AS uuid), CAST(:project_id AS uuid))
  AND c.active_run_id IS NULL AND m.role = 'assistant'
ORDER BY c.last_message_at DESC, c.id DESC
LIMIT 5;

-- name: hold
-- What a program's conversation has heard, or whom it is spoken in for; a title for one that has none yet.
UPDATE conversations SET
  heard = coalesce(CAST(:heard AS text), heard),
  end_user = coalesce(CAST(:end_user AS text), end_user),
  title = CASE WHEN title_source = 'none' AND CAST(:title AS text) <> '' THEN :title ELSE title END,
  title_source = CASE WHEN title_source = 'none' AND CAST(:title AS text) <> '' THEN 'question' ELSE title_source END
WHERE workspace_id = :workspace_id AND id = :id;
