"""An answer while it is being written: pieces are added by one thread, a snapshot may be taken from any."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from nexus_core import parts


@dataclass(frozen=True)
class Live:
    """An answer as far as it has come: its parts, a number that grows with each change, and why it waits, if so."""

    parts: list[dict[str, Any]]
    version: int
    note: str = ""


class Draft:
    """The parts so far, after those that stood there before; the text that still grows is joined only when somebody
    looks."""

    def __init__(self, begun: Sequence[dict[str, Any]] = ()) -> None:
        self._lock = Lock()
        self._begun = list(begun)
        self._done: list[dict[str, Any]] = list(begun)
        self._kind = ""
        self._pieces: list[str] = []
        self._version = 0
        self._note = ""
        self._since = 0.0

    def add(self, kind: str, piece: str) -> None:
        """Add a piece of "text" or "reasoning"."""
        with self._lock:
            if kind != self._kind:
                self._close()
                self._kind, self._note, self._since = kind, "", time.monotonic()
            self._pieces.append(piece)
            self._version += 1

    def append(self, part: dict[str, Any]) -> None:
        """Add a part that is whole, such as a tool call."""
        with self._lock:
            self._close()
            self._done.append(part)
            self._note = ""
            self._version += 1

    def answer_call(self, call_id: str, done: dict[str, Any]) -> None:
        """Put a call with its result in the place of the first unanswered call of that id."""
        with self._lock:
            for index, part in enumerate(self._done):
                if part.get("toolCallId") == call_id and part.get("state") == "input-available":
                    self._done[index] = done
                    break
            self._version += 1

    def clear(self, note: str = "") -> None:
        """Begin anew, for the next attempt; `note` says why it waits."""
        with self._lock:
            self._done, self._kind, self._pieces, self._note = list(self._begun), "", [], note
            self._version += 1

    def snapshot(self) -> Live:
        """What there is now."""
        with self._lock:
            return Live([*self._done, *self._open()], self._version, self._note)

    def _open(self) -> list[dict[str, Any]]:
        if not self._pieces:
            return []
        written = "".join(self._pieces)
        if self._kind == "text":
            return [parts.text(written)]
        return [parts.reasoning(written, duration_ms=int((time.monotonic() - self._since) * 1000))]

    def _close(self) -> None:
        self._done += self._open()
        self._kind, self._pieces = "", []
