-- What people work on: projects, tasks, model profiles, agents, and the living memory of a project.

CREATE TABLE projects (
  workspace_id uuid NOT NULL DEFAULT nexus.workspace_id() REFERENCES workspaces (id) ON DELETE CASCADE,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  name text NOT NULL CHECK (name <> ''),
  description text NOT NULL DEFAULT '',
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
  created_by uuid REFERENCES people (id) ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX projects_name_key ON projects (workspace_id, lower(name));

CREATE TABLE tasks (
  workspace_id uuid NOT NULL DEFAULT nexus.workspace_id(),
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  project_id uuid NOT NULL,
  title text NOT NULL CHECK (title <> ''),
  notes text NOT NULL DEFAULT '',
  status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'in_progress', 'done', 'cancelled')),
  created_by uuid REFERENCES people (id) ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  closed_at timestamptz,
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, project_id, id),
  FOREIGN KEY (workspace_id, project_id) REFERENCES projects (workspace_id, id) ON DELETE CASCADE
);

CREATE TABLE profiles (
  workspace_id uuid NOT NULL DEFAULT nexus.workspace_id() REFERENCES workspaces (id) ON DELETE CASCADE,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  slug text NOT NULL CHECK (slug ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
  name text NOT NULL CHECK (name <> ''),
  model text NOT NULL CHECK (model <> ''),
  api_base text,
  params jsonb NOT NULL DEFAULT '{}',
  context_tokens integer CHECK (context_tokens > 0),
  is_default boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, slug)
);
CREATE UNIQUE INDEX profiles_default_key ON profiles (workspace_id) WHERE is_default;
COMMENT ON TABLE profiles IS 'named model configurations; keys are never stored, they stay in the environment';

CREATE TABLE agents (
  workspace_id uuid NOT NULL DEFAULT nexus.workspace_id() REFERENCES workspaces (id) ON DELETE CASCADE,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  user_id uuid REFERENCES people (id) ON DELETE SET NULL,
  profile_id uuid,
  name text NOT NULL CHECK (name <> ''),
  emoji text NOT NULL DEFAULT '🤖',
  role text NOT NULL DEFAULT '',
  description text NOT NULL DEFAULT '',
  instructions text NOT NULL DEFAULT '',
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived', 'deleted')),
  memory_mode text NOT NULL DEFAULT 'session' CHECK (memory_mode IN ('none', 'session', 'user')),
  max_messages integer DEFAULT 40 CHECK (max_messages >= 0),
  max_tokens integer DEFAULT 16000 CHECK (max_tokens >= 0),
  recall boolean NOT NULL DEFAULT true,
  tools boolean NOT NULL DEFAULT true,
  max_steps integer NOT NULL DEFAULT 5 CHECK (max_steps BETWEEN 1 AND 20),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, profile_id) REFERENCES profiles (workspace_id, id)
    ON DELETE SET NULL (profile_id)
);
COMMENT ON COLUMN agents.max_messages IS 'rows of history sent at most; 0: the new message alone; NULL: no limit';
COMMENT ON COLUMN agents.max_tokens IS 'tokens of history sent at most; 0: the new message alone; NULL: no limit';
COMMENT ON COLUMN agents.status IS 'deleted: gone for people, kept as the name of the conversations they kept';

CREATE TABLE project_memories (
  workspace_id uuid NOT NULL DEFAULT nexus.workspace_id(),
  project_id uuid NOT NULL,
  version integer NOT NULL DEFAULT 1 CHECK (version > 0),
  summary_md text NOT NULL DEFAULT '',
  decisions jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(decisions) = 'array'),
  open_questions jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(open_questions) = 'array'),
  risks jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(risks) = 'array'),
  links jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(links) = 'array'),
  metadata jsonb NOT NULL DEFAULT '{}',
  updated_by uuid REFERENCES people (id) ON DELETE SET NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, project_id),
  FOREIGN KEY (workspace_id, project_id) REFERENCES projects (workspace_id, id) ON DELETE CASCADE
);

CREATE TABLE project_memory_revisions (
  workspace_id uuid NOT NULL,
  project_id uuid NOT NULL,
  version integer NOT NULL CHECK (version > 0),
  summary_md text NOT NULL,
  decisions jsonb NOT NULL,
  open_questions jsonb NOT NULL,
  risks jsonb NOT NULL,
  links jsonb NOT NULL,
  metadata jsonb NOT NULL,
  source text NOT NULL CHECK (source IN ('hand', 'proposal', 'api', 'restore', 'import')),
  proposal_id uuid,
  restored_from integer,
  note text NOT NULL DEFAULT '',
  created_by uuid REFERENCES people (id) ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, project_id, version),
  FOREIGN KEY (workspace_id, project_id) REFERENCES projects (workspace_id, id) ON DELETE CASCADE
);
