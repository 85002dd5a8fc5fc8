-- Rules that no writer can forget, and the other groups' names for the same rows.

-- Rows that hang on a conversation are as private as it is, whatever their writer says. The writer has to see it.
CREATE FUNCTION nexus.inherit_privacy() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT c.private_to INTO NEW.private_to FROM public.conversations c
  WHERE c.workspace_id = NEW.workspace_id AND c.id = NEW.conversation_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such conversation' USING ERRCODE = 'foreign_key_violation',
      CONSTRAINT = TG_TABLE_NAME || '_workspace_id_conversation_id_fkey';
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER summaries_privacy BEFORE INSERT OR UPDATE OF conversation_id, private_to ON summaries
  FOR EACH ROW EXECUTE FUNCTION nexus.inherit_privacy();
CREATE TRIGGER receipts_privacy BEFORE INSERT OR UPDATE OF conversation_id, private_to ON receipts
  FOR EACH ROW EXECUTE FUNCTION nexus.inherit_privacy();
CREATE TRIGGER shares_privacy BEFORE INSERT OR UPDATE OF conversation_id, private_to ON shares
  FOR EACH ROW EXECUTE FUNCTION nexus.inherit_privacy();

CREATE FUNCTION nexus.inherit_place() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT c.private_to, c.place INTO NEW.private_to, NEW.place FROM public.conversations c
  WHERE c.workspace_id = NEW.workspace_id AND c.id = NEW.conversation_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such conversation' USING ERRCODE = 'foreign_key_violation',
      CONSTRAINT = TG_TABLE_NAME || '_workspace_id_conversation_id_fkey';
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER messages_place BEFORE INSERT OR UPDATE OF conversation_id, private_to, place ON messages
  FOR EACH ROW EXECUTE FUNCTION nexus.inherit_place();

-- The ledger's figures are the whole workspace's to see: of a private conversation it holds no words.
CREATE FUNCTION nexus.withhold_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM public.conversations c WHERE c.workspace_id = NEW.workspace_id
                 AND c.id = NEW.conversation_id AND c.private_to IS NULL) THEN
    NEW.prompt_summary := NULL;
    NEW.response_summary := NULL;
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER assistant_runs_words BEFORE INSERT OR UPDATE OF conversation_id, prompt_summary, response_summary
  ON assistant_runs FOR EACH ROW
  WHEN (NEW.conversation_id IS NOT NULL AND (NEW.prompt_summary IS NOT NULL OR NEW.response_summary IS NOT NULL))
  EXECUTE FUNCTION nexus.withhold_words();

-- What is gone leaves figures, no words, whichever way it went.
CREATE FUNCTION nexus.forget_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE public.assistant_runs SET prompt_summary = NULL, response_summary = NULL
    WHERE workspace_id = OLD.workspace_id AND conversation_id = OLD.id
      AND (prompt_summary IS NOT NULL OR response_summary IS NOT NULL);
  RETURN OLD;
END
$$;
CREATE TRIGGER conversations_forget BEFORE DELETE ON conversations
  FOR EACH ROW EXECUTE FUNCTION nexus.forget_words();

-- A title that came by plain SQL is a person's: no question overwrites it.
CREATE FUNCTION nexus.own_title() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.title_source := 'person';
  RETURN NEW;
END
$$;
CREATE TRIGGER conversations_title BEFORE INSERT OR UPDATE OF title ON conversations
  FOR EACH ROW WHEN (NEW.title <> '' AND NEW.title_source = 'none') EXECUTE FUNCTION nexus.own_title();

-- Security definer, for the search table is not the application's to touch.
CREATE FUNCTION nexus.move_conversation() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE messages SET private_to = NEW.private_to, place = NEW.place
    WHERE workspace_id = NEW.workspace_id AND conversation_id = NEW.id;
  UPDATE summaries SET private_to = NEW.private_to
    WHERE workspace_id = NEW.workspace_id AND conversation_id = NEW.id;
  UPDATE receipts SET private_to = NEW.private_to
    WHERE workspace_id = NEW.workspace_id AND conversation_id = NEW.id;
  UPDATE shares SET private_to = NEW.private_to
    WHERE workspace_id = NEW.workspace_id AND conversation_id = NEW.id;
  UPDATE message_search SET private_to = NEW.private_to, project_id = NEW.project_id
    WHERE workspace_id = NEW.workspace_id AND message_id IN (
      SELECT m.id FROM messages m WHERE m.workspace_id = NEW.workspace_id AND m.conversation_id = NEW.id);
  IF NEW.private_to IS NOT NULL THEN
    UPDATE assistant_runs SET prompt_summary = NULL, response_summary = NULL
      WHERE workspace_id = NEW.workspace_id AND conversation_id = NEW.id;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER conversations_move AFTER UPDATE OF project_id, user_id, agent_id ON conversations
  FOR EACH ROW WHEN (OLD.place <> NEW.place) EXECUTE FUNCTION nexus.move_conversation();

