-- What the Health page looks at: the database's size day by day, and its slow statements where the server keeps them.

CREATE TABLE nexus.sizes (
  day date PRIMARY KEY,
  bytes bigint NOT NULL CHECK (bytes >= 0)
);
COMMENT ON TABLE nexus.sizes IS 'how large the database was on a day (UTC), to see it grow';

DO $$
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_stat_statements;
EXCEPTION
  WHEN insufficient_privilege OR undefined_file OR feature_not_supported OR invalid_schema_name THEN
    RAISE NOTICE 'pg_stat_statements is not here: slow statements are not listed';
END
$$;

CREATE FUNCTION nexus.slow_statements(p_limit integer)
RETURNS TABLE (statement text, calls bigint, mean_ms double precision, total_ms double precision)
LANGUAGE plpgsql STABLE SET search_path = public, pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY EXECUTE
    'SELECT s.query, s.calls, s.mean_exec_time, s.total_exec_time
     FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
     WHERE d.datname = current_database() AND s.calls > 1 AND s.query !~* ''^(create|alter|drop|copy|vacuum|set |begin|commit)''
     ORDER BY s.mean_exec_time DESC LIMIT $1' USING p_limit;
EXCEPTION
  WHEN undefined_table OR object_not_in_prerequisite_state OR insufficient_privilege THEN RETURN;
END
$$;
COMMENT ON FUNCTION nexus.slow_statements(integer) IS
  'the slowest on average, without their parameters; nothing where the server keeps no statistics of them';
REVOKE EXECUTE ON FUNCTION nexus.slow_statements(integer) FROM PUBLIC;
SELECT nexus.admit_roles();
DO $$
BEGIN
  IF to_regrole('nexus_app') IS NOT NULL THEN
    GRANT SELECT, INSERT, UPDATE ON nexus.sizes TO nexus_app;
  END IF;
END
$$;
