-- What was said: conversations, messages, summaries, and the ledger of every model call.

-- One person's conversations with one agent (or Just Chat) in one project (or in none) are one place.
-- CASE, here and in sql/queries: under row-level security a plan for any value does not look up a coalesce in an index.
CREATE FUNCTION nexus.place(user_id uuid, agent_id uuid, project_id uuid) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CAST(left(encode(sha256(uuid_send(user_id)
    || uuid_send(CASE WHEN agent_id IS NULL THEN '00000000-0000-0000-0000-000000000000' ELSE agent_id END)
    || uuid_send(CASE WHEN project_id IS NULL THEN '00000000-0000-0000-0000-000000000000' ELSE project_id END)
  ), 'hex'), 32) AS uuid);

CREATE TABLE conversations (
  workspace_id uuid NOT NULL DEFAULT nexus.workspace_id() REFERENCES workspaces (id) ON DELETE CASCADE,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  user_id uuid NOT NULL DEFAULT nexus.user_id() REFERENCES people (id) ON DELETE CASCADE,
  project_id uuid,
  task_id uuid,
  agent_id uuid,
  session_id text,
  title text NOT NULL DEFAULT '',
  title_source text NOT NULL DEFAULT 'none' CHECK (title_source IN ('none', 'question', 'person')),
  kind text NOT NULL DEFAULT 'project' CHECK (kind IN ('project', 'task', 'decision', 'run', 'support')),
  status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'summarized', 'archived')),
  summary_md text NOT NULL DEFAULT '',
  model_id text,
  provider_id text,
  metadata jsonb NOT NULL DEFAULT '{}',
  private_to uuid GENERATED ALWAYS AS (CASE WHEN project_id IS NULL THEN user_id END) STORED,
  place uuid NOT NULL GENERATED ALWAYS AS (nexus.place(user_id, agent_id, project_id)) STORED,
  home uuid NOT NULL GENERATED ALWAYS AS (coalesce(project_id, user_id)) STORED,
  next_seq bigint NOT NULL DEFAULT 1,
  active_run_id uuid,
  lease_until timestamptz,
  lease_owner text,
  stop_requested boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  last_message_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, project_id) REFERENCES projects (workspace_id, id),
  FOREIGN KEY (workspace_id, project_id, task_id) REFERENCES tasks (workspace_id, project_id, id)
    ON DELETE SET NULL (task_id),
  FOREIGN KEY (workspace_id, agent_id) REFERENCES agents (workspace_id, id),
  CHECK (task_id IS NULL OR project_id IS NOT NULL)
);
CREATE INDEX conversations_place_idx ON conversations (workspace_id, place, last_message_at DESC, id DESC);
CREATE INDEX conversations_home_idx ON conversations (workspace_id, home, last_message_at DESC, id DESC);
CREATE INDEX conversations_empty_idx ON conversations (workspace_id, place) WHERE next_seq = 1;
CREATE INDEX conversations_user_idx ON conversations (user_id);
CREATE INDEX conversations_agent_idx ON conversations (workspace_id, agent_id);
CREATE INDEX conversations_lease_idx ON conversations (workspace_id) WHERE active_run_id IS NOT NULL;
CREATE INDEX conversations_task_idx ON conversations (workspace_id, project_id, task_id) WHERE task_id IS NOT NULL;
CREATE UNIQUE INDEX conversations_session_key ON conversations (workspace_id, place, session_id)
  WHERE session_id IS NOT NULL;
COMMENT ON COLUMN conversations.private_to IS 'without a project: its owner alone sees it; NULL: the workspace does';
COMMENT ON COLUMN conversations.place IS 'who with which agent in which project: listed and remembered together';
COMMENT ON COLUMN conversations.home IS 'the project, or the person outside any';
COMMENT ON COLUMN conversations.active_run_id IS 'the run that is answering now; every write of a run is fenced by it';
COMMENT ON COLUMN conversations.lease_owner IS 'host, process and its start: a dead process''s lease is free at once';

