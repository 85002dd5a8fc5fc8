"""How a connection to PostgreSQL is opened, and when a silent one counts as dead."""

from functools import partial
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import Engine, create_engine

from nexus_core.config import settings

SILENCE = {
    "connect_timeout": 5,
    "keepalives_idle": 20,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
"""libpq's limits, in seconds, times and milliseconds: after some twenty seconds without a sign of life from the other
machine a TCP connection is dead. The system's own patience is hours while nothing is asked, and a quarter of an hour
while an answer is awaited. They cost nothing while all is well, and mean nothing to a Unix socket."""


def engine_of(url: str, **options: Any) -> Engine:
    """An engine whose connections libpq itself opens, so that every form of its URL works, several hosts too.

    What the URL says about SILENCE goes. Where a pooler gives each transaction another connection, no statement is
    prepared: it would be on one connection only.
    """
    named = conninfo_to_dict(url)
    limits: dict[str, Any] = {name: value for name, value in SILENCE.items() if name not in named}
    if settings().database_pooled:
        limits["prepare_threshold"] = None
    connect = partial(psycopg.connect, url, application_name="nexus", **limits)
    return create_engine("postgresql+psycopg://", creator=connect, hide_parameters=True, **options)
