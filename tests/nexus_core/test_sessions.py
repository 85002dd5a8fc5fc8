"""Sessions: what opens them, what ends them, and how seldom they write."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from uuid import UUID

import pytest
from sqlalchemy import text
from uuid6 import uuid7

from nexus_core import sessions
from nexus_core.database import Scope, transaction
from nexus_core.errors import NotFound

SYSTEM = Scope.system()


def make(person_id: UUID | None) -> str:
    assert person_id
    with transaction(SYSTEM) as tx:
        return sessions.create(tx, person_id, "password", user_agent="x" * 5000, address="10.0.0.1")


def resolve(token: str) -> sessions.Session | None:
    with transaction(SYSTEM) as tx:
        return sessions.resolve(tx, token)


def age(token: str, statement: str) -> None:
    """Change a stored session as time would."""
    with transaction(SYSTEM) as tx:
        changed = tx.connection.execute(
            text(f"UPDATE sign_in_sessions SET {statement} WHERE token_hash = :hash"),
            {"hash": sha256(token.encode()).digest()},
        )
        assert changed.rowcount == 1


def version(token: str) -> str:
    """Which version of the row there is: it changes with every write."""
    with transaction(SYSTEM) as tx:
        found = tx.connection.execute(
            text("SELECT CAST(xmin AS text) FROM sign_in_sessions WHERE token_hash = :hash"),
            {"hash": sha256(token.encode()).digest()},
        )
        return str(found.scalar_one())


def test_a_token_opens_its_own_session_and_is_not_stored(scope: Scope, viewer: Scope) -> None:
    token, other = make(scope.user_id), make(viewer.user_id)
    assert len(token) >= 43 and token != other
    opened = resolve(token)
    assert opened is not None
    assert (opened.person_id, opened.method, opened.address) == (scope.user_id, "password", "10.0.0.1")
    assert abs(opened.expires_at - opened.created_at - sessions.IDLE) < timedelta(seconds=1)
    with transaction(SYSTEM) as tx:
        stored = tx.connection.execute(text("SELECT s::text FROM sign_in_sessions s")).scalars().all()
    assert len(stored) == 2 and not any(token in row or other in row for row in stored)


@pytest.mark.parametrize("token", ["", "x", "é" * 100, "\0", "\ud800", "a" * 100_000])
def test_what_is_no_token_opens_nothing(scope: Scope, token: str) -> None:
    make(scope.user_id)
    assert resolve(token) is None


def test_reading_writes_at_most_once_a_minute(scope: Scope) -> None:
    token = make(scope.user_id)
    first = version(token)
    for _again in range(3):
        assert resolve(token)
    assert version(token) == first
    age(token, "last_seen_at = now() - interval '61 seconds', expires_at = now() + interval '1 hour'")
    before = version(token)
    assert resolve(token)
    assert version(token) != before
    moved = resolve(token)
    assert moved is not None
    assert moved.expires_at > datetime.now(UTC) + sessions.IDLE - timedelta(minutes=1)
    after = version(token)
    assert resolve(token)
    assert version(token) == after


def test_use_does_not_lengthen_a_session_beyond_its_life(scope: Scope) -> None:
    token = make(scope.user_id)
    age(token, "created_at = now() - interval '89 days', last_seen_at = now() - interval '1 hour'")
    assert resolve(token)
    late = resolve(token)
    assert late is not None
    assert late.expires_at <= late.created_at + sessions.LIFE


@pytest.mark.parametrize(
    "statement",
    ["created_at = now() - interval '2 days', expires_at = now() - interval '1 second'", "revoked_at = now()"],
)
def test_an_ended_session_opens_nothing(scope: Scope, statement: str) -> None:
    token = make(scope.user_id)
    age(token, statement)
    assert resolve(token) is None


def test_a_deactivated_person_has_no_sessions(viewer: Scope) -> None:
    token = make(viewer.user_id)
    with transaction(SYSTEM) as tx:
        tx.connection.execute(text("UPDATE people SET status = 'deactivated' WHERE id = :id"), {"id": viewer.user_id})
    assert resolve(token) is None


def test_sessions_are_listed_and_revoked_by_their_person_alone(scope: Scope, viewer: Scope) -> None:
    assert scope.user_id and viewer.user_id
    mine, also_mine, other = make(scope.user_id), make(scope.user_id), make(viewer.user_id)
    with transaction(SYSTEM) as tx:
        listed = sessions.list_(tx, scope.user_id)
        assert len(listed) == 2
        theirs = sessions.list_(tx, viewer.user_id)[0]
    for wrong in (theirs.id, uuid7()):
        with pytest.raises(NotFound), transaction(SYSTEM) as tx:
            sessions.revoke(tx, wrong, scope.user_id)
    assert resolve(other)
    opened = resolve(mine)
    assert opened is not None
    with transaction(SYSTEM) as tx:
        sessions.revoke(tx, opened.id, scope.user_id)
    assert resolve(mine) is None and resolve(also_mine)
    with transaction(SYSTEM) as tx:
        assert sessions.revoke_token(tx, other) == viewer.user_id
        assert sessions.revoke_token(tx, other) is None
        assert sessions.revoke_all(tx, scope.user_id, method="local") == 0
        assert sessions.revoke_all(tx, scope.user_id) == 1
    assert resolve(also_mine) is None and resolve(other) is None
