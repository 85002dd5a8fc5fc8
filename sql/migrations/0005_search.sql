-- What recall and search look through: a folded copy of what was said, behind functions.
-- Row-level security switches off full-text indexes (their operators are not leakproof), so these tables are read only
-- by functions that take workspace and person from the transaction's settings, never from an argument.

CREATE TABLE message_search (
  workspace_id uuid NOT NULL,
  message_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  project_id uuid,
  private_to uuid,
  space uuid GENERATED ALWAYS AS (coalesce(project_id, private_to)) STORED,
  seq bigint NOT NULL,
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL,
  folded text NOT NULL,
  words tsvector NOT NULL,
  PRIMARY KEY (workspace_id, message_id),
  FOREIGN KEY (workspace_id, message_id) REFERENCES messages (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX message_search_words_idx ON message_search USING gin (words);
CREATE INDEX message_search_space_idx ON message_search (workspace_id, space, created_at DESC);
CREATE INDEX message_search_conversation_idx ON message_search (workspace_id, conversation_id, seq DESC);
COMMENT ON COLUMN message_search.folded IS 'tokens of a bounded prefix, no case, no accents, a space before and after each';
COMMENT ON COLUMN message_search.space IS 'the project, or the person whose own space it is';
COMMENT ON COLUMN message_search.words IS 'tokens, letter pairs of unspaced scripts, ~stems, and #entries for where it is';

CREATE TABLE title_search (
  workspace_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  project_id uuid,
  private_to uuid,
  folded text NOT NULL,
  words tsvector NOT NULL,
  PRIMARY KEY (workspace_id, conversation_id),
  FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX title_search_words_idx ON title_search USING gin (words);

CREATE TABLE message_meaning (
  workspace_id uuid NOT NULL,
  message_id uuid NOT NULL,
  space uuid,
  model text NOT NULL,
  code bit(384) NOT NULL,
  vector bytea NOT NULL,
  PRIMARY KEY (workspace_id, message_id),
  FOREIGN KEY (workspace_id, message_id) REFERENCES message_search (workspace_id, message_id) ON DELETE CASCADE
);
CREATE INDEX message_meaning_space_idx ON message_meaning (workspace_id, space);
-- The vectors are read for the few that are near: out of the way of the codes, all of which are.
ALTER TABLE message_meaning ALTER COLUMN vector SET STORAGE EXTERNAL;
ALTER TABLE message_meaning SET (toast_tuple_target = 128);
COMMENT ON COLUMN message_meaning.code IS 'the signs of the vector: its Hamming distance finds what is near';
COMMENT ON COLUMN message_meaning.vector IS 'float16, little-endian, of length 1';

CREATE TABLE search_queue (
  workspace_id uuid NOT NULL,
  message_id uuid NOT NULL,
  queued_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (workspace_id, message_id),
  FOREIGN KEY (workspace_id, message_id) REFERENCES messages (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX search_queue_queued_idx ON search_queue (queued_at);
COMMENT ON TABLE search_queue IS 'messages to index; the index is kept in the background, so it never blocks an append';

CREATE TABLE title_queue (
  workspace_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  PRIMARY KEY (workspace_id, conversation_id),
  FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversations (workspace_id, id) ON DELETE CASCADE
);

CREATE TABLE meaning_queue (
  workspace_id uuid NOT NULL,
  message_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  claimed_at timestamptz NOT NULL DEFAULT '-infinity',
  PRIMARY KEY (workspace_id, message_id),
  FOREIGN KEY (workspace_id, message_id) REFERENCES message_search (workspace_id, message_id) ON DELETE CASCADE
);
CREATE INDEX meaning_queue_created_idx ON meaning_queue (created_at DESC);

-- Without a policy and without a grant: these four belong to the functions below alone.
ALTER TABLE title_search ENABLE ROW LEVEL SECURITY;
ALTER TABLE message_meaning ENABLE ROW LEVEL SECURITY;
ALTER TABLE title_queue ENABLE ROW LEVEL SECURITY;
ALTER TABLE meaning_queue ENABLE ROW LEVEL SECURITY;

CREATE INDEX conversations_recent_idx ON conversations (workspace_id, last_message_at DESC, id DESC);
CREATE INDEX conversations_title_idx ON conversations (workspace_id, lower(left(title, 100)), id);

CREATE FUNCTION nexus.queue_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO public.search_queue (workspace_id, message_id) VALUES (NEW.workspace_id, NEW.id) ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
CREATE TRIGGER messages_queue_insert AFTER INSERT ON messages
  FOR EACH ROW WHEN (NEW.status <> 'streaming' AND NEW.body <> '') EXECUTE FUNCTION nexus.queue_message();
CREATE TRIGGER messages_queue_update AFTER UPDATE OF body, status ON messages
  FOR EACH ROW WHEN (NEW.status <> 'streaming' AND NEW.body <> '') EXECUTE FUNCTION nexus.queue_message();

-- Another version of an answer is shown: the index follows at once.
CREATE FUNCTION nexus.follow_version() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE message_search SET active = NEW.active WHERE workspace_id = NEW.workspace_id AND message_id = NEW.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER messages_follow_version AFTER UPDATE OF active ON messages
  FOR EACH ROW WHEN (OLD.active <> NEW.active) EXECUTE FUNCTION nexus.follow_version();

CREATE FUNCTION nexus.queue_title() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  INSERT INTO title_queue (workspace_id, conversation_id) VALUES (NEW.workspace_id, NEW.id) ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
CREATE TRIGGER conversations_queue_insert AFTER INSERT ON conversations
  FOR EACH ROW WHEN (NEW.title <> '') EXECUTE FUNCTION nexus.queue_title();
CREATE TRIGGER conversations_queue_update AFTER UPDATE OF title, project_id, user_id ON conversations
  FOR EACH ROW WHEN (OLD.title <> NEW.title OR OLD.place <> NEW.place) EXECUTE FUNCTION nexus.queue_title();

-- Where a row is, as entries of its own words: so one index answers for one project, however large the others are.
CREATE FUNCTION nexus.scope_words(project_id uuid, private_to uuid, workspace_id uuid) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN array_to_tsvector(ARRAY['#s' || encode(uuid_send(coalesce(project_id, private_to)), 'hex')]
    || CASE WHEN private_to IS NULL THEN ARRAY['#w' || encode(uuid_send(workspace_id), 'hex')] ELSE ARRAY[]::text[] END);

CREATE FUNCTION nexus.place_words() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    NEW.words := ts_delete(NEW.words, tsvector_to_array(nexus.scope_words(OLD.project_id, OLD.private_to, OLD.workspace_id)));
    IF TG_TABLE_NAME = 'message_search' THEN
      UPDATE message_meaning SET space = coalesce(NEW.project_id, NEW.private_to)
        WHERE workspace_id = NEW.workspace_id AND message_id = NEW.message_id;
    END IF;
  END IF;
  NEW.words := NEW.words || nexus.scope_words(NEW.project_id, NEW.private_to, NEW.workspace_id);
  RETURN NEW;
END
$$;
CREATE TRIGGER message_search_place BEFORE INSERT OR UPDATE OF project_id, private_to, words ON message_search
  FOR EACH ROW EXECUTE FUNCTION nexus.place_words();
CREATE TRIGGER title_search_place BEFORE INSERT OR UPDATE OF project_id, private_to, words ON title_search
  FOR EACH ROW EXECUTE FUNCTION nexus.place_words();

-- Indexes one message; an update of the same message takes its place.
CREATE FUNCTION nexus.index_message(p_workspace uuid, p_message uuid, p_folded text, p_words text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  INSERT INTO message_search
    (workspace_id, message_id, conversation_id, project_id, private_to, seq, active, created_at, folded, words)
  SELECT m.workspace_id, m.id, m.conversation_id, c.project_id, m.private_to, m.seq, m.active, m.created_at, p_folded,
         CAST(p_words AS tsvector)
  FROM messages m
  JOIN conversations c ON c.workspace_id = m.workspace_id AND c.id = m.conversation_id
  WHERE m.workspace_id = p_workspace AND m.id = p_message
    AND (nexus.is_system() OR m.workspace_id = nexus.workspace_id())
  ON CONFLICT (workspace_id, message_id) DO UPDATE
    SET conversation_id = EXCLUDED.conversation_id, project_id = EXCLUDED.project_id,
        private_to = EXCLUDED.private_to, seq = EXCLUDED.seq, active = EXCLUDED.active, folded = EXCLUDED.folded,
        words = EXCLUDED.words;
  INSERT INTO meaning_queue (workspace_id, message_id, created_at)
  SELECT s.workspace_id, s.message_id, s.created_at FROM message_search s
  WHERE s.workspace_id = p_workspace AND s.message_id = p_message
    AND (nexus.is_system() OR s.workspace_id = nexus.workspace_id())
  ON CONFLICT (workspace_id, message_id) DO UPDATE SET claimed_at = '-infinity'
$$;

CREATE FUNCTION nexus.index_title(p_workspace uuid, p_conversation uuid, p_folded text, p_words text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  INSERT INTO title_search (workspace_id, conversation_id, project_id, private_to, folded, words)
  SELECT c.workspace_id, c.id, c.project_id, c.private_to, p_folded, CAST(p_words AS tsvector)
  FROM conversations c
  WHERE c.workspace_id = p_workspace AND c.id = p_conversation AND nexus.is_system()
  ON CONFLICT (workspace_id, conversation_id) DO UPDATE
    SET project_id = EXCLUDED.project_id, private_to = EXCLUDED.private_to, folded = EXCLUDED.folded,
        words = EXCLUDED.words;
  DELETE FROM title_queue WHERE workspace_id = p_workspace AND conversation_id = p_conversation AND nexus.is_system()
$$;

-- Titles that wait; another process's are passed over.
CREATE FUNCTION nexus.waiting_titles(p_limit integer) RETURNS TABLE (workspace_id uuid, conversation_id uuid, title text)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT c.workspace_id, c.id, c.title
  FROM title_queue q
  JOIN conversations c ON c.workspace_id = q.workspace_id AND c.id = q.conversation_id
  WHERE nexus.is_system()
  LIMIT p_limit
  FOR UPDATE OF q SKIP LOCKED
$$;

-- The messages that may match, at most p_limit of them: from the index alone, whatever the planner would rather do.
-- Not a security definer, for it looks everywhere: only the functions below, which are, may read the table through it.
CREATE FUNCTION nexus.sieve_messages(p_words tsquery, p_limit integer) RETURNS SETOF message_search
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_indexscan = off
SET jit = off AS $$
  SELECT s.* FROM message_search s WHERE s.words @@ p_words LIMIT p_limit
$$;

-- What a list of conversations is narrowed by; NULL narrows nothing.
CREATE TYPE nexus.conversation_filter AS (
  project_id uuid, outside boolean, agent_id uuid, just_chat boolean, kind text, status text, tag_id uuid, person uuid,
  since timestamptz, until timestamptz
);

-- The entry of a place: a space ('s': a project, or a person's own) or what all of a workspace may see ('w').
CREATE FUNCTION nexus.place_entry(kind text, id uuid) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CAST(quote_literal('#' || kind || encode(uuid_send(id), 'hex')) AS tsquery);

-- Whether a conversation fits a filter and is this person's to see.
CREATE FUNCTION nexus.fits(c conversations, f nexus.conversation_filter) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT c.workspace_id = nexus.workspace_id() AND c.deleted_at IS NULL
    AND (c.private_to IS NULL OR c.private_to = nexus.user_id())
    AND (f.project_id IS NULL OR c.project_id = f.project_id)
    AND (f.outside IS NOT TRUE OR c.project_id IS NULL)
    AND (f.agent_id IS NULL OR c.agent_id = f.agent_id)
    AND (f.just_chat IS NOT TRUE OR c.agent_id IS NULL)
    AND (f.kind IS NULL OR c.kind = f.kind)
    AND (f.status IS NULL OR c.status = f.status)
    AND (f.person IS NULL OR c.user_id = f.person)
    AND (f.since IS NULL OR c.last_message_at >= f.since)
    AND (f.until IS NULL OR c.last_message_at < f.until)
$$;

-- The names of a conversation's tags, for who may see it; under row-level security each page would read all
-- conversations for the policy of their tags.
CREATE FUNCTION nexus.tag_names(p_conversation uuid) RETURNS text[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT ARRAY(
    SELECT t.name
    FROM conversations c
    JOIN conversation_tags ct ON ct.workspace_id = c.workspace_id AND ct.conversation_id = c.id
    JOIN tags t ON t.workspace_id = ct.workspace_id AND t.id = ct.tag_id
    WHERE c.workspace_id = nexus.workspace_id() AND c.id = p_conversation
      AND (c.private_to IS NULL OR c.private_to = nexus.user_id())
    ORDER BY lower(t.name))
$$;

-- Looks through the conversations that fit, newest first, until p_messages were read or p_hits were found; one after
-- another (not EXISTS, which the planner may answer for all of them at once).
-- Not a security definer: only the function below, which is, may read the search tables through it.
CREATE FUNCTION nexus.walk_conversations(
  p_words tsquery, p_sequences text[], p_phrase text, f nexus.conversation_filter, p_messages integer, p_hits integer
) RETURNS TABLE (id uuid, title text, last_message_at timestamptz, tier integer)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET jit = off SET enable_seqscan = off
SET enable_bitmapscan = off AS $$
  SELECT w.id, w.title, w.last_message_at,
         CASE WHEN p_phrase IS NOT NULL AND coalesce(
                (SELECT true FROM message_search s
                 WHERE s.workspace_id = nexus.workspace_id() AND s.conversation_id = w.id AND s.active
                   AND s.words @@ p_words AND strpos(s.folded, p_phrase) > 0 LIMIT 1),
                (SELECT true FROM title_search t
                 WHERE t.workspace_id = nexus.workspace_id() AND t.conversation_id = w.id
                   AND t.words @@ p_words AND strpos(t.folded, p_phrase) > 0)) THEN 2
              WHEN (SELECT true FROM title_search t
                    WHERE t.workspace_id = nexus.workspace_id() AND t.conversation_id = w.id AND t.words @@ p_words
                      AND t.folded LIKE ALL (p_sequences)) THEN 1
              ELSE 0 END
  FROM (
    SELECT c.id, c.title, c.last_message_at, sum(c.next_seq) OVER (
      ORDER BY c.last_message_at DESC, c.id DESC ROWS UNBOUNDED PRECEDING) - c.next_seq AS before
    FROM conversations c
    WHERE c.workspace_id = nexus.workspace_id() AND nexus.fits(c, f)
      AND ((f).tag_id IS NULL OR EXISTS (
        SELECT FROM conversation_tags t
        WHERE t.workspace_id = c.workspace_id AND t.conversation_id = c.id AND t.tag_id = (f).tag_id))
    ORDER BY c.last_message_at DESC, c.id DESC
    LIMIT 1000
  ) w
  WHERE w.before < p_messages AND (
    (SELECT true FROM message_search s
     WHERE s.workspace_id = nexus.workspace_id() AND s.conversation_id = w.id AND s.active AND s.words @@ p_words
       AND s.folded LIKE ALL (p_sequences) LIMIT 1) IS NOT NULL
    OR (SELECT true FROM title_search t
        WHERE t.workspace_id = nexus.workspace_id() AND t.conversation_id = w.id AND t.words @@ p_words
          AND t.folded LIKE ALL (p_sequences)) IS NOT NULL)
  ORDER BY w.last_message_at DESC, w.id DESC
  LIMIT p_hits
$$;

-- The conversations that a search finds. `tier`: 2 for the whole phrase, 1 for a title, 0 for words in any order.
-- First the newest 4,000 messages of what fits are looked through. If that was everything, or if the words are rare,
-- all that there is is found, in the index. Words that three of these conversations have are common: then ranking 200,000
-- rows would help nobody, so the newest 10,000 messages give up to 100 hits, and `complete` is false.
CREATE FUNCTION nexus.find_conversations(
  p_words text, p_sequences text[], p_phrase text, f nexus.conversation_filter
) RETURNS TABLE (id uuid, title text, last_message_at timestamptz, tier integer, complete boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET jit = off
SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  workspace uuid := nexus.workspace_id();
  own tsquery := nexus.place_entry('s', nexus.user_id());
  asked tsquery := CAST(p_words AS tsquery);
  everything boolean;
  near bigint;
  matched uuid[];
  named uuid[];
BEGIN
  SELECT count(*) < 400 AND coalesce(sum(c.next_seq), 0) < 4000 INTO everything
  FROM (SELECT c.next_seq FROM conversations c WHERE c.workspace_id = workspace AND nexus.fits(c, f) LIMIT 400) c;
  SELECT count(*) INTO near FROM nexus.walk_conversations(asked, p_sequences, NULL, f, 4000, CASE WHEN everything THEN 400 ELSE 3 END);

  IF NOT everything AND near < 3 THEN
    SELECT array_agg(s.message_id) INTO matched FROM nexus.sieve_messages(asked && CASE
      WHEN f.project_id IS NOT NULL THEN nexus.place_entry('s', f.project_id)
      WHEN f.outside THEN own
      ELSE nexus.place_entry('w', workspace) || own END, 3001) s;
    SELECT array_agg(t.conversation_id) INTO named
    FROM (SELECT s.conversation_id FROM title_search s WHERE s.words @@ asked LIMIT 3001) t;
  END IF;

  IF NOT everything AND near < 3 AND coalesce(cardinality(matched), 0) <= 3000 AND coalesce(cardinality(named), 0) <= 3000 THEN
    RETURN QUERY
      WITH hit AS (
        SELECT s.conversation_id, CASE WHEN strpos(s.folded, p_phrase) > 0 THEN 2 ELSE 0 END AS tier
        FROM message_search s
        WHERE s.workspace_id = workspace AND s.message_id = ANY(matched) AND s.active AND s.folded LIKE ALL (p_sequences)
        UNION ALL
        SELECT s.conversation_id, CASE WHEN strpos(s.folded, p_phrase) > 0 THEN 2 ELSE 1 END
        FROM title_search s
        WHERE s.workspace_id = workspace AND s.conversation_id = ANY(named) AND s.folded LIKE ALL (p_sequences)
      ), best AS MATERIALIZED (
        SELECT hit.conversation_id, max(hit.tier) AS tier FROM hit GROUP BY hit.conversation_id
      )
      SELECT c.id, c.title, c.last_message_at, best.tier, true
      FROM best
      JOIN conversations c ON c.workspace_id = workspace AND c.id = best.conversation_id AND nexus.fits(c, f)
      WHERE f.tag_id IS NULL OR EXISTS (
        SELECT FROM conversation_tags t
        WHERE t.workspace_id = workspace AND t.conversation_id = c.id AND t.tag_id = f.tag_id);
  ELSE
    RETURN QUERY
      SELECT w.id, w.title, w.last_message_at, w.tier, everything
      FROM nexus.walk_conversations(asked, p_sequences, p_phrase, f, CASE WHEN everything THEN 4000 ELSE 10000 END,
                                    CASE WHEN everything THEN 400 ELSE 100 END) w;
  END IF;
END
$$;

-- The message to show for each conversation found: one with the whole phrase, else the newest with the words.
CREATE FUNCTION nexus.best_messages(p_ids uuid[], p_words text, p_sequences text[], p_phrase text)
RETURNS TABLE (conversation_id uuid, message_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET jit = off SET enable_seqscan = off
SET enable_bitmapscan = off AS $$
  SELECT known.id, best.message_id
  FROM unnest(p_ids) AS known (id)
  JOIN conversations c ON c.workspace_id = nexus.workspace_id() AND c.id = known.id
    AND (c.private_to IS NULL OR c.private_to = nexus.user_id())
  CROSS JOIN LATERAL (
    SELECT s.message_id
    FROM message_search s
    WHERE s.workspace_id = nexus.workspace_id() AND s.conversation_id = known.id AND s.active AND s.words @@ CAST(p_words AS tsquery)
      AND s.folded LIKE ALL (p_sequences)
    ORDER BY coalesce(strpos(s.folded, p_phrase) > 0, false) DESC, s.seq DESC
    LIMIT 1
  ) best
$$;

-- The messages of one project (or of this person's own space) with a question's words, by BM25 (k1 1.2, b 0.75) over
-- its terms, each a tsquery of a word's stems; ts_rank of one term, which grows more slowly than its count, stands for
-- the frequency. The score is about 1 when every term is met. Up to 3,000 messages every one is weighed. In larger
-- spaces a prompt can't wait for that: the newest 400 messages tell which terms are rare (at most 1 in 100), and those
-- choose 1,000 messages; the newest 1,000 are weighed with them, and the meaning finds the rest.
CREATE FUNCTION nexus.recall_words(p_terms text[], p_project uuid, p_except uuid, p_limit integer)
RETURNS TABLE (message_id uuid, conversation_id uuid, seq bigint, created_at timestamptz, score double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET jit = off
SET enable_seqscan = off SET plan_cache_mode = force_custom_plan AS $$
#variable_conflict use_column
DECLARE
  workspace uuid := nexus.workspace_id();
  home uuid := coalesce(p_project, nexus.user_id());
  chosen text[] := p_terms;
  sampled bigint[];
  total bigint;
BEGIN
  SELECT count(*) INTO total FROM (
    SELECT FROM message_search s WHERE s.workspace_id = workspace AND s.space = home LIMIT 20001) AS counted;
  IF total > 3000 THEN
    IF total > 20000 THEN
      total := greatest(total, (SELECT CAST(reltuples AS bigint) FROM pg_class WHERE oid = CAST('message_search' AS regclass)));
    END IF;
    WITH newest AS MATERIALIZED (
      SELECT s.words FROM message_search s WHERE s.workspace_id = workspace AND s.space = home
      ORDER BY s.created_at DESC LIMIT 400
    ), counted AS (
      SELECT t.term, t.number, count(*) FILTER (WHERE n.words @@ CAST(t.term AS tsquery)) AS times
      FROM unnest(p_terms) WITH ORDINALITY AS t (term, number) CROSS JOIN newest n
      GROUP BY t.term, t.number
    )
    SELECT array_agg(c.term) FILTER (WHERE c.times <= 4), array_agg(c.times ORDER BY c.number) INTO chosen, sampled FROM counted c;
  END IF;

  RETURN QUERY
    WITH candidate AS MATERIALIZED (
      SELECT s.message_id, s.conversation_id, s.seq, s.created_at, s.words, length(s.words) AS size
      FROM nexus.sieve_messages(
        nexus.place_entry('s', home) && CAST('(' || array_to_string(chosen, ') | (') || ')' AS tsquery),
        CASE WHEN total > 3000 THEN 1000 ELSE 3000 END) s
      WHERE s.workspace_id = workspace AND s.space = home AND s.active
      UNION
      SELECT n.message_id, n.conversation_id, n.seq, n.created_at, n.words, length(n.words)
      FROM (
        SELECT * FROM message_search s
        WHERE total > 3000 AND s.workspace_id = workspace AND s.space = home AND s.active
        ORDER BY s.created_at DESC LIMIT 1000
      ) n
      WHERE n.words @@ CAST('(' || array_to_string(p_terms, ') | (') || ')' AS tsquery)
    ), weighed AS MATERIALIZED (
      SELECT c.message_id, t.number, c.size, ts_rank(c.words, CAST(t.term AS tsquery)) / 0.0607927 AS times
      FROM candidate c CROSS JOIN unnest(p_terms) WITH ORDINALITY AS t (term, number)
    ), telling AS (
      SELECT f.number, greatest(0.1, ln(1 + (greatest(0, total - f.times) + 0.5) / (f.times + 0.5))) AS weight
      FROM (SELECT w.number, greatest(count(*) FILTER (WHERE w.times > 0), sampled[w.number] * total / 400) AS times
            FROM weighed w GROUP BY w.number) AS f
    ), usual AS (
      SELECT (SELECT avg(candidate.size) FROM candidate) AS size, (SELECT sum(telling.weight) FROM telling) AS weight
    ), scored AS (
      SELECT w.message_id, sum(t.weight / u.weight * w.times * 2.2 / (w.times + 1.2 * (0.25 + 0.75 * w.size / u.size))) AS score
      FROM weighed w JOIN telling t ON t.number = w.number CROSS JOIN usual u
      WHERE w.times > 0 GROUP BY w.message_id
    )
    SELECT c.message_id, c.conversation_id, c.seq, c.created_at, CAST(s.score AS double precision)
    FROM (SELECT * FROM scored ORDER BY scored.score DESC LIMIT p_limit + 100) s
    JOIN candidate c ON c.message_id = s.message_id
    JOIN conversations v ON v.workspace_id = workspace AND v.id = c.conversation_id AND v.deleted_at IS NULL
      AND v.project_id IS NOT DISTINCT FROM p_project AND (v.private_to IS NULL OR v.private_to = nexus.user_id())
    WHERE c.conversation_id IS DISTINCT FROM p_except
    ORDER BY s.score DESC, c.created_at DESC, c.message_id DESC
    LIMIT p_limit;
END
$$;

-- The messages of one project (or of this person's own space) whose meaning is nearest to a question's, with their
-- vectors, so that the caller can rank them exactly.
CREATE FUNCTION nexus.recall_meaning(p_code text, p_model text, p_project uuid, p_except uuid, p_limit integer)
RETURNS TABLE (message_id uuid, conversation_id uuid, seq bigint, created_at timestamptz, vector bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET jit = off AS $$
  WITH near AS MATERIALIZED (
    SELECT e.message_id, e.vector, bit_count(e.code # CAST(p_code AS bit(384))) AS distance
    FROM message_meaning e
    WHERE e.workspace_id = nexus.workspace_id() AND e.space = coalesce(p_project, nexus.user_id()) AND e.model = p_model
    ORDER BY distance LIMIT p_limit
  )
  SELECT s.message_id, s.conversation_id, s.seq, s.created_at, near.vector
  FROM near
  JOIN message_search s ON s.workspace_id = nexus.workspace_id() AND s.message_id = near.message_id AND s.active
  JOIN conversations v ON v.workspace_id = s.workspace_id AND v.id = s.conversation_id AND v.deleted_at IS NULL
    AND v.project_id IS NOT DISTINCT FROM p_project AND (v.private_to IS NULL OR v.private_to = nexus.user_id())
  WHERE s.conversation_id IS DISTINCT FROM p_except
$$;

-- Messages whose meaning is not known yet, newest first, for one process alone; after five minutes for any again.
CREATE FUNCTION nexus.claim_meanings(p_limit integer) RETURNS TABLE (workspace_id uuid, message_id uuid, body text)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  WITH claimed AS (
    UPDATE meaning_queue q SET claimed_at = clock_timestamp()
    FROM (
      SELECT w.workspace_id, w.message_id FROM meaning_queue w
      WHERE nexus.is_system() AND w.claimed_at < clock_timestamp() - interval '5 minutes'
      ORDER BY w.created_at DESC LIMIT p_limit FOR UPDATE SKIP LOCKED
    ) newest
    WHERE q.workspace_id = newest.workspace_id AND q.message_id = newest.message_id
    RETURNING q.workspace_id, q.message_id
  )
  SELECT m.workspace_id, m.id, left(m.body, 4000)
  FROM claimed
  JOIN messages m ON m.workspace_id = claimed.workspace_id AND m.id = claimed.message_id
$$;

CREATE FUNCTION nexus.keep_meaning(p_workspace uuid, p_message uuid, p_model text, p_code text, p_vector bytea) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  INSERT INTO message_meaning (workspace_id, message_id, space, model, code, vector)
  SELECT s.workspace_id, s.message_id, s.space, p_model, CAST(p_code AS bit(384)), p_vector
  FROM message_search s WHERE s.workspace_id = p_workspace AND s.message_id = p_message AND nexus.is_system()
  ON CONFLICT (workspace_id, message_id) DO UPDATE
    SET space = EXCLUDED.space, model = EXCLUDED.model, code = EXCLUDED.code, vector = EXCLUDED.vector;
  DELETE FROM meaning_queue WHERE workspace_id = p_workspace AND message_id = p_message AND nexus.is_system()
$$;
