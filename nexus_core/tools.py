"""What the assistant may look up by itself: the project's memory and conversations, read only."""

import json
import logging
from typing import Any
from uuid import UUID

from nexus_core import conversations, memories, messages, recall
from nexus_core.database import Scope, transaction
from nexus_core.errors import Invalid, NexusError
from nexus_core.text import clip

QUOTE_CLUSTERS = 600
_log = logging.getLogger(__name__)


def _function(name: str, description: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


OFFERED: tuple[dict[str, Any], ...] = (
    _function(
        "search_memory",
        "Find what was said in this project's conversations. Returns passages with conversation ids.",
        {"query": {"type": "string"}, "limit": {"type": "integer", "minimum": 1, "maximum": 10}},
        ["query"],
    ),
    _function(
        "read_conversation",
        "Read messages of one conversation of this project, the newest first page, or those before a number.",
        {"conversation_id": {"type": "string"}, "before": {"type": "integer", "minimum": 1}},
        ["conversation_id"],
    ),
    _function(
        "list_decisions",
        "List the decisions of this project's memory, the superseded ones too when asked for.",
        {"superseded": {"type": "boolean"}},
        [],
    ),
)
"""The tools as the OpenAI chat completions form describes them; the same bytes each time."""


def run(scope: Scope, project_id: UUID | None, name: str, arguments: str) -> tuple[Any, str | None]:
    """Run a tool under the scope of the person who asked: (output, None), or (None, error) to tell the model.

    A tool that fails is a result, never an exception; only what that person may see is found.
    """
    try:
        given = json.loads(arguments or "{}")
        if not isinstance(given, dict):
            raise Invalid("The arguments must be a JSON object.")
        found = {"search_memory": _search, "read_conversation": _read, "list_decisions": _decisions}.get(name)
        if found is None or project_id is None:
            raise Invalid(f"There is no tool {name} here.")
        return found(scope, project_id, given), None
    except NexusError as error:
        return None, error.message
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        return None, f"The arguments can't be used: {error}"
    except Exception:  # noqa: BLE001 - the model is told, and the answer goes on without it
        _log.exception("the tool %s failed", name)
        return None, "The tool failed."


def _search(scope: Scope, project_id: UUID, given: dict[str, Any]) -> Any:
    query, limit = str(given.get("query") or ""), min(max(int(given.get("limit") or 5), 1), 10)
    vector = recall.meant(scope, query, project_id)
    with transaction(scope) as tx:
        hits = recall.passages(tx, query, project_id, limit=limit, vector=vector)
    return [
        {
            "conversation_id": str(hit.conversation_id),
            "conversation": hit.conversation_title,
            "message": hit.seq,
            "date": f"{hit.created_at:%Y-%m-%d}",
            "said_by": hit.author or hit.role,
            "text": clip(hit.body, QUOTE_CLUSTERS),
        }
        for hit in hits
    ]


def _read(scope: Scope, project_id: UUID, given: dict[str, Any]) -> Any:
    before = int(given["before"]) if given.get("before") else None
    with transaction(scope) as tx:
        conversation = conversations.get(tx, UUID(str(given.get("conversation_id"))))
        if conversation.project_id != project_id:
            raise Invalid("That conversation is not in this project.")
        rows = messages.page(tx, conversation.id, before=before, limit=20)
    said = [{"message": row.seq, "role": row.role, "text": clip(row.body, QUOTE_CLUSTERS)} for row in rows]
    return {"title": conversation.title, "messages": said}


def _decisions(scope: Scope, project_id: UUID, given: dict[str, Any]) -> Any:
    with transaction(scope) as tx:
        decisions = memories.get(tx, project_id).decisions
    wanted = bool(given.get("superseded"))
    return [d for d in decisions if wanted or not isinstance(d, dict) or d.get("status") != "superseded"]
