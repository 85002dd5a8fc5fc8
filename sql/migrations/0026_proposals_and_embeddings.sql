-- A project may do without proposals that nobody asked for.

ALTER TABLE projects ADD COLUMN auto_propose boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN projects.auto_propose IS
  'whether closing a task, marking a decision or archiving a conversation has the assistant propose what to remember';

-- What an embedding model of a provider is asked is a run, too.
ALTER TABLE assistant_runs DROP CONSTRAINT assistant_runs_kind_check;
ALTER TABLE assistant_runs ADD CONSTRAINT assistant_runs_kind_check
  CHECK (kind IN ('answer', 'summary', 'proposal', 'test', 'embedding', 'external'));

-- Messages whose meaning is another model's wait to be learnt anew; how many were put into the queue.
CREATE FUNCTION nexus.queue_other_meanings(p_model text, p_limit integer) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  WITH queued AS (
    INSERT INTO meaning_queue (workspace_id, message_id, created_at)
    SELECT s.workspace_id, s.message_id, s.created_at
    FROM message_meaning e
    JOIN message_search s ON s.workspace_id = e.workspace_id AND s.message_id = e.message_id
    WHERE nexus.is_system() AND e.model <> p_model AND NOT EXISTS (
      SELECT FROM meaning_queue q WHERE q.workspace_id = e.workspace_id AND q.message_id = e.message_id)
    LIMIT p_limit
    ON CONFLICT DO NOTHING
    RETURNING message_id
  )
  SELECT count(*) FROM queued
$$;
REVOKE EXECUTE ON FUNCTION nexus.queue_other_meanings(text, integer) FROM PUBLIC;
SELECT nexus.admit_roles();
