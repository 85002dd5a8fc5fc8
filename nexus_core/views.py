"""Saved views: a name for a page's range and filters, one's own or shared with the workspace."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from uuid6 import uuid7

from nexus_core import audit
from nexus_core.database import ROLES, Json, Transaction
from nexus_core.errors import Invalid, NotFound
from nexus_core.i18n import _
from nexus_core.text import clip, one_line

PAGES = ("costs", "runs", "audit")


@dataclass(frozen=True)
class View:
    """`query` is the query of the page's address: lists of texts by key."""

    id: UUID
    user_id: UUID
    page: str
    name: str
    query: dict[str, Any]
    shared: bool
    updated_at: datetime


def of_page(tx: Transaction, page: str) -> list[View]:
    """One's own views of a page and those that others share, by name."""
    return tx.all(View, "views.of_page", page=page)


def save(tx: Transaction, page: str, name: str, query: Mapping[str, Sequence[str]], *, shared: bool = False) -> View:
    """Keep a view, in place of one's own of that name. Raises Invalid; sharing needs the operator role."""
    if shared:
        tx.scope.require("operator")
    name = clip(one_line(name), 80)
    if not name or page not in PAGES:
        raise Invalid(_("A view needs a name."), field="name")
    kept = Json({key: list(values) for key, values in query.items()})
    view = tx.get(View, "views.save", id=uuid7(), page=page, name=name, query=kept, shared=shared)
    audit.record(tx, "save", "view", view.id, {"page": page, "shared": shared})
    return view


def remove(tx: Transaction, view_id: UUID) -> None:
    """Remove one's own view; an admin also removes a shared one. Raises NotFound."""
    is_admin = ROLES.index(tx.scope.role) >= ROLES.index("admin") if tx.scope.role in ROLES else False
    row = tx.execute("views.remove", id=view_id, any=is_admin).first()
    if row is None:
        raise NotFound(_("There is no such view here."))
    audit.record(tx, "delete", "view", view_id, {"shared": row.shared})
