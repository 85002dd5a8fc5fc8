"""Statements of bench.ledger: a year of runs, the same answers from raw rows, the bare table."""

# What is built anew after the load: every index of the ledger that is not a constraint's.
INDEXES = """
SELECT format('%I.%I', n.nspname, c.relname), pg_get_indexdef(i.indexrelid)
FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE i.indrelid IN ('public.assistant_runs'::regclass, 'public.conversations'::regclass) AND NOT i.indisunique
"""

# 8 models, 8 profiles, 300 people, 12 projects, 40 agents, 4,000 tasks, 12 runs a conversation; busy hours on
# weekdays, growth over the year, 2 % failures, retries, one model without a price.
FILL = (
    "UPDATE workspaces SET time_zone = %(zone)s WHERE id = %(workspace)s",
    """
CREATE TABLE public.bench_models (n, model, provider, runtime, profile, input, output, ms, share) AS VALUES
  (1, 'openai/gpt-4o-mini', 'openai', 'remote', 'fast', 0.15, 0.6, 1400, 0.38),
  (2, 'openai/gpt-4o', 'openai', 'remote', 'balanced', 2.5, 10.0, 2600, 0.58),
  (3, 'anthropic/claude-sonnet-4-5', 'anthropic', 'remote', 'careful', 3.0, 15.0, 4200, 0.75),
  (4, 'anthropic/claude-haiku-4-5', 'anthropic', 'remote', 'quick', 1.0, 5.0, 1100, 0.85),
  (5, 'gemini/gemini-2.5-flash', 'gemini', 'remote', 'wide', 0.3, 2.5, 1700, 0.92),
  (6, 'mistral/mistral-large-latest', 'mistral', 'remote', 'european', 2.0, 6.0, 2300, 0.96),
  (7, 'ollama/llama3.1', 'ollama', 'local', 'local', 0.0, 0.0, 6500, 0.994),
  (8, 'openai/in-house-preview', 'openai', 'remote', 'preview', NULL, NULL, 2000, 1.0)
""",
    """
INSERT INTO people (id, email, name)
SELECT md5('person' || n)::uuid, 'person' || n || '@example.com', 'Person ' || n FROM generate_series(1, 300) n
""",
    """
INSERT INTO memberships (workspace_id, user_id, role)
SELECT %(workspace)s, md5('person' || n)::uuid, 'operator' FROM generate_series(1, 300) n
""",
    """
INSERT INTO projects (workspace_id, id, name)
SELECT %(workspace)s, md5('project' || n)::uuid, 'Project ' || n FROM generate_series(1, 12) n
""",
    """
INSERT INTO agents (workspace_id, id, name)
SELECT %(workspace)s, md5('agent' || n)::uuid, 'Agent ' || n FROM generate_series(1, 40) n
""",
    """
INSERT INTO tasks (workspace_id, id, project_id, title, status, created_at, closed_at)
SELECT %(workspace)s, md5('task' || n)::uuid, md5('project' || 1 + n %% 12)::uuid, 'Task ' || n,
       CASE WHEN n < 3600 THEN 'done' ELSE 'open' END,
       %(now)s - interval '365 days' * (1 - n / 4000.0),
       CASE WHEN n < 3600 THEN %(now)s - interval '365 days' * (1 - n / 4000.0) + interval '12 days' END
FROM generate_series(1, 4000) n
""",
    # Conversations in the order of time, the newest first: each hour gets its share of them, and what is over the
    # wanted number of rows is cut off at the far end of the year.
    """
CREATE TABLE public.bench_hours AS
SELECT at, weight / sum(weight) OVER () * (%(rows)s / 12.0) AS wanted
FROM (
  SELECT at, (1 + 0.6 * (1 - extract(epoch FROM %(now)s - at) / 31536000))
             * CASE WHEN extract(isodow FROM at AT TIME ZONE %(zone)s) > 5 THEN 0.25 ELSE 1 END
             * CASE WHEN extract(hour FROM at AT TIME ZONE %(zone)s) BETWEEN 8 AND 19 THEN 1.0
                    WHEN extract(hour FROM at AT TIME ZONE %(zone)s) BETWEEN 6 AND 22 THEN 0.35 ELSE 0.06 END AS weight
  FROM generate_series(date_trunc('hour', %(now)s) - interval '1 hour',
                       date_trunc('hour', %(now)s) - interval '365 days', interval '-1 hour') at
) hours
""",
    """
CREATE TABLE public.bench_conversations AS
SELECT row_number() OVER () AS n, c.*,
       CASE WHEN c.place < 0.25 THEN md5('project' || 1 + c.task %% 12)::uuid
            WHEN c.place < 0.7 THEN md5('project' || 1 + c.work %% 12)::uuid END AS project_id,
       CASE WHEN c.place < 0.25 THEN md5('task' || c.task)::uuid END AS task_id,
       CASE WHEN c.place < 0.55 OR c.place > 0.8 THEN md5('agent' || 1 + (c.work / 3) %% 40)::uuid END AS agent_id
FROM (
  SELECT h.at + random() * interval '1 hour' AS at, random() AS place, floor(random() * 100000)::int AS work,
         greatest(1, least(4000, ceil(4000 * (1 - extract(epoch FROM %(now)s - h.at) / 31536000)
                                      - random() * 130)))::int AS task,
         md5('person' || 1 + floor(300 * power(random(), 1.6)))::uuid AS user_id, random() AS pick
  FROM public.bench_hours h
  CROSS JOIN generate_series(1, floor(h.wanted + random())::int)
) c
""",
    """
INSERT INTO conversations (workspace_id, id, user_id, project_id, task_id, agent_id, title, title_source, created_at,
                           updated_at, last_message_at)
SELECT %(workspace)s, md5('conversation' || n)::uuid, user_id, project_id, task_id, agent_id, 'Conversation ' || n,
       'question', at, at, at
FROM public.bench_conversations
""",
    """
INSERT INTO assistant_runs (
  workspace_id, id, request_id, attempt, kind, project_id, task_id, conversation_id, agent_id, user_id, prompt_summary,
  response_summary, model, served_model, provider, runtime, profile_slug, status, input_tokens, cached_tokens,
  output_tokens, reasoning_tokens, usage_source, cost_estimate, cost_source, price_version, duration_ms, first_token_ms,
  error_type, created_at, started_at, finished_at)
SELECT %(workspace)s, (r.stamp || '7' || substr(r.hash, 1, 3) || '8' || substr(r.hash, 4, 15))::uuid,
       (r.request || '7' || substr(r.seed, 1, 3) || '8' || substr(r.seed, 4, 15))::uuid, r.attempt,
       CASE WHEN r.luck < 0.94 THEN 'answer' WHEN r.luck < 0.98 THEN 'summary' ELSE 'proposal' END,
       r.project_id, r.task_id, md5('conversation' || r.n)::uuid, r.agent_id, r.user_id,
       CASE WHEN r.project_id IS NOT NULL THEN 'Where did we leave the discount for the northern region?' END,
       CASE WHEN r.project_id IS NOT NULL THEN 'We decided on twelve per cent in May; the northern team agreed.' END,
       m.model, CASE WHEN r.status = 'succeeded' THEN m.model END, m.provider, m.runtime, m.profile, r.status,
       CASE WHEN r.status = 'succeeded' THEN r.input END, CASE WHEN r.status = 'succeeded' THEN r.input / 3 END,
       CASE WHEN r.status = 'succeeded' THEN r.output END,
       CASE WHEN r.status = 'succeeded' AND m.n = 3 THEN r.output / 4 END,
       CASE WHEN r.status = 'succeeded' THEN 'provider' ELSE 'none' END,
       CASE WHEN r.status = 'succeeded' THEN (r.input * m.input + r.output * m.output)::numeric / 1000000 END,
       CASE WHEN r.status = 'succeeded' AND m.input IS NOT NULL THEN 'litellm' END,
       CASE WHEN r.status = 'succeeded' AND m.input IS NOT NULL THEN 'litellm 1.110.2' END,
       r.ms, CASE WHEN r.status = 'succeeded' THEN r.ms / 4 END,
       CASE WHEN r.status = 'failed' THEN 'rate_limit' END, r.at, r.at, r.at + r.ms * interval '1 ms'
FROM (
  SELECT a.*, CASE WHEN a.attempt < a.attempts OR a.luck < 0.005 THEN 'failed' ELSE 'succeeded' END AS status,
         greatest(20, exp(6.7 + 0.9 * a.normal))::bigint AS input,
         greatest(5, exp(5.2 + 0.8 * a.other))::bigint AS output,
         lpad(to_hex((extract(epoch FROM a.at) * 1000)::bigint), 12, '0') AS stamp,
         lpad(to_hex((extract(epoch FROM a.asked) * 1000)::bigint), 12, '0') AS request,
         md5(a.n || 'x' || a.step || 'y' || a.attempt) AS hash,
         md5(a.n || 'x' || a.step) AS seed
  FROM (
    SELECT c.n, c.project_id, c.task_id, c.agent_id, c.user_id, c.pick, s.step, t.attempt, s.attempts,
           c.at + s.step * interval '150 seconds' AS asked,
           c.at + s.step * interval '150 seconds' + (t.attempt - 1) * interval '3 seconds' AS at,
           random() AS luck, sqrt(-2 * ln(1 - random())) * cos(6.2831853 * random()) AS normal,
           sqrt(-2 * ln(1 - random())) * cos(6.2831853 * random()) AS other,
           greatest(40, (SELECT b.ms FROM public.bench_models b WHERE b.share >= c.pick ORDER BY b.n LIMIT 1)
                        * exp(0.7 * sqrt(-2 * ln(1 - random())) * cos(6.2831853 * random())))::bigint AS ms
    FROM public.bench_conversations c
    CROSS JOIN LATERAL (SELECT step, CASE WHEN random() < 0.015 THEN 2 ELSE 1 END AS attempts
                        FROM generate_series(1, 4 + (c.work %% 17)) step) s
    CROSS JOIN LATERAL generate_series(1, s.attempts) AS t (attempt)
  ) a
) r
JOIN public.bench_models m ON m.n = (SELECT b.n FROM public.bench_models b WHERE b.share >= r.pick ORDER BY b.n LIMIT 1)
LIMIT %(rows)s
""",
    # A mark for each conversation, which the refresh then sums up as it does every day.
    """
INSERT INTO run_marks (workspace_id, at, conversation_id)
SELECT %(workspace)s, date_trunc('hour', at), md5('conversation' || n)::uuid FROM public.bench_conversations
""",
    "DROP TABLE public.bench_models, public.bench_hours, public.bench_conversations",
)

