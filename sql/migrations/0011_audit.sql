-- The audit's chain: every entry gets a number without gaps and is sealed with the one before it.

CREATE TABLE audit_chain (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  number bigint NOT NULL CHECK (number > 0),
  audit_id uuid NOT NULL,
  hash bytea NOT NULL,
  PRIMARY KEY (workspace_id, number),
  UNIQUE (workspace_id, audit_id),
  FOREIGN KEY (workspace_id, audit_id) REFERENCES audit (workspace_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE audit_chain IS
  'in the order in which the entries were committed; hash: SHA-256 of the hash before it and the entry';
CREATE TRIGGER audit_chain_append_only BEFORE UPDATE OR DELETE ON audit_chain
  FOR EACH ROW EXECUTE FUNCTION nexus.refuse_change();
CREATE TRIGGER audit_chain_no_truncate BEFORE TRUNCATE ON audit_chain
  FOR EACH STATEMENT EXECUTE FUNCTION nexus.refuse_truncate();

CREATE FUNCTION nexus.audit_seal(p_before bytea, p_number bigint, p_entry public.audit) RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT sha256(coalesce(p_before, '') || convert_to(CAST(jsonb_build_array(
    p_number, p_entry.workspace_id, p_entry.id, CAST(extract(epoch FROM p_entry.at) * 1000000 AS bigint), p_entry.user_id,
    p_entry.door, p_entry.action, p_entry.entity, p_entry.entity_id, p_entry.detail) AS text), 'UTF8'));
$$;
COMMENT ON FUNCTION nexus.audit_seal(bytea, bigint, public.audit) IS
  'SHA-256 of the hash before and of the entry as a JSON array; instants in microseconds since 1970';

-- Sealed when the transaction commits, so that the order is the commits' and the chain is held for a moment only.
CREATE FUNCTION nexus.seal_audit() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  last public.audit_chain;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(CAST(NEW.workspace_id AS text), 6398015));
  SELECT * INTO last FROM public.audit_chain WHERE workspace_id = NEW.workspace_id ORDER BY number DESC LIMIT 1;
  INSERT INTO public.audit_chain (workspace_id, number, audit_id, hash)
  VALUES (NEW.workspace_id, coalesce(last.number, 0) + 1, NEW.id,
          nexus.audit_seal(last.hash, coalesce(last.number, 0) + 1, NEW));
  RETURN NULL;
END
$$;

-- What was entered before there was a chain.
DO $$
DECLARE
  entry public.audit;
  last public.audit_chain;
BEGIN
  FOR entry IN SELECT * FROM public.audit ORDER BY workspace_id, at, id LOOP
    IF last.workspace_id IS DISTINCT FROM entry.workspace_id THEN
      last := NULL;
    END IF;
    INSERT INTO public.audit_chain (workspace_id, number, audit_id, hash)
    VALUES (entry.workspace_id, coalesce(last.number, 0) + 1, entry.id,
            nexus.audit_seal(last.hash, coalesce(last.number, 0) + 1, entry))
    RETURNING * INTO last;
  END LOOP;
END
$$;
CREATE CONSTRAINT TRIGGER audit_sealed AFTER INSERT ON audit DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION nexus.seal_audit();

CREATE INDEX audit_user_idx ON audit (workspace_id, user_id, at DESC) WHERE user_id IS NOT NULL;
SELECT nexus.secure('audit_chain');
REVOKE EXECUTE ON FUNCTION nexus.audit_seal(bytea, bigint, public.audit), nexus.seal_audit() FROM PUBLIC;

-- What the application may not do though the policies would let it; each later call of admit_roles keeps to it.
ALTER FUNCTION nexus.admit_roles() RENAME TO admit_to_tables;
CREATE FUNCTION nexus.admit_roles() RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  both boolean := nexus.admit_to_tables();
BEGIN
  IF to_regrole('nexus_app') IS NOT NULL THEN
    REVOKE UPDATE, DELETE ON model_prices FROM nexus_app;
    REVOKE INSERT, UPDATE, DELETE ON audit_chain FROM nexus_app;
    REVOKE EXECUTE ON FUNCTION nexus.admit_to_tables() FROM nexus_app;
  END IF;
  IF to_regrole('nexus_reader') IS NOT NULL THEN
    GRANT SELECT ON audit_chain TO nexus_reader;
    GRANT EXECUTE ON FUNCTION nexus.audit_seal(bytea, bigint, public.audit) TO nexus_reader;
  END IF;
  RETURN both;
END
$$;
REVOKE EXECUTE ON FUNCTION nexus.admit_roles() FROM PUBLIC;
SELECT nexus.admit_roles();
