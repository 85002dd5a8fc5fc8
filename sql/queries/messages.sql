-- name: page
-- A page of the path that is shown, oldest first, each message with its place among its versions.
WITH shown AS (
  SELECT m.*
  FROM messages m
  WHERE m.workspace_id = :workspace_id AND m.conversation_id = :conversation_id AND m.active
    AND m.seq < CASE WHEN CAST(:before AS bigint) IS NULL THEN 9223372036854775807 ELSE CAST(:before AS bigint) END
  ORDER BY m.seq DESC
  LIMIT :limit
)
SELECT m.id, m.conversation_id, m.seq, m.parent_seq, m.role, m.status, m.parts, m.body, m.tokens, m.user_id,
       p.name AS user_name, m.run_id, m.model, m.runtime, m.metadata, m.created_at,
       CAST(coalesce(v.before, 0) + 1 AS integer) AS version, CAST(coalesce(v.others, 0) + 1 AS integer) AS versions,
       v.previous_id, v.next_id
FROM shown m
LEFT JOIN people p ON p.id = m.user_id
LEFT JOIN LATERAL (
  SELECT count(*) AS others, count(*) FILTER (WHERE o.seq < m.seq) AS before,
         (array_agg(o.id ORDER BY o.seq DESC) FILTER (WHERE o.seq < m.seq))[1] AS previous_id,
         (array_agg(o.id ORDER BY o.seq) FILTER (WHERE o.seq > m.seq))[1] AS next_id
  FROM messages o
  WHERE o.workspace_id = m.workspace_id AND o.conversation_id = m.conversation_id AND NOT o.active
    AND o.role = m.role AND o.parent_seq IS NOT DISTINCT FROM m.parent_seq
) v ON true
ORDER BY m.seq;

-- name: earlier
SELECT count(*) FROM messages
WHERE workspace_id = :workspace_id AND conversation_id = :conversation_id AND active AND seq < :before;

-- name: get
SELECT m.id, m.conversation_id, m.seq, m.parent_seq, m.role, m.status, m.parts, m.body, m.tokens, m.user_id,
       p.name AS user_name, m.run_id, m.model, m.runtime, m.metadata, m.created_at, 1 AS version, 1 AS versions,
       CAST(NULL AS uuid) AS previous_id, CAST(NULL AS uuid) AS next_id
FROM messages m
LEFT JOIN people p ON p.id = m.user_id
WHERE m.workspace_id = :workspace_id AND m.id = :id;

-- name: at
-- The message with a number, shown or not.
SELECT m.id, m.conversation_id, m.seq, m.parent_seq, m.role, m.status, m.parts, m.body, m.tokens, m.user_id,
       p.name AS user_name, m.run_id, m.model, m.runtime, m.metadata, m.created_at, 1 AS version, 1 AS versions,
       CAST(NULL AS uuid) AS previous_id, CAST(NULL AS uuid) AS next_id
FROM messages m
LEFT JOIN people p ON p.id = m.user_id
WHERE m.workspace_id = :workspace_id AND m.conversation_id = :conversation_id AND m.seq = :seq;

-- name: named
-- A person's question by its id, or by the id that its sender chose; the newest wording where several have it.
SELECT m.id, m.conversation_id, m.seq, m.parent_seq, m.role, m.status, m.parts, m.body, m.tokens, m.user_id,
       p.name AS user_name, m.run_id, m.model, m.runtime, m.metadata, m.created_at, 1 AS version, 1 AS versions,
       CAST(NULL AS uuid) AS previous_id, CAST(NULL AS uuid) AS next_id
FROM messages m
LEFT JOIN people p ON p.id = m.user_id
WHERE m.workspace_id = :workspace_id AND m.conversation_id = :conversation_id
  AND (m.id = CAST(:id AS uuid) OR (m.user_id = :user_id AND m.client_message_id = :name))
ORDER BY m.seq DESC
LIMIT 1;

