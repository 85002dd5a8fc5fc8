"""The way to PostgreSQL: one engine, one transaction with its scope, statements from sql/queries."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy import Connection, CursorResult, Engine, TextClause, text
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.exc import DBAPIError

from nexus_core import embedded
from nexus_core.config import settings
from nexus_core.connections import engine_of
from nexus_core.errors import Forbidden, SetupFailed, StoreUnavailable
from nexus_core.i18n import _
from nexus_core.refusals import domain_errors, is_gone, missing
from nexus_core.text import clean, clean_json

ROOT = Path(__file__).resolve().parent.parent
APP_ROLE = "nexus_app"
ROLES = ("viewer", "operator", "admin")
PATIENCE = "60s"
"""How long one statement may take where a person waits for it; jobs and the command line take their time."""
AWAITED = ("page", "api", "mcp")
T = TypeVar("T")


@dataclass(frozen=True)
class Scope:
    """Who acts, in which workspace, with which role, through which door (page, api, mcp, cli, worker, gate).

    Whoever comes with a token acts by `token_id` and sees `project_ids` alone, None: every project. PostgreSQL itself
    hides the other projects, and what belongs to none.
    """

    workspace_id: UUID | None
    user_id: UUID | None
    role: str
    door: str = "page"
    project_ids: tuple[UUID, ...] | None = None
    token_id: UUID | None = None

    @property
    def limit(self) -> str:
        """The limit to projects as the setting of a transaction: an array, or nothing."""
        return "" if self.project_ids is None else "{" + ",".join(map(str, self.project_ids)) + "}"

    @classmethod
    def system(cls) -> "Scope":
        """The scope of background jobs and of sign-in, which come before any workspace is known."""
        return cls(None, None, "system", "worker")

    def require(self, role: str) -> None:
        """Raise Forbidden unless this scope's role is `role` or higher."""
        if self.role == "system" or (self.role in ROLES and ROLES.index(self.role) >= ROLES.index(role)):
            return
        raise Forbidden(_("This needs the {role} role; yours is {yours}.").format(role=role, yours=self.role))


class Json:
    """A value to be written as jsonb; the sanitiser of every text passes over it too."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Transaction:
    """An open transaction and its scope; nouns take it first and never commit it."""

    def __init__(self, connection: Connection, scope: Scope) -> None:
        self.connection = connection
        self.scope = scope

    def execute(self, name: str, /, **params: Any) -> CursorResult[Any]:
        """Run the statement `name` ("noun.verb") of sql/queries.

        The scope's `workspace_id` and `user_id` are parameters of every statement; every text is made storable here,
        the one place where writes and search terms pass.
        """
        scope = {"workspace_id": self.scope.workspace_id, "user_id": self.scope.user_id}
        statement, wanted = driver_sql(name)
        values = {key: _storable(value) for key, value in (scope | params).items() if key in wanted}
        return self.connection.exec_driver_sql(statement, values)

    def all(self, cls: type[T], name: str, /, **params: Any) -> list[T]:
        """Every row of a statement as `cls`, a dataclass whose fields are the statement's columns."""
        return [cls(**row) for row in self.execute(name, **params).mappings()]

    def one(self, cls: type[T], name: str, /, **params: Any) -> T | None:
        """The first row of a statement as `cls`, or None."""
        row = self.execute(name, **params).mappings().first()
        return None if row is None else cls(**row)

    def get(self, cls: type[T], name: str, /, **params: Any) -> T:
        """The first row of a statement as `cls`; raises NotFound when there is none."""
        row = self.one(cls, name, **params)
        if row is None:
            raise missing(cls.__name__)
        return row

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """A block that may fail alone: when it raises, what it did is undone and the transaction goes on."""
        with self.connection.begin_nested():
            yield

    @contextmanager
    def unlimited(self) -> Iterator[None]:
        """A block that counts every project of the workspace, for what is asked whoever acts, as a budget is."""
        if self.scope.project_ids is None:
            yield
            return
        with self.savepoint():  # when the block raises, the limit is back, too
            self.execute("database.limit_to", projects="")
            yield
            self.execute("database.limit_to", projects=self.scope.limit)

    def rows(self, name: str, /, **params: Any) -> Sequence[dict[str, Any]]:
        """Every row of a statement as a dictionary."""
        return [dict(row) for row in self.execute(name, **params).mappings()]


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Json):
        return Jsonb(clean_json(value.value))
    if isinstance(value, dict):
        return Jsonb(clean_json(value))
    if isinstance(value, (list, tuple)):
        return [clean(item) if isinstance(item, str) else item for item in value]
    return value


