"""/mcp: the projects' memory for coding assistants, by the Model Context Protocol over streamable HTTP."""

from dataclasses import replace
from functools import cache
from http import HTTPStatus
from importlib import import_module
from types import ModuleType

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from nexus_core.api.families import failure
from nexus_core.api.html import retry_after
from nexus_core.api.schema import scope as scope_of
from nexus_core.errors import NexusError


class Mcp:
    """The ASGI application: a request's person is the gate's word, its workspace `?workspace=` or their first one.

    GET and DELETE are 405: nothing is kept between two requests, so there is no stream to open and none to end
    (https://modelcontextprotocol.io/specification, "Streamable HTTP").
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope)
        try:
            if request.method != "POST":
                await Response(status_code=HTTPStatus.METHOD_NOT_ALLOWED, headers={"allow": "POST"})(
                    scope, receive, send
                )
                return
            who = replace(scope_of(request, request.query_params.get("workspace")), door="mcp")
            server = await to_thread.run_sync(_server)
        except NexusError as error:
            refused = JSONResponse(failure(error), error.status, headers=retry_after(error))
            await refused(scope, receive, send)
            return
        await server.answer(who, scope, receive, send)


@cache
def _server() -> ModuleType:
    """The package takes a second to import: who never asks here never waits for it."""
    return import_module("nexus_core.api.mcp_server")
