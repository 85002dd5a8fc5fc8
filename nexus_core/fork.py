"""Forks: a new conversation that begins with what was said up to a message of another one."""

from typing import Any
from uuid import UUID

from nexus_core import audit, conversations, messages
from nexus_core.conversations import TITLE_LIMIT, Conversation, Place
from nexus_core.database import Transaction
from nexus_core.errors import Invalid
from nexus_core.i18n import _
from nexus_core.text import clip

ORIGIN = "forked_from"
"""Under this name a fork's metadata keeps `conversation_id`, `message_id` and `seq` of where it left."""


def fork(tx: Transaction, message_id: UUID) -> Conversation:
    """A conversation of this person's in the same place, with copies of the messages up to this one, itself included.

    Of an answer that is not shown, its own way is copied. Runs and their costs stay with the original. Raises
    Forbidden, NotFound, and Invalid for an answer that is still being written.
    """
    tx.scope.require("operator")
    message = messages.get(tx, message_id)
    source = conversations.get(tx, message.conversation_id)
    if message.status == "streaming":
        raise Invalid(_("This answer is still being written; fork from it once it is done."), field="message_id")
    origin: dict[str, Any] = {"conversation_id": source.id, "message_id": message.id, "seq": message.seq}
    origin = {key: value if key == "seq" else str(value) for key, value in origin.items()}
    made = conversations.create(
        tx,
        Place(source.project_id, source.agent_id),
        title=clip(_("{title} (fork)").format(title=source.title or _("New conversation")), TITLE_LIMIT),
        kind=source.kind,
        task_id=source.task_id,
        metadata={ORIGIN: origin},
    )
    tx.execute("fork.copy", source_id=source.id, seq=message.seq, conversation_id=made.id)
    audit.record(tx, "fork", "conversation", made.id, origin)
    return conversations.get(tx, made.id)