SOME = """
SELECT id, project_id, agent_id, user_id FROM conversations
WHERE workspace_id = %(workspace)s ORDER BY created_at DESC LIMIT 2000
"""
BARE = """
CREATE SCHEMA bare;
CREATE TABLE bare.assistant_runs (LIKE public.assistant_runs INCLUDING ALL);
GRANT USAGE ON SCHEMA bare TO nexus_app;
GRANT INSERT ON bare.assistant_runs TO nexus_app;
"""
_COLUMNS = """(workspace_id, id, request_id, project_id, conversation_id, agent_id, user_id, served_model, model,
  provider, runtime, profile_slug, status, input_tokens, output_tokens, usage_source, cost_estimate, cost_source,
  price_version, duration_ms, first_token_ms, created_at, started_at, finished_at)
VALUES (%(workspace)s, %(id)s, %(request)s, %(project)s, %(conversation)s, %(agent)s, %(user)s, 'bench',
  'openai/gpt-4o', 'openai', 'remote', 'fast', 'succeeded', 900, 120, 'provider', 0.00123, 'litellm', 'litellm 1.110.2',
  1200, 300, %(at)s, %(at)s, %(at)s)"""
INSERT = {schema: f"INSERT INTO {schema}.assistant_runs {_COLUMNS}" for schema in ("public", "bare")}
UNDO = """
DELETE FROM assistant_runs WHERE workspace_id = %(workspace)s AND served_model = 'bench'
"""

