"""What the routes share: who asks, the two spellings of names, the envelope, versions, bounded inputs."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, TypeVar

from fastapi import Depends, Header, Query, Request
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, WithJsonSchema
from pydantic.alias_generators import to_camel
from starlette.responses import Response

from nexus_core.database import Scope
from nexus_core.errors import Invalid, Unauthenticated
from nexus_core.i18n import _
from nexus_core.signin import scope_for
from nexus_core.text import clean

T = TypeVar("T")
INT = 2**31 - 1
BIGINT = 2**53 - 1
DEPTH = 60


def scope(
    request: Request,
    workspace: Annotated[
        str | None,
        Query(description="The slug of the workspace to act in; your first one when left out.", examples=["default"]),
    ] = None,
) -> Scope:
    """The dependency of every route: who asks, in the workspace `?workspace=` (a slug) or in their first one."""
    identity = getattr(request.state, "identity", None)
    if identity is None:
        raise Unauthenticated(_("Sign in first."))
    return scope_for(identity, workspace, "api")


Who = Annotated[Scope, Depends(scope)]


class Camel(BaseModel):
    """camelCase outside, snake_case inside."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, validate_by_alias=True)

    def given(self) -> dict[str, Any]:
        """The fields that the caller sent, by their inner names; raises Invalid when none of them is known."""
        return _given(self)


class Snake(BaseModel):
    """snake_case outside and inside."""

    def given(self) -> dict[str, Any]:
        """The fields that the caller sent; raises Invalid when none of them is known."""
        return _given(self)


def _given(body: BaseModel) -> dict[str, Any]:
    fields = {name: getattr(body, name) for name in body.model_fields_set}
    if not fields:
        raise Invalid(_("Say what to change."))
    return fields


class Success(BaseModel, Generic[T]):
    """The envelope of an answer."""

    success: Literal[True] = Field(description="The request was carried out.")
    data: T = Field(description="What was asked for.")


class Problem(BaseModel):
    """Why a request was refused."""

    code: str = Field(description="A stable word for programs.", examples=["not_found"])
    message: str = Field(description="A sentence for people.", examples=["There is no such agent here."])
    field: str | None = Field(description="The input at fault, where it is one.", examples=["name"])
    detail: dict[str, Any] | None = Field(
        None, description="More for programs, such as the current `version` of what was changed meanwhile."
    )


class Failure(BaseModel):
    """The envelope of a refusal."""

    success: Literal[False] = Field(description="The request was not carried out.")
    error: Problem = Field(description="Why not.")


def done(data: Any) -> dict[str, Any]:
    """The envelope around `data`."""
    return {"success": True, "data": data}


def _clean(value: Any) -> Any:
    return clean(value) if isinstance(value, str) else value


def _shallow(value: Any) -> Any:
    level = [value]
    for _depth in range(DEPTH):
        inner = [item for item in level if isinstance(item, Mapping | list)]
        level = [child for item in inner for child in (item.values() if isinstance(item, Mapping) else item)]
        if not level:
            return value
    raise ValueError(f"nested deeper than {DEPTH} levels")


Text = Annotated[str, BeforeValidator(_clean)]
"""A text as PostgreSQL can store it; half an emoji is not refused, but replaced."""

Object = Annotated[dict[str, Any], AfterValidator(_shallow)]
_ENTRIES = {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "object"}]}}
Entries = Annotated[list[Any], AfterValidator(_shallow), WithJsonSchema(_ENTRIES)]
Money = Annotated[Decimal, PlainSerializer(float, return_type=float, when_used="json")]
Limit = Annotated[int, Query(ge=1, le=200, description="At most so many.", examples=[25])]


def _version(
    if_match: Annotated[
        str | None, Header(description="The ETag of what was read; 409 when it was changed since.", examples=['"3"'])
    ] = None,
) -> str | None:
    written = (if_match or "*").strip().removeprefix("W/").strip('"')
    return None if written == "*" else written


IfMatch = Annotated[str | None, Depends(_version)]


def as_number(version: str | None) -> int | None:
    """The number that an If-Match header names; raises Invalid."""
    if version is None or (version.isascii() and version.isdigit() and int(version) <= INT):
        return None if version is None else int(version)
    raise Invalid(_("This is not the version of a memory, a number."), field="If-Match")


def as_instant(version: str | None) -> datetime | None:
    """The time of the change that an If-Match header names; raises Invalid."""
    try:
        found = None if version is None else datetime.fromisoformat(version)
    except ValueError:
        found = datetime.min  # noqa: DTZ901 - told from a real one by its lacking zone
    if found is not None and found.tzinfo is None:
        raise Invalid(_("This is not a version, an ETag that was read here."), field="If-Match")
    return found


def aware(at: datetime | None, field: str) -> datetime | None:
    """An instant as it came; raises Invalid for one without a zone, which could mean any."""
    if at is not None and at.tzinfo is None:
        raise Invalid(_("Say the time zone too, as in 2026-01-31T00:00:00Z."), field=field)
    return at


def tag(response: Response, version: int | datetime) -> None:
    """Say which version an answer shows."""
    response.headers["etag"] = f'"{version.isoformat() if isinstance(version, datetime) else version}"'
