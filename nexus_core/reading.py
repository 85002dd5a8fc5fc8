"""Reading an import: the conversations in a file, one by one, whatever product wrote it and however it is packed."""

import json
import zipfile
from collections.abc import Iterator, Mapping
from typing import IO, Any

import ijson
from pydantic import ValidationError

from nexus_core import foreign_chatgpt, foreign_claude
from nexus_core.errors import Invalid
from nexus_core.formats import FORMAT, VERSION, Document, Taken
from nexus_core.i18n import _
from nexus_core.text import clean_json

MOST_BYTES = 200 * 1024 * 1024
"""Of a file that is imported."""
MOST_OF_ONE = 64 * 1024 * 1024
"""Of the JSON of one conversation."""
DEPTH = 200
MOST_UNPACKED = 4 * 1024 * 1024 * 1024
MOST_FILES = 100_000
_BROKEN = (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError, ijson.JSONError)
"""What packed or cut JSON raises; RecursionError is a RuntimeError, as is a zip with a password."""


class _Bounded:
    """Reads on, but not more than `most` bytes since the last `begin`."""

    def __init__(self, file: IO[bytes], most: int) -> None:
        self._file, self._most, self._read = file, most, 0

    def begin(self) -> None:
        self._read = 0

    def read(self, size: int = -1) -> bytes:
        found = self._file.read(self._most + 1 - self._read if size < 0 else size)
        self._read += len(found)
        if self._read > self._most:
            raise Invalid(_("A conversation in it is larger than {n} MB.").format(n=self._most // 1024**2))
        return found


def conversations(file: IO[bytes]) -> Iterator[Taken | Invalid]:
    """What can be stored of each conversation, or why it can't; what comes after a broken place is not reached.

    Takes our own JSON, ChatGPT's and Claude's conversations.json, and zip files of them. Raises Invalid for a file in
    which there is no conversation at all.
    """
    nothing = True
    for raw in _raw(file):
        nothing = False
        try:
            yield raw if isinstance(raw, Invalid) else _recognised(raw)
        except Invalid as error:
            yield error
    if nothing:
        raise Invalid(
            _("No conversations were found in this file. Nexus takes its own JSON, ChatGPT's and Claude's exports.")
        )


def _raw(file: IO[bytes]) -> Iterator[Any]:
    if not zipfile.is_zipfile(file):
        file.seek(0)
        yield from _to_the_break(_of_json(file))
        return
    try:
        with zipfile.ZipFile(file) as packed:
            yield from _unpacked(packed)
    except _BROKEN:
        yield _damage()


def _unpacked(packed: zipfile.ZipFile) -> Iterator[Any]:
    entries = packed.infolist()
    if len(entries) > MOST_FILES or sum(entry.file_size for entry in entries) > MOST_UNPACKED:
        yield Invalid(_("This zip holds more than Nexus unpacks."))
        return
    for entry in entries:
        if entry.filename.lower().endswith(".json") and not entry.is_dir():
            with packed.open(entry) as inside:
                yield from _to_the_break(_of_interest(inside))


def _to_the_break(found: Iterator[Any]) -> Iterator[Any]:
    """What can be read; where that ends before the end, why. A file that is no JSON at all says nothing."""
    begun = False
    try:
        for raw in found:
            begun = True
            yield raw
    except Invalid as error:
        yield error
    except _BROKEN:
        if begun:
            yield _damage()


def _damage() -> Invalid:
    return Invalid(_("The file is broken off or damaged here; what comes after this was not read."))


def _of_interest(file: IO[bytes]) -> Iterator[Any]:
    """Of a file in a zip, the conversations: what else products pack beside them is not looked at."""
    for raw in _of_json(file):
        if not _kind(raw):
            return
        yield raw


def _of_json(file: IO[bytes]) -> Iterator[Any]:
    """The items of a list one by one, or the one object that the file is."""
    bounded = _Bounded(file, MOST_OF_ONE)
    begin = bounded.read(64)
    file.seek(0)
    if begin.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] != b"[":
        yield json.loads(bounded.read().decode("utf-8-sig"))
        return
    if begin.startswith(b"\xef\xbb\xbf"):
        file.seek(3)
    yield from _items(bounded)


def _items(bounded: _Bounded) -> Iterator[Any]:
    """The items of the list that a file is, built from events: `ijson.items` keeps the path to each value, which takes
    memory by the square of the depth."""
    depth, builder = 0, ijson.ObjectBuilder()
    for event, value in ijson.basic_parse(bounded):
        depth -= event in ("end_map", "end_array")
        if depth > 0:
            builder.event(event, value)
        if depth == 1 and not event.startswith("start"):
            yield builder.value
            builder = ijson.ObjectBuilder()
            bounded.begin()
        depth += event in ("start_map", "start_array")
        if depth > DEPTH:
            raise Invalid(_("A conversation in it is nested too deeply."))


def _kind(raw: Any) -> str:
    if not isinstance(raw, Mapping):
        return ""
    if raw.get("format") == FORMAT:
        return "nexus"
    if isinstance(raw.get("mapping"), Mapping):
        return "chatgpt"
    return "claude" if isinstance(raw.get("chat_messages"), list) else ""


def _recognised(raw: Any) -> Taken:
    kind = _kind(raw)
    if not kind:
        raise Invalid(_("This is not a conversation that Nexus knows."))
    try:
        cleaned = clean_json(raw)
        if kind == "nexus":
            return Taken(_own(cleaned))
        return foreign_chatgpt.convert(cleaned) if kind == "chatgpt" else foreign_claude.convert(cleaned)
    except RecursionError:
        raise Invalid(_("This conversation is nested too deeply.")) from None


def _own(cleaned: dict[str, Any]) -> Document:
    if cleaned.get("version") != VERSION:
        raise Invalid(_("This conversation was exported by a newer Nexus; bring this one up to date first."))
    try:
        return Document.model_validate(cleaned)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise Invalid(
            _("This conversation is damaged: {where}: {what}").format(where=where, what=first["msg"])
        ) from None