-- name: newest_answer
-- The newest answer that is shown, or the newest that follows the message with a number.
SELECT m.id, m.conversation_id, m.seq, m.parent_seq, m.role, m.status, m.parts, m.body, m.tokens, m.user_id,
       p.name AS user_name, m.run_id, m.model, m.runtime, m.metadata, m.created_at, 1 AS version, 1 AS versions,
       CAST(NULL AS uuid) AS previous_id, CAST(NULL AS uuid) AS next_id
FROM messages m
LEFT JOIN people p ON p.id = m.user_id
WHERE m.workspace_id = :workspace_id AND m.conversation_id = :conversation_id AND m.active AND m.role = 'assistant'
  AND (CAST(:parent_seq AS bigint) IS NULL OR m.parent_seq = :parent_seq)
  AND (NOT CAST(:streaming AS boolean) OR m.status = 'streaming')
ORDER BY m.seq DESC
LIMIT 1;

-- name: people_of
-- Who wrote lately in conversations, by name.
SELECT known.id, array_agg(DISTINCT p.name ORDER BY p.name) AS names
FROM unnest(CAST(:conversations AS uuid[])) AS known (id)
CROSS JOIN LATERAL (
  SELECT m.user_id FROM messages m
  WHERE m.workspace_id = :workspace_id AND m.conversation_id = known.id
  ORDER BY m.seq DESC
  LIMIT 60
) said
JOIN people p ON p.id = said.user_id
GROUP BY known.id;

-- name: versions
-- The versions of one answer or one question, the first one first.
SELECT m.id, m.conversation_id, m.seq, m.parent_seq, m.role, m.status, m.parts, m.body, m.tokens, m.user_id,
       p.name AS user_name, m.run_id, m.model, m.runtime, m.metadata, m.created_at,
       CAST(row_number() OVER (ORDER BY m.seq) AS integer) AS version, CAST(count(*) OVER () AS integer) AS versions,
       lag(m.id) OVER (ORDER BY m.seq) AS previous_id, lead(m.id) OVER (ORDER BY m.seq) AS next_id
FROM messages m
LEFT JOIN people p ON p.id = m.user_id
WHERE m.workspace_id = :workspace_id AND m.conversation_id = :conversation_id AND m.role = :role
  AND m.parent_seq IS NOT DISTINCT FROM CAST(:parent_seq AS bigint)
ORDER BY m.seq
LIMIT 50;

-- name: of_project_conversation
-- A page of a project's conversation as [C] writes it: an answer that called tools is followed by a row for each result.
WITH shown AS (
  SELECT m.seq
  FROM messages m
  WHERE m.workspace_id = :workspace_id AND m.conversation_id = :conversation_id AND m.active
    AND m.seq < CASE WHEN CAST(:before AS bigint) IS NULL THEN 9223372036854775807 ELSE CAST(:before AS bigint) END
  ORDER BY m.seq DESC
  LIMIT :limit
)
SELECT v.id, v.workspace_id, v.conversation_id, v.seq, v.role, v.body, v.model, v.runtime, v.metadata, v.created_at
FROM project_conversation_messages v
WHERE v.workspace_id = :workspace_id AND v.conversation_id = :conversation_id AND v.seq IN (SELECT seq FROM shown)
ORDER BY v.seq, v.part;

-- name: take_number
-- The conversation's row is the counter; the message stored next takes the number before it.
UPDATE conversations SET next_seq = next_seq + 1, last_message_at = clock_timestamp()
WHERE workspace_id = :workspace_id AND id = :conversation_id;

-- name: append
INSERT INTO messages (workspace_id, id, conversation_id, seq, parent_seq, role, parts, body, tokens, user_id, metadata,
                      model, runtime, client_message_id)
SELECT :workspace_id, :id, :conversation_id,
       (SELECT c.next_seq - 1 FROM conversations c WHERE c.workspace_id = :workspace_id AND c.id = :conversation_id),
       (SELECT max(m.seq) FROM messages m
        WHERE m.workspace_id = :workspace_id AND m.conversation_id = :conversation_id AND m.active),
       :role, :parts, :body, :tokens, CASE WHEN CAST(:role AS text) = 'user' THEN CAST(:user_id AS uuid) END, :metadata,
       :model, :runtime, :client_message_id;

