-- name: copy
-- The path that leads to a message, numbered anew, as the beginning of another conversation: what is shown up to it, or,
-- for a version that is not shown, its own way from where it left that path.
WITH RECURSIVE up AS (
  SELECT m.seq, m.parent_seq, m.active
  FROM messages m
  WHERE m.workspace_id = :workspace_id AND m.conversation_id = :source_id AND m.seq = :seq
  UNION ALL
  SELECT m.seq, m.parent_seq, m.active
  FROM up
  JOIN messages m ON m.workspace_id = :workspace_id AND m.conversation_id = :source_id AND m.seq = up.parent_seq
  WHERE NOT up.active
), path AS (
  SELECT p.seq, row_number() OVER (ORDER BY p.seq) AS number
  FROM (
    SELECT seq FROM up
    UNION
    SELECT m.seq FROM messages m
    WHERE m.workspace_id = :workspace_id AND m.conversation_id = :source_id AND m.active
      AND m.seq <= (SELECT max(up.seq) FROM up WHERE up.active)
  ) p
), copied AS (
  INSERT INTO messages (workspace_id, conversation_id, seq, parent_seq, role, status, parts, body, tokens, user_id, model,
                        runtime, metadata, copied_from, created_at, updated_at)
  SELECT m.workspace_id, :conversation_id, path.number, nullif(path.number - 1, 0), m.role, m.status, m.parts, m.body,
         m.tokens, m.user_id, m.model, m.runtime, m.metadata, coalesce(m.copied_from, m.id), m.created_at, m.updated_at
  FROM path
  JOIN messages m ON m.workspace_id = :workspace_id AND m.conversation_id = :source_id AND m.seq = path.seq
  RETURNING seq
)
UPDATE conversations c SET next_seq = (SELECT max(seq) FROM copied) + 1, last_message_at = clock_timestamp()
WHERE c.workspace_id = :workspace_id AND c.id = :conversation_id;
