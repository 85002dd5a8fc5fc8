-- name: get
SELECT c.id, c.user_id, c.project_id, c.task_id, c.agent_id, c.session_id, c.title, c.title_source, c.kind, c.status,
       c.summary_md, c.model_id, c.provider_id, c.metadata, c.next_seq, c.active_run_id,
       c.active_run_id IS NOT NULL AND c.lease_until > clock_timestamp() AS running,
       c.next_seq - 1 > coalesce(r.seq, 0) AS unread, c.created_at, c.updated_at, c.last_message_at
FROM conversations c
LEFT JOIN conversation_reads r
  ON r.workspace_id = c.workspace_id AND r.conversation_id = c.id AND r.user_id = :user_id
WHERE c.workspace_id = :workspace_id AND c.id = :id AND c.deleted_at IS NULL;

-- name: of
SELECT c.id, c.user_id, c.project_id, c.task_id, c.agent_id, c.session_id, c.title, c.title_source, c.kind, c.status,
       c.summary_md, c.model_id, c.provider_id, c.metadata, c.next_seq, c.active_run_id,
       c.active_run_id IS NOT NULL AND c.lease_until > clock_timestamp() AS running,
       c.next_seq - 1 > coalesce(r.seq, 0) AS unread, c.created_at, c.updated_at, c.last_message_at
FROM conversations c
LEFT JOIN conversation_reads r
  ON r.workspace_id = c.workspace_id AND r.conversation_id = c.id AND r.user_id = :user_id
WHERE c.workspace_id = :workspace_id AND c.id = ANY(CAST(:ids AS uuid[])) AND c.deleted_at IS NULL;

-- name: lock
SELECT c.id, c.user_id, c.project_id, c.task_id, c.agent_id, c.session_id, c.title, c.title_source, c.kind, c.status,
       c.summary_md, c.model_id, c.provider_id, c.metadata, c.next_seq, c.active_run_id,
       c.active_run_id IS NOT NULL AND c.lease_until > clock_timestamp() AS running,
       false AS unread, c.created_at, c.updated_at, c.last_message_at
FROM conversations c
WHERE c.workspace_id = :workspace_id AND c.id = :id AND c.deleted_at IS NULL
FOR UPDATE;

-- name: list
-- One person's conversations in a place, newest first, by keyset on time and id; `own` leaves out those of programs.
SELECT c.id, c.user_id, c.project_id, c.task_id, c.agent_id, c.session_id, c.title, c.title_source, c.kind, c.status,
       c.summary_md, c.model_id, c.provider_id, c.metadata, c.next_seq, c.active_run_id,
       c.active_run_id IS NOT NULL AND c.lease_until > clock_timestamp() AS running,
       c.next_seq - 1 > coalesce(r.seq, 0) AS unread, c.created_at, c.updated_at, c.last_message_at
FROM conversations c
LEFT JOIN conversation_reads r
  ON r.workspace_id = c.workspace_id AND r.conversation_id = c.id AND r.user_id = :user_id
