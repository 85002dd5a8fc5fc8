"""/metrics: this process's figures for Prometheus, for administrators and for whoever holds the scraper's token."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from nexus_core import metrics
from nexus_core.api.families import failure
from nexus_core.api.gate import is_scraper
from nexus_core.api.html import retry_after
from nexus_core.api.schema import scope
from nexus_core.errors import NexusError


def read(request: Request) -> Response:
    """The figures are of every workspace together: an administrator's to see, or the scraper's."""
    try:
        if not is_scraper(request):
            scope(request, request.query_params.get("workspace")).require("admin")
    except NexusError as error:
        return JSONResponse(failure(error), error.status, headers=retry_after(error))
    return Response(metrics.exposition(), headers={"content-type": metrics.CONTENT_TYPE, "cache-control": "no-store"})
