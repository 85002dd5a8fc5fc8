"""What a report can be filtered by: the values that occur, and what people call them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from nexus_core import agents, costs, people, projects
from nexus_core.database import Transaction
from nexus_core.filters import IDS, NONE, Filters
from nexus_core.ranges import Range


@dataclass(frozen=True)
class Choices:
    """`values` by dimension as an address writes them; `names` of those that are ids, no two alike."""

    values: dict[str, tuple[str, ...]]
    names: dict[str, str]


def of(tx: Transaction, span: Range, filters: Filters) -> Choices:
    """The choices of a range, and names for what is chosen already."""
    rows = tx.execute("costs.choices", from_at=span.from_at, to_at=span.to_at).all()
    values = {name: _texts(getattr(row, name) for row in rows) for name in sorted(costs.IN_FACTS)}
    named = {
        "project": [(item.id, item.name) for item in projects.list_(tx, archived=True)],
        "agent": [(item.id, item.name) for item in agents.list_(tx, archived=True)],
        "person": [(item.id, item.name or item.email) for item in people.members(tx)],
    }
    values |= {name: (*(str(key) for key, _name in items), NONE) for name, items in named.items()}
    chosen: list[UUID] = [item for name in IDS for item in getattr(filters, name) or () if item is not None]
    known = dict(item for items in named.values() for item in items)
    return Choices(values, _apart(costs.names(tx, chosen) | known))


def _texts(found: Iterable[str | None]) -> tuple[str, ...]:
    values = set(found)
    return (*sorted(value for value in values if value is not None), *([NONE] if None in values else []))


def _apart(names: dict[UUID, str]) -> dict[str, str]:
    """Two of one name get the end of their id behind it."""
    often = Counter(names.values())
    return {str(key): name if often[name] == 1 else f"{name} ({str(key)[-4:]})" for key, name in names.items()}
