-- name: server
-- What `python -m nexus_core doctor` says of the server.
SELECT current_setting('server_version') AS version,
       CAST(current_setting('server_version_num') AS integer) / 10000 AS major,
       pg_encoding_to_char(encoding) AS encoding,
       clock_timestamp() AS clock
FROM pg_database
WHERE datname = current_database();

-- name: extensions
-- Every extension that the server could offer.
SELECT name FROM pg_available_extensions;

-- name: profiles
-- Every workspace's profiles of models, the defaults first; for the system's scope.
SELECT name, model, api_base, is_default FROM profiles WHERE model <> 'builtin/recall' ORDER BY is_default DESC, name;
