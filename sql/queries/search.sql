-- name: find
-- A page of what a search finds: conversations in order, each with its best message; the first row says how many there
-- are in all, even where the page is empty.
WITH found AS MATERIALIZED (
  SELECT f.id, f.tier, f.complete, f.last_message_at, CASE WHEN CAST(:sort AS text) = 'best' THEN -f.tier ELSE 0 END AS key_tier,
         CASE WHEN CAST(:sort AS text) = 'title' THEN lower(left(f.title, 100)) ELSE '' END AS key_title,
         CAST(extract(epoch FROM f.last_message_at) * 1000000 AS bigint)
           * CASE WHEN CAST(:sort AS text) = 'oldest' THEN 1 ELSE -1 END AS key_time
  FROM nexus.find_conversations(:words, CAST(:sequences AS text[]), CAST(:phrase AS text), CAST(ROW(CAST(:project_id AS uuid), CAST(:outside AS boolean), CAST(:agent_id AS uuid),
    CAST(:just_chat AS boolean), CAST(:kind AS text), CAST(:status AS text), CAST(:tag_id AS uuid),
    CAST(:person_id AS uuid), CAST(:since AS timestamptz), CAST(:until AS timestamptz)) AS nexus.conversation_filter)) f
), counted AS (
  SELECT count(*) AS total, coalesce(bool_and(complete), true) AS complete FROM found
), page AS (
  SELECT * FROM found
  WHERE CAST(:after_id AS uuid) IS NULL OR (key_tier, key_title, key_time, id)
    > (CAST(:after_tier AS integer), CAST(:after_title AS text), CAST(:after_time AS bigint), CAST(:after_id AS uuid))
  ORDER BY key_tier, key_title, key_time, id
  LIMIT :limit
), best AS (
  SELECT b.conversation_id, b.message_id
  FROM nexus.best_messages((SELECT array_agg(id) FROM page), :words, CAST(:sequences AS text[]), CAST(:phrase AS text)) b
)
SELECT counted.total, counted.complete, page.key_tier, page.key_title, page.key_time, page.id, best.message_id
FROM counted
LEFT JOIN page ON true
LEFT JOIN best ON best.conversation_id = page.id
ORDER BY page.key_tier, page.key_title, page.key_time, page.id;

-- name: shown
-- What is shown of the conversations found, and of the best message of each, in the order of the two lists. A statement
-- of its own: with the one before, the planner thinks for longer than both take.
SELECT c.id, c.user_id, p.name AS user_name, c.project_id, c.agent_id, c.title, c.kind, c.status, c.next_seq - 1 AS messages,
       c.created_at, c.last_message_at, nexus.tag_names(c.id) AS tags,
       m.id AS message_id, m.seq, m.role, m.created_at AS said_at, left(m.body, 20000) AS body
FROM unnest(CAST(:ids AS uuid[]), CAST(:message_ids AS uuid[])) WITH ORDINALITY AS page (id, message_id, place)
JOIN conversations c ON c.workspace_id = :workspace_id AND c.id = page.id
LEFT JOIN people p ON p.id = c.user_id
LEFT JOIN messages m ON m.workspace_id = :workspace_id AND m.id = page.message_id
ORDER BY page.place;

-- name: newest
-- A page of the conversations that fit a filter, newest first, by keyset on time and id.
SELECT c.id, c.user_id, p.name AS user_name, c.project_id, c.agent_id, c.title, c.kind, c.status, c.next_seq - 1 AS messages,
       c.created_at, c.last_message_at, nexus.tag_names(c.id) AS tags
