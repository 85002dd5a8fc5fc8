"""What a conversation that a program holds is known by: whom it speaks for, and the history that it resends."""

from uuid import UUID

from nexus_core.database import Transaction
from nexus_core.text import clip, one_line

END_USER_LIMIT = 200


def after(
    tx: Transaction, heard: str, *, project_id: UUID | None = None, agent_id: UUID | None = None
) -> list[tuple[UUID, UUID]]:
    """Conversations, newest first, that had heard just this when they were asked last: their ids and answers' ids.

    `heard` is a digest; at most 5, of this person in this place, none in which somebody answers now.
    """
    rows = tx.rows("programs.after", heard=heard, project_id=project_id, agent_id=agent_id)
    return [(row["conversation_id"], row["answer_id"]) for row in rows]


def hold(
    tx: Transaction, conversation_id: UUID, *, heard: str | None = None, end_user: str | None = None, title: str = ""
) -> None:
    """Note what a conversation has heard, or whom a program speaks for in it; what is None stays as it is.

    `title` serves one that has none yet. Raises Forbidden.
    """
    tx.scope.require("operator")
    title = clip(one_line(title), 200)
    tx.execute("programs.hold", id=conversation_id, heard=heard, end_user=end_user, title=title)
