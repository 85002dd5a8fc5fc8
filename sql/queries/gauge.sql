-- name: window
-- What the next question would take along: the newest rows within both limits, how many older ones stay behind, and
-- the first that goes along. Of one conversation, or where `across` of its whole place, without what
-- user_window leaves out; a bounded part is read.
WITH newest AS (
  (SELECT m.id, m.seq, m.tokens, CAST(NULL AS timestamptz) AS at
   FROM messages m
   WHERE NOT CAST(:across AS boolean) AND m.workspace_id = :workspace_id AND m.conversation_id = :conversation_id
     AND m.active AND m.status <> 'streaming' AND m.seq > CAST(:after AS bigint)
   ORDER BY m.seq DESC
   LIMIT least(CAST(:max_messages AS bigint), 10000))
  UNION ALL
  (SELECT m.id, m.seq, m.tokens, m.created_at
   FROM messages m
   WHERE CAST(:across AS boolean) AND m.workspace_id = :workspace_id AND m.active AND m.status <> 'streaming'
     AND m.place = (SELECT c.place FROM conversations c
                    WHERE c.workspace_id = :workspace_id AND c.id = :conversation_id)
     AND m.conversation_id NOT IN (SELECT t.id FROM conversations t
                                   WHERE t.workspace_id = :workspace_id AND t.deleted_at IS NOT NULL)
     AND (m.copied_from IS NULL OR (
       SELECT true FROM messages o
       JOIN conversations oc ON oc.workspace_id = :workspace_id AND oc.id = o.conversation_id AND oc.deleted_at IS NULL
       WHERE o.workspace_id = :workspace_id AND o.id = m.copied_from AND o.place = m.place AND o.active LIMIT 1) IS NULL)
   ORDER BY m.created_at DESC, m.seq DESC, m.id DESC
   LIMIT least(CAST(:max_messages AS bigint), 10000))
), judged AS (
  SELECT id, seq, count(*) OVER latest AS messages, sum(coalesce(tokens, 4)) OVER latest AS tokens
  FROM newest
  WINDOW latest AS (ORDER BY at DESC, seq DESC, id DESC)
), fitting AS (
  SELECT * FROM judged
  WHERE (CAST(:max_messages AS bigint) IS NULL OR messages < CAST(:max_messages AS bigint))
    AND (CAST(:max_tokens AS bigint) IS NULL OR tokens <= CAST(:max_tokens AS bigint))
), counted AS (
  SELECT count(*) AS messages, coalesce(max(tokens), 0) AS tokens FROM fitting
), everything AS (
  SELECT count(*) AS messages
  FROM (
    (SELECT FROM messages m
     WHERE NOT CAST(:across AS boolean) AND m.workspace_id = :workspace_id AND m.conversation_id = :conversation_id
       AND m.active AND m.status <> 'streaming' AND m.seq > CAST(:after AS bigint)
     LIMIT 10000)
    UNION ALL
    (SELECT FROM messages m
     WHERE CAST(:across AS boolean) AND m.workspace_id = :workspace_id AND m.active AND m.status <> 'streaming'
       AND m.place = (SELECT c.place FROM conversations c
                      WHERE c.workspace_id = :workspace_id AND c.id = :conversation_id)
     AND m.conversation_id NOT IN (SELECT t.id FROM conversations t
                                   WHERE t.workspace_id = :workspace_id AND t.deleted_at IS NOT NULL)
     AND (m.copied_from IS NULL OR (
       SELECT true FROM messages o
       JOIN conversations oc ON oc.workspace_id = :workspace_id AND oc.id = o.conversation_id AND oc.deleted_at IS NULL
       WHERE o.workspace_id = :workspace_id AND o.id = m.copied_from AND o.place = m.place AND o.active LIMIT 1) IS NULL)
     LIMIT 10000)
  ) x
)
SELECT c.messages, CAST(c.tokens AS bigint) AS tokens, e.messages - c.messages AS left_out, f.seq AS first_seq,
       left(m.body, 200) AS first_words
FROM counted c
CROSS JOIN everything e
LEFT JOIN fitting f ON f.messages = c.messages
LEFT JOIN messages m ON m.workspace_id = :workspace_id AND m.id = f.id;
