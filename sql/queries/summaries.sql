-- name: latest
SELECT id, conversation_id, from_seq, to_seq, body_md, tokens, method, created_at
FROM summaries
WHERE workspace_id = :workspace_id AND conversation_id = :conversation_id AND to_seq < :before
ORDER BY to_seq DESC, created_at DESC
LIMIT 1;
