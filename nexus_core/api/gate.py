"""The gate at the ASGI edge: who may pass to pages, WebSocket, uploads, media and API."""

import re
from hmac import compare_digest
from http import HTTPStatus
from urllib.parse import quote

from anyio import to_thread
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nexus_core import i18n, oidc, signin
from nexus_core.api import html, peers, rates, shell
from nexus_core.api.families import FAMILIES, BadToken, challenge, family
from nexus_core.api_tokens import PREFIX
from nexus_core.config import settings
from nexus_core.errors import Forbidden, NexusError, Unauthenticated
from nexus_core.i18n import _
from nexus_core.sessions import COOKIE, LIFE
from nexus_core.signin import Identity

SHARED = re.compile(r"/shared/[^/]+")
"""The public page of a share, whose token is all that it asks for; nothing else under that name."""
WELCOME = re.compile(r"/welcome/[^/]+")
"""Where an invited person chooses their password, by a link that works once."""
PUBLIC = ("/sign-in", "/sign-in/oidc", "/sign-in/oidc/callback", "/sign-out", "/setup")
ASSETS = ("/static/js/", "/static/css/", "/static/media/")
"""Streamlit's own files, the same for everybody: a page that is open goes on drawing while the database is away."""
NOT_PAGES = ("/_stcore/", "/media/", "/component/", "/static/", "/app/", "/auth/", "/oauth2callback")
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
HEADERS = {
    "content-security-policy": (
        # the hashes are those of the one line of script in Streamlit's own index.html, and of ours
        "default-src 'self'; script-src 'self' 'sha256-THxz9J9+wf7rhwR2YkXJoSZ13UCmYyC+3lNDv2+8ugA=' "
        f"'{shell.SCRIPT_HASH}'; "
        "style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; "
        "frame-src 'self' blob: data:; media-src 'self' blob: data:; object-src 'none'; base-uri 'self'; "
        "form-action 'self'; frame-ancestors 'self'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), payment=(), usb=()",
}


class Misdirected(NexusError):
    """The request names a host that is not this one's."""

    status = 421
    code = "misdirected"


class Gate:
    """Pure-ASGI middleware: lets a request through with its `identity` in the state, or answers in its place.

    Every HTTP answer gets the security headers. Local mode, where the owner of this machine needs no form, holds
    only when the peer and the Host header are loopback, nothing says that a proxy stands between, and the process
    listens on loopback alone.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Judge one connection; everything that is neither HTTP nor WebSocket passes."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        guarded = _Guarded(send, connection)
        try:
            answer = await self._judge(connection, guarded)
        except NexusError as error:
            answer = _refusal(connection, error)
        if answer is None:
            await self.app(scope, receive, guarded if scope["type"] == "http" else send)
        elif scope["type"] == "http":
            await answer(scope, receive, guarded)
        else:
            await send({"type": "websocket.close", "code": 1008, "reason": "not signed in"})

    async def _judge(self, connection: HTTPConnection, guarded: "_Guarded") -> Response | None:
        path = connection.scope["path"]
        if path == "/health" or is_scraper(connection):
            return None
        program = family(connection)
        if program or _is_link(connection):
            rates.count_address(visitor(connection)[0])
        if token := bearer(connection):
            check_host(connection)
            connection.state.identity = await _holder(token)
            rates.count_holder(connection.state.identity)
            return None
        check_site(connection)
        if path in PUBLIC or path.startswith(ASSETS) or _is_link(connection):
            return None
        local = is_local(connection)
        token = connection.cookies.get(COOKIE)
        identity = await to_thread.run_sync(signin.resolve, token) if token else None
        if identity and identity.method == "local" and not local:
            identity = None
        if identity is None and local:
            identity = await self._enter(connection, guarded)
        if identity is None:
            return await _turn_away(connection)
        if program:
            rates.count_holder(identity)
        connection.state.identity = identity
        if identity.person.locale and _is_page(connection):
            i18n.use(identity.person.locale)
        return None

    async def _enter(self, connection: HTTPConnection, guarded: "_Guarded") -> Identity | None:
        """Let this machine's owner in: on a page with a cookie, on the API without one, else not at all."""
        if not await to_thread.run_sync(signin.local_mode):
            return None
        if _is_page(connection):
            token = await to_thread.run_sync(signin.sign_in_locally, *visitor(connection))
            guarded.cookie = cookie(connection, token)
            return await to_thread.run_sync(signin.resolve, token)
        if family(connection) and not peers.is_cross_site(connection.headers, peers.allowed_hosts()):
            owner = await to_thread.run_sync(signin.local_owner)
            return owner if owner.person.status == "active" else None
        return None


class _Guarded:
    """Sends on, with the security headers, and a cookie when there is one to set; no cache keeps a program's answer."""

    def __init__(self, send: Send, connection: HTTPConnection) -> None:
        self.send = send
        self.cookie: str | None = None
        self.headers = dict(HEADERS)
        if family(connection):
            self.headers["cache-control"] = "no-store"
        if is_secure(connection):
            self.headers["strict-transport-security"] = "max-age=31536000"

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in self.headers.items():
                headers.setdefault(name, value)
            if self.cookie:
                headers.append("set-cookie", self.cookie)
        await self.send(message)


def bearer(connection: HTTPConnection) -> str | None:
    """The personal token that a program sends; None without one of ours, for programs may have to send something.

    It counts where programs come in, never on a page. No browser adds it by itself, so whoever sends it meant to: no
    other site can make a browser do so, and nothing about the site is asked.
    """
    scheme, _space, given = connection.headers.get("authorization", "").partition(" ")
    given = given.strip()
    return given if scheme.lower() == "bearer" and given.startswith(PREFIX) and family(connection) else None


async def _holder(token: str) -> Identity:
    identity = await to_thread.run_sync(signin.resolve_token, token)
    if identity is None:
        raise BadToken(_("This token does not work: it is not known, or it was revoked, or it expired."))
    return identity


def check_host(connection: HTTPConnection) -> None:
    """Raise Misdirected for a host that is not ours, as a page under an attacker's DNS would name it."""
    allowed = peers.allowed_hosts()
    host = peers.host_of(connection.headers.get("host"))
    only_loopback = not allowed and peers.listens_on_loopback_only()
    if not peers.host_is_allowed(host, allowed, only_loopback=only_loopback):
        raise Misdirected(_("Nexus does not answer to this name; if it should, add it to NEXUS_ALLOWED_HOSTS."))


def check_site(connection: HTTPConnection) -> None:
    """Raise Misdirected for a host that is not ours (DNS rebinding), Forbidden for what another site sends."""
    check_host(connection)
    allowed, headers = peers.allowed_hosts(), connection.headers
    if connection.scope["type"] == "websocket":
        foreign = peers.is_own_origin(headers, allowed) is False
    else:
        foreign = connection.scope["method"] not in SAFE_METHODS and peers.is_cross_site(headers, allowed)
    if foreign:
        raise Forbidden(_("This request came from another site, so it was not carried out."))


def is_scraper(connection: HTTPConnection) -> bool:
    """Whether this is whoever reads /metrics by NEXUS_METRICS_TOKEN, which opens nothing else."""
    wanted = settings().metrics_token
    if wanted is None or connection.scope["path"] != "/metrics":
        return False
    scheme, _space, given = connection.headers.get("authorization", "").partition(" ")
    right = wanted.get_secret_value().encode()
    return scheme.lower() == "bearer" and compare_digest(given.strip().encode("utf-8", "replace"), right)


def is_local(connection: HTTPConnection) -> bool:
    """Whether the request can only come from a person at this machine, as far as the network tells."""
    return (
        connection.client is not None
        and peers.is_loopback(connection.client.host)
        and peers.is_loopback(peers.host_of(connection.headers.get("host")))
        and not peers.came_through_proxy(connection.headers)
        and peers.listens_on_loopback_only()
    )


def visitor(connection: HTTPConnection) -> tuple[str, str]:
    """The address and the browser of who asks."""
    return connection.client.host if connection.client else "", connection.headers.get("user-agent", "")


def cookie(connection: HTTPConnection, token: str) -> str:
    """The Set-Cookie header that gives a browser its session."""
    answer = Response()
    life, secure = int(LIFE.total_seconds()), is_secure(connection)
    answer.set_cookie(COOKIE, token, max_age=life, httponly=True, samesite="lax", path="/", secure=secure)
    return answer.headers["set-cookie"]


def safe_target(target: str | None) -> str:
    """Where to go after sign-in: a path of this site, never another site; `/` for anything else."""
    target = target or "/"
    odd = not target.startswith("/") or target.startswith("//") or "\\" in target or not target.isprintable()
    return "/" if odd or target.partition("?")[0] in PUBLIC else target


async def _turn_away(connection: HTTPConnection) -> Response:
    """What an anonymous visitor gets: a page the way to sign in, everything else the plain refusal."""
    if not _is_page(connection):
        raise Unauthenticated(_("Sign in first."))
    known = oidc.configured() or await to_thread.run_sync(signin.administrator_exists)
    target = connection.url.path + (f"?{connection.url.query}" if connection.url.query else "")
    return RedirectResponse(
        f"{'/sign-in' if known else '/setup'}?next={quote(target, safe='/')}",
        HTTPStatus.SEE_OTHER,
        headers={"cache-control": "no-store"},
    )


def _refusal(connection: HTTPConnection, error: NexusError) -> Response:
    if spoken := family(connection):
        headers = html.retry_after(error) | challenge(error)
        return JSONResponse(FAMILIES[spoken](error), error.status, headers=headers)
    if connection.scope["type"] == "http" and "text/html" in connection.headers.get("accept", ""):
        return html.failure(error)
    return PlainTextResponse(error.message, error.status, headers=html.retry_after(error))


def _is_page(connection: HTTPConnection) -> bool:
    """Whether a browser would show the answer: no file, no part of Streamlit's machinery, no API."""
    path = str(connection.scope["path"])
    return (
        connection.scope["type"] == "http"
        and connection.scope["method"] in ("GET", "HEAD")
        and family(connection) is None
        and not path.startswith(NOT_PAGES)
        and "/_stcore/" not in path  # Streamlit's page looks for its server under every deep link
        and "." not in path.rpartition("/")[2]
    )


def _is_link(connection: HTTPConnection) -> bool:
    """Whether all that is asked for is in the address: a link that somebody was given."""
    if connection.scope["type"] != "http":
        return False
    path, reads = connection.scope["path"], connection.scope["method"] in ("GET", "HEAD")
    return bool(WELCOME.fullmatch(path) or (reads and SHARED.fullmatch(path)))


def is_secure(connection: HTTPConnection) -> bool:
    """Whether the browser speaks https, to Nexus or to the proxy before it."""
    forwarded = connection.headers.get("x-forwarded-proto", "").partition(",")[0].strip()
    return connection.scope["scheme"] in ("https", "wss") or forwarded == "https"