-- name: session_window
-- Newest first by chunks of rows until the rows or the tokens are used up; the one row that no longer fits is the
-- receipt's to name.
WITH RECURSIVE walk AS (
  SELECT CAST(:upto AS bigint) + 1 AS seq, CAST('' AS text) AS role, CAST('[]' AS jsonb) AS parts,
         0 AS tokens, CAST('{}' AS jsonb) AS metadata, CAST('' AS text) AS status,
         CAST(NULL AS uuid) AS id, CAST(NULL AS uuid) AS user_id, CAST(0 AS numeric) AS newer, CAST(0 AS bigint) AS number,
         true AS goes_on
  UNION ALL
  SELECT n.*
  FROM walk
  CROSS JOIN LATERAL (
    SELECT m.*, walk.newer + coalesce(walk.tokens, 4) + sum(coalesce(m.tokens, 4)) OVER w - coalesce(m.tokens, 4),
           walk.number + row_number() OVER w, row_number() OVER w = 64
    FROM (
      SELECT seq, role, parts, tokens, metadata, status, id, user_id
      FROM messages
      WHERE workspace_id = :workspace_id AND conversation_id = :conversation_id AND active
        AND seq < walk.seq AND seq > :after
      ORDER BY seq DESC
      LIMIT least(64, CAST(:rows AS bigint) - walk.number)
    ) m
    WINDOW w AS (ORDER BY m.seq DESC)
  ) n
  WHERE walk.goes_on AND walk.number < :rows AND walk.newer <= coalesce(CAST(:max_tokens AS bigint), 9223372036854775807)
)
SELECT seq, role, parts, tokens, CASE WHEN role = 'tool' THEN metadata END AS metadata, status, id,
       CAST(:conversation_id AS uuid) AS conversation_id, user_id
FROM walk
WHERE number > 0 AND newer <= coalesce(CAST(:max_tokens AS bigint), 9223372036854775807)
ORDER BY seq;