-- Takes the next number of a conversation for a message that came in by plain SQL, and that message's parent.
CREATE FUNCTION nexus.append_message(
  p_workspace uuid, p_conversation uuid, p_id uuid, p_role text, p_parts jsonb, p_body text,
  p_model text, p_runtime text, p_metadata jsonb
) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
  number bigint;
  new_id uuid := coalesce(p_id, gen_random_uuid());
BEGIN
  UPDATE public.conversations SET next_seq = next_seq + 1, last_message_at = clock_timestamp()
    WHERE workspace_id = p_workspace AND id = p_conversation RETURNING next_seq - 1 INTO number;
  IF number IS NULL THEN
    RAISE EXCEPTION 'no such conversation' USING ERRCODE = 'foreign_key_violation',
      CONSTRAINT = 'messages_workspace_id_conversation_id_fkey';
  END IF;
  INSERT INTO public.messages (workspace_id, id, conversation_id, seq, parent_seq, role, parts, body, user_id, model,
                               runtime, metadata)
  VALUES (p_workspace, new_id, p_conversation, number,
          (SELECT max(m.seq) FROM public.messages m
           WHERE m.workspace_id = p_workspace AND m.conversation_id = p_conversation AND m.active),
          p_role, p_parts, p_body, CASE WHEN p_role = 'user' THEN nexus.user_id() END,
          p_model, p_runtime, coalesce(p_metadata, '{}'));
  RETURN new_id;
END
$$;

