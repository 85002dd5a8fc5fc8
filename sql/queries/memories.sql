-- name: get
-- A project's memory, and who changed it last.
SELECT m.project_id, m.version, m.summary_md, m.decisions, m.open_questions, m.risks, m.links, m.metadata,
       m.updated_by, p.name AS updated_by_name, m.updated_at
FROM project_memories m
LEFT JOIN people p ON p.id = m.updated_by
WHERE m.workspace_id = :workspace_id AND m.project_id = :project_id;

-- name: lock
-- Nobody else changes it until this transaction ends.
SELECT version FROM project_memories WHERE workspace_id = :workspace_id AND project_id = :project_id FOR UPDATE;

-- name: replace
-- The next version, if the one that was read (where that is said) is still the current one, and its revision.
WITH changed AS (
  UPDATE project_memories
  SET version = version + 1, summary_md = :summary_md, decisions = :decisions, open_questions = :open_questions,
      risks = :risks, links = :links, metadata = :metadata, updated_by = :user_id, updated_at = now()
  WHERE workspace_id = :workspace_id AND project_id = :project_id AND version = coalesce(CAST(:version AS integer), version)
  RETURNING *
)
INSERT INTO project_memory_revisions (workspace_id, project_id, version, summary_md, decisions, open_questions, risks,
                                      links, metadata, source, proposal_id, restored_from, note, created_by)
SELECT workspace_id, project_id, version, summary_md, decisions, open_questions, risks, links, metadata,
       :source, :proposal_id, :restored_from, :note, :user_id
FROM changed
RETURNING version;

-- name: revisions
-- The versions of a memory without their contents, newest first.
SELECT r.version, r.source, r.proposal_id, r.restored_from, r.note, r.created_by, p.name AS created_by_name, r.created_at
FROM project_memory_revisions r
LEFT JOIN people p ON p.id = r.created_by
WHERE r.workspace_id = :workspace_id AND r.project_id = :project_id
  AND r.version < coalesce(CAST(:before AS integer), 2147483647)
ORDER BY r.version DESC
LIMIT :limit;

-- name: revision
SELECT r.project_id, r.version, r.summary_md, r.decisions, r.open_questions, r.risks, r.links, r.metadata, r.source,
       r.proposal_id, r.restored_from, r.note, r.created_by, p.name AS created_by_name, r.created_at
FROM project_memory_revisions r
LEFT JOIN people p ON p.id = r.created_by
WHERE r.workspace_id = :workspace_id AND r.project_id = :project_id AND r.version = :version;

-- name: as_of
-- The version that was current at an instant.
SELECT r.project_id, r.version, r.summary_md, r.decisions, r.open_questions, r.risks, r.links, r.metadata, r.source,
       r.proposal_id, r.restored_from, r.note, r.created_by, p.name AS created_by_name, r.created_at
FROM project_memory_revisions r
LEFT JOIN people p ON p.id = r.created_by
WHERE r.workspace_id = :workspace_id AND r.project_id = :project_id AND r.created_at <= :at
ORDER BY r.version DESC
LIMIT 1;
