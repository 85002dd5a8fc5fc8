-- name: latest
-- Of the path that is shown: whatever led to its last message is what it was made of.
SELECT s.id, s.conversation_id, s.from_seq, s.to_seq, s.body_md, s.tokens, s.method, s.created_at
FROM summaries s
WHERE s.workspace_id = :workspace_id AND s.conversation_id = :conversation_id AND s.to_seq < :before
  AND NOT EXISTS (SELECT FROM messages m
                  WHERE m.workspace_id = :workspace_id AND m.conversation_id = :conversation_id AND m.seq = s.to_seq
                    AND NOT m.active)
ORDER BY s.to_seq DESC, s.created_at DESC
LIMIT 1;

-- name: of
SELECT id, conversation_id, from_seq, to_seq, body_md, tokens, method, created_at
FROM summaries
WHERE workspace_id = :workspace_id AND conversation_id = :conversation_id
ORDER BY to_seq DESC, created_at DESC
LIMIT :limit;

-- name: material
-- What was said between two numbers on the path that is shown, oldest first.
SELECT m.seq, m.role, m.body, p.name AS author, m.model, m.created_at, coalesce(m.tokens, 4) AS tokens
FROM messages m
LEFT JOIN people p ON p.id = m.user_id
WHERE m.workspace_id = :workspace_id AND m.conversation_id = :conversation_id AND m.active AND m.status <> 'streaming'
  AND m.seq > :after AND m.seq < :before
ORDER BY m.seq
LIMIT :limit;

-- name: newest_from
-- Where the newest messages of the path that is shown begin.
SELECT coalesce(min(n.seq), 0) AS seq FROM (
  SELECT m.seq FROM messages m
  WHERE m.workspace_id = :workspace_id AND m.conversation_id = :conversation_id AND m.active
  ORDER BY m.seq DESC
  LIMIT :kept
) n;

-- name: is_being_made
SELECT EXISTS (SELECT FROM assistant_runs
               WHERE workspace_id = :workspace_id AND conversation_id = :conversation_id AND kind = 'summary'
                 AND status = 'running') AS found;

-- name: failures
-- How often this model failed to make a summary of a conversation, or a budget said no, since one came about; that Nexus was
-- stopped meanwhile is nobody's failure.
SELECT count(*) AS failures, max(r.created_at) AS last_at
FROM assistant_runs r
WHERE r.workspace_id = :workspace_id AND r.conversation_id = :conversation_id AND r.kind = 'summary' AND r.model = :model
  AND r.status IN ('failed', 'blocked') AND r.error_type IS DISTINCT FROM 'interrupted'
  AND NOT EXISTS (
    SELECT FROM assistant_runs s
    WHERE s.workspace_id = :workspace_id AND s.conversation_id = :conversation_id AND s.kind = 'summary'
      AND s.status = 'succeeded' AND s.created_at > r.created_at);

-- name: store
-- Only of what is still there, all of it: what was erased meanwhile stands in no summary. The conversation shows it as its
-- own summary, unless a person has written another one.
WITH kept AS (
  INSERT INTO summaries (workspace_id, id, conversation_id, from_seq, to_seq, body_md, tokens, method, run_id)
  SELECT m.workspace_id, :id, m.conversation_id, :from_seq, m.seq, :body_md, :tokens, :method, CAST(:run_id AS uuid)
  FROM messages m
  WHERE m.workspace_id = :workspace_id AND m.conversation_id = :conversation_id AND m.seq = :to_seq AND m.active
    AND cardinality(CAST(:said AS bigint[])) = (
      SELECT count(*) FROM messages o
      WHERE o.workspace_id = :workspace_id AND o.conversation_id = :conversation_id AND o.active
        AND o.seq = ANY(CAST(:said AS bigint[])))
    AND (CAST(:former_id AS uuid) IS NULL OR EXISTS (
      SELECT FROM summaries f WHERE f.workspace_id = :workspace_id AND f.id = :former_id))
    AND NOT EXISTS (
      SELECT FROM summaries s
      JOIN messages e ON e.workspace_id = :workspace_id AND e.conversation_id = :conversation_id AND e.seq = s.to_seq
        AND e.active
      WHERE s.workspace_id = :workspace_id AND s.conversation_id = :conversation_id AND s.to_seq >= :to_seq)
  RETURNING conversation_id
)
UPDATE conversations c
SET status = CASE WHEN c.status = 'open' THEN 'summarized' ELSE c.status END,
    summary_md = CASE WHEN c.summary_md IN ('', :former_md) THEN :body_md ELSE c.summary_md END,
    updated_at = clock_timestamp()
FROM kept
WHERE c.workspace_id = :workspace_id AND c.id = kept.conversation_id;