FROM conversations c
LEFT JOIN people p ON p.id = c.user_id
WHERE c.workspace_id = :workspace_id AND (c.next_seq > 1 OR c.title <> '')
  AND nexus.fits(c, CAST(ROW(CAST(:project_id AS uuid), CAST(:outside AS boolean), CAST(:agent_id AS uuid),
    CAST(:just_chat AS boolean), CAST(:kind AS text), CAST(:status AS text), CAST(:tag_id AS uuid),
    CAST(:person_id AS uuid), CAST(:since AS timestamptz), CAST(:until AS timestamptz)) AS nexus.conversation_filter))
  AND (CAST(:tag_id AS uuid) IS NULL OR c.id IN (
    SELECT ct.conversation_id FROM conversation_tags ct WHERE ct.workspace_id = :workspace_id AND ct.tag_id = :tag_id))
  AND (c.last_message_at, c.id) < (coalesce(CAST(:after_at AS timestamptz), 'infinity'),
                                   coalesce(CAST(:after_id AS uuid), 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
ORDER BY c.last_message_at DESC, c.id DESC
LIMIT :limit;

-- name: oldest
-- The same, oldest first.
SELECT c.id, c.user_id, p.name AS user_name, c.project_id, c.agent_id, c.title, c.kind, c.status, c.next_seq - 1 AS messages,
       c.created_at, c.last_message_at, nexus.tag_names(c.id) AS tags
FROM conversations c
LEFT JOIN people p ON p.id = c.user_id
WHERE c.workspace_id = :workspace_id AND (c.next_seq > 1 OR c.title <> '')
  AND nexus.fits(c, CAST(ROW(CAST(:project_id AS uuid), CAST(:outside AS boolean), CAST(:agent_id AS uuid),
    CAST(:just_chat AS boolean), CAST(:kind AS text), CAST(:status AS text), CAST(:tag_id AS uuid),
    CAST(:person_id AS uuid), CAST(:since AS timestamptz), CAST(:until AS timestamptz)) AS nexus.conversation_filter))
  AND (CAST(:tag_id AS uuid) IS NULL OR c.id IN (
    SELECT ct.conversation_id FROM conversation_tags ct WHERE ct.workspace_id = :workspace_id AND ct.tag_id = :tag_id))
  AND (c.last_message_at, c.id) > (coalesce(CAST(:after_at AS timestamptz), '-infinity'),
                                   coalesce(CAST(:after_id AS uuid), '00000000-0000-0000-0000-000000000000'))
ORDER BY c.last_message_at, c.id
LIMIT :limit;

-- name: by_title
-- The same, by title.
SELECT c.id, c.user_id, p.name AS user_name, c.project_id, c.agent_id, c.title, c.kind, c.status, c.next_seq - 1 AS messages,
       c.created_at, c.last_message_at, nexus.tag_names(c.id) AS tags
FROM conversations c
LEFT JOIN people p ON p.id = c.user_id
WHERE c.workspace_id = :workspace_id AND (c.next_seq > 1 OR c.title <> '')
  AND nexus.fits(c, CAST(ROW(CAST(:project_id AS uuid), CAST(:outside AS boolean), CAST(:agent_id AS uuid),
    CAST(:just_chat AS boolean), CAST(:kind AS text), CAST(:status AS text), CAST(:tag_id AS uuid),
    CAST(:person_id AS uuid), CAST(:since AS timestamptz), CAST(:until AS timestamptz)) AS nexus.conversation_filter))
  AND (CAST(:tag_id AS uuid) IS NULL OR c.id IN (
    SELECT ct.conversation_id FROM conversation_tags ct WHERE ct.workspace_id = :workspace_id AND ct.tag_id = :tag_id))
  AND (lower(left(c.title, 100)), c.id) > (lower(left(coalesce(CAST(:after_title AS text), ''), 100)),
                                coalesce(CAST(:after_id AS uuid), '00000000-0000-0000-0000-000000000000'))
ORDER BY lower(left(c.title, 100)), c.id
LIMIT :limit;

-- name: count
-- How many conversations fit a filter; counts no further than one beyond `bound`.
SELECT count(*) FROM (
  SELECT FROM conversations c
  WHERE c.workspace_id = :workspace_id AND (c.next_seq > 1 OR c.title <> '')
    AND nexus.fits(c, CAST(ROW(CAST(:project_id AS uuid), CAST(:outside AS boolean), CAST(:agent_id AS uuid),
    CAST(:just_chat AS boolean), CAST(:kind AS text), CAST(:status AS text), CAST(:tag_id AS uuid),
    CAST(:person_id AS uuid), CAST(:since AS timestamptz), CAST(:until AS timestamptz)) AS nexus.conversation_filter))
    AND (CAST(:tag_id AS uuid) IS NULL OR c.id IN (
      SELECT ct.conversation_id FROM conversation_tags ct WHERE ct.workspace_id = :workspace_id AND ct.tag_id = :tag_id))
  LIMIT CAST(:bound AS integer) + 1
) AS fitting;
