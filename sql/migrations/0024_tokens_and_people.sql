-- Tokens that are limited to projects, the invitation of people, sign-in by OpenID Connect, and who was here before.

-- The projects that a transaction is limited to: NULL is every project, '{}' none. A token's limit comes in here.
CREATE FUNCTION nexus.project_ids() RETURNS uuid[] LANGUAGE sql STABLE PARALLEL SAFE
  RETURN CAST(nullif(current_setting('nexus.project_ids', true), '') AS uuid[]);
CREATE FUNCTION nexus.all_projects() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
  RETURN coalesce(current_setting('nexus.project_ids', true), '') = '';
CREATE FUNCTION nexus.admits(p_project uuid) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
  RETURN nexus.all_projects() OR coalesce(p_project = ANY (nexus.project_ids()), false);
COMMENT ON FUNCTION nexus.admits(uuid) IS
  'Whether this transaction may see what belongs to a project; what belongs to none needs a transaction without limit.';

-- Under the policies of conversations, so it knows their limit. In plpgsql, for the planner would take a subquery's cost
-- for what each row costs, though it is asked in limited transactions alone.
CREATE FUNCTION nexus.admits_conversation(p_conversation uuid) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1 AS $$
BEGIN
  RETURN EXISTS (SELECT FROM public.conversations c WHERE c.workspace_id = nexus.workspace_id() AND c.id = p_conversation);
END
$$;

-- Beside the policies that there are: what those let through has to be of a project that is admitted, too.
CREATE FUNCTION nexus.limit_to_projects(p_table regclass, p_rule text, p_command text DEFAULT 'ALL') RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  EXECUTE format('CREATE POLICY %I ON %s AS RESTRICTIVE FOR %s %s ((SELECT nexus.all_projects()) OR %s)',
                 'limit_' || lower(p_command), p_table, p_command,
                 CASE WHEN p_command = 'INSERT' THEN 'WITH CHECK' ELSE 'USING' END, p_rule);
END
$$;

SELECT nexus.limit_to_projects('projects', 'nexus.admits(id)');
SELECT nexus.limit_to_projects(name, 'nexus.admits(project_id)') FROM unnest(CAST(ARRAY[
  'tasks', 'project_memories', 'project_memory_revisions', 'proposals', 'conversations', 'assistant_runs', 'message_search',
  'retention_rules'] AS regclass[])) AS name;
SELECT nexus.limit_to_projects(name, 'nexus.admits_conversation(conversation_id)') FROM unnest(CAST(ARRAY[
  'messages', 'summaries', 'receipts', 'shares', 'conversation_tags', 'conversation_reads'] AS regclass[])) AS name;
SELECT nexus.limit_to_projects('budgets', 'nexus.admits(project_id)', 'SELECT');
-- Sums count every project: hidden, a report is made of the runs that are admitted. The rest is the whole workspace's.
SELECT nexus.limit_to_projects(name, 'false', 'SELECT') FROM unnest(CAST(ARRAY[
  'run_units', 'run_rollup', 'run_timings', 'run_conversations', 'run_marks', 'repricings', 'repriced_runs', 'audit',
  'search_queue', 'saved_views'] AS regclass[])) AS name;
-- Agents and models serve every project: read, not changed.
SELECT nexus.limit_to_projects(name, 'false', command)
FROM unnest(CAST(ARRAY['agents', 'profiles'] AS regclass[])) AS name, unnest(ARRAY['INSERT', 'UPDATE', 'DELETE']) AS command;

-- Functions that know for themselves whose a private conversation is know of the limit in the same place.
DO $$
DECLARE
  item record;
  private constant text := '\(?\m(\w+)\.private_to IS NULL OR \1\.private_to = nexus\.user_id\(\)\)?';
BEGIN
  FOR item IN
    SELECT p.proname, pg_get_functiondef(p.oid) AS body FROM pg_proc p
    WHERE p.pronamespace = CAST('nexus' AS regnamespace) AND p.prosrc ~ 'private_to = nexus\.user_id\(\)'
  LOOP
    IF item.body !~ private THEN
      RAISE EXCEPTION 'nexus.% says in words of its own who sees what is private', item.proname;
    END IF;
    EXECUTE regexp_replace(
      item.body, private, '(\1.private_to IS NULL OR \1.private_to = nexus.user_id()) AND nexus.admits(\1.project_id)', 'g');
  END LOOP;
