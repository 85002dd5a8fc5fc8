-- name: receipt
-- What was sent for a run, and what the provider said when it failed; as private as the conversation.
SELECT receipt, provider_error FROM receipts WHERE workspace_id = :workspace_id AND run_id = :id;

-- name: answer
-- The message that some runs wrote.
SELECT m.id FROM messages m
WHERE m.workspace_id = :workspace_id AND m.run_id = ANY(CAST(:ids AS uuid[])) AND m.role = 'assistant'
ORDER BY m.seq DESC
LIMIT 1;

-- name: sent
-- The messages at these places, in this order; those that are gone are passed over.
SELECT m.seq, m.role, m.parts, m.metadata, m.conversation_id, m.id, m.updated_at
FROM unnest(CAST(:conversations AS uuid[]), CAST(:seqs AS bigint[])) WITH ORDINALITY AS s (conversation_id, seq, place)
JOIN messages m ON m.workspace_id = :workspace_id AND m.conversation_id = s.conversation_id AND m.seq = s.seq
ORDER BY s.place;

-- name: recalled
-- The messages that were quoted; their titles are the receipt's.
SELECT m.id, m.role, m.user_id, p.name AS author, m.body, m.created_at
FROM messages m
LEFT JOIN people p ON p.id = m.user_id
WHERE m.workspace_id = :workspace_id AND m.id = ANY(CAST(:ids AS uuid[]));

-- name: memory
-- A project's memory as it was at a version.
SELECT r.project_id, r.version, r.summary_md, r.decisions, r.open_questions, r.risks, r.links, r.metadata,
       r.created_by AS updated_by, p.name AS updated_by_name, r.created_at AS updated_at
FROM project_memory_revisions r
LEFT JOIN people p ON p.id = r.created_by
WHERE r.workspace_id = :workspace_id AND r.project_id = :project_id AND r.version = :version;

-- name: summary
SELECT id, conversation_id, from_seq, to_seq, body_md, tokens, method, created_at
FROM summaries
WHERE workspace_id = :workspace_id AND id = :id;

-- name: repriced
-- What was made of a run's price later, the first change first.
SELECT x.old_cost, x.old_source, x.old_version, x.new_cost, x.new_source, x.new_version, r.created_at, r.undone_at
FROM repriced_runs x
JOIN repricings r ON r.workspace_id = x.workspace_id AND r.id = x.repricing_id
WHERE x.workspace_id = :workspace_id AND x.run_id = :id
ORDER BY r.created_at, r.id;

-- name: places
-- The titles of a run's conversation and task, and its person, as far as this person may see them.
SELECT (SELECT c.title FROM conversations c WHERE c.workspace_id = :workspace_id AND c.id = CAST(:conversation_id AS uuid)
          AND c.deleted_at IS NULL) AS conversation,
       (SELECT t.project_id FROM tasks t WHERE t.workspace_id = :workspace_id AND t.id = CAST(:task_id AS uuid)) AS task_project;
