-- name: create
-- Returns nothing: a person who is a member of nothing yet is nobody's to see.
INSERT INTO people (id, email, name, password_hash)
VALUES (:id, :email, :name, :password_hash);

-- name: create_local_owner_once
-- Two processes that start at once make one.
INSERT INTO people (id, email, name, is_local_owner)
VALUES (:id, :email, :name, true)
ON CONFLICT DO NOTHING;

-- name: local_owner
SELECT id, email, name, locale, status, is_local_owner, password_hash IS NOT NULL AS has_password
FROM people
WHERE is_local_owner;

-- name: get
-- In a workspace its members alone; in the system's scope everybody.
SELECT p.id, p.email, p.name, p.locale, p.status, p.is_local_owner, p.password_hash IS NOT NULL AS has_password
FROM people p
WHERE p.id = :id
  AND (CAST(:workspace_id AS uuid) IS NULL
       OR EXISTS (SELECT FROM memberships m WHERE m.workspace_id = :workspace_id AND m.user_id = p.id));

-- name: by_email
-- In a workspace its members alone; in the system's scope everybody.
SELECT p.id, p.email, p.name, p.locale, p.status, p.is_local_owner, p.password_hash IS NOT NULL AS has_password
FROM people p
WHERE lower(p.email) = lower(:email)
  AND (CAST(:workspace_id AS uuid) IS NULL
       OR EXISTS (SELECT FROM memberships m WHERE m.workspace_id = :workspace_id AND m.user_id = p.id));

-- name: credentials
-- What a sign-in is checked against.
SELECT id, password_hash, status = 'active' AS active FROM people WHERE lower(email) = lower(:email);

-- name: set_password
UPDATE people SET password_hash = :password_hash, updated_at = now() WHERE id = :id;

-- name: describe
UPDATE people SET email = :email, name = :name, updated_at = now() WHERE id = :id;

-- name: join
-- Makes a person a member, or changes the role of one.
INSERT INTO memberships (workspace_id, user_id, role)
VALUES (:workspace_id, :person_id, :role)
ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = EXCLUDED.role;

-- name: members
SELECT p.id, p.email, p.name, p.status, p.password_hash IS NOT NULL AS has_password, m.role, m.created_at AS joined_at
FROM memberships m
JOIN people p ON p.id = m.user_id
WHERE m.workspace_id = :workspace_id
ORDER BY lower(p.name), p.id;

-- name: administrator_exists
-- Whether anybody can sign in by password and administer a workspace.
SELECT EXISTS (
  SELECT FROM people p
  JOIN memberships m ON m.user_id = p.id AND m.role = 'admin'
  WHERE p.password_hash IS NOT NULL AND p.status = 'active'
) AS found;
