"""Tags: the workspace's own words on conversations."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from uuid6 import uuid7

from nexus_core import audit
from nexus_core.database import Transaction
from nexus_core.errors import Invalid, NotFound
from nexus_core.i18n import _
from nexus_core.text import clip, one_line

LONGEST = 40
MOST = 20
"""Tags that one change may name."""


@dataclass(frozen=True)
class Tag:
    """A tag; its name is seen by the whole workspace, what it is on by those who may see that."""

    id: UUID
    name: str


def list_(tx: Transaction) -> list[Tag]:
    """Every tag of the workspace, by name."""
    return tx.all(Tag, "tags.list")


def of(tx: Transaction, conversation_ids: Collection[UUID]) -> dict[UUID, list[str]]:
    """The names of the tags of these conversations, by conversation; foreign ones are left out."""
    return {row["id"]: row["tags"] for row in tx.rows("tags.of", conversations=list(conversation_ids))}


def add(tx: Transaction, conversation_ids: Collection[UUID], names: Iterable[str]) -> None:
    """Put tags on conversations, making those that are new. Raises Forbidden, NotFound, Invalid."""
    ids, wanted = _present(tx, conversation_ids), _named(names)
    if wanted:
        made = [tag.id for tag in _make(tx, wanted)]
        tx.execute("tags.attach", conversations=ids, tags=made)
        _changed(tx, ids, {"added": made})


def remove(tx: Transaction, conversation_ids: Collection[UUID], names: Iterable[str]) -> None:
    """Take tags off conversations. Raises Forbidden, NotFound, Invalid."""
    ids, wanted = _present(tx, conversation_ids), _named(names)
    if wanted:
        known = [tag.id for tag in tx.all(Tag, "tags.named", names=wanted)]
        tx.execute("tags.detach", conversations=ids, tags=known, others=False)
        _changed(tx, ids, {"removed": known})


def replace(tx: Transaction, conversation_id: UUID, names: Iterable[str]) -> None:
    """Let a conversation have these tags and no others. Raises Forbidden, NotFound, Invalid."""
    ids, wanted = _present(tx, [conversation_id]), _named(names)
    kept = [tag.id for tag in _make(tx, wanted)]
    tx.execute("tags.detach", conversations=ids, tags=kept, others=True)
    tx.execute("tags.attach", conversations=ids, tags=kept)
    _changed(tx, ids, {"set": kept})


def prune(tx: Transaction) -> int:
    """Remove the tags that nothing carries any more; in the system's scope, on a timer. Returns how many."""
    return int(tx.execute("tags.prune").rowcount)


def _named(names: Iterable[str]) -> list[str]:
    """Names on one line, each once whatever its case."""
    found: dict[str, str] = {}
    for name in names:
        if written := clip(one_line(name).lstrip("#").strip(), LONGEST):
            found.setdefault(written.lower(), written)
    if len(found) > MOST:
        raise Invalid(_("At most {n} tags at a time.").format(n=MOST), field="tags")
    return list(found.values())


def _make(tx: Transaction, names: list[str]) -> list[Tag]:
    tx.execute("tags.make", ids=[uuid7() for _name in names], names=names)
    return tx.all(Tag, "tags.named", names=names)


def _present(tx: Transaction, conversation_ids: Collection[UUID]) -> list[UUID]:
    tx.scope.require("operator")
    found = [row["id"] for row in tx.rows("tags.present", conversations=list(conversation_ids))]
    if len(found) < len(set(conversation_ids)):
        raise NotFound(_("There is no such conversation here."))
    return found


def _changed(tx: Transaction, ids: list[UUID], detail: Mapping[str, list[UUID]]) -> None:
    tx.execute("tags.touch", conversations=ids)
    for conversation_id in ids:
        audit.record(tx, "tag", "conversation", conversation_id, dict(detail))
