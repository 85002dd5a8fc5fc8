-- A person is erased; old conversations are put away and deleted by rules.

-- What a person wrote is found by it, here and when their row goes; copies of it by the second.
CREATE INDEX messages_user_idx ON messages (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX messages_copied_idx ON messages (workspace_id, copied_from) WHERE copied_from IS NOT NULL;

-- Security definer, for neither prices nor the search tables are the application's to change: who set a price goes, and
-- what is known of titles that are no more.
CREATE FUNCTION nexus.forget_author(p_person uuid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF NOT nexus.is_system() OR nexus.workspace_id() IS NULL THEN
    RAISE EXCEPTION 'only an erasure forgets an author' USING ERRCODE = 'insufficient_privilege';
  END IF;
  UPDATE projects SET created_by = NULL WHERE workspace_id = nexus.workspace_id() AND created_by = p_person;
  UPDATE tasks SET created_by = NULL WHERE workspace_id = nexus.workspace_id() AND created_by = p_person;
  UPDATE agents SET user_id = NULL WHERE workspace_id = nexus.workspace_id() AND user_id = p_person;
  UPDATE project_memories SET updated_by = NULL WHERE workspace_id = nexus.workspace_id() AND updated_by = p_person;
  UPDATE project_memory_revisions SET created_by = NULL
    WHERE workspace_id = nexus.workspace_id() AND created_by = p_person;
  UPDATE proposals SET created_by = NULL WHERE workspace_id = nexus.workspace_id() AND created_by = p_person;
  UPDATE proposals SET decided_by = NULL WHERE workspace_id = nexus.workspace_id() AND decided_by = p_person;
  UPDATE model_prices SET created_by = NULL WHERE workspace_id = nexus.workspace_id() AND created_by = p_person;
  UPDATE repricings SET created_by = NULL WHERE workspace_id = nexus.workspace_id() AND created_by = p_person;
  UPDATE repricings SET undone_by = NULL WHERE workspace_id = nexus.workspace_id() AND undone_by = p_person;
  DELETE FROM title_search t USING conversations c
    WHERE t.workspace_id = nexus.workspace_id() AND c.workspace_id = t.workspace_id AND c.id = t.conversation_id
      AND c.title = '';
END
$$;
REVOKE EXECUTE ON FUNCTION nexus.forget_author(uuid) FROM PUBLIC;

CREATE TABLE retention_rules (
  workspace_id uuid NOT NULL DEFAULT nexus.workspace_id() REFERENCES workspaces (id) ON DELETE CASCADE,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  project_id uuid,
  archive_after_days integer CHECK (archive_after_days BETWEEN 1 AND 36500),
  delete_after_days integer CHECK (delete_after_days BETWEEN 1 AND 36500),
  applied_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (workspace_id, id),
  UNIQUE NULLS NOT DISTINCT (workspace_id, project_id),
  FOREIGN KEY (workspace_id, project_id) REFERENCES projects (workspace_id, id) ON DELETE CASCADE,
  CHECK (archive_after_days IS NOT NULL OR delete_after_days IS NOT NULL),
  CHECK (delete_after_days > archive_after_days)
);
COMMENT ON TABLE retention_rules IS
  'after how many days without a message conversations are put away, and deleted; a project''s own rule takes the place of the workspace''s (project_id NULL); the ledger''s figures stay';
COMMENT ON COLUMN retention_rules.archive_after_days IS 'NULL: never';
SELECT nexus.secure('retention_rules');
SELECT nexus.admit_roles();
DO $$
BEGIN
  IF to_regrole('nexus_reader') IS NOT NULL THEN
    GRANT SELECT ON retention_rules TO nexus_reader;
  END IF;
END
$$;
