-- name: lock_memories
-- Memories before conversations before runs: the order in which answers, proposals and summaries end, or two would wait for
-- each other.
SELECT project_id FROM project_memories WHERE workspace_id = :workspace_id ORDER BY project_id FOR UPDATE;

-- name: lock_conversations
SELECT c.id FROM conversations c
WHERE c.workspace_id = :workspace_id AND (c.user_id = :person_id OR c.active_run_id IN (
  SELECT r.id FROM assistant_runs r WHERE r.workspace_id = :workspace_id AND r.user_id = :person_id))
ORDER BY c.id
FOR UPDATE;

-- name: stop
-- Their answers that are being written lose their lease, so that nothing of them comes back; other runs of theirs end.
WITH ended AS (
  UPDATE assistant_runs SET status = 'failed', error_type = 'interrupted', finished_at = clock_timestamp()
  WHERE workspace_id = :workspace_id AND user_id = :person_id AND status IN ('planned', 'running')
  RETURNING workspace_id, id
)
UPDATE conversations c SET active_run_id = NULL, lease_until = NULL, lease_owner = NULL
FROM ended
WHERE c.workspace_id = :workspace_id AND c.active_run_id = ended.id;

-- name: hand_over
-- A project's conversation of theirs in which others wrote goes on as the first one's of these; its title and its
-- summary were theirs.
UPDATE conversations c SET user_id = other.user_id, title = '', title_source = 'none', summary_md = '', session_id = NULL
FROM (
  SELECT DISTINCT ON (m.conversation_id) m.conversation_id, m.user_id
  FROM messages m
  JOIN conversations o ON o.workspace_id = :workspace_id AND o.id = m.conversation_id AND o.user_id = :person_id
    AND o.project_id IS NOT NULL
  WHERE m.workspace_id = :workspace_id AND m.role = 'user' AND m.user_id <> :person_id AND m.copied_from IS NULL
  ORDER BY m.conversation_id, m.seq
) other
WHERE c.workspace_id = :workspace_id AND c.id = other.conversation_id;

-- name: quotes
-- A title of what goes, in the receipts of others' answers that quoted it; one of them at a time.
UPDATE receipts r SET receipt =
  CAST(replace(CAST(r.receipt AS text), '"title": ' || CAST(to_jsonb(c.title) AS text), '"title": ""') AS jsonb)
FROM conversations c
WHERE r.workspace_id = :workspace_id AND c.workspace_id = :workspace_id AND c.user_id = :person_id AND c.title <> ''
  AND c.project_id IS NOT NULL AND r.conversation_id <> c.id
  AND position(CAST(c.id AS text) IN CAST(r.receipt AS text)) > 0
  AND position('"title": ' || CAST(to_jsonb(c.title) AS text) IN CAST(r.receipt AS text)) > 0;

-- name: conversations
-- With their messages, summaries, receipts, shares, search rows and reads; the runs' words go by a trigger.
DELETE FROM conversations WHERE workspace_id = :workspace_id AND user_id = :person_id;

-- name: touched
-- What is left that they wrote in, or that was made from what they wrote: it is looked at once more below.
SELECT DISTINCT m.conversation_id AS id FROM messages m
WHERE m.workspace_id = :workspace_id AND (
  m.user_id = :person_id
  OR m.copied_from IN (SELECT o.id FROM messages o WHERE o.workspace_id = :workspace_id AND o.user_id = :person_id)
  OR m.run_id IN (SELECT r.id FROM assistant_runs r WHERE r.workspace_id = :workspace_id AND r.user_id = :person_id));

-- name: quoting
-- The built-in assistant's answers to others that quote them: words of theirs, with their name below.
SELECT m.id, m.conversation_id FROM messages m
WHERE m.workspace_id = :workspace_id AND m.role = 'assistant' AND m.model = 'builtin/recall'
  AND position(CAST(:mark AS text) IN m.body) > 0;

-- name: quoted_runs
UPDATE assistant_runs r SET response_summary = NULL
FROM messages m
WHERE r.workspace_id = :workspace_id AND m.workspace_id = :workspace_id AND m.id = ANY(CAST(:quoting AS uuid[]))
  AND r.id = m.run_id AND r.response_summary IS NOT NULL;

-- name: untitle
-- A title that was made of their question.
UPDATE conversations c SET title = '', title_source = 'none'
WHERE c.workspace_id = :workspace_id AND c.id = ANY(CAST(:ids AS uuid[])) AND c.title_source = 'question'
  AND (SELECT m.user_id FROM messages m
       WHERE m.workspace_id = :workspace_id AND m.conversation_id = c.id AND m.role = 'user'
       ORDER BY m.seq LIMIT 1) = :person_id;

