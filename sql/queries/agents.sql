-- name: list
-- A workspace's agents by name.
SELECT id, user_id, profile_id, name, emoji, role, description, instructions, status, memory_mode, max_messages,
       max_tokens, recall, tools, max_steps, created_at, updated_at
FROM agents
WHERE workspace_id = :workspace_id AND (status = 'active' OR (CAST(:archived AS boolean) AND status = 'archived'))
ORDER BY status, lower(name), id;

-- name: get
SELECT id, user_id, profile_id, name, emoji, role, description, instructions, status, memory_mode, max_messages,
       max_tokens, recall, tools, max_steps, created_at, updated_at
FROM agents
WHERE workspace_id = :workspace_id AND id = :id;

-- name: create
INSERT INTO agents (workspace_id, id, user_id, profile_id, name, emoji, role, description, instructions, status,
                    memory_mode, max_messages, max_tokens, recall, tools, max_steps)
VALUES (:workspace_id, :id, :user_id, :profile_id, :name, :emoji, :role, :description, :instructions, :status,
        :memory_mode, :max_messages, :max_tokens, :recall, :tools, :max_steps)
RETURNING id, user_id, profile_id, name, emoji, role, description, instructions, status, memory_mode, max_messages,
          max_tokens, recall, tools, max_steps, created_at, updated_at;

-- name: update
-- Where nobody changed it since it was read.
UPDATE agents SET profile_id = :profile_id, name = :name, emoji = :emoji, role = :role, description = :description,
  instructions = :instructions, status = :status, memory_mode = :memory_mode, max_messages = :max_messages,
  max_tokens = :max_tokens, recall = :recall, tools = :tools, max_steps = :max_steps, updated_at = clock_timestamp()
WHERE workspace_id = :workspace_id AND id = :id AND updated_at = :unchanged_since
RETURNING id, user_id, profile_id, name, emoji, role, description, instructions, status, memory_mode, max_messages,
          max_tokens, recall, tools, max_steps, created_at, updated_at;

-- name: bury
-- Gone for people; the row stays while conversations carry its name, without the instructions.
UPDATE agents SET status = 'deleted', instructions = '', description = '', updated_at = now()
WHERE workspace_id = :workspace_id AND id = :id;

-- name: conversation_counts
-- How many conversations of each agent this person can see.
SELECT agent_id, count(*) AS conversations
FROM conversations
WHERE workspace_id = :workspace_id AND agent_id IS NOT NULL AND deleted_at IS NULL
GROUP BY agent_id;

-- name: delete_conversations
-- Those that this person can see; another member's private ones are not this person's to delete.
DELETE FROM conversations WHERE workspace_id = :workspace_id AND agent_id = :id;

-- name: others_conversations
SELECT EXISTS (
  SELECT FROM conversations WHERE workspace_id = :workspace_id AND agent_id = :id AND user_id <> :user_id);