@cache
def queries() -> dict[str, str]:
    """Every statement of sql/queries by name: `-- name: verb`, a description, the statement."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / "sql" / "queries").glob("*.sql")):
        for block in re.split(r"^-- name: *", path.read_text("utf-8"), flags=re.MULTILINE)[1:]:
            name, _newline, body = block.partition("\n")
            key = f"{path.stem}.{name.strip()}"
            if key in found:
                raise ValueError(f"two statements are named {key}")
            found[key] = body.strip().removesuffix(";")
    return found


@cache
def query(name: str) -> TextClause:
    """The statement `name`, ready to run; KeyError when sql/queries has none."""
    return text(queries()[name])


@cache
def driver_sql(name: str) -> tuple[str, frozenset[str]]:
    """The statement `name` as psycopg takes it, and the names of its parameters; written once, not at each run."""
    dialect = PGDialect_psycopg(paramstyle="pyformat")  # type: ignore[no-untyped-call]
    compiled = query(name).compile(dialect=dialect)
    return str(compiled), frozenset(compiled.params)


def url() -> str:
    """The store's URL: NEXUS_DATABASE_URL, or the bundled server's, which is started when it has to be."""
    return settings().database_url or embedded.start()


@dataclass(frozen=True)
class Source:
    """A server to ask, and the role to work under there; None where its user is under the policies itself."""

    engine: Engine
    role: str | None

    @classmethod
    def of(cls, url: str, **options: Any) -> "Source":
        """The server of a URL, which answers. Raises StoreUnavailable or SetupFailed."""
        made = engine_of(url, **options)
        with domain_errors():
            return cls(made, _working_role(made))


_engine: Engine | None = None
_app_role: str | None = None
_lock = Lock()


def engine() -> Engine:
    """The process's engine, made on first use. Raises StoreUnavailable or SetupFailed."""
    global _engine, _app_role
    with _lock:
        if _engine is None:
            made = Source.of(url(), pool_size=10, max_overflow=20, pool_timeout=10)
            _engine, _app_role = made.engine, made.role
        return _engine


def reset() -> None:
    """Close the engine; the next use makes a new one (for tests, and after the store has moved)."""
    global _engine
    with _lock:
        if _engine is not None:
            _engine.dispose()
        _engine = None


def _working_role(made: Engine) -> str | None:
    """The role to work under: nexus_app where this user may, else None when the user itself is under the policies."""
    with made.connect() as connection:
        try:
            connection.execute(query("database.enter_role"), {"role": APP_ROLE})
            return APP_ROLE
        except DBAPIError as error:
            if is_gone(error):
                raise
            connection.rollback()
        if connection.execute(query("database.bypasses_policies")).scalar():
            raise SetupFailed(
                _("This database user bypasses row-level security; run `python -m nexus_core migrate` with it once.")
            )
    return None


@contextmanager
def transaction(scope: Scope, *, snapshot: bool = False, of: "Source | None" = None) -> Iterator[Transaction]:
    """One transaction under `scope`; committed at the end of the block, rolled back when it raises.

    With `snapshot`, all its statements see the store as of its first one, for reports whose figures must agree. `of` is
    another server to ask than the store itself.

    Opened at the edge (a page, a route, a job), never held while a model talks. A connection that died while it
    lay in the pool is replaced once. Raises StoreUnavailable when PostgreSQL can't be reached, and the domain's
    errors for what the database itself refuses.
    """
    with domain_errors(limited=scope.project_ids is not None):
        connection = _begin(scope, snapshot, of)
        with connection, connection.get_transaction() or connection.begin():
            yield Transaction(connection, scope)


def _begin(scope: Scope, snapshot: bool, of: "Source | None") -> Connection:
    for last in (False, True):
        connection: Connection | None = None
        try:
            source = of or Source(engine(), _app_role)
            connection = source.engine.connect()
            if snapshot:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            values = {
                "workspace_id": str(scope.workspace_id or ""),
                "user_id": str(scope.user_id or ""),
                "scope_role": scope.role,
                "projects": scope.limit,
                "patience": PATIENCE if scope.door in AWAITED else None,
                "role": source.role,
            }
            statement, _names = driver_sql("database.enter_scope" if source.role else "database.enter_scope_as_owner")
            connection.exec_driver_sql(statement, values)
            return connection
        except BaseException as error:
            if connection is not None:
                connection.close()
            if last or not is_gone(error):
                raise
            if of is None:
                _revive()
    raise AssertionError


def _revive() -> None:
    """Start the bundled server again when it is the one and died."""
    if settings().database_url is None:
        try:
            embedded.start()
        except SetupFailed as failure:
            raise StoreUnavailable(failure.message) from failure


def evolve(item: T, **changes: Any) -> T:
    """A copy of a dataclass with those `changes` that are its fields."""
    known = {field.name for field in fields(item)}  # type: ignore[arg-type]
    return replace(item, **{key: value for key, value in changes.items() if key in known})  # type: ignore[type-var]
