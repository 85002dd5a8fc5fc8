-- name: list
-- The workspace's tags, by name.
SELECT id, name FROM tags WHERE workspace_id = :workspace_id ORDER BY lower(name), id;

-- name: of
-- The tags of conversations that this person may see, by name.
SELECT c.id, nexus.tag_names(c.id) AS tags
FROM conversations c
WHERE c.workspace_id = :workspace_id AND c.id = ANY(CAST(:conversations AS uuid[]));

-- name: make
-- The tags with these names, made where there are none.
INSERT INTO tags (workspace_id, id, name)
SELECT :workspace_id, t.id, t.name
FROM unnest(CAST(:ids AS uuid[]), CAST(:names AS text[])) AS t (id, name)
ON CONFLICT (workspace_id, lower(name)) DO NOTHING;

-- name: named
SELECT id, name FROM tags
WHERE workspace_id = :workspace_id AND lower(name) = ANY(
  SELECT lower(n) FROM unnest(CAST(:names AS text[])) n)
ORDER BY lower(name);

-- name: present
-- The conversations among these that are here and not in the trash, locked in one order, so that writers never wait crosswise.
SELECT id FROM conversations
WHERE workspace_id = :workspace_id AND id = ANY(CAST(:conversations AS uuid[])) AND deleted_at IS NULL
ORDER BY id
FOR UPDATE;

-- name: attach
INSERT INTO conversation_tags (workspace_id, conversation_id, tag_id)
SELECT :workspace_id, c.id, t.id
FROM unnest(CAST(:conversations AS uuid[])) AS c (id)
CROSS JOIN unnest(CAST(:tags AS uuid[])) AS t (id)
ON CONFLICT DO NOTHING;

-- name: detach
-- Takes tags away: these, or all but these.
DELETE FROM conversation_tags
WHERE workspace_id = :workspace_id AND conversation_id = ANY(CAST(:conversations AS uuid[]))
  AND (tag_id = ANY(CAST(:tags AS uuid[]))) <> CAST(:others AS boolean);

-- name: touch
-- Tags are part of what a conversation's version stands for; its place in lists is not changed.
UPDATE conversations SET updated_at = clock_timestamp()
WHERE workspace_id = :workspace_id AND id = ANY(CAST(:conversations AS uuid[]));

-- name: prune
-- Tags that nothing carries any more; in the system's scope, which sees private conversations too, or they would lose theirs.
DELETE FROM tags t
WHERE nexus.is_system() AND (CAST(:workspace_id AS uuid) IS NULL OR t.workspace_id = :workspace_id)
  AND t.created_at < clock_timestamp() - interval '1 day'
  AND NOT EXISTS (SELECT FROM conversation_tags c WHERE c.workspace_id = t.workspace_id AND c.tag_id = t.id);
