"""What is wrong with this installation, and how to mend it; one line each."""

import json
import platform
import shutil
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg.rows import dict_row

from nexus_core import database, migrate, providers, serve
from nexus_core.config import settings
from nexus_core.database import Scope
from nexus_core.errors import NexusError
from nexus_core.i18n import _, ngettext

CLOCK_SECONDS = 5.0
ANSWER_SECONDS = 10  # loading a model's library, Nexus is busy for some seconds
FREE_BYTES = 1 << 30


@dataclass(frozen=True)
class Finding:
    """One line: whether it is `fine`, `what` was looked at, and what was found or how to mend it."""

    fine: bool
    what: str
    found: str

    def __str__(self) -> str:
        return f"{'✓' if self.fine else '✗'} {self.what}: {self.found}"


def examine() -> Iterator[Finding]:
    """Every finding, as it is made; later ones that need an earlier one are left out when that failed."""
    yield Finding(True, "Python", platform.python_version())
    try:
        chosen = settings()
    except NexusError as error:
        yield Finding(False, _("Settings"), error.message)
        return
    yield Finding(True, _("Settings"), _("data in {home}, sign-in {auth}").format(home=chosen.home, auth=chosen.auth))
    current = False
    for finding in _store():
        current = (finding.fine and finding.what == _("Schema")) or current
        yield finding
    yield _disk()
    yield _models(_profiles() if current else [])
    yield _port()


def _store() -> Iterator[Finding]:
    what = _("Database")
    try:
        url = database.url()
        with psycopg.connect(url, connect_timeout=5, autocommit=True, row_factory=dict_row) as connection:
            before = datetime.now(UTC)
            server = connection.execute(_statement("doctor.server")).fetchall()[0]
            after = datetime.now(UTC)
            offered = {row["name"] for row in connection.execute(_statement("doctor.extensions"))}
    except NexusError as error:
        yield Finding(False, what, error.message)
        return
    except psycopg.Error as error:
        reason = str(error).strip().splitlines()[0]
        yield Finding(False, what, _("{reason}; check NEXUS_DATABASE_URL and the server").format(reason=reason))
        return
    yield _version(server)
    yield _encoding(server)
    yield from _extensions(offered)
    yield _migrations(url)
    yield _clock((server["clock"] - before - (after - before) / 2).total_seconds())


def _statement(name: str) -> bytes:
    return database.queries()[name].encode()


def _version(server: dict[str, Any]) -> Finding:
    kind = _("bundled") if settings().database_url is None else _("your own")
    found = f"PostgreSQL {server['version']}, {kind}"
    if server["major"] not in migrate.SUPPORTED:
        span = f"{migrate.SUPPORTED[0]}–{migrate.SUPPORTED[-1]}"
        return Finding(False, _("Database"), _("{found}; Nexus is made for {span}").format(found=found, span=span))
    return Finding(True, _("Database"), found)


def _encoding(server: dict[str, Any]) -> Finding:
    if server["encoding"] != "UTF8":
        mend = _("{encoding}; move to a database made with ENCODING 'UTF8'").format(encoding=server["encoding"])
        return Finding(False, _("Encoding"), mend)
    return Finding(True, _("Encoding"), "UTF8")


def _extensions(offered: set[str]) -> Iterator[Finding]:
    """pg_trgm is needed; without another one something small is missing, which is said and is no fault."""
    without = {
        "unaccent": _("not offered; nothing that Nexus does today needs it"),
        "vector": _("not offered; only search by meaning needs it"),
        "pg_stat_statements": _("not offered; slow statements can't be listed"),
    }
    mend = _("missing, and search needs it; install the server's contrib package (postgresql-contrib)")
    yield Finding("pg_trgm" in offered, _("Extension pg_trgm"), _("offered") if "pg_trgm" in offered else mend)
    for name, words in without.items():
        yield Finding(True, _("Extension {name}").format(name=name), _("offered") if name in offered else words)


def _migrations(url: str) -> Finding:
    what = _("Schema")
    try:
        status = migrate.status(url)
    except NexusError as error:
        return Finding(False, what, error.message)
    if status.unknown:
        return Finding(
            False,
            what,
            _("newer than this Nexus ({name}); install that").format(name=status.unknown[-1]),
        )
    if count := len(status.pending):
        mend = ngettext("{n} migration to apply: {command}", "{n} migrations to apply: {command}", count)
        return Finding(False, what, mend.format(n=count, command="python -m nexus_core migrate"))
    return Finding(True, what, _("current ({name})").format(name=status.applied[-1] if status.applied else "–"))


def _clock(ahead: float) -> Finding:
    found = _("the database is {seconds:+.1f} s from this machine").format(seconds=ahead)
    if abs(ahead) > CLOCK_SECONDS:
        return Finding(False, _("Clock"), _("{found}; switch on time synchronisation on both").format(found=found))
    return Finding(True, _("Clock"), found)


def _disk() -> Finding:
    """Where the data lies, or will lie."""
    home = settings().home
    data = home / "postgres"
    place = next(folder for folder in (data, home, *home.parents) if folder.exists())
    free = shutil.disk_usage(place).free
    found = _("{free:.1f} GiB free at {place}").format(free=free / (1 << 30), place=place)
    if free < FREE_BYTES:
        return Finding(False, _("Disk"), _("{found}; make room, or move NEXUS_HOME").format(found=found))
    return Finding(True, _("Disk"), found)


def _profiles() -> list[dict[str, Any]]:
    """The models that administrators made profiles of, in every workspace."""
    try:
        with database.transaction(Scope.system()) as tx:
            return list(tx.rows("doctor.profiles"))
    except NexusError:
        return []  # the finding about the database says why
    finally:
        database.reset()


def _models(profiles: list[dict[str, Any]]) -> Finding:
    """What the environment names, and what profiles can reach."""
    reached = [row for row in profiles if providers.connected(row["model"], row["api_base"])]
    found = [each.label for each in providers.detected()]
    found += [_("profile {name} ({model})").format(name=row["name"], model=row["model"]) for row in reached]
    if not found:
        hint = _("a key such as OPENAI_API_KEY in .env, or a profile with an address, connects a model")
        return Finding(True, _("Models"), _("the built-in assistant answers ({hint})").format(hint=hint))
    if profiles and not any(row["is_default"] for row in profiles):
        found.append(_("the built-in assistant is the default; the page Models changes it"))
    return Finding(True, _("Models"), "; ".join(found))


def _port() -> Finding:
    chosen = settings()
    what = _("Port {port}").format(port=chosen.port)
    try:
        for listener in serve.listen(chosen.host, chosen.port):
            listener.close()
    except NexusError as error:
        if _answers(serve.address(chosen.host, chosen.port)):
            return Finding(True, what, _("Nexus runs there"))
        return Finding(False, what, error.message)
    return Finding(True, what, _("free"))


def _answers(address: str) -> bool:
    """Whether a Nexus is what listens there, be it well or not; asked of this machine, never through a proxy."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        try:
            response = opener.open(f"{address}/health", timeout=ANSWER_SECONDS)
        except urllib.error.HTTPError as refused:  # its database is away, or it answers to other names alone
            response = refused
        with response:
            return isinstance(json.load(response)["success"], bool)
    except (OSError, ValueError, LookupError, TypeError):
        return False