WHERE c.workspace_id = :workspace_id AND c.deleted_at IS NULL
  AND c.place = nexus.place(CAST(:user_id AS uuid), CAST(:agent_id AS uuid), CAST(:project_id AS uuid))
  AND (c.status = 'archived') = CAST(:archived AS boolean)
  AND (NOT CAST(:own AS boolean) OR (c.end_user IS NULL AND c.heard IS NULL))
  AND (c.last_message_at, c.id) < (
    CASE WHEN CAST(:before_at AS timestamptz) IS NULL THEN 'infinity' ELSE CAST(:before_at AS timestamptz) END,
    CASE WHEN CAST(:before_id AS uuid) IS NULL THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff' ELSE CAST(:before_id AS uuid) END)
ORDER BY c.last_message_at DESC, c.id DESC
LIMIT :limit;

-- name: of_person
-- Everything that one person began, wherever it belongs, newest first, by keyset on time and id.
SELECT c.id, c.user_id, c.project_id, c.task_id, c.agent_id, c.session_id, c.title, c.title_source, c.kind, c.status,
       c.summary_md, c.model_id, c.provider_id, c.metadata, c.next_seq, c.active_run_id,
       c.active_run_id IS NOT NULL AND c.lease_until > clock_timestamp() AS running,
       c.next_seq - 1 > coalesce(r.seq, 0) AS unread, c.created_at, c.updated_at, c.last_message_at
FROM conversations c
LEFT JOIN conversation_reads r
  ON r.workspace_id = c.workspace_id AND r.conversation_id = c.id AND r.user_id = :user_id
WHERE c.workspace_id = :workspace_id AND c.user_id = :user_id AND c.deleted_at IS NULL
  AND (c.status = 'archived') = CAST(:archived AS boolean)
  AND (c.last_message_at, c.id) < (
    CASE WHEN CAST(:before_at AS timestamptz) IS NULL THEN 'infinity' ELSE CAST(:before_at AS timestamptz) END,
    CASE WHEN CAST(:before_id AS uuid) IS NULL THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff' ELSE CAST(:before_id AS uuid) END)
ORDER BY c.last_message_at DESC, c.id DESC
LIMIT :limit;

-- name: of_project
-- A project's conversations, whosesoever they are, newest first, by keyset on time and id.
SELECT c.id, c.user_id, c.project_id, c.task_id, c.agent_id, c.session_id, c.title, c.title_source, c.kind, c.status,
       c.summary_md, c.model_id, c.provider_id, c.metadata, c.next_seq, c.active_run_id,
       c.active_run_id IS NOT NULL AND c.lease_until > clock_timestamp() AS running,
       c.next_seq - 1 > coalesce(r.seq, 0) AS unread, c.created_at, c.updated_at, c.last_message_at
FROM conversations c
LEFT JOIN conversation_reads r
  ON r.workspace_id = c.workspace_id AND r.conversation_id = c.id AND r.user_id = :user_id
WHERE c.workspace_id = :workspace_id AND c.home = CAST(:project_id AS uuid) AND c.project_id = :project_id
  AND c.deleted_at IS NULL
  AND (CAST(:status AS text) IS NULL OR c.status = :status)
  AND (CAST(:task_id AS uuid) IS NULL OR c.task_id = :task_id)
  AND (c.last_message_at, c.id) < (
    CASE WHEN CAST(:before_at AS timestamptz) IS NULL THEN 'infinity' ELSE CAST(:before_at AS timestamptz) END,
    CASE WHEN CAST(:before_id AS uuid) IS NULL THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff' ELSE CAST(:before_id AS uuid) END)
ORDER BY c.last_message_at DESC, c.id DESC
LIMIT :limit;

-- name: named
-- What a caller means by an id: the conversation that has it, or this person's latest one of that session.
SELECT c.id, c.user_id, c.project_id, c.task_id, c.agent_id, c.session_id, c.title, c.title_source, c.kind, c.status,
       c.summary_md, c.model_id, c.provider_id, c.metadata, c.next_seq, c.active_run_id,
       c.active_run_id IS NOT NULL AND c.lease_until > clock_timestamp() AS running,
       false AS unread, c.created_at, c.updated_at, c.last_message_at
FROM conversations c
WHERE c.workspace_id = :workspace_id AND c.deleted_at IS NULL
  AND (c.id = CAST(:id AS uuid) OR (c.user_id = :user_id AND c.session_id = :session_id))
ORDER BY c.id = CAST(:id AS uuid) DESC NULLS LAST, c.last_message_at DESC
LIMIT 1;

-- name: recent
-- The newest conversations of a project for its members, or those of one person outside any.
SELECT c.id, c.user_id, c.project_id, c.task_id, c.agent_id, c.session_id, c.title, c.title_source, c.kind, c.status,
       c.summary_md, c.model_id, c.provider_id, c.metadata, c.next_seq, c.active_run_id,
       c.active_run_id IS NOT NULL AND c.lease_until > clock_timestamp() AS running,
       c.next_seq - 1 > coalesce(r.seq, 0) AS unread, c.created_at, c.updated_at, c.last_message_at
FROM conversations c
LEFT JOIN conversation_reads r
  ON r.workspace_id = c.workspace_id AND r.conversation_id = c.id AND r.user_id = :user_id
WHERE c.workspace_id = :workspace_id AND c.deleted_at IS NULL AND c.status <> 'archived' AND c.next_seq > 1
  AND c.home = CASE WHEN CAST(:project_id AS uuid) IS NULL THEN CAST(:user_id AS uuid) ELSE CAST(:project_id AS uuid) END
ORDER BY c.last_message_at DESC, c.id DESC
LIMIT :limit;

-- name: latest
-- Where this person was last in a project, or outside any, whatever the agent, as long as there is one.
SELECT c.id, c.user_id, c.project_id, c.task_id, c.agent_id, c.session_id, c.title, c.title_source, c.kind, c.status,
       c.summary_md, c.model_id, c.provider_id, c.metadata, c.next_seq, c.active_run_id,
       c.active_run_id IS NOT NULL AND c.lease_until > clock_timestamp() AS running,
       c.next_seq - 1 > coalesce(r.seq, 0) AS unread, c.created_at, c.updated_at, c.last_message_at
FROM conversations c
LEFT JOIN conversation_reads r
  ON r.workspace_id = c.workspace_id AND r.conversation_id = c.id AND r.user_id = :user_id
WHERE c.workspace_id = :workspace_id AND c.user_id = :user_id AND c.deleted_at IS NULL AND c.status <> 'archived'
  AND c.end_user IS NULL AND c.heard IS NULL
  AND c.home = CASE WHEN CAST(:project_id AS uuid) IS NULL THEN CAST(:user_id AS uuid) ELSE CAST(:project_id AS uuid) END
  AND NOT EXISTS (SELECT FROM agents a
                  WHERE a.workspace_id = c.workspace_id AND a.id = c.agent_id AND a.status = 'deleted')
ORDER BY c.last_message_at DESC, c.id DESC
LIMIT 1;

-- name: reusable
-- The conversation that a session id names, or else an empty one without a name of its own.
SELECT c.id, c.user_id, c.project_id, c.task_id, c.agent_id, c.session_id, c.title, c.title_source, c.kind, c.status,
       c.summary_md, c.model_id, c.provider_id, c.metadata, c.next_seq, c.active_run_id, false AS running,
       false AS unread, c.created_at, c.updated_at, c.last_message_at
FROM conversations c
WHERE c.workspace_id = :workspace_id AND c.id = (
  SELECT s.id
  FROM conversations s
  WHERE s.workspace_id = :workspace_id AND s.session_id = CAST(:session_id AS text) AND s.deleted_at IS NULL
    AND s.place = nexus.place(CAST(:user_id AS uuid), CAST(:agent_id AS uuid), CAST(:project_id AS uuid))
  UNION ALL
  SELECT e.id
  FROM conversations e
  WHERE CAST(:session_id AS text) IS NULL AND CAST(:title AS text) = '' AND e.workspace_id = :workspace_id
    AND e.place = nexus.place(CAST(:user_id AS uuid), CAST(:agent_id AS uuid), CAST(:project_id AS uuid))
    AND e.next_seq = 1 AND e.session_id IS NULL AND e.title = '' AND e.status = 'open' AND e.deleted_at IS NULL
  LIMIT 1
);

-- name: create
INSERT INTO conversations (workspace_id, id, user_id, project_id, task_id, agent_id, session_id, kind, metadata, title,
                           title_source)
VALUES (:workspace_id, :id, :user_id, :project_id, :task_id, :agent_id, :session_id, :kind, :metadata, :title,
        CASE WHEN CAST(:title AS text) = '' THEN 'none' ELSE 'person' END)
ON CONFLICT DO NOTHING
RETURNING id, user_id, project_id, task_id, agent_id, session_id, title, title_source, kind, status, summary_md,
          model_id, provider_id, metadata, next_seq, active_run_id, false AS running, false AS unread, created_at,
          updated_at, last_message_at;

-- name: update
-- Changes what is not NULL (of the task, what is said to be set), where nobody changed it since it was read.
UPDATE conversations SET
  title = coalesce(CAST(:title AS text), title),
  title_source = CASE WHEN CAST(:title AS text) IS NULL THEN title_source WHEN :title = '' THEN 'none' ELSE 'person' END,
  kind = coalesce(CAST(:kind AS text), kind), status = coalesce(CAST(:status AS text), status),
  summary_md = coalesce(CAST(:summary_md AS text), summary_md),
  metadata = coalesce(CAST(:metadata AS jsonb), metadata),
  task_id = CASE WHEN CAST(:sets_task AS boolean) THEN CAST(:task_id AS uuid) ELSE task_id END,
  updated_at = clock_timestamp()
WHERE workspace_id = :workspace_id AND id = :id
  AND updated_at = coalesce(CAST(:unchanged_since AS timestamptz), updated_at);

-- name: rename
UPDATE conversations SET title = :title, updated_at = now(),
  title_source = CASE WHEN CAST(:title AS text) = '' THEN 'none' ELSE 'person' END
WHERE workspace_id = :workspace_id AND id = :id;

-- name: set_archived
-- Bringing one back makes it open, or summarized where a summary stands for its beginning.
UPDATE conversations SET updated_at = now(), status = CASE
  WHEN CAST(:archived AS boolean) THEN 'archived'
  WHEN EXISTS (SELECT FROM summaries s WHERE s.workspace_id = conversations.workspace_id AND s.conversation_id = conversations.id)
    THEN 'summarized'
  ELSE 'open' END
WHERE workspace_id = :workspace_id AND id = :id;

-- name: owner
-- Whose conversation this is, in the trash too.
SELECT user_id FROM conversations WHERE workspace_id = :workspace_id AND id = :id;

-- name: delete
-- The ledger keeps its figures, not its words: a trigger sees to it.
DELETE FROM conversations WHERE workspace_id = :workspace_id AND id = :id;

-- name: mark_read
-- How far this person has read; `first` when they had read nothing of it before, and whose conversation it is.
INSERT INTO conversation_reads (workspace_id, conversation_id, user_id, seq)
SELECT workspace_id, id, :user_id, least(CAST(:seq AS bigint), next_seq - 1) FROM conversations
WHERE workspace_id = :workspace_id AND id = :id
ON CONFLICT (workspace_id, conversation_id, user_id) DO UPDATE SET seq = greatest(conversation_reads.seq, EXCLUDED.seq)
WHERE conversation_reads.seq < EXCLUDED.seq
RETURNING xmax = 0 AS first, (SELECT user_id FROM conversations WHERE workspace_id = :workspace_id AND id = :id) AS owner_id;
