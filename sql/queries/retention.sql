-- name: rules
SELECT r.id, r.project_id, p.name AS project_name, r.archive_after_days, r.delete_after_days, r.applied_at
FROM retention_rules r
LEFT JOIN projects p ON p.workspace_id = r.workspace_id AND p.id = r.project_id
WHERE r.workspace_id = :workspace_id
ORDER BY r.project_id IS NOT NULL, lower(p.name), r.id;

-- name: put
-- One rule for the workspace and one for each project.
INSERT INTO retention_rules (workspace_id, id, project_id, archive_after_days, delete_after_days)
VALUES (:workspace_id, :id, CAST(:project_id AS uuid), :archive_after_days, :delete_after_days)
ON CONFLICT (workspace_id, project_id) DO UPDATE SET archive_after_days = EXCLUDED.archive_after_days,
  delete_after_days = EXCLUDED.delete_after_days, applied_at = NULL, updated_at = clock_timestamp()
RETURNING id;

-- name: remove
DELETE FROM retention_rules WHERE workspace_id = :workspace_id AND id = :id RETURNING project_id;

-- name: preview
-- What rules would do now: each conversation falls under its project's rule, else under the workspace's. Counts alone, for
-- private conversations are among them.
SELECT r.id AS rule_id, r.project_id,
       count(*) FILTER (WHERE d.deletes) AS deletes, count(*) FILTER (WHERE d.archives AND NOT d.deletes) AS archives,
       coalesce(sum(c.next_seq - 1) FILTER (WHERE d.deletes), 0) AS messages,
       min(c.last_message_at) FILTER (WHERE d.deletes OR d.archives) AS oldest
FROM retention_rules r
LEFT JOIN conversations c ON c.workspace_id = :workspace_id AND c.deleted_at IS NULL AND c.active_run_id IS NULL
  AND (c.project_id = r.project_id OR (r.project_id IS NULL AND NOT EXISTS (
    SELECT FROM retention_rules o WHERE o.workspace_id = :workspace_id AND o.project_id = c.project_id)))
LEFT JOIN LATERAL (
  SELECT coalesce(c.last_message_at < clock_timestamp() - make_interval(days => r.delete_after_days), false) AS deletes,
         coalesce(c.status <> 'archived'
           AND c.last_message_at < clock_timestamp() - make_interval(days => r.archive_after_days), false) AS archives
) d ON true
WHERE r.workspace_id = :workspace_id
GROUP BY r.workspace_id, r.id
ORDER BY r.project_id IS NOT NULL, r.id;

-- name: claim
-- The rules that were not applied for a day, of every workspace; whoever claims them applies them in this transaction.
UPDATE retention_rules r SET applied_at = clock_timestamp()
FROM (
  SELECT o.workspace_id, o.id FROM retention_rules o
  WHERE nexus.is_system() AND (CAST(:workspace_id AS uuid) IS NULL OR o.workspace_id = :workspace_id)
    AND (o.applied_at IS NULL OR o.applied_at < clock_timestamp() - interval '23 hours 30 minutes')
  FOR UPDATE SKIP LOCKED
) ripe
WHERE r.workspace_id = ripe.workspace_id AND r.id = ripe.id
RETURNING r.workspace_id, r.id, r.project_id, r.archive_after_days, r.delete_after_days;

-- name: trash
-- Into the trash, which deletes for good later; links stop working at once.
WITH gone AS (
  UPDATE conversations c SET deleted_at = clock_timestamp()
  WHERE nexus.is_system() AND c.workspace_id = :of_workspace AND c.deleted_at IS NULL AND c.active_run_id IS NULL
    AND c.last_message_at < clock_timestamp() - make_interval(days => CAST(:days AS integer))
    AND (c.project_id = CAST(:project_id AS uuid) OR (CAST(:project_id AS uuid) IS NULL AND NOT EXISTS (
      SELECT FROM retention_rules o WHERE o.workspace_id = :of_workspace AND o.project_id = c.project_id)))
  RETURNING c.workspace_id, c.id
), dead AS (
  UPDATE shares s SET revoked_at = clock_timestamp()
  FROM gone
  WHERE s.workspace_id = gone.workspace_id AND s.conversation_id = gone.id AND s.revoked_at IS NULL
)
SELECT count(*) AS conversations FROM gone;

-- name: archive
UPDATE conversations c SET status = 'archived', updated_at = clock_timestamp()
WHERE nexus.is_system() AND c.workspace_id = :of_workspace AND c.deleted_at IS NULL AND c.active_run_id IS NULL
  AND c.status <> 'archived' AND c.last_message_at < clock_timestamp() - make_interval(days => CAST(:days AS integer))
  AND (c.project_id = CAST(:project_id AS uuid) OR (CAST(:project_id AS uuid) IS NULL AND NOT EXISTS (
    SELECT FROM retention_rules o WHERE o.workspace_id = :of_workspace AND o.project_id = c.project_id)));
