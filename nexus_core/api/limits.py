"""The size of a request's body, refused before it is read whole."""

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nexus_core.errors import NexusError
from nexus_core.i18n import _
from nexus_core.reading import MOST_BYTES as MOST_IMPORTED

MOST_BYTES = 4 * 1024 * 1024
LARGER = {"/api/import": MOST_IMPORTED + MOST_BYTES}
"""Where a whole file comes; it goes to the disk as it is read."""


class TooLarge(NexusError):
    """The body is larger than Nexus takes."""

    status = 413
    code = "too_large"


class BodyLimit:
    """Pure-ASGI middleware: a body over MOST_BYTES, or what LARGER says, gets a 413, though it says no length."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with a bound on what can be read of it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        most = LARGER.get(scope["path"], MOST_BYTES)
        said = dict(scope["headers"]).get(b"content-length", b"0")
        if said.isdigit() and int(said) > most:
            await JSONResponse(refusal(most), TooLarge.status)(scope, receive, send)
            return
        read = 0

        async def bounded() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body") or b"")
            if read > most:
                raise HTTPException(TooLarge.status)
            return message

        await self.app(scope, bounded, send)


def refusal(most: int = MOST_BYTES) -> dict[str, object]:
    """The body of the answer to a body that is too large."""
    sentence = _("A request has at most {megabytes} MB.").format(megabytes=most // 1024**2)
    return {"success": False, "error": {"code": TooLarge.code, "message": sentence, "field": None}}
