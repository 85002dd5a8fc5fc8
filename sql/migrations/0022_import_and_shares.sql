-- What an import brings along that is not this workspace's own, and the way from a public link to its snapshot.

ALTER TABLE conversations ADD COLUMN imported jsonb CHECK (jsonb_typeof(imported) = 'object');
COMMENT ON COLUMN conversations.imported IS
  'where it was imported from (format, id), and the figures of runs that were made elsewhere; they are in no sum here';

CREATE INDEX shares_token_idx ON shares (token_hash);

-- Every link ends some day.
UPDATE shares SET expires_at = created_at + interval '30 days' WHERE expires_at IS NULL;
ALTER TABLE shares ALTER COLUMN expires_at SET DEFAULT now() + interval '30 days', ALTER COLUMN expires_at SET NOT NULL;