CREATE TABLE messages (
  workspace_id uuid NOT NULL DEFAULT nexus.workspace_id(),
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  conversation_id uuid NOT NULL,
  private_to uuid,
  place uuid NOT NULL,
  seq bigint NOT NULL CHECK (seq > 0),
  parent_seq bigint CHECK (parent_seq < seq),
  active boolean NOT NULL DEFAULT true,
  role text NOT NULL CHECK (role IN ('system', 'user', 'assistant', 'tool')),
  status text NOT NULL DEFAULT 'complete' CHECK (status IN ('complete', 'streaming', 'stopped', 'failed')),
  parts jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(parts) = 'array'),
  body text NOT NULL DEFAULT '',
  tokens integer CHECK (tokens >= 0),
  user_id uuid REFERENCES people (id) ON DELETE SET NULL,
  client_message_id text,
  run_id uuid,
  model text,
  runtime text,
  metadata jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, conversation_id, seq),
  FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations (workspace_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX messages_client_key ON messages (workspace_id, user_id, client_message_id)
  WHERE client_message_id IS NOT NULL;
CREATE INDEX messages_place_idx ON messages (workspace_id, place, created_at DESC, seq DESC, id DESC) WHERE active;
CREATE INDEX messages_run_idx ON messages (workspace_id, run_id) WHERE run_id IS NOT NULL;
CREATE INDEX messages_version_idx ON messages (workspace_id, conversation_id, parent_seq) WHERE NOT active;
COMMENT ON COLUMN messages.private_to IS 'the conversation''s, kept by triggers, as place is';
COMMENT ON COLUMN messages.parts IS 'UIMessage parts of the Vercel AI SDK; body is their plain text';
COMMENT ON COLUMN messages.parent_seq IS 'the message it follows; siblings are versions of one answer or question';
COMMENT ON COLUMN messages.active IS 'on the path that is shown and sent; the other versions are kept, inactive';
COMMENT ON COLUMN messages.client_message_id IS 'chosen by whoever sends, so that the same send twice is one message';
COMMENT ON COLUMN messages.tokens IS 'estimate by a tokenizer, the fixed cost of a message included';

CREATE TABLE conversation_reads (
  workspace_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  user_id uuid NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  seq bigint NOT NULL,
  PRIMARY KEY (workspace_id, conversation_id, user_id),
  FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations (workspace_id, id) ON DELETE CASCADE
);

CREATE TABLE summaries (
  workspace_id uuid NOT NULL DEFAULT nexus.workspace_id(),
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  conversation_id uuid NOT NULL,
  private_to uuid,
  from_seq bigint NOT NULL CHECK (from_seq > 0),
  to_seq bigint NOT NULL,
  body_md text NOT NULL CHECK (body_md <> ''),
  tokens integer CHECK (tokens >= 0),
  method text NOT NULL CHECK (method IN ('model', 'extract', 'hand')),
  run_id uuid,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations (workspace_id, id) ON DELETE CASCADE,
  CHECK (to_seq >= from_seq)
);
CREATE INDEX summaries_conversation_idx ON summaries (workspace_id, conversation_id, to_seq DESC);

CREATE TABLE assistant_runs (
  workspace_id uuid NOT NULL DEFAULT nexus.workspace_id() REFERENCES workspaces (id) ON DELETE CASCADE,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  request_id uuid NOT NULL DEFAULT gen_random_uuid(),
  attempt integer NOT NULL DEFAULT 1 CHECK (attempt > 0),
  kind text NOT NULL DEFAULT 'answer' CHECK (kind IN ('answer', 'summary', 'proposal', 'test', 'external')),
  project_id uuid,
  task_id uuid,
  conversation_id uuid,
  agent_id uuid,
  user_id uuid REFERENCES people (id) ON DELETE SET NULL,
  prompt_summary text CHECK (length(prompt_summary) <= 2000),
  response_summary text CHECK (length(response_summary) <= 2000),
  model text NOT NULL,
  served_model text,
  provider text,
  runtime text,
  profile_slug text,
  status text NOT NULL DEFAULT 'planned'
    CHECK (status IN ('planned', 'running', 'succeeded', 'failed', 'blocked')),
  input_tokens bigint CHECK (input_tokens >= 0),
  cached_tokens bigint CHECK (cached_tokens >= 0),
  cache_write_tokens bigint CHECK (cache_write_tokens >= 0),
  output_tokens bigint CHECK (output_tokens >= 0),
  reasoning_tokens bigint CHECK (reasoning_tokens >= 0),
  usage_source text NOT NULL DEFAULT 'none' CHECK (usage_source IN ('provider', 'estimated', 'none')),
  cost_estimate numeric(20, 10) CHECK (cost_estimate >= 0 AND cost_estimate <> 'NaN'),
  cost_source text,
  price_version text,
  duration_ms bigint CHECK (duration_ms >= 0),
  first_token_ms bigint CHECK (first_token_ms >= 0),
  stopped boolean NOT NULL DEFAULT false,
  error_type text,
  error_message text CHECK (length(error_message) <= 2000),
  metadata jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  started_at timestamptz,
  finished_at timestamptz,
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, request_id, attempt),
  FOREIGN KEY (workspace_id, project_id) REFERENCES projects (workspace_id, id) ON DELETE SET NULL (project_id),
  FOREIGN KEY (workspace_id, task_id) REFERENCES tasks (workspace_id, id) ON DELETE SET NULL (task_id),
  FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations (workspace_id, id)
    ON DELETE SET NULL (conversation_id),
  FOREIGN KEY (workspace_id, agent_id) REFERENCES agents (workspace_id, id) ON DELETE SET NULL (agent_id),
  CHECK (cached_tokens <= input_tokens),
  CHECK (cache_write_tokens <= input_tokens),
  CHECK (reasoning_tokens <= output_tokens),
  CHECK (finished_at >= started_at),
  CHECK (first_token_ms <= duration_ms),
  CHECK (status NOT IN ('succeeded', 'failed') OR finished_at IS NOT NULL)
);
CREATE INDEX assistant_runs_created_idx ON assistant_runs (workspace_id, created_at DESC, id DESC);
CREATE INDEX assistant_runs_project_idx ON assistant_runs (workspace_id, project_id, created_at DESC, id DESC)
  WHERE project_id IS NOT NULL;
