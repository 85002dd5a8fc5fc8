"""/api/views: saved views, a name for a page's range and filters."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query
from pydantic import Field

from nexus_core import views
from nexus_core.api.schema import Camel, Success, Text, Who, done
from nexus_core.database import transaction

router = APIRouter(prefix="/views", tags=["Costs"])
PAGE = Literal["costs", "runs", "audit"]
Values = Annotated[list[Annotated[Text, Field(max_length=2000)]], Field(max_length=200)]


class NewView(Camel):
    """A view; it takes the place of your own one of that name."""

    page: PAGE = Field("costs", description="The page.")
    name: Text = Field(description="1 to 80 characters.", examples=["Month by project"])
    query: Annotated[dict[Text, Values], Field(max_length=50)] = Field(
        description="The query of the page's address.", examples=[{"range": ["month"], "by": ["project"]}]
    )
    shared: bool = Field(False, description="Whether the whole workspace sees it; needs the role operator.")


class View(Camel):
    """A saved view."""

    id: UUID = Field(description="Its id.")
    user_id: UUID = Field(description="Whose it is.")
    page: PAGE = Field(description="The page.")
    name: str = Field(description="Its name.")
    query: dict[str, Any] = Field(description="The query of the page's address.")
    shared: bool = Field(description="Whether the whole workspace sees it.")
    updated_at: datetime = Field(description="When it was saved last.")


class DeletedView(Camel):
    """What was removed."""

    id: UUID = Field(description="The view's id.")


@router.get("", response_model=Success[list[View]], summary="List saved views")
def list_views(who: Who, page: Annotated[PAGE, Query(description="Those of this page.")] = "costs") -> dict[str, Any]:
    """Your own and those that others share, by name."""
    with transaction(who) as tx:
        return done(views.of_page(tx, page))


@router.post("", response_model=Success[View], status_code=HTTPStatus.CREATED, summary="Save a view")
def save_view(who: Who, body: NewView) -> dict[str, Any]:
    """In place of your own one of that name."""
    with transaction(who) as tx:
        return done(views.save(tx, **body.model_dump()))


@router.delete("/{view_id}", response_model=Success[DeletedView], summary="Remove a view")
def delete_view(who: Who, view_id: Annotated[UUID, Path(description="The view's id.")]) -> dict[str, Any]:
    """Your own; as an admin also one that somebody shares."""
    with transaction(who) as tx:
        views.remove(tx, view_id)
    return done({"id": view_id})
