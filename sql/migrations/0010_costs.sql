-- What runs cost: an exact rollup of the ledger, own prices, re-pricing, budgets and saved views.

-- Reports page by time within one dimension; deleting a project, task, agent or person finds its runs by these too.
CREATE INDEX assistant_runs_agent_idx ON assistant_runs (workspace_id, agent_id, created_at DESC, id DESC)
  WHERE agent_id IS NOT NULL;
CREATE INDEX assistant_runs_user_idx ON assistant_runs (workspace_id, user_id, created_at DESC, id DESC)
  WHERE user_id IS NOT NULL;
CREATE INDEX assistant_runs_status_idx ON assistant_runs (workspace_id, status, created_at DESC, id DESC)
  WHERE status <> 'succeeded';

-- NULL: every value; an array that holds NULL also wants the rows that have none. Inlined by the planner, which then
-- sees nothing, one plain equality (whose index has an order), or a list.
CREATE FUNCTION nexus.wanted(p_value anycompatible, p_values anycompatiblearray) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT p_values IS NULL
      OR (cardinality(p_values) = 1 AND p_value = p_values[1]) OR (cardinality(p_values) <> 1 AND p_value = ANY (p_values))
      OR (array_position(p_values, NULL) IS NOT NULL AND p_value IS NULL)
$$;

-- Slot i > 0 holds the times in (g^(i-2), g^(i-1)] ms with g = 1.02 / 0.98, slot 0 holds 0 ms: read back at its middle
-- a time is off by 2 % at most (DDSketch, Masson et al., VLDB 2019). Counts of slots add up; percentiles do not.
CREATE FUNCTION nexus.time_slot(p_ms bigint) RETURNS smallint LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN p_ms > 0 THEN CAST(ceil(ln(CAST(p_ms AS double precision)) / 0.040005334613699206) + 1 AS smallint)
              WHEN p_ms = 0 THEN CAST(0 AS smallint) END;

-- What one run adds to every report: the only statement of what the figures mean.
CREATE VIEW run_figures WITH (security_invoker = true) AS
  SELECT workspace_id, id, created_at, kind, provider, model, runtime, profile_slug, status, project_id, task_id,
         conversation_id, agent_id, user_id, duration_ms, first_token_ms,
         CAST(1 AS bigint) AS runs,
         CASE WHEN attempt = 1 THEN CAST(1 AS bigint) ELSE 0 END AS requests,
         CASE WHEN cost_estimate IS NOT NULL THEN CAST(1 AS bigint) ELSE 0 END AS priced,
         CASE WHEN cost_estimate IS NULL AND status IN ('succeeded', 'failed') THEN CAST(1 AS bigint) ELSE 0 END AS unpriced,
         CASE WHEN (input_tokens IS NULL OR output_tokens IS NULL) AND status IN ('succeeded', 'failed')
              THEN CAST(1 AS bigint) ELSE 0 END AS without_usage,
         cost_estimate AS cost, input_tokens, cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens,
         CASE WHEN cost_estimate IS NULL THEN 0 ELSE coalesce(input_tokens, 0) + coalesce(output_tokens, 0) END AS priced_tokens,
         CASE WHEN attempt > 1 THEN CAST(1 AS bigint) ELSE 0 END AS retries,
         CASE WHEN attempt > 1 THEN cost_estimate END AS retry_cost,
         CASE WHEN conversation_id IS NOT NULL THEN cost_estimate END AS conversation_cost,
         CASE WHEN stopped THEN CAST(1 AS bigint) ELSE 0 END AS stopped
  FROM assistant_runs;

-- Every change of a run leaves a mark of its own in the same transaction: whoever sees the change sees the mark, and
-- nobody waits for anybody. Stretches without a mark are read from the rollup, the others from the runs.
CREATE TABLE run_marks (
  workspace_id uuid NOT NULL,
  at timestamptz NOT NULL,
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  conversation_id uuid,
  PRIMARY KEY (workspace_id, at, id)
);
COMMENT ON TABLE run_marks IS 'hours (UTC) and conversations in which a run was changed since they were last summed up';

