-- Every change of a memory is a revision, whoever writes it; proposals and their runs are found fast.

ALTER TABLE project_memory_revisions DROP CONSTRAINT project_memory_revisions_source_check;
ALTER TABLE project_memory_revisions ADD CONSTRAINT project_memory_revisions_source_check
  CHECK (source IN ('hand', 'proposal', 'api', 'restore', 'import', 'sql'));
COMMENT ON COLUMN project_memory_revisions.source IS 'sql: a statement outside the application wrote the memory';

-- The badge counts these in one look at the index; the others are listed, newest first.
CREATE INDEX proposals_project_idx ON proposals (workspace_id, project_id, created_at DESC);
CREATE INDEX assistant_runs_proposal_idx ON assistant_runs (workspace_id, project_id, created_at DESC)
  WHERE kind = 'proposal';
COMMENT ON COLUMN proposals.changes IS
  'lines {id, op: add, edit or close, field, key, before, after, evidence: message ids, status, decided_by, decided_at}';

-- What was written without saying which version comes next takes the next one.
CREATE FUNCTION nexus.next_memory_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.version := OLD.version + 1;
  NEW.updated_at := clock_timestamp();
  NEW.updated_by := nexus.user_id();
  RETURN NEW;
END
$$;
CREATE TRIGGER project_memories_version BEFORE UPDATE ON project_memories
  FOR EACH ROW WHEN (NEW.version = OLD.version AND
    (NEW.summary_md, NEW.decisions, NEW.open_questions, NEW.risks, NEW.links, NEW.metadata)
    IS DISTINCT FROM (OLD.summary_md, OLD.decisions, OLD.open_questions, OLD.risks, OLD.links, OLD.metadata))
  EXECUTE FUNCTION nexus.next_memory_version();

-- The application writes its revision itself, with its source; this one is for whoever did not.
CREATE FUNCTION nexus.keep_memory_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO public.project_memory_revisions (workspace_id, project_id, version, summary_md, decisions, open_questions,
                                               risks, links, metadata, source, created_by, created_at)
  VALUES (NEW.workspace_id, NEW.project_id, NEW.version, NEW.summary_md, NEW.decisions, NEW.open_questions, NEW.risks,
          NEW.links, NEW.metadata, CASE WHEN NEW.version = 1 THEN 'hand' ELSE 'sql' END, NEW.updated_by, NEW.updated_at)
  ON CONFLICT (workspace_id, project_id, version) DO NOTHING;
  RETURN NULL;
END
$$;
CREATE TRIGGER project_memories_revision AFTER INSERT OR UPDATE ON project_memories
  FOR EACH ROW EXECUTE FUNCTION nexus.keep_memory_revision();
REVOKE EXECUTE ON FUNCTION nexus.next_memory_version(), nexus.keep_memory_revision() FROM PUBLIC;

INSERT INTO project_memory_revisions (workspace_id, project_id, version, summary_md, decisions, open_questions, risks,
                                      links, metadata, source, created_by, created_at)
SELECT workspace_id, project_id, version, summary_md, decisions, open_questions, risks, links, metadata,
       CASE WHEN version = 1 THEN 'hand' ELSE 'sql' END, updated_by, updated_at
FROM project_memories
ON CONFLICT (workspace_id, project_id, version) DO NOTHING;

SELECT nexus.admit_roles();
