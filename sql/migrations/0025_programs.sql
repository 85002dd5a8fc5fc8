-- Conversations that programs hold through /v1: for which user of theirs, and after which history.

ALTER TABLE conversations ADD COLUMN end_user text CHECK (length(end_user) BETWEEN 1 AND 200);
ALTER TABLE conversations ADD COLUMN heard text;
CREATE INDEX conversations_heard_idx ON conversations (workspace_id, place, heard) WHERE heard IS NOT NULL;
COMMENT ON COLUMN conversations.end_user IS 'whom a program spoke for; user memory never crosses from one of them to another';
COMMENT ON COLUMN conversations.heard IS
  'digest of what a program that resends its history had said when it asked last: it goes on here, nothing is stored twice';