-- name: user_window
-- The newest rows of what one person (or the user that a program spoke for) said with one agent in one project (or
-- outside any), over conversations; the conversation that asks always takes part, its own rows up to the new message
-- alone. By chunks, as session_window.
WITH RECURSIVE walk AS (
  SELECT m.seq, m.role, m.parts, m.tokens, m.metadata, m.status, m.id, m.conversation_id, m.user_id,
         CAST('infinity' AS timestamptz) AS created_at, CAST(0 AS numeric) AS newer, CAST(1 AS bigint) AS number,
         true AS goes_on, p.place, p.place <> m.place AS elsewhere, p.end_user
  FROM messages m
  CROSS JOIN (
    SELECT nexus.place(CAST(:user_id AS uuid), CAST(:agent_id AS uuid), CAST(:project_id AS uuid)) AS place,
           (SELECT c.end_user FROM conversations c
            WHERE c.workspace_id = :workspace_id AND c.id = :conversation_id) AS end_user
  ) p
  WHERE m.workspace_id = :workspace_id AND m.conversation_id = :conversation_id AND m.seq = :upto
  UNION ALL
  SELECT n.*, walk.place, walk.elsewhere, walk.end_user
  FROM walk
  CROSS JOIN LATERAL (
    SELECT x.*, walk.newer + coalesce(walk.tokens, 4) + sum(coalesce(x.tokens, 4)) OVER w - coalesce(x.tokens, 4),
           walk.number + row_number() OVER w, row_number() OVER w = 64
    FROM (
      (SELECT m.seq, m.role, m.parts, m.tokens, m.metadata, m.status, m.id, m.conversation_id, m.user_id, m.created_at
       FROM messages m
       WHERE m.workspace_id = :workspace_id AND m.place = walk.place AND m.active
         AND (SELECT c.deleted_at IS NULL AND c.end_user IS NOT DISTINCT FROM walk.end_user FROM conversations c
              WHERE c.workspace_id = :workspace_id AND c.id = m.conversation_id)
         AND (m.created_at, m.seq, m.id) < (walk.created_at, walk.seq, walk.id)
         AND (m.conversation_id <> :conversation_id OR m.seq < :upto)
         -- A fork's copy, where this memory holds what it was copied from (not EXISTS: one look for each, never all at once).
         AND (m.copied_from IS NULL OR (
           SELECT true FROM messages o
           JOIN conversations oc ON oc.workspace_id = :workspace_id AND oc.id = o.conversation_id AND oc.deleted_at IS NULL
           WHERE o.workspace_id = :workspace_id AND o.id = m.copied_from AND o.place = m.place AND o.active LIMIT 1) IS NULL)
       ORDER BY m.created_at DESC, m.seq DESC, m.id DESC
       LIMIT 64)
      UNION ALL
      (SELECT m.seq, m.role, m.parts, m.tokens, m.metadata, m.status, m.id, m.conversation_id, m.user_id, m.created_at
       FROM messages m
       WHERE walk.elsewhere AND m.workspace_id = :workspace_id AND m.conversation_id = :conversation_id AND m.active
         AND m.seq < :upto AND (m.created_at, m.seq, m.id) < (walk.created_at, walk.seq, walk.id)
       ORDER BY m.seq DESC
       LIMIT 64)
      ORDER BY created_at DESC, seq DESC, id DESC
      LIMIT least(64, CAST(:rows AS bigint) - walk.number)
    ) x
    WINDOW w AS (ORDER BY x.created_at DESC, x.seq DESC, x.id DESC)
  ) n
  WHERE walk.goes_on AND walk.number < :rows AND walk.newer <= coalesce(CAST(:max_tokens AS bigint), 9223372036854775807)
)
SELECT seq, role, parts, tokens, CASE WHEN role = 'tool' THEN metadata END AS metadata, status, id, conversation_id, user_id
FROM walk
WHERE newer <= coalesce(CAST(:max_tokens AS bigint), 9223372036854775807)
ORDER BY number DESC;

-- name: hide_from
-- Leaves the path at the message after number `parent_seq`, or at the beginning where that is NULL.
UPDATE messages SET active = false
WHERE workspace_id = :workspace_id AND conversation_id = :conversation_id AND active
  AND seq > coalesce(CAST(:parent_seq AS bigint), 0);

-- name: show_version
-- Shows a hidden version with what leads to it and, step by step, the newest message that followed; from where the two
-- paths part, the one that was shown is hidden. What hangs on a hidden message is hidden too.
WITH RECURSIVE up AS (
  SELECT m.seq, m.parent_seq, m.active
  FROM messages m
  WHERE m.workspace_id = :workspace_id AND m.conversation_id = :conversation_id AND m.seq = :seq AND NOT m.active
  UNION ALL
  SELECT m.seq, m.parent_seq, m.active
  FROM up
  JOIN messages m ON m.workspace_id = :workspace_id AND m.conversation_id = :conversation_id AND m.seq = up.parent_seq
  WHERE NOT up.active
), down AS (
  SELECT seq FROM up WHERE seq = :seq
  UNION ALL
  SELECT (SELECT max(m.seq) FROM messages m
          WHERE m.workspace_id = :workspace_id AND m.conversation_id = :conversation_id AND NOT m.active
            AND m.parent_seq = down.seq)
  FROM down
  WHERE down.seq IS NOT NULL
), path AS (
  SELECT seq FROM up UNION SELECT seq FROM down WHERE seq IS NOT NULL
)
UPDATE messages m SET active = NOT m.active
WHERE m.workspace_id = :workspace_id AND m.conversation_id = :conversation_id AND EXISTS (SELECT FROM path)
  AND m.active <> (m.seq IN (SELECT seq FROM path))
  AND (NOT m.active OR m.seq > coalesce((SELECT max(seq) FROM up WHERE active), 0));
