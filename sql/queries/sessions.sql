-- name: create
INSERT INTO sign_in_sessions (id, token_hash, user_id, method, user_agent, address, expires_at)
VALUES (:id, :token_hash, :person_id, :method, :user_agent, :address, now() + make_interval(secs => :idle_seconds));

-- name: resolve
-- A living session of an active person.
SELECT s.id, s.user_id AS person_id, s.method, s.user_agent, s.address, s.created_at, s.last_seen_at, s.expires_at
FROM sign_in_sessions s
JOIN people p ON p.id = s.user_id AND p.status = 'active'
WHERE s.token_hash = :token_hash AND s.revoked_at IS NULL AND s.expires_at > now();

-- name: touch
-- At most once a minute, however many requests come at once; never longer than the longest life.
UPDATE sign_in_sessions
SET last_seen_at = now(),
    expires_at = LEAST(now() + make_interval(secs => :idle_seconds), created_at + make_interval(secs => :life_seconds))
WHERE id = :id AND last_seen_at < now() - make_interval(secs => :every_seconds)
  AND now() < created_at + make_interval(secs => :life_seconds);

-- name: revoke_token
UPDATE sign_in_sessions SET revoked_at = now()
WHERE token_hash = :token_hash AND revoked_at IS NULL
RETURNING user_id;

-- name: revoke
UPDATE sign_in_sessions SET revoked_at = now()
WHERE id = :id AND user_id = :person_id AND revoked_at IS NULL;

-- name: revoke_all
-- Every session of a person; of one method alone when it is named, and but for one that is kept.
UPDATE sign_in_sessions SET revoked_at = now()
WHERE user_id = :person_id AND revoked_at IS NULL
  AND (CAST(:method AS text) IS NULL OR method = :method)
  AND (CAST(:keep AS bytea) IS NULL OR token_hash <> CAST(:keep AS bytea));

-- name: list
-- A person's living sessions, the latest seen first.
SELECT id, user_id AS person_id, method, user_agent, address, created_at, last_seen_at, expires_at
FROM sign_in_sessions
WHERE user_id = :person_id AND revoked_at IS NULL AND expires_at > now()
ORDER BY last_seen_at DESC, id DESC;

-- name: purge
DELETE FROM sign_in_sessions
WHERE least(expires_at, revoked_at) < now() - make_interval(secs => :kept_seconds);
