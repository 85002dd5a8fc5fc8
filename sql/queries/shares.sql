-- name: create
-- With what is shown of the conversation now: what people and assistants said, as text. No prompt, thought, tool or model.
INSERT INTO shares (workspace_id, id, conversation_id, token_hash, snapshot, created_by, created_at, expires_at)
SELECT :workspace_id, :id, c.id, :token_hash, jsonb_build_object('title', c.title, 'messages', coalesce((
         SELECT jsonb_agg(jsonb_build_object('role', m.role, 'text', m.body, 'at', m.created_at) ORDER BY m.seq)
         FROM messages m
         WHERE m.workspace_id = :workspace_id AND m.conversation_id = c.id AND m.active
           AND m.role IN ('user', 'assistant') AND m.status <> 'streaming' AND m.body ~ '\S'), '[]')),
       :user_id, clock_timestamp(), clock_timestamp() + make_interval(days => CAST(:days AS integer))
FROM conversations c
WHERE c.workspace_id = :workspace_id AND c.id = :conversation_id AND c.deleted_at IS NULL
RETURNING id;

-- name: live
-- The links that work now, the newest first: one person's, everybody's, or those of one conversation.
SELECT s.id, s.conversation_id, c.title, s.created_by, p.name AS created_by_name, s.created_at, s.expires_at, s.views,
       coalesce(jsonb_array_length(s.snapshot -> 'messages'), 0) AS messages
FROM shares s
JOIN conversations c ON c.workspace_id = s.workspace_id AND c.id = s.conversation_id AND c.deleted_at IS NULL
LEFT JOIN people p ON p.id = s.created_by
WHERE s.workspace_id = :workspace_id AND s.revoked_at IS NULL AND s.expires_at > clock_timestamp()
  AND (CAST(:conversation_id AS uuid) IS NULL OR s.conversation_id = :conversation_id)
  AND (CAST(:everyones AS boolean) OR CAST(:conversation_id AS uuid) IS NOT NULL OR s.created_by = :user_id)
  AND (CAST(:id AS uuid) IS NULL OR s.id = :id)
ORDER BY s.created_at DESC, s.id DESC
LIMIT 1000;

-- name: revoke
-- The link is dead and what it showed is gone: one's own, one to one's own conversation, or as an admin any that one sees.
UPDATE shares s SET revoked_at = clock_timestamp(), snapshot = '{}'
FROM conversations c
WHERE s.workspace_id = :workspace_id AND s.id = :id AND s.revoked_at IS NULL
  AND c.workspace_id = s.workspace_id AND c.id = s.conversation_id
  AND (CAST(:everyones AS boolean) OR s.created_by = :user_id OR c.user_id = :user_id)
RETURNING s.conversation_id;

-- name: visit
-- What a link's token stands for, whatever the workspace, for the gate alone; counted. Nothing for one that is unknown,
-- revoked or expired, nor once its conversation is deleted or in the trash.
UPDATE shares s SET views = s.views + CAST(:counted AS integer)
FROM conversations c
WHERE nexus.is_system() AND (CAST(:workspace_id AS uuid) IS NULL OR s.workspace_id = :workspace_id)
  AND s.token_hash = :token_hash AND s.revoked_at IS NULL AND s.expires_at > clock_timestamp()
  AND c.workspace_id = s.workspace_id AND c.id = s.conversation_id AND c.deleted_at IS NULL
RETURNING s.id, s.created_at, s.expires_at;

-- name: snapshot
SELECT snapshot FROM shares
WHERE nexus.is_system() AND (CAST(:workspace_id AS uuid) IS NULL OR workspace_id = :workspace_id) AND id = :id;
