"""How often programs may ask: per token, per person and per address, counted in this process."""

import time
from functools import cache

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from nexus_core.config import settings
from nexus_core.errors import TooMany
from nexus_core.i18n import _
from nexus_core.signin import Identity

_limiter = SlidingWindowCounterRateLimiter(MemoryStorage())
_parsed = cache(parse)


def count_address(address: str) -> None:
    """Count a request from an address, whoever asks. Raises TooMany."""
    _count(settings().rate_address, "address", address)


def count_holder(identity: Identity) -> None:
    """Count a request of a token, or else of a person; the owner of this machine asks as often as they like.

    Raises TooMany.
    """
    if identity.token_id:
        _count(settings().rate_token, "token", str(identity.token_id))
    elif identity.method != "local":
        _count(settings().rate_person, "person", str(identity.person.id))


def reset() -> None:
    """Forget what was counted (for tests)."""
    _limiter.storage.reset()


def _count(rate: str | None, *key: str) -> None:
    if rate is None:
        return
    limit: RateLimitItem = _parsed(rate)
    if not _limiter.hit(limit, *key):
        wait = max(0.0, _limiter.get_window_stats(limit, *key).reset_time - time.time())
        raise TooMany(
            _("That is more than {rate}; wait a moment.").format(rate=str(limit)), detail={"retry_after": wait}
        )