-- Runs come one by one, for which a row trigger is the cheaper one; many are changed or deleted by one statement.
CREATE FUNCTION nexus.mark_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO public.run_marks (workspace_id, at, conversation_id)
  VALUES (NEW.workspace_id, date_trunc('hour', NEW.created_at, 'UTC'), NEW.conversation_id);
  RETURN NULL;
END
$$;
CREATE FUNCTION nexus.mark_runs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    INSERT INTO public.run_marks (workspace_id, at, conversation_id)
    SELECT r.workspace_id, r.at, r.conversation_id
    FROM (SELECT workspace_id, date_trunc('hour', created_at, 'UTC') AS at, conversation_id FROM old_runs
          UNION
          SELECT workspace_id, date_trunc('hour', created_at, 'UTC'), conversation_id FROM new_runs) r
    WHERE EXISTS (SELECT FROM public.workspaces w WHERE w.id = r.workspace_id);
  ELSE
    INSERT INTO public.run_marks (workspace_id, at, conversation_id)
    SELECT DISTINCT r.workspace_id, date_trunc('hour', r.created_at, 'UTC'), r.conversation_id FROM old_runs r
    WHERE EXISTS (SELECT FROM public.workspaces w WHERE w.id = r.workspace_id);
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER assistant_runs_mark_insert AFTER INSERT ON assistant_runs
  FOR EACH ROW EXECUTE FUNCTION nexus.mark_run();
CREATE TRIGGER assistant_runs_mark_update AFTER UPDATE ON assistant_runs
  REFERENCING OLD TABLE AS old_runs NEW TABLE AS new_runs FOR EACH STATEMENT EXECUTE FUNCTION nexus.mark_runs();
CREATE TRIGGER assistant_runs_mark_delete AFTER DELETE ON assistant_runs
  REFERENCING OLD TABLE AS old_runs FOR EACH STATEMENT EXECUTE FUNCTION nexus.mark_runs();

CREATE FUNCTION nexus.forget_marks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM public.run_marks WHERE workspace_id = OLD.id;
  RETURN NULL;
END
$$;
-- A foreign key would do the same and cost every run a look at its workspace.
CREATE TRIGGER workspaces_forget_marks AFTER DELETE ON workspaces
  FOR EACH ROW EXECUTE FUNCTION nexus.forget_marks();

CREATE TABLE run_units (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  from_at timestamptz NOT NULL,
  to_at timestamptz NOT NULL,
  whole boolean NOT NULL,
  refreshed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (workspace_id, from_at, to_at),
  CHECK (to_at > from_at)
);
COMMENT ON TABLE run_units IS
  'days, and hours of days, that are summed up; those of another time zone have other ends and are not used';
COMMENT ON COLUMN run_units.whole IS 'false: an hour of a closed day, with its model cube and its timings alone';

-- One row per unit and combination of the dimensions of its cube; those of the other cubes are NULL. A NULL within a
-- cube stands for the runs that have none.
CREATE TABLE run_rollup (
  workspace_id uuid NOT NULL,
  from_at timestamptz NOT NULL,
  to_at timestamptz NOT NULL,
  cube text NOT NULL CHECK (cube IN ('all', 'clock', 'model', 'project', 'work', 'agent', 'person', 'task')),
  n integer NOT NULL,
  hour smallint,
  kind text,
  provider text,
  model text,
  runtime text,
  profile_slug text,
  status text,
  project_id uuid,
  task_id uuid,
  agent_id uuid,
  user_id uuid,
  runs bigint NOT NULL,
  requests bigint NOT NULL,
  priced bigint NOT NULL,
  unpriced bigint NOT NULL,
  without_usage bigint NOT NULL,
  cost numeric,
  input_tokens bigint,
  cached_tokens bigint,
  cache_write_tokens bigint,
  output_tokens bigint,
  reasoning_tokens bigint,
  priced_tokens bigint NOT NULL,
  retries bigint NOT NULL,
  retry_cost numeric,
  conversation_cost numeric,
  stopped bigint NOT NULL,
  PRIMARY KEY (workspace_id, from_at, to_at, cube, n),
  FOREIGN KEY (workspace_id, from_at, to_at) REFERENCES run_units (workspace_id, from_at, to_at) ON DELETE CASCADE
);
COMMENT ON COLUMN run_rollup.cost IS 'US dollars of the runs with a price; NULL: none has one';

