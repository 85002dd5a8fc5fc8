-- The trash, forks, and the lists' word for "not archived".

-- A session's id is free again once its conversation is in the trash.
DROP INDEX conversations_session_key;
CREATE UNIQUE INDEX conversations_session_key ON conversations (workspace_id, place, session_id)
  WHERE session_id IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX conversations_trash_idx ON conversations (workspace_id, deleted_at DESC, id DESC) WHERE deleted_at IS NOT NULL;
COMMENT ON COLUMN conversations.deleted_at IS 'in the trash since then; the worker deletes it for good later';

-- No reference: a copy outlives what it was copied from.
ALTER TABLE messages ADD COLUMN copied_from uuid;
COMMENT ON COLUMN messages.copied_from IS 'in a fork, the message that this one is a copy of, for a memory that holds both';

-- Whether a conversation fits a filter and is this person's to see; the status "active" is whatever is not archived.
CREATE OR REPLACE FUNCTION nexus.fits(c conversations, f nexus.conversation_filter) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT c.workspace_id = nexus.workspace_id() AND c.deleted_at IS NULL
    AND (c.private_to IS NULL OR c.private_to = nexus.user_id())
    AND (f.project_id IS NULL OR c.project_id = f.project_id)
    AND (f.outside IS NOT TRUE OR c.project_id IS NULL)
    AND (f.agent_id IS NULL OR c.agent_id = f.agent_id)
    AND (f.just_chat IS NOT TRUE OR c.agent_id IS NULL)
    AND (f.kind IS NULL OR c.kind = f.kind)
    AND (f.status IS NULL OR c.status = f.status OR (f.status = 'active' AND c.status <> 'archived'))
    AND (f.person IS NULL OR c.user_id = f.person)
    AND (f.since IS NULL OR c.last_message_at >= f.since)
    AND (f.until IS NULL OR c.last_message_at < f.until)
$$;

-- SQL sees what is stored, the trash too, so that deleting a person's chats leaves none behind; a column tells.
CREATE OR REPLACE VIEW project_conversations WITH (security_invoker = true) AS
  SELECT workspace_id, id, project_id, task_id, title, kind, status, summary_md, metadata, created_at, updated_at, deleted_at
  FROM conversations WHERE project_id IS NOT NULL
  WITH LOCAL CHECK OPTION;
CREATE OR REPLACE VIEW system.ai_chats WITH (security_invoker = true) AS
  SELECT id, user_id, agent_id AS endpoint_id, metadata, title, session_id, project_id, workspace_id, created_at, updated_at,
         deleted_at
  FROM conversations;
