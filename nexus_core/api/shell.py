"""Streamlit's one HTML page, told where its server is: at the root of this host, whichever page was asked for."""

import hashlib
from base64 import b64encode

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nexus_core.i18n import language

SCRIPT = 'window.__streamlit = {BACKEND_BASE_URL: window.location.origin + "/"}'
SCRIPT_HASH = "sha256-" + b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
"""The script as the Content-Security-Policy names it."""
_MARK = b"window.prerenderReady"
_HEAD = b"<head>"
_ENGLISH = b'<html lang="en">'


class Shell:
    """Pure-ASGI middleware: makes the addresses in Streamlit's page absolute, names its server and its language.

    Left alone, the page looks for its files and its server below the address that it was opened at: an address of
    several steps stays blank, and every page but the first asks in vain before it asks at the root.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on; where a browser asks for a page, ask for it uncompressed and look into the answer."""
        if _wants_a_page(scope):
            plain = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
            scope, send = {**scope, "headers": plain}, _Rewriting(send)
        await self.app(scope, receive, send)


class _Rewriting:
    """Sends on; an HTML body is held until it is whole."""

    def __init__(self, send: Send) -> None:
        self.send = send
        self.start: Message | None = None
        self.body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_html(message):
            self.start = message
            return
        if self.start is None or message["type"] != "http.response.body":
            await self.send(message)
            return
        self.body += message.get("body", b"")
        if message.get("more_body"):
            return
        start, self.start = self.start, None
        if _MARK in self.body:
            self.body = _absolute(self.body)
            headers = MutableHeaders(scope=start)
            headers["content-length"] = str(len(self.body))
            for name in ("etag", "last-modified"):  # they are those of Streamlit's file
                del headers[name]
        await self.send(start)
        await self.send({**message, "body": self.body})


def _wants_a_page(scope: Scope) -> bool:
    return (
        scope["type"] == "http"
        and scope["method"] == "GET"
        and not scope["path"].startswith(("/api/", "/v1/", "/mcp"))
        and "text/html" in Headers(scope=scope).get("accept", "")
    )


def _is_html(message: Message) -> bool:
    headers = Headers(raw=message["headers"])
    return headers.get("content-type", "").startswith("text/html") and "content-encoding" not in headers


def _absolute(page: bytes) -> bytes:
    for attribute in (b'href="', b'src="'):
        page = page.replace(attribute + b"./", attribute + b"/")
    page = page.replace(_ENGLISH, f'<html lang="{language()}">'.encode(), 1)
    return page.replace(_HEAD, _HEAD + f"<script>{SCRIPT}</script>".encode(), 1)