CREATE TABLE run_timings (
  workspace_id uuid NOT NULL,
  from_at timestamptz NOT NULL,
  to_at timestamptz NOT NULL,
  cube text NOT NULL CHECK (cube IN ('all', 'model', 'project')),
  n integer NOT NULL,
  kind text,
  provider text,
  model text,
  runtime text,
  profile_slug text,
  status text,
  project_id uuid,
  measure text NOT NULL CHECK (measure IN ('duration', 'first_token')),
  slots smallint[] NOT NULL,
  counts bigint[] NOT NULL,
  PRIMARY KEY (workspace_id, from_at, to_at, cube, n),
  FOREIGN KEY (workspace_id, from_at, to_at) REFERENCES run_units (workspace_id, from_at, to_at) ON DELETE CASCADE,
  CHECK (cardinality(slots) = cardinality(counts))
);
COMMENT ON TABLE run_timings IS 'how many runs took how long, in slots of nexus.time_slot; they merge by adding';

-- What a report is added up from: rows of the rollup for the units that are clean, and runs for every other stretch
-- of time. Each comes with the number of the bucket that it falls into. Inlined by the planner.
CREATE FUNCTION nexus.run_pieces(
  p_workspace uuid, p_cube text, p_unit_from timestamptz[], p_unit_to timestamptz[], p_unit_buckets integer[],
  p_from timestamptz[], p_to timestamptz[], p_buckets integer[],
  p_kinds text[], p_providers text[], p_models text[], p_runtimes text[], p_profiles text[], p_statuses text[],
  p_projects uuid[], p_tasks uuid[], p_agents uuid[], p_people uuid[], p_conversations uuid[]
) RETURNS TABLE (
  bucket integer, hour smallint, kind text, provider text, model text, runtime text, profile_slug text, status text,
  project_id uuid, task_id uuid, agent_id uuid, user_id uuid,
  runs bigint, requests bigint, priced bigint, unpriced bigint, without_usage bigint, cost numeric, input_tokens bigint,
  cached_tokens bigint, cache_write_tokens bigint, output_tokens bigint, reasoning_tokens bigint, priced_tokens bigint,
  retries bigint, retry_cost numeric, conversation_cost numeric, stopped bigint
) LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT u.bucket, f.hour, f.kind, f.provider, f.model, f.runtime, f.profile_slug, f.status,
         f.project_id, f.task_id, f.agent_id, f.user_id,
         f.runs, f.requests, f.priced, f.unpriced, f.without_usage, f.cost, f.input_tokens, f.cached_tokens, f.cache_write_tokens, f.output_tokens,
         f.reasoning_tokens, f.priced_tokens, f.retries, f.retry_cost, f.conversation_cost, f.stopped
  FROM unnest(p_unit_from, p_unit_to, p_unit_buckets) AS u (from_at, to_at, bucket)
  JOIN run_rollup f ON f.workspace_id = p_workspace AND f.from_at = u.from_at AND f.to_at = u.to_at AND f.cube = p_cube
  WHERE nexus.wanted(f.kind, p_kinds) AND nexus.wanted(f.provider, p_providers) AND nexus.wanted(f.model, p_models)
    AND nexus.wanted(f.runtime, p_runtimes) AND nexus.wanted(f.profile_slug, p_profiles)
    AND nexus.wanted(f.status, p_statuses) AND nexus.wanted(f.project_id, p_projects)
    AND nexus.wanted(f.task_id, p_tasks) AND nexus.wanted(f.agent_id, p_agents) AND nexus.wanted(f.user_id, p_people)
  UNION ALL
  SELECT i.bucket, NULL, f.kind, f.provider, f.model, f.runtime, f.profile_slug, f.status,
         f.project_id, f.task_id, f.agent_id, f.user_id,
         f.runs, f.requests, f.priced, f.unpriced, f.without_usage, f.cost, f.input_tokens, f.cached_tokens, f.cache_write_tokens, f.output_tokens,
         f.reasoning_tokens, f.priced_tokens, f.retries, f.retry_cost, f.conversation_cost, f.stopped
  FROM unnest(p_from, p_to, p_buckets) AS i (from_at, to_at, bucket)
  -- OFFSET 0: one look into an index per stretch; as a plain join the planner takes every stretch for a ninth of all runs.
  CROSS JOIN LATERAL (
    SELECT f.*
    FROM run_figures f
    WHERE f.workspace_id = p_workspace AND f.created_at >= i.from_at AND f.created_at < i.to_at
      AND nexus.wanted(f.kind, p_kinds) AND nexus.wanted(f.provider, p_providers) AND nexus.wanted(f.model, p_models)
      AND nexus.wanted(f.runtime, p_runtimes) AND nexus.wanted(f.profile_slug, p_profiles)
      AND nexus.wanted(f.status, p_statuses) AND nexus.wanted(f.project_id, p_projects)
      AND nexus.wanted(f.task_id, p_tasks) AND nexus.wanted(f.agent_id, p_agents) AND nexus.wanted(f.user_id, p_people)
      AND nexus.wanted(f.conversation_id, p_conversations)
    OFFSET 0) f
