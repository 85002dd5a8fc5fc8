"""What of the history is sent: the newest rows that both limits allow, calls and results never parted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from nexus_core.errors import Invalid
from nexus_core.i18n import _
from nexus_core.parts import pairs, says

Mode = Literal["none", "session", "user"]
Reason = Literal["empty", "unfinished", "orphan", "mode", "messages", "tokens"]


@dataclass(frozen=True)
class Item:
    """A stored message as the window sees it; `tokens` is the estimate stored with it, `seq` its number, `user_id`
    the person who wrote it.
    """

    seq: int
    role: str
    parts: list[dict[str, Any]]
    tokens: int
    metadata: dict[str, Any]
    status: str
    id: UUID
    conversation_id: UUID
    user_id: UUID | None = None


@dataclass(frozen=True)
class LeftOut:
    """A row that is not sent, and why: nothing in it, still being written, a result without its call, another
    conversation or no memory (mode), or one of the two limits.
    """

    seq: int
    reason: Reason
    id: UUID


@dataclass(frozen=True)
class Window:
    """The rows to send, oldest first, and their tokens; the rest with reasons.

    `oversize`: the newest message alone is over the token limit; it is sent whole all the same.
    """

    items: tuple[Item, ...] = ()
    tokens: int = 0
    left_out: tuple[LeftOut, ...] = ()
    oversize: bool = False


def select(
    items: Sequence[Item], *, mode: Mode, max_messages: int | None = None, max_tokens: int | None = None
) -> Window:
    """The window over `items`, which are oldest first and end with the new message; pure and deterministic.

    Both limits hold at once and never cost the newest message: `max_messages` counts rows, `max_tokens` their
    tokens; 0 is the newest only, None no limit. Once something does not fit, nothing older is taken. Mode
    `none` sees the newest only, `session` its conversation, `user` all that is given.

    Raises Invalid on a negative limit.
    """
    _refuse_negative(max_messages=max_messages, max_tokens=max_tokens)
    reasons: dict[int, Reason] = {}
    kept = _sendable(items, mode, reasons)
    rows = [items[index] for index in kept]
    stop: Reason | None = None
    first, tokens, oversize = len(rows), 0, False
    for start, end in _units(rows):
        cost = sum(row.tokens for row in rows[start:end])
        if end == len(rows):
            oversize = bool(max_tokens) and cost > (max_tokens or 0)
        else:
            stop = stop or _obstacle(mode, len(rows) - start, tokens + cost, max_messages, max_tokens)
        if not stop:
            first, tokens = start, tokens + cost
    reasons |= {index: stop for index in kept[:first] if stop}
    left_out = tuple(LeftOut(items[index].seq, reasons[index], items[index].id) for index in sorted(reasons))
    return Window(tuple(rows[first:]), tokens, left_out, oversize)


def _refuse_negative(**limits: int | None) -> None:
    for field, limit in limits.items():
        if limit is not None and limit < 0:
            raise Invalid(_("A limit is 0 (only the newest message) or more; leave it empty for none."), field=field)


def _sendable(items: Sequence[Item], mode: Mode, reasons: dict[int, Reason]) -> list[int]:
    """The places of the rows that may be sent at all; why not the others goes into `reasons`."""
    for index, item in enumerate(items):
        newest = index == len(items) - 1 and item.role == "user"
        if item.conversation_id != items[-1].conversation_id and mode != "user":
            reasons[index] = "mode"
        elif item.role == "assistant" and item.status == "streaming":
            reasons[index] = "unfinished"
        elif item.role != "tool" and not newest and not says(item.parts):
            reasons[index] = "empty"
    kept = [index for index in range(len(items)) if index not in reasons]
    answers = {kept[answer] for answer in pairs([items[index] for index in kept]).values()}
    orphans = [index for index in kept if items[index].role == "tool" and index not in answers]
    reasons |= dict.fromkeys(orphans, "orphan")
    return [index for index in kept if index not in reasons]


def _units(rows: Sequence[Item]) -> Iterator[tuple[int, int]]:
    """The smallest runs of rows that part no result from its call, newest first, as half-open ranges."""
    reach = list(range(len(rows)))
    for (call, _place), answer in pairs(rows).items():
        reach[answer] = call
    end = len(rows)
    while end:
        start = index = end - 1
        while index >= start:
            start = min(start, reach[index])
            index -= 1
        yield start, end
        end = start


def _obstacle(
    mode: Mode, messages: int, tokens: int, max_messages: int | None, max_tokens: int | None
) -> Reason | None:
    """Why so many rows with so many tokens, newest and older ones, can't all be sent; None if they can."""
    if mode == "none":
        return "mode"
    if max_messages is not None and messages > max_messages:
        return "messages"
    if max_tokens is not None and (tokens > max_tokens or max_tokens == 0):
        return "tokens"
    return None
