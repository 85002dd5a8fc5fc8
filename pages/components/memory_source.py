"""Where a message of the chat stands, for what was made of it."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from nexus_core.text import as_uuid
from pages.components import session


def message(conversation_id: UUID, message_id: UUID) -> str:
    """The address of a message in the chat."""
    names = {"conversation": conversation_id, "message": message_id}
    return "/chat?" + urlencode(session.here() | {name: str(value) for name, value in names.items()})


def address(entry: Any) -> str | None:
    """The address of the message that an entry of a memory comes from; None where it names none."""
    cited = entry if isinstance(entry, Mapping) else {}
    ids = [as_uuid(str(cited.get(name) or "")) for name in ("conversation_id", "message_id")]
    return message(*ids) if all(ids) else None