COVERING = """
CREATE INDEX bench_covering ON assistant_runs (workspace_id, created_at) INCLUDE (
  kind, provider, model, runtime, profile_slug, status, agent_id, task_id, conversation_id, attempt, cost_estimate,
  input_tokens, cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens, duration_ms, first_token_ms,
  stopped)
"""
_IN = "workspace_id = %(workspace)s AND created_at >= %(from)s AND created_at < %(to)s"
_BEFORE = "workspace_id = %(workspace)s AND created_at >= %(before_from)s AND created_at < %(before_to)s"
_BUCKET = "date_trunc(%(grain)s, created_at, %(zone)s)"
_FIGURES = """count(*), count(*) FILTER (WHERE attempt = 1), count(cost_estimate), sum(cost_estimate),
  sum(input_tokens), sum(cached_tokens), sum(cache_write_tokens), sum(output_tokens), sum(reasoning_tokens),
  count(*) FILTER (WHERE attempt > 1), sum(cost_estimate) FILTER (WHERE attempt > 1),
  sum(cost_estimate) FILTER (WHERE conversation_id IS NOT NULL), count(*) FILTER (WHERE stopped)"""
_TIMES = """percentile_disc('{0.5,0.95,0.99}'::float8[]) WITHIN GROUP (ORDER BY duration_ms),
  percentile_disc('{0.5,0.95,0.99}'::float8[]) WITHIN GROUP (ORDER BY first_token_ms)"""
