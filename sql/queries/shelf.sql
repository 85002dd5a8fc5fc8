-- name: pick
-- The conversations among these that are here, locked in one order; `trashed` NULL takes them wherever they are.
SELECT id, user_id, status FROM conversations
WHERE workspace_id = :workspace_id AND id = ANY(CAST(:ids AS uuid[]))
  AND (CAST(:trashed AS boolean) IS NULL OR (deleted_at IS NOT NULL) = :trashed)
ORDER BY id
FOR UPDATE;

-- name: going
-- What deleting these conversations takes with it.
SELECT count(*) AS conversations,
       coalesce(sum((SELECT count(*) FROM messages m WHERE m.workspace_id = c.workspace_id AND m.conversation_id = c.id)), 0)
         AS messages,
       coalesce(sum((SELECT count(*) FROM assistant_runs r
                     WHERE r.workspace_id = c.workspace_id AND r.conversation_id = c.id)), 0) AS runs,
       coalesce(sum((SELECT count(*) FROM shares s
                     WHERE s.workspace_id = c.workspace_id AND s.conversation_id = c.id AND s.revoked_at IS NULL
                       AND coalesce(s.expires_at > clock_timestamp(), true))), 0) AS shares,
       count(*) FILTER (WHERE c.active_run_id IS NOT NULL AND c.lease_until > clock_timestamp()) AS running
FROM conversations c
WHERE c.workspace_id = :workspace_id AND c.id = ANY(CAST(:ids AS uuid[]));

-- name: trash
-- An answer that is being written is asked to stop, and links stop working at once.
WITH gone AS (
  UPDATE conversations SET deleted_at = clock_timestamp(), stop_requested = active_run_id IS NOT NULL
  WHERE workspace_id = :workspace_id AND id = ANY(CAST(:ids AS uuid[])) AND deleted_at IS NULL
  RETURNING workspace_id, id
)
UPDATE shares s SET revoked_at = clock_timestamp()
FROM gone
WHERE s.workspace_id = gone.workspace_id AND s.conversation_id = gone.id AND s.revoked_at IS NULL;

-- name: restore
-- Its session's id stays with the conversation that took it meanwhile.
UPDATE conversations c SET deleted_at = NULL, updated_at = clock_timestamp(),
  session_id = CASE WHEN NOT EXISTS (
    SELECT FROM conversations o
    WHERE o.workspace_id = c.workspace_id AND o.place = c.place AND o.session_id = c.session_id AND o.deleted_at IS NULL)
    THEN c.session_id END
WHERE c.workspace_id = :workspace_id AND c.id = :id AND c.deleted_at IS NOT NULL;

-- name: trashed
-- The trash as one person may empty it, what was deleted last first, by keyset on time and id.
SELECT c.id, c.user_id, p.name AS user_name, c.project_id, c.agent_id, c.title, c.next_seq - 1 AS messages,
       c.last_message_at, c.deleted_at, c.deleted_at + make_interval(days => CAST(:days AS integer)) AS gone_at
FROM conversations c
LEFT JOIN people p ON p.id = c.user_id
WHERE c.workspace_id = :workspace_id AND c.deleted_at IS NOT NULL
  AND (CAST(:everyones AS boolean) OR c.user_id = :user_id)
  AND (CAST(:before AS uuid) IS NULL OR (c.deleted_at, c.id) < (
    SELECT b.deleted_at, b.id FROM conversations b WHERE b.workspace_id = :workspace_id AND b.id = :before))
ORDER BY c.deleted_at DESC, c.id DESC
LIMIT :limit;

-- name: count_trashed
SELECT count(*) FROM conversations
WHERE workspace_id = :workspace_id AND deleted_at IS NOT NULL AND (CAST(:everyones AS boolean) OR user_id = :user_id);

-- name: purge
-- What has been in the trash for so many days goes for good, as any deletion does; in the system's scope.
DELETE FROM conversations c
USING (
  SELECT t.workspace_id, t.id FROM conversations t
  WHERE nexus.is_system() AND (CAST(:workspace_id AS uuid) IS NULL OR t.workspace_id = :workspace_id)
    AND t.deleted_at < clock_timestamp() - make_interval(days => CAST(:days AS integer))
  ORDER BY t.deleted_at
  LIMIT :limit
  FOR UPDATE SKIP LOCKED
) ripe
WHERE c.workspace_id = ripe.workspace_id AND c.id = ripe.id
RETURNING c.workspace_id, c.id;
