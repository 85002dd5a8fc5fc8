"""Brings a database to the schema that this code knows: sql/migrations, in order, forward only."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from nexus_core import database
from nexus_core.connections import engine_of
from nexus_core.errors import SetupFailed
from nexus_core.i18n import _

SUPPORTED = range(15, 19)


@dataclass(frozen=True)
class Status:
    """Names of the migrations that are `applied`, still `pending`, and `unknown` to this code (made by a newer one)."""

    applied: list[str]
    pending: list[str]
    unknown: list[str]


def files() -> list[Path]:
    """The migrations that this code knows, in order."""
    return sorted((database.ROOT / "sql" / "migrations").glob("*.sql"))


def status(url: str) -> Status:
    """What has been applied to the database at `url`. Raises SetupFailed when it can't be reached."""
    with _connect(url) as connection:
        applied = _applied(connection)
    known = [path.stem for path in files()]
    return Status(
        [name for name in known if name in applied],
        [name for name in known if name not in applied],
        sorted(set(applied) - set(known)),
    )


def migrate(url: str) -> list[str]:
    """Apply what is pending, each file in a transaction of its own, and return the names applied.

    Two processes that start at once wait for each other. Raises SetupFailed, with nothing half-done, when the
    database can't be reached, is older than PostgreSQL 15, is newer than this code, or refuses a migration. Also gives
    the roles what they need where the server lacks them, as after a restore on another one.
    """
    done = []
    with _connect(url) as connection:
        _check(connection)
        for path in _pending(connection):
            if _apply(connection, path):
                done.append(path.stem)
        connection.execute(database.query("migrate.lock"))
        connection.execute(database.query("migrate.admit_roles"))
        connection.commit()
    return done


def _pending(connection: Connection) -> list[Path]:
    applied = _applied(connection)
    known = {path.stem: path for path in files()}
    unknown = sorted(set(applied) - set(known))
    if unknown:
        raise SetupFailed(
            _("This database is newer than this Nexus (it has {name}): install the newer Nexus.").format(
                name=unknown[-1]
            )
        )
    for name, checksum in applied.items():
        if checksum != _checksum(known[name]):
            raise SetupFailed(
                _("Migration {name} was changed after it was applied: restore the file as it was.").format(name=name)
            )
    connection.rollback()
    return [path for name, path in known.items() if name not in applied]


def _apply(connection: Connection, path: Path) -> bool:
    """Apply one migration; False when another process was faster."""
    try:
        connection.execute(database.query("migrate.lock"))
        if path.stem in _applied(connection):
            connection.rollback()
            return False
        connection.execute(database.query("migrate.enter"))
        connection.exec_driver_sql(path.read_text("utf-8"), execution_options={"no_parameters": True})
        connection.execute(database.query("migrate.record"), {"name": path.stem, "checksum": _checksum(path)})
        connection.commit()
        return True
    except DBAPIError as error:
        connection.rollback()
        sentence = _("Migration {name} failed: {reason}").format(name=path.stem, reason=_reason(error))
        raise SetupFailed(sentence) from error


def _applied(connection: Connection) -> dict[str, str]:
    if connection.execute(database.query("migrate.table_exists")).scalar() is None:
        return {}
    return {row.name: row.checksum for row in connection.execute(database.query("migrate.applied"))}


def _checksum(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def _check(connection: Connection) -> None:
    row = connection.execute(database.query("migrate.server")).one()
    connection.rollback()
    if row.major < SUPPORTED.start:
        sentence = _("Nexus needs PostgreSQL {oldest} or newer; this server is {major}.")
        raise SetupFailed(sentence.format(oldest=SUPPORTED.start, major=row.major))
    if row.encoding != "UTF8":
        raise SetupFailed(
            _("The database's encoding is {encoding}; make one with ENCODING 'UTF8'.").format(encoding=row.encoding)
        )


@contextmanager
def _connect(url: str) -> Iterator[Connection]:
    engine = engine_of(url, poolclass=NullPool)
    try:
        connection = engine.connect()
    except DBAPIError as error:
        raise SetupFailed(
            _("The database can't be reached ({reason}). Check NEXUS_DATABASE_URL and that the server runs.").format(
                reason=_reason(error)
            )
        ) from error
    with connection:
        try:
            yield connection
        except DBAPIError as error:
            raise SetupFailed(
                _("The database refused to be migrated: {reason}").format(reason=_reason(error))
            ) from error


def _reason(error: DBAPIError) -> str:
    return (str(error.orig).strip().splitlines() or [""])[0]
