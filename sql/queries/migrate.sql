-- name: lock
-- One process migrates at a time; the number is Nexus's own. The lock ends with the transaction, so that it holds behind
-- a pooler, too, which gives every transaction another connection.
SELECT pg_advisory_xact_lock(6398010);

-- name: enter
-- A migration may change rows of every workspace, under forced policies too. Its tables are in the schema public,
-- though a user may be called nexus, whose own schema nexus would come first.
SELECT set_config('nexus.role', 'system', true), set_config('search_path', 'public', true);

-- name: table_exists
-- Whether anything was ever applied; from the catalogue itself, as what a session remembers of names may be older than
-- the lock that it has just waited for.
SELECT c.oid
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'nexus' AND c.relname = 'migrations';

-- name: applied
SELECT name, checksum FROM nexus.migrations ORDER BY name;

-- name: record
INSERT INTO nexus.migrations (name, checksum) VALUES (:name, :checksum);

-- name: admit_roles
-- Roles belong to the server, not to the database: one that was restored elsewhere may lack them or their rights.
SELECT nexus.admit_roles()
WHERE NOT coalesce(pg_has_role(to_regrole('nexus_app'), 'MEMBER')
                   AND has_table_privilege(to_regrole('nexus_app'), 'public.messages', 'SELECT')
                   AND has_table_privilege(to_regrole('nexus_reader'), 'public.messages', 'SELECT'), false);

-- name: server
-- Major version and the database's encoding.
SELECT CAST(current_setting('server_version_num') AS integer) / 10000 AS major,
       current_setting('server_encoding') AS encoding;
