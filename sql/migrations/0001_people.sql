-- Who there is: workspaces, people, memberships, sessions, tokens, and the audit of every change.

CREATE SCHEMA IF NOT EXISTS nexus;
CREATE SCHEMA IF NOT EXISTS system;
CREATE EXTENSION IF NOT EXISTS pg_trgm;

CREATE TABLE nexus.migrations (
  name text PRIMARY KEY,
  checksum text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE nexus.migrations IS 'what has been applied, with the SHA-256 of each file';

-- The scope of a transaction. A setting made with set_config(…, true) reads as '' once its transaction is over.
CREATE FUNCTION nexus.workspace_id() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
  RETURN CAST(nullif(current_setting('nexus.workspace_id', true), '') AS uuid);
CREATE FUNCTION nexus.user_id() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
  RETURN CAST(nullif(current_setting('nexus.user_id', true), '') AS uuid);
CREATE FUNCTION nexus.is_system() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
  RETURN coalesce(current_setting('nexus.role', true) = 'system', false);

COMMENT ON FUNCTION nexus.is_system() IS
  'True in the transactions of the background jobs (index, reaper), which serve every workspace.';

CREATE TABLE workspaces (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  slug text NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text NOT NULL CHECK (name <> ''),
  time_zone text NOT NULL DEFAULT 'UTC',
  settings jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN workspaces.time_zone IS 'IANA name; the days of every report are this zone''s days';

CREATE TABLE people (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  email text NOT NULL CHECK (email <> ''),
  name text NOT NULL DEFAULT '',
  password_hash text,
  locale text,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'deactivated')),
  is_local_owner boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX people_email_key ON people (lower(email));
CREATE UNIQUE INDEX people_local_owner_key ON people (is_local_owner) WHERE is_local_owner;
COMMENT ON COLUMN people.password_hash IS 'argon2id, in the PHC string format; NULL: cannot sign in by password';
COMMENT ON COLUMN people.is_local_owner IS 'the owner of the machine, signed in without a form on loopback';

CREATE TABLE memberships (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('viewer', 'operator', 'admin')),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX memberships_user_idx ON memberships (user_id);

CREATE TABLE sign_in_sessions (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  token_hash bytea NOT NULL UNIQUE,
  user_id uuid NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  method text NOT NULL CHECK (method IN ('local', 'password', 'oidc')),
  user_agent text NOT NULL DEFAULT '',
  address text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now(),
  last_seen_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  CHECK (expires_at > created_at)
);
CREATE INDEX sign_in_sessions_user_idx ON sign_in_sessions (user_id);
COMMENT ON COLUMN sign_in_sessions.token_hash IS 'SHA-256 of the cookie; the cookie itself is never stored';

CREATE TABLE api_tokens (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  user_id uuid NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  name text NOT NULL,
  token_hash bytea NOT NULL,
  hint text NOT NULL,
  role text NOT NULL CHECK (role IN ('viewer', 'operator', 'admin')),
  project_ids uuid[],
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, token_hash)
);
CREATE INDEX api_tokens_hash_idx ON api_tokens (token_hash);
CREATE INDEX api_tokens_user_idx ON api_tokens (user_id);
COMMENT ON COLUMN api_tokens.project_ids IS 'NULL: every project of the workspace';

-- No foreign key to people: what was done stays on record when the person is erased.
CREATE TABLE audit (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  user_id uuid,
  door text NOT NULL CHECK (door IN ('page', 'api', 'mcp', 'cli', 'worker', 'gate')),
  action text NOT NULL,
  entity text NOT NULL,
  entity_id uuid,
  detail jsonb NOT NULL DEFAULT '{}',
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX audit_at_idx ON audit (workspace_id, at DESC, id DESC);
CREATE INDEX audit_entity_idx ON audit (workspace_id, entity, entity_id, at DESC);
COMMENT ON TABLE audit IS 'append-only: UPDATE and DELETE are refused; never a secret, never the text of a message';

CREATE FUNCTION nexus.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Removing a whole workspace takes its audit with it; nothing else does.
  IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT FROM public.workspaces WHERE id = OLD.workspace_id) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit
  FOR EACH ROW EXECUTE FUNCTION nexus.refuse_change();
CREATE FUNCTION nexus.refuse_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit
  FOR EACH STATEMENT EXECUTE FUNCTION nexus.refuse_truncate();