$$;

CREATE TABLE run_conversations (
  workspace_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  runs bigint NOT NULL,
  unpriced bigint NOT NULL,
  cost numeric,
  first_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, conversation_id),
  FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX run_conversations_cost_idx ON run_conversations (workspace_id, cost DESC) INCLUDE (first_at, last_at)
  WHERE cost IS NOT NULL;
CREATE INDEX run_conversations_time_idx ON run_conversations (workspace_id, last_at, first_at);
COMMENT ON TABLE run_conversations IS 'what each conversation cost from its first run to its last; void while a mark names it';

CREATE TABLE model_prices (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  version integer NOT NULL CHECK (version > 0),
  model text NOT NULL CHECK (model <> ''),
  valid_from date NOT NULL,
  input_price numeric(20, 10) CHECK (input_price >= 0 AND input_price <> 'NaN'),
  cached_price numeric(20, 10) CHECK (cached_price >= 0 AND cached_price <> 'NaN'),
  cache_write_price numeric(20, 10) CHECK (cache_write_price >= 0 AND cache_write_price <> 'NaN'),
  output_price numeric(20, 10) CHECK (output_price >= 0 AND output_price <> 'NaN'),
  created_by uuid REFERENCES people (id) ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, version),
  CHECK ((input_price IS NULL) = (output_price IS NULL))
);
CREATE INDEX model_prices_model_idx ON model_prices (workspace_id, model, valid_from DESC, version DESC);
COMMENT ON TABLE model_prices IS
  'US dollars per million tokens from a day on; the highest version of a day holds; no prices: back to the bundled table';

CREATE TABLE repricings (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  models text[],
  from_at timestamptz NOT NULL,
  to_at timestamptz NOT NULL,
  runs bigint NOT NULL DEFAULT 0,
  created_by uuid REFERENCES people (id) ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  undone_by uuid REFERENCES people (id) ON DELETE SET NULL,
  undone_at timestamptz,
  PRIMARY KEY (workspace_id, id),
  CHECK (to_at > from_at)
);

