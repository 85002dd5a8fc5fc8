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
