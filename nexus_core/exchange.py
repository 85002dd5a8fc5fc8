"""Export: conversations as files, one by itself or many in a zip, streamed, each of them in the audit."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from typing import Literal
from uuid import UUID

from zipstream import ZIP_DEFLATED, ZipStream

from nexus_core import audit, conversations, export_json, export_markdown, search
from nexus_core.database import Scope, Transaction, transaction
from nexus_core.errors import NotFound
from nexus_core.filenames import stem
from nexus_core.i18n import _
from nexus_core.search import Filter

Format = Literal["json", "markdown"]
FORMATS: tuple[Format, ...] = ("json", "markdown")
WRITERS: dict[Format, Callable[[Transaction, UUID], Iterator[str]]] = {
    "json": export_json.write,
    "markdown": export_markdown.write,
}
SUFFIXES: dict[Format, str] = {"json": ".json", "markdown": ".md"}
MEDIA: dict[Format, str] = {"json": "application/json", "markdown": "text/markdown"}
AT_ONCE = 100
IN_MEMORY = 4 * 1024 * 1024
CHUNK = 64 * 1024


@dataclass(frozen=True)
class File:
    """A file to hand out: its name, its media type and its bytes, which are made while they are read."""

    name: str
    media_type: str
    chunks: Iterator[bytes]


def one(scope: Scope, conversation_id: UUID, format: Format) -> File:
    """A conversation as a file. Raises NotFound."""
    with transaction(scope) as tx:
        found = conversations.get(tx, conversation_id)
        audit.record(tx, "export", "conversation", found.id, {"format": format})
    return File(stem(found.title) + SUFFIXES[format], MEDIA[format], _begun(_written(scope, found.id, format)))


def many(scope: Scope, ids: Sequence[UUID], format: Format) -> File:
    """Conversations as a zip of files, in the order of the ids; those that are not here are left out.

    Each is read when it is its turn, so however many there are, one at a time is in memory or in a temporary file.
    """
    return File(f"{_('Conversations')}.zip", "application/zip", _zipped(files(scope, ids, format)))


def wanted(scope: Scope, filter: Filter, text: str = "") -> list[UUID]:
    """The ids of all conversations that fit and that this person may see, newest first; with words, what has them."""
    found: list[UUID] = []
    after: str | None = None
    while True:
        with transaction(scope) as tx:
            page = search.find(tx, text, filter, sort="newest", after=after, limit=200)
        found.extend(hit.id for hit in page.hits)
        if page.after is None:
            return found
        after = page.after


def files(scope: Scope, ids: Sequence[UUID], format: Format) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Name and bytes of each that is here; the audit tells of some at a time, before they are read."""
    rest = iter(dict.fromkeys(ids))
    while chunk := list(islice(rest, AT_ONCE)):
        with transaction(scope) as tx:
            known = conversations.of(tx, chunk)
            for conversation_id in filter(known.__contains__, chunk):
                audit.record(tx, "export", "conversation", conversation_id, {"format": format})
        for found in (known[conversation_id] for conversation_id in chunk if conversation_id in known):
            name = f"{found.created_at:%Y-%m-%d} {stem(found.title)} {found.id.hex[-12:]}{SUFFIXES[format]}"
            yield name, _written(scope, found.id, format)


def _zipped(files: Iterable[tuple[str, Iterator[bytes]]]) -> Iterator[bytes]:
    zipped = ZipStream(compress_type=ZIP_DEFLATED)
    for name, chunks in files:
        with suppress(NotFound):  # deleted since: it is left out
            zipped.add(_begun(chunks), name)
            yield from zipped.all_files()
    yield from zipped.finalize()


def _begun(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The same, once the first of them was made: what fails does so now."""
    return chain([next(chunks, b"")], chunks)


def _written(scope: Scope, conversation_id: UUID, format: Format) -> Iterator[bytes]:
    """A conversation's file as of one moment. Its transaction is over before the first byte is handed out: no reader,
    however slow, holds a connection."""
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as file:
        with transaction(scope, snapshot=True) as tx:
            for piece in WRITERS[format](tx, conversation_id):
                file.write(piece.encode())
        file.seek(0)
        while chunk := file.read(CHUNK):
            yield chunk
