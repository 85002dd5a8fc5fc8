-- What programs tell of their runs can be words too: it goes with the others.

CREATE OR REPLACE FUNCTION nexus.withhold_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM public.conversations c WHERE c.workspace_id = NEW.workspace_id
                 AND c.id = NEW.conversation_id AND c.private_to IS NULL) THEN
    NEW.prompt_summary := NULL;
    NEW.response_summary := NULL;
    IF NEW.kind = 'external' THEN
      NEW.error_message := NULL;
      NEW.metadata := '{}';
    END IF;
  END IF;
  RETURN NEW;
END
$$;
DROP TRIGGER assistant_runs_words ON assistant_runs;
CREATE TRIGGER assistant_runs_words
  BEFORE INSERT OR UPDATE OF conversation_id, prompt_summary, response_summary, error_message, metadata ON assistant_runs
  FOR EACH ROW
  WHEN (NEW.conversation_id IS NOT NULL
        AND (NEW.prompt_summary IS NOT NULL OR NEW.response_summary IS NOT NULL
             OR (NEW.kind = 'external' AND (NEW.error_message IS NOT NULL OR NEW.metadata <> '{}'))))
  EXECUTE FUNCTION nexus.withhold_words();

CREATE OR REPLACE FUNCTION nexus.forget_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE public.assistant_runs
    SET prompt_summary = NULL, response_summary = NULL,
        error_message = CASE WHEN kind <> 'external' THEN error_message END,
        metadata = CASE WHEN kind <> 'external' THEN metadata ELSE '{}' END
    WHERE workspace_id = OLD.workspace_id AND conversation_id = OLD.id
      AND (prompt_summary IS NOT NULL OR response_summary IS NOT NULL OR kind = 'external');
  RETURN OLD;
END
$$;

-- Runs come after the conversation's own row: their trigger looks at it.
CREATE FUNCTION nexus.withdraw_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE public.assistant_runs SET error_message = NULL, metadata = '{}'
    WHERE workspace_id = NEW.workspace_id AND conversation_id = NEW.id AND kind = 'external';
  RETURN NULL;
END
$$;
CREATE TRIGGER conversations_withdraw AFTER UPDATE OF project_id, user_id ON conversations
  FOR EACH ROW WHEN (OLD.private_to IS DISTINCT FROM NEW.private_to AND NEW.private_to IS NOT NULL)
  EXECUTE FUNCTION nexus.withdraw_words();
REVOKE EXECUTE ON FUNCTION nexus.withdraw_words() FROM PUBLIC;
