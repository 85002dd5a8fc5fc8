"""The log of every change: who, when, through which door; append-only, without secrets and without message texts."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from nexus_core.database import Json, Transaction


@dataclass(frozen=True)
class Entry:
    """One change: `action` (create, update, delete, …) on `entity` (agent, project, …); `detail` says what."""

    id: UUID
    at: datetime
    user_id: UUID | None
    user_name: str | None
    door: str
    action: str
    entity: str
    entity_id: UUID | None
    detail: dict[str, Any]


def record(
    tx: Transaction,
    action: str,
    entity: str,
    entity_id: UUID | None,
    detail: dict[str, Any] | None = None,
    *,
    workspace_id: UUID | None = None,
) -> None:
    """Write one entry in the change's own transaction.

    `workspace_id` is needed only in the system's scope, which has none.
    """
    tx.execute(
        "audit.record",
        workspace_id=workspace_id or tx.scope.workspace_id,
        door=tx.scope.door,
        action=action,
        entity=entity,
        entity_id=entity_id,
        detail=Json(detail or {}),
    )


def latest(tx: Transaction, limit: int = 100) -> list[Entry]:
    """The newest entries of the workspace, newest first, at most `limit`. For admins alone."""
    tx.scope.require("admin")
    return tx.all(Entry, "audit.latest", limit=limit)
