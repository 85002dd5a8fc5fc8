-- name: list
SELECT id, slug, name, model, api_base, params, context_tokens, is_default, updated_at
FROM profiles
WHERE workspace_id = :workspace_id
ORDER BY is_default DESC, lower(name), id;

-- name: get
SELECT id, slug, name, model, api_base, params, context_tokens, is_default, updated_at
FROM profiles
WHERE workspace_id = :workspace_id AND id = :id;

-- name: default
SELECT id, slug, name, model, api_base, params, context_tokens, is_default, updated_at
FROM profiles
WHERE workspace_id = :workspace_id AND is_default;

-- name: create
INSERT INTO profiles (workspace_id, id, slug, name, model, api_base, params, context_tokens)
VALUES (:workspace_id, :id, :slug, :name, :model, :api_base, :params, :context_tokens)
RETURNING id, slug, name, model, api_base, params, context_tokens, is_default, updated_at;

-- name: update
UPDATE profiles SET slug = :slug, name = :name, model = :model, api_base = :api_base, params = :params,
  context_tokens = :context_tokens, updated_at = clock_timestamp()
WHERE workspace_id = :workspace_id AND id = :id
  AND updated_at = coalesce(CAST(:unchanged_since AS timestamptz), updated_at)
RETURNING id, slug, name, model, api_base, params, context_tokens, is_default, updated_at;

-- name: clear_default
UPDATE profiles SET is_default = false, updated_at = clock_timestamp() WHERE workspace_id = :workspace_id AND is_default;

-- name: make_default
UPDATE profiles SET is_default = true, updated_at = clock_timestamp() WHERE workspace_id = :workspace_id AND id = :id;

-- name: delete
DELETE FROM profiles WHERE workspace_id = :workspace_id AND id = :id;
