"""Passwords as argon2id hashes, by argon2-cffi; nothing here touches the database."""

from functools import cache
from unicodedata import normalize

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from nexus_core.errors import Invalid
from nexus_core.i18n import _

SHORTEST, LONGEST = 10, 1000
_hasher = PasswordHasher()


def hash_(password: str) -> str:
    """The hash to store, in PHC string format. Raises Invalid outside 10 to 1,000 characters."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise Invalid(_("A password has at least {n} characters.").format(n=SHORTEST), field="password")
    return _hasher.hash(_bytes(password))


def verify(stored: str | None, password: str) -> bool:
    """Whether the password is the stored one; without a stored one it takes the same time to say no."""
    nobody = _nobody()
    try:
        return _hasher.verify(stored or nobody, _bytes(password[: LONGEST + 1])) and stored is not None
    except (VerificationError, InvalidHashError):
        return False


def renewed(stored: str | None, password: str) -> str | None:
    """A new hash of a password just verified, when the stored one has weaker parameters than today's."""
    return _hasher.hash(_bytes(password)) if stored and _hasher.check_needs_rehash(stored) else None


@cache
def _nobody() -> str:
    """A hash that no password opens (its bytes are no text), made with today's parameters."""
    return _hasher.hash(b"\xff" * 32)


def _bytes(password: str) -> bytes:
    """The same bytes on every keyboard: composed (NFC), UTF-8."""
    return normalize("NFC", password).encode("utf-8", "surrogatepass")