-- The text parts of a message, as body keeps them.
CREATE FUNCTION nexus.body_of(parts jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN coalesce((SELECT string_agg(p.part ->> 'text', E'\n\n' ORDER BY p.ord)
                   FROM jsonb_array_elements(CASE WHEN jsonb_typeof(parts) = 'array' THEN parts ELSE '[]' END)
                     WITH ORDINALITY AS p (part, ord)
                   WHERE p.part ->> 'type' = 'text'), '');

-- The parts of a message whose text another one replaces; its tool calls and files stay.
CREATE FUNCTION nexus.with_text(parts jsonb, body text) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN coalesce((SELECT jsonb_agg(p.part ORDER BY p.ord)
                   FROM jsonb_array_elements(parts) WITH ORDINALITY AS p (part, ord)
                   WHERE p.part ->> 'type' IS DISTINCT FROM 'text'), '[]')
         || jsonb_build_array(jsonb_build_object('type', 'text', 'text', body));

-- [C]
CREATE VIEW project_conversations WITH (security_invoker = true) AS
  SELECT workspace_id, id, project_id, task_id, title, kind, status, summary_md, metadata, created_at, updated_at
  FROM conversations WHERE project_id IS NOT NULL
  WITH LOCAL CHECK OPTION;

-- An answer that called tools is shown as [C] writes it: the answer, then one row with role tool per result.
CREATE VIEW project_conversation_messages WITH (security_invoker = true) AS
  SELECT m.workspace_id, m.id, m.conversation_id, m.role, m.body, m.model, m.runtime, m.metadata, m.created_at,
         m.seq, CAST(0 AS bigint) AS part
  FROM messages m WHERE m.active AND m.private_to IS NULL
  UNION ALL
  SELECT m.workspace_id, CAST(md5(CAST(m.id AS text) || (p.part ->> 'toolCallId')) AS uuid), m.conversation_id, 'tool',
         coalesce(p.part #>> '{output}', p.part ->> 'errorText'), m.model, m.runtime,
         jsonb_build_object('tool_call_id', p.part -> 'toolCallId', 'message_id', m.id), m.created_at, m.seq, p.ord
  FROM messages m
  CROSS JOIN LATERAL jsonb_array_elements(m.parts) WITH ORDINALITY AS p (part, ord)
  WHERE m.active AND m.private_to IS NULL AND m.role = 'assistant' AND p.part ->> 'toolCallId' <> ''
    AND coalesce(p.part #>> '{output}', p.part ->> 'errorText') IS NOT NULL;

-- A tool row that is part of an answer is not a row of its own: writing to it changes nothing, and says so by its count.
CREATE FUNCTION nexus.write_project_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    DELETE FROM public.messages WHERE workspace_id = OLD.workspace_id AND id = OLD.id;
    RETURN CASE WHEN FOUND THEN OLD END;
  ELSIF TG_OP = 'UPDATE' THEN
    UPDATE public.messages m SET body = NEW.body, role = NEW.role, model = NEW.model, runtime = NEW.runtime,
        metadata = NEW.metadata, updated_at = clock_timestamp(),
        parts = CASE WHEN NEW.body = m.body THEN m.parts ELSE nexus.with_text(m.parts, NEW.body) END,
        tokens = CASE WHEN NEW.body = m.body THEN m.tokens END
      WHERE m.workspace_id = OLD.workspace_id AND m.id = OLD.id;
    RETURN CASE WHEN FOUND THEN NEW END;
  END IF;
  NEW.workspace_id := coalesce(NEW.workspace_id, nexus.workspace_id());
  NEW.id := nexus.append_message(
    NEW.workspace_id, NEW.conversation_id, NEW.id, NEW.role,
    jsonb_build_array(jsonb_build_object('type', 'text', 'text', coalesce(NEW.body, ''))), coalesce(NEW.body, ''),
    NEW.model, NEW.runtime, NEW.metadata);
  RETURN NEW;
END
$$;
CREATE TRIGGER project_conversation_messages_write INSTEAD OF INSERT OR UPDATE OR DELETE ON project_conversation_messages
  FOR EACH ROW EXECUTE FUNCTION nexus.write_project_message();

-- [B]
CREATE VIEW system.ai_chats WITH (security_invoker = true) AS
  SELECT id, user_id, agent_id AS endpoint_id, metadata, title, session_id, project_id, workspace_id, created_at, updated_at
  FROM conversations;

-- The roles of a UIMessage are system, user and assistant: a result that came in on its own is shown as an assistant's.
CREATE VIEW system.ai_messages WITH (security_invoker = true) AS
  SELECT id, conversation_id AS chat_id, CASE WHEN role = 'tool' THEN 'assistant' ELSE role END AS role,
         CASE WHEN role <> 'tool' THEN parts ELSE jsonb_build_array(jsonb_build_object(
           'type', 'dynamic-tool', 'toolName', coalesce(metadata ->> 'tool_name', 'tool'),
           'toolCallId', coalesce(metadata ->> 'tool_call_id', CAST(id AS text)),
           'state', 'output-available', 'input', jsonb_build_object(), 'output', body)) END AS parts,
         seq, workspace_id, created_at
  FROM messages WHERE active;

CREATE FUNCTION nexus.write_ai_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    DELETE FROM public.messages WHERE workspace_id = OLD.workspace_id AND id = OLD.id;
    RETURN CASE WHEN FOUND THEN OLD END;
  ELSIF TG_OP = 'UPDATE' THEN
    UPDATE public.messages m SET
        role = CASE WHEN NEW.role = OLD.role THEN m.role ELSE NEW.role END,
        parts = CASE WHEN NEW.parts = OLD.parts THEN m.parts ELSE NEW.parts END,
        body = CASE WHEN NEW.parts = OLD.parts THEN m.body ELSE nexus.body_of(NEW.parts) END,
        tokens = CASE WHEN NEW.parts = OLD.parts THEN m.tokens END, updated_at = clock_timestamp()
      WHERE m.workspace_id = OLD.workspace_id AND m.id = OLD.id;
    RETURN CASE WHEN FOUND THEN NEW END;
  END IF;
  NEW.workspace_id := coalesce(NEW.workspace_id, nexus.workspace_id());
  NEW.id := nexus.append_message(
    NEW.workspace_id, NEW.chat_id, NEW.id, NEW.role, NEW.parts, nexus.body_of(NEW.parts), NULL, NULL, '{}');
  RETURN NEW;
END
$$;
CREATE TRIGGER ai_messages_write INSTEAD OF INSERT OR UPDATE OR DELETE ON system.ai_messages
  FOR EACH ROW EXECUTE FUNCTION nexus.write_ai_message();
