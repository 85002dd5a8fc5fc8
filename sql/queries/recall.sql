-- name: words
-- The messages with a question's words, and how well they fit; the index itself is behind a function.
SELECT message_id, conversation_id, seq, score
FROM nexus.recall_words(CAST(:terms AS text[]), CAST(:project_id AS uuid), CAST(:besides AS uuid), :limit);

-- name: meaning
-- The messages whose meaning is near a question's, with their vectors.
SELECT message_id, conversation_id, seq, vector
FROM nexus.recall_meaning(:code, :model, CAST(:project_id AS uuid), CAST(:besides AS uuid), :limit);

-- name: read
-- The messages at the best places, with where they stand; places where nothing is shown are passed over.
SELECT m.id AS message_id, m.conversation_id, c.title AS conversation_title, m.seq, m.role, m.user_id, p.name AS author, m.body,
       m.tokens, m.created_at, r.score
FROM unnest(CAST(:conversation_ids AS uuid[]), CAST(:seqs AS bigint[]), CAST(:scores AS double precision[]))
  AS r (conversation_id, seq, score)
JOIN messages m ON m.workspace_id = :workspace_id AND m.conversation_id = r.conversation_id AND m.seq = r.seq
  AND m.active AND m.body <> '' AND m.status <> 'streaming'
JOIN conversations c ON c.workspace_id = :workspace_id AND c.id = m.conversation_id
LEFT JOIN people p ON p.id = m.user_id
ORDER BY r.score DESC, m.created_at DESC, m.id DESC
LIMIT :limit;

-- name: pending
-- Messages that wait to be indexed; another process's batch is passed over. For the system's scope.
SELECT q.workspace_id, q.message_id, left(m.body, 20000) AS body
FROM search_queue q
JOIN messages m ON m.workspace_id = q.workspace_id AND m.id = q.message_id
ORDER BY q.queued_at
LIMIT :limit
FOR UPDATE OF q SKIP LOCKED;

-- name: pending_titles
SELECT workspace_id, conversation_id, title FROM nexus.waiting_titles(:limit);

-- name: claim_meanings
SELECT workspace_id, message_id, body FROM nexus.claim_meanings(:limit);

-- name: queue_other_meanings
SELECT nexus.queue_other_meanings(:model, :limit) AS queued;

-- name: index
SELECT nexus.index_message(CAST(:item_workspace AS uuid), CAST(:item_id AS uuid), :folded, :words);

-- name: index_title
SELECT nexus.index_title(CAST(:item_workspace AS uuid), CAST(:item_id AS uuid), :folded, :words);

-- name: keep_meaning
SELECT nexus.keep_meaning(CAST(:item_workspace AS uuid), CAST(:item_id AS uuid), :model, :code, CAST(:vector AS bytea));

-- name: indexed
DELETE FROM search_queue WHERE message_id = ANY(CAST(:message_ids AS uuid[]));
