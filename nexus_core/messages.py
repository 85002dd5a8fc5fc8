"""Messages: rows in the order of their numbers, with the versions of an answer side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from uuid6 import uuid7

from nexus_core import parts as parts_
from nexus_core import tokens
from nexus_core.database import Json, Transaction
from nexus_core.errors import Invalid
from nexus_core.i18n import _
from nexus_core.text import as_uuid
from nexus_core.window import Item

# A row costs its overhead at least, so a limit on tokens bounds the rows that can fit.
ROWS_PER_READ = 20_000


@dataclass(frozen=True)
class Message:
    """A message as people see it.

    `parts` are UIMessage parts, `body` their plain text. `status`: complete, streaming, stopped or failed.
    `version` of `versions` (1-based) counts the answers to one question, or the wordings of one question;
    `previous_id` and `next_id` are the neighbours among them. `user_id` and `user_name` say who wrote it.
    """

    id: UUID
    conversation_id: UUID
    seq: int
    parent_seq: int | None
    role: str
    status: str
    parts: list[dict[str, Any]]
    body: str
    tokens: int | None
    user_id: UUID | None
    user_name: str | None
    run_id: UUID | None
    model: str | None
    runtime: str | None
    metadata: dict[str, Any]
    created_at: datetime
    version: int
    versions: int
    previous_id: UUID | None
    next_id: UUID | None


@dataclass(frozen=True)
class ProjectMessage:
    """A row of `project_conversation_messages`: `role` system, user, assistant or tool; a tool's result follows its
    answer with the same `seq`."""

    id: UUID
    workspace_id: UUID
    conversation_id: UUID
    seq: int
    role: str
    body: str
    model: str | None
    runtime: str | None
    metadata: dict[str, Any]
    created_at: datetime


def page(tx: Transaction, conversation_id: UUID, *, before: int | None = None, limit: int = 40) -> list[Message]:
    """The newest `limit` messages of the path that is shown, oldest first; those before number `before` if given."""
    return tx.all(Message, "messages.page", conversation_id=conversation_id, before=before, limit=limit)


def earlier(tx: Transaction, conversation_id: UUID, before: int) -> int:
    """How many messages of the path that is shown stand before number `before`."""
    return int(tx.execute("messages.earlier", conversation_id=conversation_id, before=before).scalar_one())


def get(tx: Transaction, message_id: UUID) -> Message:
    """One message, an inactive version too; raises NotFound."""
    return tx.get(Message, "messages.get", id=message_id)


def question_of(tx: Transaction, answer: Message) -> Message:
    """The message that an answer answers; raises NotFound."""
    return tx.get(Message, "messages.at", conversation_id=answer.conversation_id, seq=answer.parent_seq)


def named(tx: Transaction, conversation_id: UUID, name: str) -> Message:
    """The message whose id this is, or this person's with that id of the sender's choice; raises NotFound."""
    return tx.get(Message, "messages.named", conversation_id=conversation_id, id=as_uuid(name), name=name)


def newest_answer(
    tx: Transaction, conversation_id: UUID, *, parent_seq: int | None = None, streaming: bool = False
) -> Message | None:
    """The newest answer that is shown: to the message number `parent_seq`, or still being written, where asked."""
    where = {"conversation_id": conversation_id, "parent_seq": parent_seq, "streaming": streaming}
    return tx.one(Message, "messages.newest_answer", **where)


def people_of(tx: Transaction, conversation_ids: list[UUID]) -> dict[UUID, list[str]]:
    """The names of those who wrote lately in these conversations (in their newest 60 messages), by conversation."""
    return {row["id"]: row["names"] for row in tx.rows("messages.people_of", conversations=conversation_ids)}


def versions(tx: Transaction, message: Message) -> list[Message]:
    """Every version of a message, the first one first."""
    where = {"conversation_id": message.conversation_id, "role": message.role, "parent_seq": message.parent_seq}
    return tx.all(Message, "messages.versions", **where)


def of_project_conversation(
    tx: Transaction, conversation_id: UUID, *, before: int | None = None, limit: int = 40
) -> list[ProjectMessage]:
    """The newest `limit` messages of a project's conversation, oldest first, with a row for each tool's result."""
    where = {"conversation_id": conversation_id, "before": before, "limit": limit}
    return tx.all(ProjectMessage, "messages.of_project_conversation", **where)


def append(
    tx: Transaction,
    conversation_id: UUID,
    role: str,
    parts: Sequence[dict[str, Any]],
    *,
    metadata: dict[str, Any] | None = None,
    model: str | None = None,
    runtime: str | None = None,
    client_message_id: str | None = None,
) -> Message:
    """Store a message that did not come from a turn: what a program or an import brings.

    Raises Forbidden, NotFound for the conversation, Invalid for the role, Conflict for a `client_message_id` that
    was stored already.
    """
    tx.scope.require("operator")
    if role not in ("system", "user", "assistant", "tool"):
        raise Invalid(_("A role is system, user, assistant or tool."), field="role")
    message_id = uuid7()
    tx.execute("messages.take_number", conversation_id=conversation_id)
    tx.execute(
        "messages.append",
        id=message_id,
        conversation_id=conversation_id,
        role=role,
        parts=Json(list(parts)),
        body=parts_.body(parts),
        tokens=tokens.count_parts(parts),
        metadata=Json(metadata or {}),
        model=model,
        runtime=runtime,
        client_message_id=client_message_id,
    )
    return get(tx, message_id)


def session_window(
    tx: Transaction, conversation_id: UUID, *, upto: int, after: int, max_messages: int | None, max_tokens: int | None
) -> list[Item]:
    """The rows of one conversation that may fit into the limits, oldest first, in one statement.

    Numbers from `after` (exclusive: a summary stands for what is before) to `upto` (inclusive). One more row than
    fits is read, so that a receipt can say what was left out.
    """
    return _items(
        tx,
        "messages.session_window",
        conversation_id=conversation_id,
        upto=upto,
        after=after,
        rows=_rows(max_messages, max_tokens),
        max_tokens=max_tokens,
    )


def user_window(
    tx: Transaction,
    conversation_id: UUID,
    *,
    project_id: UUID | None,
    agent_id: UUID | None,
    upto: int,
    max_messages: int | None,
    max_tokens: int | None,
) -> list[Item]:
    """What this person said with this agent in this project (or outside any), over conversations, oldest first."""
    return _items(
        tx,
        "messages.user_window",
        conversation_id=conversation_id,
        project_id=project_id,
        agent_id=agent_id,
        upto=upto,
        rows=_rows(max_messages, max_tokens),
        max_tokens=max_tokens,
    )


def show_version(tx: Transaction, message_id: UUID) -> None:
    """Show this version, with what leads to it and what followed it last; the path shown until now is kept.

    Raises NotFound.
    """
    message = get(tx, message_id)
    tx.execute("messages.show_version", conversation_id=message.conversation_id, seq=message.seq)


def _rows(max_messages: int | None, max_tokens: int | None) -> int:
    fit = [ROWS_PER_READ]
    if max_messages is not None:
        fit.append(max(max_messages, 1) + 1)
    if max_tokens is not None:
        fit.append(max_tokens // tokens.MESSAGE_OVERHEAD + 2)
    return min(fit)


def _items(tx: Transaction, name: str, **params: Any) -> list[Item]:
    found = []
    rows: Any = tx.execute(name, **params)
    for seq, role, said, cost, metadata, status, id_, conversation_id, user_id in rows:
        # metadata comes only where a result names its call
        found.append(Item(seq, role, said, cost, metadata or {}, status, id_, conversation_id, user_id))
    return [replace(item, tokens=tokens.count_parts(item.parts)) if item.tokens is None else item for item in found]
