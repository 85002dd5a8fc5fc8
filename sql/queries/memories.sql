-- name: get
-- A project's memory, and who changed it last.
SELECT m.project_id, m.version, m.summary_md, m.decisions, m.open_questions, m.risks, m.links, m.metadata,
       m.updated_by, p.name AS updated_by_name, m.updated_at
FROM project_memories m
LEFT JOIN people p ON p.id = m.updated_by
WHERE m.workspace_id = :workspace_id AND m.project_id = :project_id;

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
                                      links, metadata, source, note, created_by)
SELECT workspace_id, project_id, version, summary_md, decisions, open_questions, risks, links, metadata,
       :source, :note, :user_id
FROM changed
RETURNING version;
