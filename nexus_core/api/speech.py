"""The language of an HTTP answer: what the browser or the program asks for in Accept-Language, else English."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from nexus_core import i18n


class Speech:
    """Pure-ASGI middleware: sets the language for everything that one HTTP request causes."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on; a page of the cockpit, whose script runs elsewhere, asks for its language itself."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        with i18n.speaking(i18n.accepted(Headers(scope=scope).get("accept-language")) or "en"):
            await self.app(scope, receive, send)