END
$$;

-- A token is its person's and, to look after, an administrator's.
CREATE POLICY own ON api_tokens AS RESTRICTIVE USING (
  (SELECT nexus.is_system()) OR user_id = (SELECT nexus.user_id()) OR current_setting('nexus.role', true) = 'admin');
ALTER TABLE api_tokens ADD CHECK (name <> ''), ADD CHECK (role <> 'admin' OR project_ids IS NULL);
COMMENT ON COLUMN api_tokens.token_hash IS
  'SHA-256 of the token, whose 192 random bits nobody can guess: a slow hash, as passwords need it, would guard nothing more';
COMMENT ON COLUMN api_tokens.hint IS 'its first signs, by which a person knows it again';

-- An invited person chooses a password by a link that works once; a forgotten one is set anew in the same way.
ALTER TABLE people
  ADD COLUMN link_hash bytea,
  ADD COLUMN link_until timestamptz,
  ADD COLUMN oidc_issuer text,
  ADD COLUMN oidc_subject text,
  ADD CHECK ((link_hash IS NULL) = (link_until IS NULL)),
  ADD CHECK ((oidc_issuer IS NULL) = (oidc_subject IS NULL));
CREATE UNIQUE INDEX people_link_key ON people (link_hash);
CREATE UNIQUE INDEX people_oidc_key ON people (oidc_issuer, oidc_subject);
COMMENT ON COLUMN people.link_hash IS 'SHA-256 of the 192 random bits in the link; the link itself is never stored';
COMMENT ON COLUMN people.oidc_subject IS 'who this is at the identity provider oidc_issuer, whatever their e-mail becomes';

-- Who was a member: their names stay on what they wrote.
CREATE TABLE former_members (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  left_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX former_members_user_idx ON former_members (user_id);
COMMENT ON TABLE former_members IS 'who left the workspace; made by a trigger of memberships, removed by an erasure';
CREATE FUNCTION nexus.keep_former_member() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO public.former_members (workspace_id, user_id)
  SELECT w.id, p.id FROM public.workspaces w, public.people p WHERE w.id = OLD.workspace_id AND p.id = OLD.user_id
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
CREATE TRIGGER memberships_keep_former AFTER DELETE ON memberships
  FOR EACH ROW EXECUTE FUNCTION nexus.keep_former_member();
SELECT nexus.secure('former_members');
CREATE POLICY former ON people FOR SELECT USING (EXISTS (
  SELECT FROM former_members f WHERE f.workspace_id = (SELECT nexus.workspace_id()) AND f.user_id = people.id));

REVOKE EXECUTE ON FUNCTION nexus.project_ids(), nexus.all_projects(), nexus.admits(uuid), nexus.admits_conversation(uuid),
  nexus.limit_to_projects(regclass, text, text), nexus.keep_former_member() FROM PUBLIC;
ALTER FUNCTION nexus.admit_roles() RENAME TO admit_to_ledger;
CREATE FUNCTION nexus.admit_roles() RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  both boolean := nexus.admit_to_ledger();
BEGIN
  IF to_regrole('nexus_app') IS NOT NULL THEN
    REVOKE EXECUTE ON FUNCTION nexus.admit_to_ledger(), nexus.limit_to_projects(regclass, text, text) FROM nexus_app;
  END IF;
  IF to_regrole('nexus_reader') IS NOT NULL THEN
    GRANT EXECUTE ON FUNCTION nexus.project_ids(), nexus.all_projects(), nexus.admits(uuid), nexus.admits_conversation(uuid)
      TO nexus_reader;
    GRANT SELECT ON former_members, retention_rules TO nexus_reader;
  END IF;
  RETURN both;
END
$$;
REVOKE EXECUTE ON FUNCTION nexus.admit_roles() FROM PUBLIC;
SELECT nexus.admit_roles();
