"""What the address of the Runs page asks for: a range, filters, words, and where the page begins; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from nexus_core import filters as filters_
from nexus_core import ranges
from nexus_core.errors import Invalid
from nexus_core.filters import Filters
from nexus_core.i18n import _
from nexus_core.ranges import Range
from nexus_core.runs_list import Cursor

DEFAULT = "30d"
NAMES = tuple(name for name in ranges.NAMES if name != "own")
LONGEST = timedelta(days=3660)
Query = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Asked:
    """Which runs are wanted: those of `span` that fit. `unpriced`: only those without a price, or only the others."""

    span: Range
    filters: Filters
    search: str = ""
    unpriced: bool | None = None
    after: Cursor | None = None

    def query(self) -> dict[str, list[str]]:
        """As the query of an address; `from_query` reads it back."""
        found = self.filters.query()
        if self.span.name == "own":
            found |= {"from": [_instant(self.span.from_at)], "to": [_instant(self.span.to_at)]}
        elif self.span.name != DEFAULT:
            found["range"] = [self.span.name]
        if self.search:
            found["q"] = [self.search]
        if self.unpriced is not None:
            found["unpriced"] = ["1" if self.unpriced else "0"]
        if self.after:
            found["after"] = [cursor_text(self.after)]
        return found


def from_query(query: Query, zone: str, now: datetime) -> Asked:
    """What an address asks for; keys that mean nothing here are left alone.

    `from` and `to` are ISO 8601 instants (without an offset: of `zone`), half-open; without them `range` is one of
    NAMES, 30d where it is left out. Raises Invalid for what can't be read, and for a range that ends before it begins.
    """
    search, unpriced = _first(query, "q").strip(), _first(query, "unpriced").lower()
    if unpriced not in ("", "0", "1", "true", "false"):
        raise Invalid(_("Unpriced is 1, 0 or left out."), field="unpriced")
    return Asked(
        _span(query, zone, now),
        filters_.from_query(query),
        search[:200],
        None if not unpriced else unpriced in ("1", "true"),
        cursor(_first(query, "after")),
    )


def cursor_text(after: Cursor) -> str:
    """A cursor as an address has it."""
    return f"{_instant(after[0])}_{after[1]}"


def cursor(text: str) -> Cursor | None:
    """The cursor of an address; None for an empty one. Raises Invalid."""
    if not text:
        return None
    at, _line, run_id = text.partition("_")
    try:
        return _read(at, "UTC"), UUID(run_id)
    except (ValueError, OverflowError) as error:
        raise Invalid(_("This address has a broken page."), field="after") from error


def _span(query: Query, zone: str, now: datetime) -> Range:
    info = ranges.zone_of(zone)
    name = _first(query, "range") or DEFAULT
    if not (_first(query, "from") or _first(query, "to")):
        return ranges.make(name if name in NAMES else DEFAULT, zone, now)
    to_at = _at(query, "to", zone, now)
    from_at = _at(query, "from", zone, to_at - timedelta(days=30))
    if not from_at < to_at <= from_at + LONGEST:
        raise Invalid(_("A range ends after it begins and has ten years at most."), field="from")
    first, last = (ranges.day_of(at, info) for at in (from_at, to_at - timedelta(microseconds=1)))
    days = ranges.make("own", zone, now, first=first, last=last)
    return replace(days, from_at=from_at, to_at=to_at)


def _at(query: Query, name: str, zone: str, otherwise: datetime) -> datetime:
    text = _first(query, name)
    try:
        return _read(text, zone) if text else otherwise
    except (ValueError, OverflowError) as error:
        raise Invalid(_("This address has a broken time."), field=name) from error


def _read(text: str, zone: str) -> datetime:
    # A plus sign that was not escaped in an address has become a space.
    found = datetime.fromisoformat(text.replace(" ", "+") if text.count(":") > 2 else text)
    if not 1970 <= found.year <= 2200:  # beyond, the calendar ends before the days around it do
        raise ValueError
    return (found if found.tzinfo else found.replace(tzinfo=ranges.zone_of(zone))).astimezone(UTC)


def _instant(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _first(query: Query, name: str) -> str:
    values = query.get(name) or ()
    return values[0] if values else ""
