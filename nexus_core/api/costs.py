"""/api/costs: the figures of the Costs page, whole, table by table, and as files."""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

import pandas as pd
from fastapi import APIRouter, Path, Query
from fastapi.responses import Response
from pydantic import Field

from nexus_core import cards, choices, dashboard, exports, frames, panels, replica, tables
from nexus_core.api.schema import Camel, Money, Success, Who, done
from nexus_core.api.spans import Days, Narrowed, camel_row
from nexus_core.cards import Card as Found
from nexus_core.dashboard import Dashboard
from nexus_core.database import Scope, transaction
from nexus_core.filenames import attachment
from nexus_core.ranges import Range

router = APIRouter(prefix="/costs", tags=["Costs"])
TABLE = Literal[*tables.NAMES]  # type: ignore[valid-type]
MEDIA = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}
Scalar = str | int | float | bool | None
_FILES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The rows, or a file.",
        "content": {media: {"schema": {"type": "string"}} for media in MEDIA.values()},
    }
}


class CostsWanted(Days, Narrowed):
    """A range, the runs that count, and what spend is stacked by."""

    by: Literal[*panels.STACKS] = Field("model", description="What spend over time is stacked by.")  # type: ignore[valid-type]


class TableWanted(CostsWanted):
    """The same, and how the table is to come."""

    format: Literal["json", "csv", "parquet"] = Field("json", description="As rows, or as a file.")


class Shown(Camel):
    """The days that a report is about."""

    range: str = Field(description="The range's name.")
    time_zone: str = Field(description="Whose days they are.")
    first: date = Field(description="The first day.")
    last: date = Field(description="The last day.")
    from_at: datetime = Field(description="The first instant.")
    to_at: datetime = Field(description="The first instant that is not in it any more.")
    grain: str = Field(description="What a bucket is: hour, day, week or month.")


class Card(Camel):
    """A figure on top of the page; null is unknown."""

    name: str = Field(description="Its name.", examples=["spend"])
    title: str = Field(description="What people read.")
    unit: str = Field(description="money (US dollars), count, ms, or share (0 to 1).")
    now: float | None = Field(description="In the range.")
    before: float | None = Field(description="In the period before, to the same elapsed part.")
    change: float | None = Field(
        description="How much more, as a share of before; of a share its difference; null: nothing to compare with."
    )
    course: list[float | None] = Field(description="By bucket, as in `series`.")


class Figures(Camel):
    """What runs used and cost together; null: no run tells it."""

    runs: int = Field(description="Attempts.")
    requests: int = Field(description="What was asked for.")
    priced: int = Field(description="Runs with a price.")
    unpriced: int = Field(description="Runs that ended without a price; with any, `cost` is at least that.")
    without_usage: int = Field(description="Runs that tell no tokens.")
    cost: Money | None = Field(description="US dollars of the priced runs.")
    input_tokens: int | None = Field(description="Tokens sent, cached ones included.")
    cached_tokens: int | None = Field(description="Of these, read from the cache.")
    cache_write_tokens: int | None = Field(description="Of these, written to the cache.")
    output_tokens: int | None = Field(description="Tokens written, reasoning included.")
    reasoning_tokens: int | None = Field(description="Of these, reasoning.")
    priced_tokens: int = Field(description="Input and output of the priced runs.")
    retries: int = Field(description="Attempts after the first.")
    retry_cost: Money | None = Field(description="US dollars of these.")
    conversation_cost: Money | None = Field(description="US dollars of runs that belong to a conversation.")
    stopped: int = Field(description="Runs that a person stopped.")


class Bucket(Figures):
    """The figures of an hour, day, week or month."""

    start: datetime = Field(description="Its beginning on the zone's clock.")
    from_at: datetime = Field(description="Its first instant.")
    to_at: datetime = Field(description="The first instant after it.")
    open: bool = Field(description="It is not over, or the range cuts it short: not to be compared.")


class Costs(Camel):
    """The Costs page."""

    span: Shown = Field(description="The range.")
    before: Shown = Field(description="The period before it, of the same length.")
    cards: list[Card] = Field(description="The figures on top.")
    total: Figures = Field(description="The sums of the range.")
    total_before: Figures = Field(description="The sums of the period before.")
    series: list[Bucket] = Field(description="Bucket by bucket; together they are `total`.")


class Rows(Camel):
    """A table."""

    title: str = Field(description="What people read above it.")
    span: Shown = Field(description="The range.")
    rows: list[dict[str, Scalar]] = Field(
        description="The rows that the chart draws and the file holds; money in US dollars, durations in milliseconds."
    )


class Choices(Camel):
    """What can be filtered by."""

    values: dict[str, list[str]] = Field(description="By dimension, what occurs in the range; none: those without.")
    names: dict[str, str] = Field(description="Of those that are ids, what people call them.")


@router.get("", response_model=Success[Costs], summary="Get the costs report")
def get_costs(who: Who, wanted: Annotated[CostsWanted, Query()]) -> dict[str, Any]:
    """The same figures as the Costs page, read in one moment."""
    page = _page(who, wanted)
    report = page.report
    rows = zip(frames.over_time(report).to_dict("records"), report.buckets, strict=True)
    series = [row | {"start": bucket.start} for row, bucket in rows]
    told = {"cards": [_card(found) for found in cards.of(page)], "series": series}
    sums = {"total": report.total, "total_before": report.total_before}
    return done(told | sums | {"span": _shown(report.range), "before": _shown(report.before)})


@router.get("/choices", response_model=Success[Choices], summary="List what costs can be filtered by")
def list_cost_choices(who: Who, wanted: Annotated[CostsWanted, Query()]) -> dict[str, Any]:
    """The values that occur in the range, and what people call them."""
    return done(replica.read(who, lambda tx: choices.of(tx, wanted.span(tx), wanted.filters())))


@router.get("/tables/{table}", response_model=Success[Rows], responses=_FILES, summary="Get a table of the report")
def get_cost_table(
    who: Who,
    table: Annotated[TABLE, Path(description="Which table.", examples=["spend"])],
    wanted: Annotated[TableWanted, Query()],
) -> Any:
    """What a chart of the Costs page draws, as rows or as a file. Texts that a spreadsheet would run begin with an
    apostrophe in CSV; unknown is null or empty."""
    page = _page(who, wanted)
    span, found = page.report.range, tables.of(page, cards.of(page), panels.of(page))[table]
    if wanted.format != "json":
        content = exports.csv(found.frame) if wanted.format == "csv" else exports.parquet(found.frame)
        name = f"costs-{table}-{span.first}-{span.last}.{wanted.format}"
        return Response(content, media_type=MEDIA[wanted.format], headers=attachment(name))
    rows = [camel_row(_record(row)) for row in found.frame.to_dict("records")]
    return done({"title": found.title, "span": _shown(span), "rows": rows})


def _page(who: Scope, wanted: CostsWanted) -> Dashboard:
    with transaction(who) as tx:
        span = wanted.span(tx)
    return dashboard.load(who, span, wanted.filters(), by=wanted.by)


def _shown(span: Range) -> dict[str, Any]:
    return vars(span) | {"range": span.name, "time_zone": span.zone}


def _card(found: Found) -> dict[str, Any]:
    return vars(found) | {"change": found.change}


def _record(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(name): _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    if value is pd.NaT:
        return None
    if isinstance(value, Decimal):
        return float(value)
    return value.isoformat() if isinstance(value, date) else value
