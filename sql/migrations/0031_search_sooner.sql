-- A search decides sooner whether its words are rare, and then reads what has them once.

-- Looks through the conversations that fit, newest first, until p_messages were read or p_hits were found; one after
-- another (not EXISTS, which the planner may answer for all of them at once).
-- Not a security definer: only the function below, which is, may read the search tables through it.
CREATE OR REPLACE FUNCTION nexus.walk_conversations(
  p_words tsquery, p_sequences text[], p_phrase text, f nexus.conversation_filter, p_messages integer, p_hits integer
) RETURNS TABLE (id uuid, title text, last_message_at timestamptz, tier integer)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET jit = off SET enable_seqscan = off
SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan AS $$
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
    LIMIT greatest(p_messages / 20, 50)
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

-- The conversations with messages that may match, from the index alone: `tier` is NULL where none does, else 2 for the whole
-- phrase and 0 for words in any order; `read` messages were looked at, p_limit in all at most.
-- Not a security definer, for it looks everywhere: only the function below, which is, may read the table through it.
CREATE FUNCTION nexus.sieve_conversations(p_words tsquery, p_sequences text[], p_phrase text, p_limit integer)
RETURNS TABLE (conversation_id uuid, tier integer, read bigint)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_indexscan = off
SET jit = off AS $$
  SELECT s.conversation_id,
         max(CASE WHEN strpos(s.folded, p_phrase) > 0 THEN 2 ELSE 0 END) FILTER (
           WHERE s.active AND s.workspace_id = nexus.workspace_id() AND s.folded LIKE ALL (p_sequences)),
         count(*)
  FROM (SELECT * FROM message_search m WHERE m.words @@ p_words LIMIT p_limit) s
  GROUP BY s.conversation_id
$$;

-- The conversations that a search finds. `tier`: 2 for the whole phrase, 1 for a title, 0 for words in any order.
-- What fits in 400 conversations of 4,000 messages is looked through. Else, words that two conversations have among the
-- newest 1,000 messages are common, as are those of more than 5,000 messages: then ranking 200,000 rows would help
-- nobody, so the newest 10,000 messages give up to 50 hits, and `complete` is false. Of all other words, everything
-- there is is found, in the index.
CREATE OR REPLACE FUNCTION nexus.find_conversations(
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
  rare boolean := false;
  ids uuid[];
  tiers integer[];
  messages bigint;
  named uuid[];
BEGIN
  SELECT count(*) < 400 AND coalesce(sum(c.next_seq), 0) < 4000 INTO everything
  FROM (SELECT c.next_seq FROM conversations c WHERE c.workspace_id = workspace AND nexus.fits(c, f) LIMIT 400) c;
  IF NOT everything THEN
    SELECT count(*) < 2 INTO rare FROM nexus.walk_conversations(asked, p_sequences, NULL, f, 1000, 2);
  END IF;

  IF rare THEN
    SELECT array_agg(s.conversation_id), array_agg(s.tier), coalesce(sum(s.read), 0) INTO ids, tiers, messages
    FROM nexus.sieve_conversations(asked && CASE
      WHEN f.project_id IS NOT NULL THEN nexus.place_entry('s', f.project_id)
      WHEN f.outside THEN own
      ELSE nexus.place_entry('w', workspace) || own END, p_sequences, p_phrase, 5001) s;
    SELECT array_agg(t.conversation_id) INTO named
    FROM (SELECT s.conversation_id FROM title_search s WHERE s.words @@ asked LIMIT 5001) t;
    rare := messages <= 5000 AND coalesce(cardinality(named), 0) <= 5000;
  END IF;

  IF rare THEN
    RETURN QUERY
      WITH hit AS (
        SELECT m.conversation_id, m.tier FROM unnest(ids, tiers) AS m (conversation_id, tier) WHERE m.tier IS NOT NULL
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
                                    CASE WHEN everything THEN 400 ELSE 50 END) w;
  END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION nexus.sieve_conversations(tsquery, text[], text, integer) FROM PUBLIC;