RAW = (
    f"SELECT {_BUCKET}, kind, provider, model, runtime, profile_slug, status, {_FIGURES} FROM assistant_runs"
    f" WHERE {_IN} GROUP BY 1, 2, 3, 4, 5, 6, 7",
    f"SELECT kind, provider, model, runtime, profile_slug, status, {_FIGURES} FROM assistant_runs"
    f" WHERE {_BEFORE} GROUP BY 1, 2, 3, 4, 5, 6",
    f"SELECT {_BUCKET}, {_TIMES} FROM assistant_runs WHERE {_IN} GROUP BY 1",
    f"SELECT {_TIMES} FROM assistant_runs WHERE {_IN}",
    f"SELECT {_TIMES} FROM assistant_runs WHERE {_BEFORE}",
    "SELECT extract(isodow FROM created_at AT TIME ZONE %(zone)s), extract(hour FROM created_at AT TIME ZONE %(zone)s),"
    f" count(*), sum(cost_estimate) FROM assistant_runs WHERE {_IN} GROUP BY 1, 2",
    f"SELECT agent_id, {_FIGURES} FROM assistant_runs WHERE {_IN} GROUP BY 1",
    f"SELECT task_id, {_FIGURES} FROM assistant_runs WHERE {_IN} GROUP BY 1",
    f"SELECT conversation_id, sum(cost_estimate) FROM assistant_runs WHERE {_IN} AND conversation_id IS NOT NULL"
    " GROUP BY 1 ORDER BY 2 DESC NULLS LAST LIMIT 10",
    f"SELECT count(DISTINCT conversation_id) FROM assistant_runs WHERE {_IN}",
    "SELECT sum(r.cost_estimate), count(DISTINCT t.id) FROM tasks t JOIN assistant_runs r"
    " ON r.workspace_id = t.workspace_id AND r.task_id = t.id WHERE t.workspace_id = %(workspace)s"
    " AND t.status = 'done' AND t.closed_at >= %(from)s"
    " AND t.closed_at < %(to)s",
    "SELECT date_trunc('day', created_at, %(zone)s), sum(cost_estimate) FROM assistant_runs"
    " WHERE workspace_id = %(workspace)s AND created_at >= %(history)s GROUP BY 1",
)
