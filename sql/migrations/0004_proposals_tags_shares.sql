-- What people make of conversations: proposals to memory, tags, shares.

CREATE TABLE proposals (
  workspace_id uuid NOT NULL DEFAULT nexus.workspace_id(),
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  project_id uuid NOT NULL,
  conversation_id uuid,
  task_id uuid,
  run_id uuid,
  trigger text NOT NULL CHECK (trigger IN ('asked', 'task', 'decision', 'archive', 'merge', 'message')),
  base_version integer NOT NULL CHECK (base_version >= 0),
  changes jsonb NOT NULL CHECK (jsonb_typeof(changes) = 'array'),
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'accepted', 'rejected')),
  created_by uuid REFERENCES people (id) ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  decided_by uuid REFERENCES people (id) ON DELETE SET NULL,
  decided_at timestamptz,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, project_id) REFERENCES projects (workspace_id, id) ON DELETE CASCADE,
  FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations (workspace_id, id)
    ON DELETE SET NULL (conversation_id),
  FOREIGN KEY (workspace_id, task_id) REFERENCES tasks (workspace_id, id) ON DELETE SET NULL (task_id),
  FOREIGN KEY (workspace_id, run_id) REFERENCES assistant_runs (workspace_id, id) ON DELETE SET NULL (run_id),
  CHECK ((status = 'pending') = (decided_at IS NULL))
);
CREATE INDEX proposals_pending_idx ON proposals (workspace_id, project_id, created_at) WHERE status = 'pending';
CREATE INDEX proposals_conversation_idx ON proposals (workspace_id, conversation_id) WHERE conversation_id IS NOT NULL;
CREATE INDEX proposals_run_idx ON proposals (workspace_id, run_id) WHERE run_id IS NOT NULL;
ALTER TABLE project_memory_revisions ADD FOREIGN KEY (workspace_id, proposal_id)
  REFERENCES proposals (workspace_id, id) ON DELETE SET NULL (proposal_id);

CREATE TABLE tags (
  workspace_id uuid NOT NULL DEFAULT nexus.workspace_id() REFERENCES workspaces (id) ON DELETE CASCADE,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  name text NOT NULL CHECK (name <> ''),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX tags_name_key ON tags (workspace_id, lower(name));

CREATE TABLE conversation_tags (
  workspace_id uuid NOT NULL DEFAULT nexus.workspace_id(),
  conversation_id uuid NOT NULL,
  tag_id uuid NOT NULL,
  PRIMARY KEY (workspace_id, conversation_id, tag_id),
  FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations (workspace_id, id) ON DELETE CASCADE,
  FOREIGN KEY (workspace_id, tag_id) REFERENCES tags (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX conversation_tags_tag_idx ON conversation_tags (workspace_id, tag_id);

CREATE TABLE shares (
  workspace_id uuid NOT NULL DEFAULT nexus.workspace_id(),
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  conversation_id uuid NOT NULL,
  private_to uuid,
  token_hash bytea NOT NULL,
  snapshot jsonb NOT NULL,
  views bigint NOT NULL DEFAULT 0,
  created_by uuid REFERENCES people (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, token_hash),
  FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX shares_conversation_idx ON shares (workspace_id, conversation_id);
COMMENT ON COLUMN shares.token_hash IS 'SHA-256 of the 128 random bits in the link; the link itself is never stored';
