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
-- A link by which one was to be chosen works no more.
UPDATE people SET password_hash = :password_hash, link_hash = NULL, link_until = NULL, updated_at = now() WHERE id = :id;

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

-- name: accounts
-- Members with how they come in, which administrators and they themselves are told.
SELECT p.id, p.email, p.name, p.status, m.role, m.created_at AS joined_at, p.is_local_owner,
       CASE WHEN (CAST(:admin AS boolean) OR p.id = :user_id) THEN p.password_hash IS NOT NULL END AS has_password,
       CASE WHEN (CAST(:admin AS boolean) OR p.id = :user_id) THEN p.oidc_subject IS NOT NULL END AS has_oidc,
       CASE WHEN (CAST(:admin AS boolean) OR p.id = :user_id) AND p.link_until > now() THEN p.link_until END AS link_until,
       CASE WHEN (CAST(:admin AS boolean) OR p.id = :user_id) THEN s.last_seen_at END AS last_seen_at,
       CASE WHEN (CAST(:admin AS boolean) OR p.id = :user_id) THEN s.living END AS sessions,
       CASE WHEN (CAST(:admin AS boolean) OR p.id = :user_id) THEN p.locale END AS language
FROM memberships m
JOIN people p ON p.id = m.user_id
LEFT JOIN LATERAL (
  SELECT max(s.last_seen_at) AS last_seen_at, count(*) FILTER (WHERE s.revoked_at IS NULL AND s.expires_at > now()) AS living
  FROM sign_in_sessions s WHERE s.user_id = p.id
) s ON true
WHERE m.workspace_id = :workspace_id AND (CAST(:person_id AS uuid) IS NULL OR p.id = CAST(:person_id AS uuid))
ORDER BY lower(p.name), p.id;

-- name: leave
DELETE FROM memberships WHERE workspace_id = :workspace_id AND user_id = :person_id;

-- name: lock_admins
-- The administrators of this workspace, and in the system's scope of every other one that a person is in: who stops being
-- one waits for who does so at the same time.
SELECT m.user_id FROM memberships m
WHERE m.role = 'admin' AND (m.workspace_id = :workspace_id OR m.workspace_id IN (
  SELECT o.workspace_id FROM memberships o WHERE o.user_id = :person_id))
ORDER BY m.workspace_id, m.user_id
FOR UPDATE;

-- name: is_last_admin
-- Whether a person is an administrator here and nobody else is who can come in.
SELECT EXISTS (SELECT FROM memberships m
               WHERE m.workspace_id = :workspace_id AND m.user_id = :person_id AND m.role = 'admin')
  AND NOT EXISTS (
    SELECT FROM memberships m
    JOIN people p ON p.id = m.user_id AND p.status = 'active'
      AND (p.password_hash IS NOT NULL OR p.oidc_subject IS NOT NULL OR p.is_local_owner)
    WHERE m.workspace_id = :workspace_id AND m.role = 'admin' AND m.user_id <> :person_id) AS found;

-- name: is_admin
-- Whether who acts is an active administrator of the workspace at this moment.
SELECT EXISTS (
  SELECT FROM memberships m JOIN people p ON p.id = m.user_id AND p.status = 'active'
  WHERE m.workspace_id = :workspace_id AND m.user_id = :user_id AND m.role = 'admin') AS found;

-- name: elsewhere
-- Whether a person is a member where who acts is no administrator.
SELECT EXISTS (
  SELECT FROM memberships m
  WHERE m.user_id = :person_id AND m.workspace_id <> :workspace_id AND NOT EXISTS (
    SELECT FROM memberships a
    WHERE a.workspace_id = m.workspace_id AND a.user_id = :user_id AND a.role = 'admin')) AS found;

-- name: set_status
UPDATE people SET status = :status, updated_at = now() WHERE id = :id;

-- name: set_link
UPDATE people SET link_hash = :link_hash, link_until = now() + make_interval(days => :days), updated_at = now()
WHERE id = :id;

-- name: by_link
SELECT id, email, name, locale, status, is_local_owner, password_hash IS NOT NULL AS has_password
FROM people
WHERE link_hash = :link_hash AND link_until > now() AND status = 'active'
FOR UPDATE;

-- name: administrator_exists
-- Whether anybody can sign in and administer a workspace.
SELECT EXISTS (
  SELECT FROM people p
  JOIN memberships m ON m.user_id = p.id AND m.role = 'admin'
  WHERE (p.password_hash IS NOT NULL OR p.oidc_subject IS NOT NULL) AND p.status = 'active'
) AS found;

-- name: known
-- Whatever workspace they are in.
SELECT id, oidc_subject IS NOT NULL AS has_subject FROM people WHERE lower(email) = lower(:email) FOR UPDATE;

-- name: by_subject
SELECT id, email, name, locale, status, is_local_owner, password_hash IS NOT NULL AS has_password
FROM people
WHERE oidc_issuer = :issuer AND oidc_subject = :subject;

-- name: speak
UPDATE people SET locale = :language, updated_at = now() WHERE id = :id;

-- name: link_subject
UPDATE people SET oidc_issuer = :issuer, oidc_subject = :subject, updated_at = now() WHERE id = :id;
