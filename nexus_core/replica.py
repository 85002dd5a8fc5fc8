"""Reports from a read replica, where there is one and it is near enough; else from the store itself."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Literal, TypeVar

from psycopg.errors import QueryCanceled
from sqlalchemy.exc import DBAPIError

from nexus_core.config import settings
from nexus_core.database import Scope, Source, Transaction, transaction
from nexus_core.errors import NexusError, StoreUnavailable
from nexus_core.i18n import _

MOST_SECONDS = 10.0
"""How far behind a replica may be; a report from one further behind comes from the store."""
LOOK_SECONDS = 5.0
AWAY_SECONDS = 30.0
_log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True)
class Standing:
    """How the replica stands: `state`, and `lag`, the seconds that it is behind; None when that is not known."""

    state: Literal["well", "late", "away"]
    lag: float | None = None

    @property
    def notice(self) -> str:
        """What a person who reads a report should know; empty when all is well."""
        if self.state == "away":
            return _("The read replica can't be reached; reports come from the main database.")
        if self.state == "late":
            return _("The read replica is too far behind; reports come from the main database.")
        return ""


class _Replica:
    """The replica of NEXUS_REPLICA_URL: it is looked at every few seconds, and left alone for a while when away."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._source: Source | None = None
        self._lock = Lock()
        self._standing = Standing("away")
        self._until = 0.0

    def look(self) -> tuple[Source | None, Standing]:
        """The replica if it is near enough, and how it stands; while one looks, others go by the last look."""
        if time.monotonic() > self._until and self._lock.acquire(blocking=False):
            try:
                lag = self._lag()
                near = lag is not None and lag <= MOST_SECONDS
                self._stands(Standing("well" if near else "late", lag), LOOK_SECONDS)
            except (NexusError, DBAPIError) as error:
                self.lost(str(error))
            finally:
                self._lock.release()
        return (self._source if self._standing.state == "well" else None), self._standing

    def lost(self, why: str) -> None:
        """It did not answer: reports come from the store for a while."""
        _log.warning("the read replica is not used for %d s: %s", AWAY_SECONDS, why)
        self._stands(Standing("away"), AWAY_SECONDS)

    def close(self) -> None:
        if self._source is not None:
            self._source.engine.dispose()

    def _stands(self, standing: Standing, seconds: float) -> None:
        self._standing, self._until = standing, time.monotonic() + seconds

    def _lag(self) -> float | None:
        """Seconds behind: none when it has all that the store has written by now, else since what it replayed last."""
        if self._source is None:
            self._source = Source.of(self._url, pool_size=5, max_overflow=5, pool_timeout=2)
        with transaction(Scope.system()) as tx:
            written = str(tx.execute("replica.written").scalar_one())
        with transaction(Scope.system(), of=self._source) as tx:
            found = tx.execute("replica.lag", written=written).scalar_one()
        return None if found is None else float(found)


@cache
def _replica(url: str) -> _Replica:
    return _Replica(url)


def read(scope: Scope, report: Callable[[Transaction], T]) -> T:
    """What `report` reads, in one snapshot: from the replica if it is near enough, else, or when that fails, from the
    store. It may be called twice, and must not write."""
    url = settings().replica_url
    source = _replica(url).look()[0] if url else None
    if url and source:
        try:
            with transaction(scope, snapshot=True, of=source) as tx:
                return report(tx)
        except (StoreUnavailable, DBAPIError) as error:  # away, or it threw the reading out in favour of replaying
            if _was_slow(error):
                raise
            _replica(url).lost(str(error))
    with transaction(scope, snapshot=True) as tx:
        return report(tx)


def standing() -> Standing | None:
    """How the replica stands; None where there is none."""
    url = settings().replica_url
    return _replica(url).look()[1] if url else None


def notice() -> str:
    """What a person who reads a report should know of where it comes from; empty when all is as it should be."""
    found = standing()
    return found.notice if found else ""


def reset() -> None:
    """Forget the replica (for tests, and at the end)."""
    url = settings().replica_url
    if url:
        _replica(url).close()
    _replica.cache_clear()


def _was_slow(error: Exception) -> bool:
    """Whether the statement took too long, which it would on the store, too."""
    cause = error.__cause__
    return isinstance(cause, DBAPIError) and isinstance(cause.orig, QueryCanceled)
