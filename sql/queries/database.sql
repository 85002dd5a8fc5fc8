-- name: enter_scope
-- Says who acts in this transaction, and gives up every right that the application does not need. Tables are in the
-- schema public, though a user may be called nexus, whose own schema nexus would come first. Without a patience of its
-- own a transaction has the server's.
SELECT set_config('nexus.workspace_id', :workspace_id, true), set_config('nexus.user_id', :user_id, true),
       set_config('nexus.role', :scope_role, true), set_config('nexus.project_ids', :projects, true),
       set_config('search_path', 'public', true),
       set_config('statement_timeout', coalesce(CAST(:patience AS text), current_setting('statement_timeout')), true),
       set_config('role', :role, true);

-- name: enter_scope_as_owner
-- The same where no role could be made: the owner works under forced policies.
SELECT set_config('nexus.workspace_id', :workspace_id, true), set_config('nexus.user_id', :user_id, true),
       set_config('nexus.role', :scope_role, true), set_config('nexus.project_ids', :projects, true),
       set_config('search_path', 'public', true),
       set_config('statement_timeout', coalesce(CAST(:patience AS text), current_setting('statement_timeout')), true);

-- name: limit_to
-- Which projects the rest of the transaction is limited to; nothing: all of them.
SELECT set_config('nexus.project_ids', :projects, true);

-- name: enter_role
-- Fails when the role is missing or this user may not take it.
SELECT set_config('role', :role, true);

-- name: bypasses_policies
-- Whether row-level security does not bind this user.
SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user;

-- name: ping
-- The cheapest answer, and the server's version number.
SELECT current_setting('server_version') AS version;
