-- name: pick
-- The conversations among these that are here and not in the trash, locked in one order.
SELECT id, user_id, project_id, active_run_id IS NOT NULL AND lease_until > clock_timestamp() AS running
FROM conversations
WHERE workspace_id = :workspace_id AND id = ANY(CAST(:ids AS uuid[])) AND deleted_at IS NULL
ORDER BY id
FOR UPDATE;

-- name: move
-- Triggers take messages, search and privacy along; the ledger's runs stay where the money was spent, and the task of
-- another project can't come along.
UPDATE conversations SET project_id = CAST(:project_id AS uuid), task_id = NULL, updated_at = clock_timestamp()
WHERE workspace_id = :workspace_id AND id = :id;

-- name: used
-- Which projects' memory answers of these conversations were given, and how many runs quoted other conversations.
SELECT r.project_id, p.name AS project_name,
       count(*) FILTER (WHERE jsonb_path_exists(x.receipt, '$.sections[*] ? (@.section == "memory")')) AS with_memory,
       count(*) FILTER (WHERE jsonb_path_exists(x.receipt, '$.sections[*] ? (@.section == "recall")')) AS with_quotes
FROM receipts x
JOIN assistant_runs r ON r.workspace_id = x.workspace_id AND r.id = x.run_id
LEFT JOIN projects p ON p.workspace_id = r.workspace_id AND p.id = r.project_id
WHERE x.workspace_id = :workspace_id AND x.conversation_id = ANY(CAST(:ids AS uuid[]))
GROUP BY r.project_id, p.name
ORDER BY p.name;

-- name: members
SELECT count(*) FROM memberships WHERE workspace_id = :workspace_id;
