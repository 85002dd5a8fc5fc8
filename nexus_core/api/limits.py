"""The size of a request's body, refused before it is read whole."""

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nexus_core.api.families import FAMILIES, family
from nexus_core.config import settings
from nexus_core.errors import NexusError
from nexus_core.i18n import _
from nexus_core.reading import MOST_BYTES as MOST_IMPORTED

IMPORT = "/api/import"
"""Where a whole file comes; it goes to the disk as it is read."""


class TooLarge(NexusError):
    """The body is larger than Nexus takes."""

    status = 413
    code = "too_large"


def most(path: str) -> int:
    """How many bytes a request to an address may have: NEXUS_MAX_BODY_MB, and a file to import on top."""
    usual = settings().max_body_mb * 1024**2
    return usual + MOST_IMPORTED if path == IMPORT else usual


def too_large(path: str) -> TooLarge:
    """What is said to a larger one."""
    return TooLarge(_("A request has at most {megabytes} MB.").format(megabytes=most(path) // 1024**2))


class BodyLimit:
    """Pure-ASGI middleware: a body over `most` gets a 413, though it says no length."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with a bound on what can be read of it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        bytes_ = most(scope["path"])
        said = dict(scope["headers"]).get(b"content-length", b"0")
        if said.isdigit() and int(said) > bytes_:
            error = too_large(scope["path"])
            said_so = FAMILIES[family(HTTPConnection(scope)) or "/api"](error)
            await JSONResponse(said_so, error.status)(scope, receive, send)
            return
        read = 0

        async def bounded() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body") or b"")
            if read > bytes_:
                raise HTTPException(TooLarge.status)
            return message

        await self.app(scope, bounded, send)
