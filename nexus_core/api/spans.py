"""What reports and the ledger are asked for: a range of days, and the runs that count, by every dimension."""

from datetime import UTC, date, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field
from pydantic.alias_generators import to_camel

from nexus_core import filters, ranges, rollup
from nexus_core.database import Transaction
from nexus_core.filters import Filters
from nexus_core.ranges import Range

OR_NONE = "Only these; `none`: those without."
FIRST, LAST = date(1990, 1, 1), date(2199, 12, 31)
Day = Annotated[date | None, Field(ge=FIRST, le=LAST)]
Texts = Annotated[list[str], Field(max_length=200)]


class Days(BaseModel):
    """A range of days of the workspace's time zone."""

    range: Literal[*ranges.NAMES] = Field(  # type: ignore[valid-type]
        "30d", description="Which days; own: from `first` to `last`.", examples=["30d"]
    )
    first: Day = Field(None, description="Of own: its first day.", examples=["2026-06-01"])
    last: Day = Field(None, description="Of own: its last day, included.", examples=["2026-06-30"])

    def span(self, tx: Transaction) -> Range:
        """The range as seen now; raises Invalid where own days are missing or reversed."""
        return ranges.make(self.range, rollup.zone(tx).key, datetime.now(UTC), first=self.first, last=self.last)


class Narrowed(BaseModel):
    """Which runs; every filter may be given several times."""

    kind: list[Literal["answer", "summary", "proposal", "test", "embedding", "external"]] = Field(
        [], description="Only these."
    )
    provider: Texts = Field([], description=OR_NONE)
    model: Texts = Field([], description="Only these.")
    runtime: Texts = Field([], description=OR_NONE)
    profile: Texts = Field([], description=OR_NONE)
    status: list[Literal["planned", "running", "succeeded", "failed", "blocked"]] = Field([], description="Only these.")
    project: Texts = Field([], description=OR_NONE)
    task: Texts = Field([], description=OR_NONE)
    agent: Texts = Field([], description=OR_NONE)
    person: Texts = Field([], description=OR_NONE)
    conversation: Texts = Field([], description=OR_NONE)

    def filters(self) -> Filters:
        """As the core has them; raises Invalid for a broken id."""
        return filters.from_query({name: getattr(self, name) for name in filters.PARAMETERS})


def camel_row(row: dict[str, object]) -> dict[str, object]:
    """A row of a table with its names as the camelCase routes spell them."""
    return {to_camel(name): value for name, value in row.items()}
