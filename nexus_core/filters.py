"""Which runs a report is about: one frozen value, the same for every figure, table, file and address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any
from uuid import UUID

from nexus_core.errors import Invalid
from nexus_core.i18n import _

NONE = "none"  # how an address names the runs that have no project, agent, …

# Each dimension with the parameter of the statements that filter by it.
PARAMETERS = {
    "kind": "kinds", "provider": "providers", "model": "models", "runtime": "runtimes", "profile": "profiles",
    "status": "statuses", "project": "projects", "task": "tasks", "agent": "agents", "person": "people",
    "conversation": "conversations",
}  # fmt: skip
IDS = frozenset({"project", "task", "agent", "person", "conversation"})

Texts = tuple[str | None, ...] | None
Ids = tuple[UUID | None, ...] | None


@dataclass(frozen=True)
class Filters:
    """Wanted values by dimension. None: every value; a None among them: the runs that have none."""

    kind: Texts = None
    provider: Texts = None
    model: Texts = None
    runtime: Texts = None
    profile: Texts = None
    status: Texts = None
    project: Ids = None
    task: Ids = None
    agent: Ids = None
    person: Ids = None
    conversation: Ids = None

    def dimensions(self) -> frozenset[str]:
        """The dimensions that it narrows down."""
        return frozenset(field.name for field in fields(self) if getattr(self, field.name) is not None)

    def params(self) -> dict[str, Any]:
        """As parameters of the statements."""
        values = {name: getattr(self, field) for field, name in PARAMETERS.items()}
        return {name: None if value is None else list(value) for name, value in values.items()}

    def query(self) -> dict[str, list[str]]:
        """As the query of an address; `from_query` reads it back."""
        wanted = {name: getattr(self, name) for name in sorted(self.dimensions())}
        return {name: [NONE if value is None else str(value) for value in values] for name, values in wanted.items()}


def from_query(query: Mapping[str, Sequence[str]]) -> Filters:
    """The filters of an address; keys that are no dimensions are left alone. Raises Invalid for a broken id."""
    return Filters(
        **{name: tuple(_value(name, text) for text in query[name]) for name in PARAMETERS if query.get(name)}
    )


def _value(name: str, text: str) -> Any:
    if text == NONE or name not in IDS:
        return None if text == NONE else text
    try:
        return UUID(text)
    except ValueError as error:
        raise Invalid(_("This address has a broken id."), field=name) from error
