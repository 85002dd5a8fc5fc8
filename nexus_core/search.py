"""Search: a person finds conversations by what their title or their messages say; without words, the list of them."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from nexus_core import terms
from nexus_core.conversations import KINDS, STATUSES
from nexus_core.database import Transaction
from nexus_core.errors import Invalid
from nexus_core.i18n import _

Sort = Literal["best", "newest", "oldest", "title"]
SORTS: tuple[Sort, ...] = ("best", "newest", "oldest", "title")
ACTIVE = "active"
COUNTED = 1_000
PAGE = 25
SNIPPET = 240
BEFORE = 80
Span = tuple[int, int]


@dataclass(frozen=True)
class Filter:
    """What narrows a list or a search; None narrows nothing.

    `outside`: only conversations of no project; `just_chat`: only those without an agent. `status` "active" is whatever
    is not archived. `since` (inclusive) and `until` (exclusive) bound the newest message's time.
    """

    project_id: UUID | None = None
    outside: bool = False
    agent_id: UUID | None = None
    just_chat: bool = False
    kind: str | None = None
    status: str | None = None
    tag_id: UUID | None = None
    person_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class Passage:
    """The message to show for a hit: `text` is cut from its body around what was looked for.

    `marks` are (start, end) offsets in `text` of the words looked for; `clipped` says whether text was left out before
    and after it.
    """

    message_id: UUID
    seq: int
    role: str
    said_at: datetime
    text: str
    marks: tuple[Span, ...]
    clipped: tuple[bool, bool]


@dataclass(frozen=True)
class Hit:
    """A conversation that was found, once. `title_marks` are offsets in its title; no words, no `passage`."""

    id: UUID
    user_id: UUID
    user_name: str | None
    project_id: UUID | None
    agent_id: UUID | None
    title: str
    kind: str
    status: str
    messages: int
    created_at: datetime
    last_message_at: datetime
    tags: list[str]
    title_marks: tuple[Span, ...] = ()
    passage: Passage | None = None


@dataclass(frozen=True)
class Page:
    """Hits in order; `after` brings the next page, None: this is the last.

    `total` conversations were counted; `exact` is False where there are more than that ("1,000+").
    """

    hits: list[Hit]
    total: int
    exact: bool
    after: str | None = field(default=None)


def find(
    tx: Transaction,
    text: str = "",
    filter: Filter = Filter(),
    *,
    sort: Sort = "best",
    after: str | None = None,
    limit: int = PAGE,
) -> Page:
    """The conversations with all the words, in a message or in the title; the exact phrase first, then the newest.

    Only what this person may see; nothing is written. Of common words, the newest hits among the newest 10,000 messages
    are found, 50 at most, and the page says so (`exact` is False). Raises Invalid for an unknown sort, kind, status or
    `after`.
    """
    _check(filter, sort)
    limit = min(max(limit, 1), 200)
    asked = terms.search(text)
    if asked is None:
        return _listed(tx, filter, sort, after, limit)
    key = _cursor(after, int, str, int, UUID)
    rows = tx.rows(
        "search.find",
        words=asked.query,
        sequences=list(asked.sequences),
        phrase=asked.phrase,
        sort=sort,
        after_tier=key[0],
        after_title=key[1],
        after_time=key[2],
        after_id=key[3],
        limit=limit + 1,
        **vars(filter),
    )
    total, complete = rows[0]["total"], rows[0]["complete"]
    rows = [row for row in rows if row["id"] is not None]
    page = rows[:limit]
    ids, message_ids = [row["id"] for row in page], [row["message_id"] for row in page]
    shown = tx.rows("search.shown", ids=ids, message_ids=message_ids) if page else []
    hits = [_hit(row, asked) for row in shown]
    last = page[-1] if len(rows) > limit else None
    following = [last["key_tier"], last["key_title"], last["key_time"], str(last["id"])] if last else None
    return Page(hits, min(total, COUNTED), complete and total <= COUNTED, _encoded(following))


def _listed(tx: Transaction, filter: Filter, sort: Sort, after: str | None, limit: int) -> Page:
    values: dict[str, Any] = dict(vars(filter))
    by_title = sort == "title"
    key = _cursor(after, str if by_title else datetime.fromisoformat, UUID)
    bounds: dict[str, Any] = {"after_title" if by_title else "after_at": key[0]}
    name = {"title": "search.by_title", "oldest": "search.oldest"}.get(sort, "search.newest")
    hits = tx.all(Hit, name, limit=limit + 1, after_id=key[1], **bounds, **values)
    total = int(tx.execute("search.count", bound=COUNTED, **values).scalar_one())
    following = None
    if len(hits) > limit:
        last = hits[limit - 1]
        following = [last.title if by_title else last.last_message_at.isoformat(), str(last.id)]
    return Page(hits[:limit], min(total, COUNTED), total <= COUNTED, _encoded(following))


def _hit(row: dict[str, Any], asked: terms.Search) -> Hit:
    passage = None
    if row["message_id"] is not None:
        text, marks, clipped = snippet(row["body"], asked)
        passage = Passage(row["message_id"], row["seq"], row["role"], row["said_at"], text, marks, clipped)
    of_list = {key: row[key] for key in Hit.__dataclass_fields__ if key in row}
    return Hit(**of_list, title_marks=tuple(terms.marks(row["title"], asked)), passage=passage)


def snippet(body: str, asked: terms.Search, length: int = SNIPPET) -> tuple[str, tuple[Span, ...], tuple[bool, bool]]:
    """The part of a text around the densest marks, the marks in it, and whether text was left out before and after."""
    marks = terms.marks(body, asked)
    start = _start(marks, length)
    if start:  # begin with a word
        space = body.find(" ", start, start + BEFORE // 2)
        start = space + 1 if 0 <= space < min((mark[0] for mark in marks if mark[0] >= start), default=0) else start
    end = min(len(body), start + length)
    inside = tuple((a - start, min(b, end) - start) for a, b in marks if start <= a < end)
    return body[start:end], inside, (start > 0, end < len(body))


def _start(marks: list[Span], length: int) -> int:
    """Where to cut so that the most marks are inside, the first of them not at the very edge."""
    best, most = 0, 0
    for index, (first, _end) in enumerate(marks):
        inside = sum(1 for mark in marks[index : index + 50] if mark[1] <= first + length - BEFORE)
        if inside > most:
            best, most = first, inside
    return max(0, best - BEFORE) if best > BEFORE else 0


def _check(filter: Filter, sort: str) -> None:
    for value, known, name in (
        (sort, SORTS, "sort"),
        (filter.kind or KINDS[0], KINDS, "kind"),
        (filter.status or ACTIVE, (ACTIVE, *STATUSES), "status"),
    ):
        if value not in known:
            raise Invalid(_("{name} is one of {known}.").format(name=name, known=", ".join(known)), field=name)


def _encoded(key: list[Any] | None) -> str | None:
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode().rstrip("=") if key else None


def _cursor(after: str | None, *kinds: Callable[[Any], Any]) -> list[Any]:
    """The values that `after` stands for, checked, for it comes from a URL."""
    if not after:
        return [None] * len(kinds)
    try:
        values = json.loads(base64.urlsafe_b64decode(after + "=" * (-len(after) % 4)))
        return [kind(value) for kind, value in zip(kinds, values, strict=True)]
    except (ValueError, TypeError, AttributeError) as error:
        raise Invalid(_("This page of the list can't be found; begin again."), field="after") from error
