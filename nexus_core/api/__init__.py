"""The REST door: one FastAPI application under /api, and GET /health beside it."""

import logging
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic.alias_generators import to_camel
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from nexus_core import __version__
from nexus_core.api import (
    agents,
    audit,
    budgets,
    chat,
    conversations,
    costs,
    exchange,
    keeping,
    knowing,
    many,
    memory,
    messages,
    people,
    prices,
    profiles,
    project_memory,
    projects,
    proposals,
    reference,
    runs,
    selfcheck,
    shares,
    shelving,
    tasks,
    tokens,
    views,
    workspaces,
)
from nexus_core.api.families import challenge, failure
from nexus_core.api.html import retry_after
from nexus_core.api.limits import BodyLimit, too_large
from nexus_core.api.schema import Failure
from nexus_core.database import Scope, transaction
from nexus_core.errors import Invalid, NexusError, NotFound
from nexus_core.i18n import _

_log = logging.getLogger(__name__)
SNAKE = (
    "/api/projects",
    "/api/tasks",
    "/api/proposals",
    "/api/project-conversations",
    "/api/assistant-runs",
    "/api/retention",
    "/api/erasures",
)
_REFUSALS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": Failure, "description": "Refused; `error` says why."},
    "5XX": {"model": Failure, "description": "A model, the database or Nexus failed; `error` says what is known."},
}
api = FastAPI(
    title="Nexus",
    version=__version__,
    description=reference.INTRODUCTION,
    docs_url=None,
    redoc_url=None,
    responses=_REFUSALS,
    generate_unique_id_function=lambda route: route.name,
)
api.add_middleware(BodyLimit)
for _routes in (
    chat,
    many,
    shelving,
    exchange,
    shares,
    conversations,
    messages,
    agents,
    projects,
    tasks,
    memory,
    knowing,
    proposals,
    project_memory,
    runs,
    costs,
    prices,
    budgets,
    views,
    audit,
    profiles,
    workspaces,
    selfcheck,
    people,
    tokens,
    keeping,
):
    api.include_router(_routes.router)
api.add_route("/docs", reference.page, include_in_schema=False)


def success(data: Any, status: int = HTTPStatus.OK) -> JSONResponse:
    """The body of every answered API request; `data` is what JSON can hold."""
    return JSONResponse({"success": True, "data": data}, status)


def health(request: Request) -> Response:
    """Whether the service and its database are well: 200, or 503 when the database can't be reached."""
    try:
        with transaction(Scope.system()) as tx:
            tx.execute("database.ping")
    except NexusError:
        data = {"status": "degraded", "database": "unreachable", "version": __version__}
        return success(data, HTTPStatus.SERVICE_UNAVAILABLE)
    return success({"status": "ok", "database": "ok", "version": __version__})


@api.exception_handler(NexusError)
async def refused(request: Request, error: NexusError) -> Response:
    """What Nexus refuses on purpose, its names spelled as the route spells them."""
    if not request.url.path.startswith(SNAKE):
        error.field = error.field and _camel(error.field)
        error.detail = {_camel(key): value for key, value in error.detail.items()}
    return JSONResponse(failure(error), error.status, headers=retry_after(error) | challenge(error))


def _camel(name: str) -> str:
    return to_camel(name) if "_" in name else name


@api.exception_handler(RequestValidationError)
async def invalid(request: Request, error: RequestValidationError) -> Response:
    """What does not have the shape of the route's input; names the first field at fault."""
    first = error.errors()[0]
    steps = () if first["type"] == "json_invalid" else first["loc"][1:]
    return await refused(request, Invalid(str(first["msg"]), field=".".join(map(str, steps)) or None))


@api.exception_handler(HTTPException)
async def unknown(request: Request, error: HTTPException) -> Response:
    """A path or a method that does not exist."""
    if error.status_code == HTTPStatus.NOT_FOUND:
        return await refused(request, NotFound(_("There is no such address here.")))
    if error.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return await refused(request, too_large(request.url.path))
    reason = {"code": HTTPStatus(error.status_code).name.lower(), "message": str(error.detail), "field": None}
    return JSONResponse({"success": False, "error": reason}, error.status_code, headers=error.headers)


@api.exception_handler(Exception)
async def broken(request: Request, error: Exception) -> Response:
    """A fault of ours: in the log with its trace, and never in the answer."""
    _log.error("%s %s failed", request.method, request.url.path)
    return await refused(request, NexusError(_("Something went wrong in Nexus; its log says what.")))
