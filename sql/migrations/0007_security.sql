-- The second wall: row-level security on every table that carries a workspace, forced on the owner too.

-- Puts a table under the policies; `p_rule` narrows what of the workspace is seen. A later migration calls it for
-- every table that it makes, and then nexus.admit_roles().
CREATE FUNCTION nexus.secure(p_table regclass, p_rule text DEFAULT 'true') RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  rule text := format('(SELECT nexus.is_system()) OR (workspace_id = (SELECT nexus.workspace_id()) AND %s)', p_rule);
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', p_table);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', p_table);
  EXECUTE format('CREATE POLICY scope ON %s USING (%s) WITH CHECK (%s)', p_table, rule, rule);
END
$$;

SELECT nexus.secure(name) FROM unnest(CAST(ARRAY[
  'api_tokens', 'audit', 'projects', 'tasks', 'profiles', 'agents', 'project_memories', 'project_memory_revisions',
  'assistant_runs', 'proposals', 'tags', 'search_queue'] AS regclass[])) AS name;
SELECT nexus.secure(name, '(private_to IS NULL OR private_to = (SELECT nexus.user_id()))') FROM unnest(CAST(ARRAY[
  'conversations', 'messages', 'summaries', 'receipts', 'shares', 'message_search'] AS regclass[])) AS name;
SELECT nexus.secure('conversation_tags', 'EXISTS (SELECT FROM conversations c
  WHERE c.workspace_id = conversation_tags.workspace_id AND c.id = conversation_tags.conversation_id)');
SELECT nexus.secure('conversation_reads', 'user_id = (SELECT nexus.user_id())');

-- The search table is read through security definer functions alone, so its owner is exempt.
ALTER TABLE message_search NO FORCE ROW LEVEL SECURITY;

-- Where a person is a member is theirs to see from any workspace, for they choose among them.
SELECT nexus.secure('memberships');
CREATE POLICY own ON memberships FOR SELECT USING (user_id = (SELECT nexus.user_id()));
ALTER TABLE workspaces ENABLE ROW LEVEL SECURITY;
ALTER TABLE workspaces FORCE ROW LEVEL SECURITY;
CREATE POLICY scope ON workspaces
  USING ((SELECT nexus.is_system()) OR id = (SELECT nexus.workspace_id()))
  WITH CHECK ((SELECT nexus.is_system()) OR id = (SELECT nexus.workspace_id()));
CREATE POLICY own ON workspaces FOR SELECT USING (id IN (
  SELECT m.workspace_id FROM memberships m WHERE m.user_id = (SELECT nexus.user_id())));

-- People belong to no workspace; one sees oneself and who is in the workspace. A new person is nobody's yet.
ALTER TABLE people ENABLE ROW LEVEL SECURITY;
ALTER TABLE people FORCE ROW LEVEL SECURITY;
CREATE POLICY scope ON people
  USING ((SELECT nexus.is_system()) OR id = (SELECT nexus.user_id()) OR EXISTS (
    SELECT FROM memberships m WHERE m.workspace_id = (SELECT nexus.workspace_id()) AND m.user_id = people.id))
  WITH CHECK (true);
ALTER TABLE sign_in_sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE sign_in_sessions FORCE ROW LEVEL SECURITY;
CREATE POLICY scope ON sign_in_sessions
  USING ((SELECT nexus.is_system()) OR user_id = (SELECT nexus.user_id()) OR (
    current_setting('nexus.role', true) = 'admin' AND EXISTS (
      SELECT FROM memberships m
      WHERE m.workspace_id = (SELECT nexus.workspace_id()) AND m.user_id = sign_in_sessions.user_id)));

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA nexus FROM PUBLIC;

-- The application works under nexus_app and BI tools under nexus_reader, neither of which can bypass row-level
-- security. They belong to the whole server, so a database that was restored on another one may lack them: then
-- migrating calls this again. A managed server may forbid making roles: then the owner itself works, under forced
-- policies. The owner never is a member of nexus_reader, whose policies would bind it too.
CREATE FUNCTION nexus.admit_roles() RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  item record;
  wanted text;