-- name: own_summaries
-- A conversation's summary that was not written by hand, where they wrote in it.
UPDATE conversations c SET summary_md = '', status = CASE WHEN c.status = 'summarized' THEN 'open' ELSE c.status END
WHERE c.workspace_id = :workspace_id AND c.id = ANY(CAST(:ids AS uuid[]))
  AND EXISTS (SELECT FROM summaries s WHERE s.workspace_id = :workspace_id AND s.conversation_id = c.id
              AND (s.body_md = c.summary_md OR c.summary_md = ''));

-- name: summaries
DELETE FROM summaries WHERE workspace_id = :workspace_id AND conversation_id = ANY(CAST(:ids AS uuid[]));

-- name: shares
-- Links that they made, and snapshots of conversations that they wrote in.
DELETE FROM shares
WHERE workspace_id = :workspace_id AND (created_by = :person_id OR conversation_id = ANY(CAST(:ids AS uuid[])));

-- name: proposals
-- What they asked for, and what rests on what they said.
DELETE FROM proposals p
WHERE p.workspace_id = :workspace_id AND (p.created_by = :person_id OR EXISTS (
  SELECT FROM messages m
  WHERE m.workspace_id = :workspace_id AND m.user_id = :person_id
    AND p.changes @> jsonb_build_array(jsonb_build_object('evidence', jsonb_build_array(CAST(m.id AS text))))));

-- name: proposal_runs
-- What others' runs tell of those proposals, and titles that went.
UPDATE assistant_runs r SET prompt_summary = NULL, response_summary = NULL
WHERE r.workspace_id = :workspace_id AND r.kind = 'proposal'
  AND (r.prompt_summary IS NOT NULL OR r.response_summary IS NOT NULL)
  AND (r.conversation_id = ANY(CAST(:ids AS uuid[])) OR EXISTS (
    SELECT FROM proposals p
    WHERE p.workspace_id = :workspace_id AND p.run_id = r.id AND (p.created_by = :person_id OR EXISTS (
      SELECT FROM messages m
      WHERE m.workspace_id = :workspace_id AND m.user_id = :person_id
        AND p.changes @> jsonb_build_array(jsonb_build_object('evidence', jsonb_build_array(CAST(m.id AS text))))))));

-- name: staying
-- Entries of projects' memories that came from what they said, or that name them: the projects', so these stay.
SELECT w.slug AS workspace, p.id AS project_id, p.name AS project_name, f.field, e.value AS entry
FROM project_memories k
JOIN workspaces w ON w.id = k.workspace_id
JOIN projects p ON p.workspace_id = k.workspace_id AND p.id = k.project_id
CROSS JOIN LATERAL (VALUES (1, 'decisions', k.decisions), (2, 'open_questions', k.open_questions), (3, 'risks', k.risks),
                           (4, 'links', k.links)) AS f (place, field, entries)
CROSS JOIN LATERAL jsonb_array_elements(f.entries) WITH ORDINALITY AS e (value, number)
WHERE k.workspace_id = :workspace_id AND jsonb_typeof(e.value) = 'object'
  AND (EXISTS (SELECT FROM messages m
               WHERE m.workspace_id = :workspace_id AND m.user_id = :person_id
                 AND CAST(m.id AS text) = e.value ->> 'message_id')
       OR e.value ->> 'who' = NULLIF(CAST(:name AS text), ''))
ORDER BY lower(p.name), p.id, f.place, e.number;

-- name: places
-- Where there is anything of a person: the workspaces that they are or were members of.
SELECT w.id, w.slug, w.name, w.time_zone, w.updated_at FROM workspaces w
WHERE (CAST(:workspace_id AS uuid) IS NULL OR w.id = :workspace_id)
  AND (EXISTS (SELECT FROM memberships m WHERE m.workspace_id = w.id AND m.user_id = :person_id)
       OR EXISTS (SELECT FROM former_members f WHERE f.workspace_id = w.id AND f.user_id = :person_id)
       OR EXISTS (SELECT FROM conversations c WHERE c.workspace_id = w.id AND c.user_id = :person_id)
       OR EXISTS (SELECT FROM messages m WHERE m.workspace_id = w.id AND m.user_id = :person_id))
ORDER BY w.slug = 'default' DESC, lower(w.name), w.id;

-- name: receipts
DELETE FROM receipts
WHERE workspace_id = :workspace_id
  AND run_id IN (SELECT r.id FROM assistant_runs r WHERE r.workspace_id = :workspace_id AND r.user_id = :person_id);