CREATE TABLE repriced_runs (
  workspace_id uuid NOT NULL,
  repricing_id uuid NOT NULL,
  run_id uuid NOT NULL,
  old_cost numeric(20, 10),
  old_source text,
  old_version text,
  new_cost numeric(20, 10),
  new_source text,
  new_version text,
  PRIMARY KEY (workspace_id, repricing_id, run_id),
  FOREIGN KEY (workspace_id, repricing_id) REFERENCES repricings (workspace_id, id) ON DELETE CASCADE,
  FOREIGN KEY (workspace_id, run_id) REFERENCES assistant_runs (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX repriced_runs_run_idx ON repriced_runs (workspace_id, run_id);
COMMENT ON TABLE repriced_runs IS 'what a re-pricing changed: the amount before and after, so that it can be undone';

CREATE TABLE budgets (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  scope text NOT NULL CHECK (scope IN ('workspace', 'project', 'agent', 'person')),
  project_id uuid,
  agent_id uuid,
  user_id uuid REFERENCES people (id) ON DELETE CASCADE,
  amount numeric(20, 10) NOT NULL CHECK (amount >= 0 AND amount <> 'NaN'),
  warn_shares numeric(4, 3)[] NOT NULL DEFAULT '{0.5,0.8,1}',
  blocks boolean NOT NULL DEFAULT true,
  unknown_price text NOT NULL DEFAULT 'warn' CHECK (unknown_price IN ('warn', 'block')),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, project_id) REFERENCES projects (workspace_id, id) ON DELETE CASCADE,
  FOREIGN KEY (workspace_id, agent_id) REFERENCES agents (workspace_id, id) ON DELETE CASCADE,
  CHECK (num_nonnulls(project_id, agent_id, user_id) = CASE WHEN scope = 'workspace' THEN 0 ELSE 1 END),
  CHECK ((scope = 'project') = (project_id IS NOT NULL)),
  CHECK ((scope = 'agent') = (agent_id IS NOT NULL)),
  CHECK ((scope = 'person') = (user_id IS NOT NULL))
);
CREATE UNIQUE INDEX budgets_target_key ON budgets (workspace_id, scope, project_id, agent_id, user_id) NULLS NOT DISTINCT;
COMMENT ON TABLE budgets IS 'US dollars per calendar month of the workspace''s zone';

CREATE TABLE budget_holds (
  workspace_id uuid NOT NULL,
  budget_id uuid NOT NULL,
  request_id uuid NOT NULL,
  amount numeric(20, 10) NOT NULL CHECK (amount >= 0),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (workspace_id, budget_id, request_id),
  FOREIGN KEY (workspace_id, budget_id) REFERENCES budgets (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX budget_holds_request_idx ON budget_holds (workspace_id, request_id);
COMMENT ON TABLE budget_holds IS 'reserved for a request while one of its runs is planned or running; void afterwards';

CREATE TABLE saved_views (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  user_id uuid NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  page text NOT NULL CHECK (page IN ('costs', 'runs', 'audit')),
  name text NOT NULL CHECK (name <> ''),
  query jsonb NOT NULL CHECK (jsonb_typeof(query) = 'object'),
  shared boolean NOT NULL DEFAULT false,
  private_to uuid GENERATED ALWAYS AS (CASE WHEN NOT shared THEN user_id END) STORED,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX saved_views_name_key ON saved_views (workspace_id, user_id, page, lower(name));

-- The same walls as everywhere. What holds figures alone is the workspace's to see; a view of one's own is not.
SELECT nexus.secure(name) FROM unnest(CAST(ARRAY[
  'run_marks', 'run_units', 'run_rollup', 'run_timings', 'run_conversations', 'model_prices', 'repricings',
  'repriced_runs', 'budgets', 'budget_holds'] AS regclass[])) AS name;
SELECT nexus.secure('saved_views', '(private_to IS NULL OR private_to = (SELECT nexus.user_id()))');
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA nexus FROM PUBLIC;
SELECT nexus.admit_roles();
DO $$
BEGIN
  IF to_regrole('nexus_app') IS NOT NULL THEN
    GRANT SELECT ON run_figures TO nexus_app;
    REVOKE UPDATE, DELETE ON model_prices FROM nexus_app;
  END IF;
  IF to_regrole('nexus_reader') IS NOT NULL THEN
    GRANT SELECT ON run_figures, run_marks, run_units, run_rollup, run_timings, run_conversations, model_prices, repricings,
      repriced_runs, budgets, budget_holds, saved_views TO nexus_reader;
    GRANT EXECUTE ON FUNCTION nexus.wanted(anycompatible, anycompatiblearray), nexus.time_slot(bigint) TO nexus_reader;
  END IF;
END
$$;