BEGIN
  FOREACH wanted IN ARRAY ARRAY['nexus_app', 'nexus_reader'] LOOP
    BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
        EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOBYPASSRLS', wanted);
      END IF;
      IF wanted = 'nexus_app' AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        GRANT nexus_app TO CURRENT_USER;
      END IF;
    EXCEPTION
      WHEN duplicate_object OR unique_violation THEN NULL;
      WHEN insufficient_privilege THEN
        RAISE NOTICE 'role % was not made: the owner works under forced policies', wanted;
    END;
  END LOOP;

  IF to_regrole('nexus_app') IS NOT NULL THEN
    GRANT USAGE ON SCHEMA public, nexus, system TO nexus_app;
    GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA nexus TO nexus_app;
    FOR item IN SELECT CAST(oid AS regprocedure) AS name FROM pg_proc
                WHERE pronamespace = CAST('nexus' AS regnamespace) AND proname IN ('secure', 'admit_roles', 'sieve_messages')
    LOOP
      EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM nexus_app', item.name);  -- they know no scope
    END LOOP;
    FOR item IN SELECT CAST(polrelid AS regclass) AS name FROM pg_policy WHERE polname = 'scope' LOOP
      EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO nexus_app', item.name);
    END LOOP;
    REVOKE ALL ON message_search FROM nexus_app;
    REVOKE UPDATE, DELETE ON audit FROM nexus_app;
    GRANT SELECT, INSERT, UPDATE, DELETE ON project_conversations, project_conversation_messages, system.ai_chats,
      system.ai_messages TO nexus_app;
  END IF;

  -- A reader sees what the whole workspace may see, in one workspace, no more.
  IF to_regrole('nexus_reader') IS NOT NULL THEN
    GRANT USAGE ON SCHEMA public, nexus, system TO nexus_reader;
    GRANT EXECUTE ON FUNCTION nexus.workspace_id(), nexus.user_id(), nexus.is_system() TO nexus_reader;
    GRANT SELECT (id, name, email, status, created_at) ON people TO nexus_reader;
    GRANT SELECT ON workspaces, memberships, projects, tasks, profiles, agents, project_memories,
      project_memory_revisions, proposals, conversations, messages, summaries, assistant_runs, tags, conversation_tags,
      audit, project_conversations, project_conversation_messages, system.ai_chats, system.ai_messages TO nexus_reader;
    FOR item IN
      SELECT CAST(p.polrelid AS regclass) AS name,
             CASE WHEN p.polrelid = CAST('people' AS regclass) THEN
                    'EXISTS (SELECT FROM memberships m WHERE m.user_id = people.id)'
                  WHEN p.polrelid = CAST('sign_in_sessions' AS regclass) THEN 'false'
                  WHEN p.polrelid = CAST('workspaces' AS regclass) THEN 'id = (SELECT nexus.workspace_id())'
                  WHEN p.polrelid = CAST('conversation_tags' AS regclass) THEN
                    'EXISTS (SELECT FROM conversations c WHERE c.id = conversation_id)'
                  WHEN EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = p.polrelid AND a.attname = 'private_to')
                    THEN 'workspace_id = (SELECT nexus.workspace_id()) AND private_to IS NULL'
                  ELSE 'workspace_id = (SELECT nexus.workspace_id())' END AS rule
      FROM pg_policy p
      WHERE p.polname = 'scope'
        AND NOT EXISTS (SELECT FROM pg_policy r WHERE r.polrelid = p.polrelid AND r.polname = 'reader')
    LOOP
      EXECUTE format('CREATE POLICY reader ON %s AS RESTRICTIVE FOR SELECT TO nexus_reader USING (%s)',
                     item.name, item.rule);
    END LOOP;
  END IF;
  RETURN to_regrole('nexus_app') IS NOT NULL AND to_regrole('nexus_reader') IS NOT NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION nexus.admit_roles() FROM PUBLIC;
SELECT nexus.admit_roles();