CREATE INDEX assistant_runs_task_idx ON assistant_runs (workspace_id, task_id) WHERE task_id IS NOT NULL;
CREATE INDEX assistant_runs_conversation_idx ON assistant_runs (workspace_id, conversation_id, created_at DESC);
CREATE INDEX assistant_runs_running_idx ON assistant_runs (workspace_id) WHERE status = 'running';
ALTER TABLE messages ADD FOREIGN KEY (workspace_id, run_id) REFERENCES assistant_runs (workspace_id, id)
  ON DELETE SET NULL (run_id);
ALTER TABLE summaries ADD FOREIGN KEY (workspace_id, run_id) REFERENCES assistant_runs (workspace_id, id)
  ON DELETE SET NULL (run_id);
CREATE INDEX summaries_run_idx ON summaries (workspace_id, run_id) WHERE run_id IS NOT NULL;
COMMENT ON TABLE assistant_runs IS
  'one row per attempt at one answer; figures are the workspace''s to see, so a private conversation leaves no words here';
COMMENT ON COLUMN assistant_runs.input_tokens IS 'cached tokens included (OpenTelemetry); NULL: unknown, never 0';
COMMENT ON COLUMN assistant_runs.output_tokens IS 'reasoning tokens included (OpenTelemetry); NULL: unknown, never 0';
COMMENT ON COLUMN assistant_runs.cost_estimate IS 'US dollars, priced when the run ended; NULL: unpriced';

CREATE TABLE receipts (
  workspace_id uuid NOT NULL,
  run_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  private_to uuid,
  receipt jsonb NOT NULL,
  provider_error text,
  PRIMARY KEY (workspace_id, run_id),
  FOREIGN KEY (workspace_id, run_id) REFERENCES assistant_runs (workspace_id, id) ON DELETE CASCADE,
  FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX receipts_conversation_idx ON receipts (workspace_id, conversation_id);
COMMENT ON TABLE receipts IS 'what was sent to the model for a run, by section with its tokens, and what was left out and why';
