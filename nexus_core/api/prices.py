"""/api/prices and /api/repricings: a workspace's own prices, models without one, and past runs priced anew."""

from datetime import date, datetime
from http import HTTPStatus
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query
from pydantic import Field

from nexus_core import prices, pricing, repricing
from nexus_core.api.schema import Camel, Money, Success, Text, Who, done
from nexus_core.api.spans import FIRST, LAST, Days
from nexus_core.database import transaction
from nexus_core.pricing import DEAREST

router = APIRouter(tags=["Costs"])
Rate = Annotated[Money, Field(ge=0, le=DEAREST, max_digits=20, decimal_places=10)]
_PER = "US dollars per million tokens"


class Rates(Camel):
    """US dollars per million tokens; 0 is free, null is as said."""

    input_price: Rate | None = Field(None, description=f"{_PER} sent; without any price the bundled table holds again.")
    output_price: Rate | None = Field(None, description=f"{_PER} written.")
    cached_price: Rate | None = Field(None, description=f"{_PER} read from the cache; null: as sent.")
    cache_write_price: Rate | None = Field(None, description=f"{_PER} written to the cache; null: as sent.")


class NewPrice(Rates):
    """A price of your own, from a day on."""

    model: Text = Field(max_length=200, description="The model, with its provider.", examples=["openai/our-model"])
    valid_from: Annotated[date, Field(ge=FIRST, le=LAST)] = Field(
        description="The first day that it holds for.", examples=["2026-01-01"]
    )
    input_price: Rate | None = Field(None, description=f"{_PER} sent; null, as all are: the table.", examples=[0.5])
    output_price: Rate | None = Field(None, description=f"{_PER} written.", examples=[2])


class Price(Rates):
    """A version of an own price; the highest version of a model and day holds."""

    id: UUID = Field(description="Its id.")
    version: int = Field(description="Its number; runs name it as `own 3`.")
    model: str = Field(description="The model, with its provider.")
    valid_from: date = Field(description="The first day that it holds for.")
    created_by: UUID | None = Field(description="Who set it.")
    created_at: datetime = Field(description="When.")


class Prices(Camel):
    """What models cost here."""

    bundled_version: str = Field(description="The version of the bundled table, which holds where no own price does.")
    own: list[Price] = Field(description="Every version of an own price, the newest first.")


class Unpriced(Camel):
    """A model whose runs have tokens and no price."""

    model: str = Field(description="The model.")
    provider: str | None = Field(description="Its provider.")
    runs: int = Field(description="How many runs.")
    input_tokens: int | None = Field(description="Tokens sent.")
    output_tokens: int | None = Field(description="Tokens written.")
    first_at: datetime = Field(description="When the first was made.")
    last_at: datetime = Field(description="When the newest was made.")


class Again(Camel, Days):
    """The runs to price with the prices that hold now for their day."""

    models: Annotated[list[Annotated[Text, Field(max_length=200)]], Field(max_length=200)] | None = Field(
        None, description="Only runs of these models; left out: of every model.", examples=[["openai/our-model"]]
    )


class PriceChange(Camel):
    """What a re-pricing does to the runs of one model and day."""

    model: str = Field(description="The model.")
    day: date = Field(description="The day, in the workspace's time zone.")
    runs: int = Field(description="How many runs get another price.")
    before: Money | None = Field(description="US dollars now; null: none of them has a price.")
    after: Money = Field(description="US dollars afterwards.")


class Repricing(Camel):
    """A re-pricing that was applied; the old amounts are kept."""

    id: UUID = Field(description="Its id.")
    models: list[str] | None = Field(description="The models; null: every one.")
    from_at: datetime = Field(description="The first instant of its range.")
    to_at: datetime = Field(description="The first instant after its range.")
    runs: int = Field(description="How many runs got another price.")
    created_by: UUID | None = Field(description="Who applied it.")
    created_at: datetime = Field(description="When.")
    undone_by: UUID | None = Field(description="Who undid it.")
    undone_at: datetime | None = Field(description="When it was undone.")


@router.get("/prices", response_model=Success[Prices], summary="List prices")
def list_prices(who: Who) -> dict[str, Any]:
    """The own prices of the workspace, all versions, and the version of the bundled table."""
    with transaction(who) as tx:
        return done({"bundled_version": prices.version(), "own": pricing.history(tx)})


@router.post("/prices", response_model=Success[Price], status_code=HTTPStatus.CREATED, summary="Set a price")
def set_price(who: Who, body: NewPrice) -> dict[str, Any]:
    """From a day on; past runs keep theirs until they are priced again. Needs the role admin."""
    with transaction(who) as tx:
        return done(pricing.set_price(tx, **body.model_dump()))


@router.get("/prices/unpriced", response_model=Success[list[Unpriced]], summary="List models without a price")
def list_unpriced(who: Who, days: Annotated[Days, Query()]) -> dict[str, Any]:
    """Those that were called in the range, told their tokens and have no price, the most used first."""
    with transaction(who) as tx:
        return done(pricing.unpriced(tx, days.span(tx)))


@router.get("/repricings", response_model=Success[list[Repricing]], summary="List re-pricings")
def list_repricings(who: Who) -> dict[str, Any]:
    """Every one that was applied, the newest first."""
    with transaction(who) as tx:
        return done(repricing.batches(tx))


@router.post(
    "/repricings/preview", response_model=Success[list[PriceChange]], summary="Look what a re-pricing would change"
)
def preview_repricing(who: Who, body: Again) -> dict[str, Any]:
    """By model and day; runs whose price stays, or stays unknown, are left out. Needs the role admin."""
    with transaction(who) as tx:
        return done(repricing.preview(tx, body.span(tx), models=body.models))


@router.post(
    "/repricings", response_model=Success[Repricing], status_code=HTTPStatus.CREATED, summary="Price past runs again"
)
def apply_repricing(who: Who, body: Again) -> dict[str, Any]:
    """Reports follow at once; 422 where no run would get another price. Needs the role admin."""
    with transaction(who) as tx:
        return done(repricing.apply(tx, body.span(tx), models=body.models))


@router.post("/repricings/{repricing_id}/undo", response_model=Success[Repricing], summary="Undo a re-pricing")
def undo_repricing(who: Who, repricing_id: Annotated[UUID, Path(description="The re-pricing's id.")]) -> dict[str, Any]:
    """Its runs get their old prices back; 409 when it is undone already, or a later one holds the same runs. Needs the
    role admin."""
    with transaction(who) as tx:
        return done(repricing.undo(tx, repricing_id))
