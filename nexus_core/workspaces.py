"""Workspaces: what belongs together and is seen by its members alone."""

import re
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID
from zoneinfo import available_timezones

from uuid6 import uuid7

from nexus_core import audit
from nexus_core.database import Transaction
from nexus_core.errors import Conflict, Invalid
from nexus_core.i18n import _
from nexus_core.text import one_line

DEFAULT = "default"


@dataclass(frozen=True)
class Workspace:
    """`slug` stands in addresses; the days of its reports are days of `time_zone`, an IANA name."""

    id: UUID
    slug: str
    name: str
    time_zone: str
    updated_at: datetime


@dataclass(frozen=True)
class Membership:
    """A workspace as one person meets it, with that person's role: viewer, operator or admin."""

    workspace_id: UUID
    slug: str
    name: str
    time_zone: str
    role: str


def get(tx: Transaction) -> Workspace:
    """The scope's own workspace; raises NotFound."""
    return tx.get(Workspace, "workspaces.get")


def default(tx: Transaction) -> Workspace:
    """The first workspace, made when there is none yet; for the system's scope."""
    tx.execute("workspaces.create_once", id=uuid7(), slug=DEFAULT, name="Nexus")
    return tx.get(Workspace, "workspaces.by_slug", slug=DEFAULT)


def named(tx: Transaction, slug: str) -> Workspace:
    """The workspace with this slug, the first one made when there is none yet; for the system's scope.

    Raises NotFound.
    """
    return default(tx) if slug == DEFAULT else tx.get(Workspace, "workspaces.by_slug", slug=slug)


def create(tx: Transaction, slug: str, name: str, *, time_zone: str = "UTC") -> Workspace:
    """A new workspace without members; for the system's scope. Raises Invalid, Conflict for a taken slug."""
    slug, name = slug.strip().lower(), one_line(name)
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,62}", slug):
        raise Invalid(_("A short name has letters, digits and dashes, 63 at most."), field="slug")
    if not name:
        raise Invalid(_("A workspace needs a name."), field="name")
    made = tx.get(Workspace, "workspaces.create", id=uuid7(), slug=slug, name=name, time_zone=time_zone)
    audit.record(tx, "create", "workspace", made.id, {"slug": slug}, workspace_id=made.id)
    return made


def update(
    tx: Transaction, *, name: str | None = None, time_zone: str | None = None, unchanged_since: datetime | None = None
) -> Workspace:
    """Name the scope's workspace and choose its zone; reports count days of the new zone at once. None stays as it is.

    Raises Forbidden below admin, Invalid, and Conflict where it was changed after `unchanged_since`, an `updated_at`.
    """
    tx.scope.require("admin")
    before = get(tx)
    name = before.name if name is None else one_line(name)
    time_zone = before.time_zone if time_zone is None else time_zone
    if not name:
        raise Invalid(_("A workspace needs a name."), field="name")
    if time_zone not in available_timezones():
        raise Invalid(_("There is no time zone {name}.").format(name=time_zone), field="time_zone")
    values = {"name": name, "time_zone": time_zone, "unchanged_since": unchanged_since}
    after = tx.one(Workspace, "workspaces.update", **values)
    if after is None:
        version = {"version": before.updated_at.isoformat()}
        raise Conflict(_("Somebody changed these settings meanwhile."), detail=version)
    changes = {key: [getattr(before, key), getattr(after, key)] for key in ("name", "time_zone")}
    told = {key: pair for key, pair in changes.items() if pair[0] != pair[1]}
    if told:
        audit.record(tx, "update", "workspace", after.id, {"changes": told})
    return after


def lock(tx: Transaction) -> None:
    """Hold the scope's workspace until the transaction ends, so that what it lacks is added once."""
    tx.execute("workspaces.lock")


def of_person(tx: Transaction, person_id: UUID) -> list[Membership]:
    """Where a person is a member, the default workspace first; for the system's scope or the person's own."""
    return tx.all(Membership, "workspaces.of_person", person_id=person_id)