-- name: messages
-- What they wrote in others' conversations, the answers to it, answers that quote them by name (`quoting`), and every copy
-- of these in a fork.
WITH theirs AS (
  SELECT m.id FROM messages m WHERE m.workspace_id = :workspace_id AND m.user_id = :person_id
  UNION
  SELECT m.id FROM messages m
  JOIN assistant_runs r ON r.workspace_id = :workspace_id AND r.id = m.run_id AND r.user_id = :person_id
  WHERE m.workspace_id = :workspace_id
  UNION
  SELECT unnest(CAST(:quoting AS uuid[]))
)
DELETE FROM messages m
WHERE m.workspace_id = :workspace_id
  AND (m.id IN (SELECT id FROM theirs) OR m.copied_from IN (SELECT id FROM theirs));

-- name: runs
-- The ledger keeps tokens, cost and time, without the person and without words.
UPDATE assistant_runs SET user_id = NULL, prompt_summary = NULL, response_summary = NULL,
  error_message = CASE WHEN kind <> 'external' THEN error_message END,
  metadata = CASE WHEN kind <> 'external' THEN metadata ELSE '{}' END
WHERE workspace_id = :workspace_id AND user_id = :person_id;

-- name: sums
-- Sums by person; what is not summed up is read from the runs, and summed up again later.
DELETE FROM run_units u
WHERE u.workspace_id = :workspace_id AND EXISTS (
  SELECT FROM run_rollup r
  WHERE r.workspace_id = :workspace_id AND r.from_at = u.from_at AND r.to_at = u.to_at AND r.user_id = :person_id);

-- name: named
-- Their name beside entries of the memories, where nobody else here has it; the entry is the project's and stays.
UPDATE project_memories SET decisions =
  CAST(replace(CAST(decisions AS text), '"who": ' || CAST(to_jsonb(CAST(:name AS text)) AS text), '"who": ""') AS jsonb)
WHERE workspace_id = :workspace_id
  AND position('"who": ' || CAST(to_jsonb(CAST(:name AS text)) AS text) IN CAST(decisions AS text)) > 0;

-- name: named_before
UPDATE project_memory_revisions SET decisions =
  CAST(replace(CAST(decisions AS text), '"who": ' || CAST(to_jsonb(CAST(:name AS text)) AS text), '"who": ""') AS jsonb)
WHERE workspace_id = :workspace_id
  AND position('"who": ' || CAST(to_jsonb(CAST(:name AS text)) AS text) IN CAST(decisions AS text)) > 0;

-- name: reads
DELETE FROM conversation_reads WHERE workspace_id = :workspace_id AND user_id = :person_id;

-- name: views
DELETE FROM saved_views WHERE workspace_id = :workspace_id AND user_id = :person_id;

-- name: budgets
DELETE FROM budgets WHERE workspace_id = :workspace_id AND user_id = :person_id;

-- name: tokens
DELETE FROM api_tokens WHERE workspace_id = :workspace_id AND user_id = :person_id;

-- name: tags
-- Tags that are on conversations of theirs alone.
DELETE FROM tags t
WHERE t.workspace_id = :workspace_id
  AND EXISTS (SELECT FROM conversation_tags k WHERE k.workspace_id = :workspace_id AND k.tag_id = t.id)
  AND NOT EXISTS (
    SELECT FROM conversation_tags k
    JOIN conversations c ON c.workspace_id = :workspace_id AND c.id = k.conversation_id AND c.user_id <> :person_id
    WHERE k.workspace_id = :workspace_id AND k.tag_id = t.id);

-- name: author
-- Who made projects, tasks, agents, prices and revisions of a memory; these stay the workspace's.
SELECT nexus.forget_author(:person_id) FROM workspaces WHERE id = :workspace_id;

-- name: memberships
DELETE FROM memberships WHERE workspace_id = :workspace_id AND user_id = :person_id;

-- name: former
DELETE FROM former_members WHERE workspace_id = :workspace_id AND user_id = :person_id;

-- name: people
-- The person, with sessions, where no other workspace has anything of them.
DELETE FROM people p
WHERE p.id = :person_id AND CAST(:workspace_id AS uuid) IS NOT NULL
  AND NOT EXISTS (SELECT FROM memberships m WHERE m.user_id = p.id)
  AND NOT EXISTS (SELECT FROM former_members f WHERE f.user_id = p.id)
  AND NOT EXISTS (SELECT FROM conversations c WHERE c.user_id = p.id)
  AND NOT EXISTS (SELECT FROM messages m WHERE m.user_id = p.id);

-- name: namesakes
SELECT count(*) FROM memberships m JOIN people p ON p.id = m.user_id
WHERE m.workspace_id = :workspace_id AND p.name = :name AND p.id <> :person_id;
