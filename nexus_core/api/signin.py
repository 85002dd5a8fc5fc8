"""The way in and out: /sign-in, /sign-out, /setup and /welcome, rendered here; the cockpit opens only afterwards."""

import json
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, unquote, urlencode

from anyio import to_thread
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from nexus_core import accounts, i18n, oidc, signin
from nexus_core.api import html
from nexus_core.api.gate import cookie, is_secure, safe_target, visitor
from nexus_core.errors import NexusError, NotFound
from nexus_core.i18n import _
from nexus_core.oidc import Attempt
from nexus_core.sessions import COOKIE

MAX_BYTES = 16_384
OIDC = "/sign-in/oidc"
ATTEMPT = "nexus_oidc"
ATTEMPT_SECONDS = 600
"""How long a person may take at the identity provider."""


async def show_sign_in(request: Request) -> Response:
    """The sign-in form; whoever is signed in goes on, and where there is no administrator one is made first."""
    target = safe_target(request.query_params.get("next"))
    try:
        if await _is_signed_in(request):
            return _go(target)
        if not oidc.configured() and not await to_thread.run_sync(signin.administrator_exists):
            return _go(f"/setup?{urlencode({'next': target})}")
    except NexusError as error:
        return html.failure(error)
    return html.page("signin.html", target=target, email="", error=None)


async def sign_in(request: Request) -> Response:
    """Check e-mail and password, set the cookie and go where the person wanted to."""
    form = await _form(request)
    target, email = safe_target(_text(form, "next")), _text(form, "email")
    try:
        token = await to_thread.run_sync(signin.sign_in, email, _text(form, "password"), *visitor(request))
    except NexusError as error:
        return _again("signin.html", error, target=target, email=email)
    return _enter(request, token, target)


async def to_provider(request: Request) -> Response:
    """Send the browser to the identity provider, and have it keep what the answer is checked against."""
    target = safe_target(request.query_params.get("next"))
    try:
        url, attempt = await to_thread.run_sync(oidc.begin, _callback(request), visitor(request)[0])
    except NexusError as error:
        return _again("signin.html", error, target=target, email="")
    answer = RedirectResponse(url, HTTPStatus.SEE_OTHER, headers={"cache-control": "no-store"})
    kept = json.dumps([attempt.state, attempt.nonce, attempt.verifier, target])
    answer.set_cookie(
        ATTEMPT,
        quote(kept),
        max_age=ATTEMPT_SECONDS,
        httponly=True,
        samesite="lax",
        path=OIDC,
        secure=is_secure(request),
    )
    return answer


async def from_provider(request: Request) -> Response:
    """Check the provider's answer, set the cookie and go where the person wanted to."""
    attempt, target = _attempt(request)
    asked, (address, user_agent) = request.query_params, visitor(request)
    finish = partial(
        oidc.finish, attempt, asked.get("state", ""), asked.get("code", ""), _callback(request),
        address=address, user_agent=user_agent,
    )  # fmt: skip
    try:
        token = await to_thread.run_sync(finish)
    except NexusError as error:
        answer = _again("signin.html", error, target=target, email="")
    else:
        answer = _enter(request, token, target)
    answer.delete_cookie(ATTEMPT, path=OIDC, httponly=True, samesite="lax")
    return answer


def _callback(request: Request) -> str:
    scheme = "https" if is_secure(request) else "http"
    return f"{scheme}://{request.url.netloc}{OIDC}/callback"


def _attempt(request: Request) -> tuple[Attempt | None, str]:
    try:
        state, nonce, verifier, target = map(str, json.loads(unquote(request.cookies.get(ATTEMPT, ""))))
    except (ValueError, TypeError):
        return None, "/"
    return Attempt(state, nonce, verifier), safe_target(target)


async def show_sign_out(request: Request) -> Response:
    """Ask first: a link must not be able to sign anybody out."""
    try:
        identity = await to_thread.run_sync(signin.resolve, request.cookies.get(COOKIE))
    except NexusError as error:
        return html.failure(error)
    if identity and identity.person.locale:
        i18n.use(identity.person.locale)
    return html.page("signout.html")


async def sign_out(request: Request) -> Response:
    """End the session and forget the cookie."""
    if token := request.cookies.get(COOKIE):
        try:
            await to_thread.run_sync(signin.sign_out, token)
        except NexusError as error:
            return html.failure(error)
    answer = _go("/sign-in")
    answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="lax")
    return answer


async def show_set_up(request: Request) -> Response:
    """The form that makes the first administrator; its one-time code is printed on the console now."""
    try:
        if await to_thread.run_sync(signin.administrator_exists):
            return _go("/sign-in")
    except NexusError as error:
        return html.failure(error)
    signin.set_up_code()
    target = safe_target(request.query_params.get("next"))
    return html.page("setup.html", target=target, name="", email="", error=None, field=None)


async def set_up(request: Request) -> Response:
    """Make the first administrator and sign them in."""
    form = await _form(request)
    target, name, email = safe_target(_text(form, "next")), _text(form, "name"), _text(form, "email")
    code, password = _text(form, "code"), _text(form, "password")
    address, user_agent = visitor(request)
    try:
        await to_thread.run_sync(signin.set_up, code, email, name, password, address)
        token = await to_thread.run_sync(signin.sign_in, email, password, address, user_agent)
    except NexusError as error:
        return _again("setup.html", error, target=target, name=name, email=email, field=error.field)
    return _enter(request, token, target)


async def show_welcome(request: Request) -> Response:
    """The form by which an invited person chooses their password."""
    try:
        person = await to_thread.run_sync(accounts.whose, request.path_params["code"])
    except NexusError as error:
        return _no_link(error)
    return html.page("welcome.html", name=person.name, email=person.email, error=None)


async def welcome(request: Request) -> Response:
    """Set the password, sign the person in; the link works no more."""
    code, password = request.path_params["code"], _text(await _form(request), "password")
    try:
        person = await to_thread.run_sync(accounts.whose, code)
        token = await to_thread.run_sync(accounts.choose_password, code, password, *visitor(request))
    except NotFound as error:
        return _no_link(error)
    except NexusError as error:
        return _again("welcome.html", error, name=person.name, email=person.email)
    return _enter(request, token, "/")


routes = [
    Route(OIDC, to_provider, methods=["GET"]),
    Route(f"{OIDC}/callback", from_provider, methods=["GET"]),
    Route("/welcome/{code}", show_welcome, methods=["GET"]),
    Route("/welcome/{code}", welcome, methods=["POST"]),
    Route("/sign-in", show_sign_in, methods=["GET"]),
    Route("/sign-in", sign_in, methods=["POST"]),
    Route("/sign-out", show_sign_out, methods=["GET"]),
    Route("/sign-out", sign_out, methods=["POST"]),
    Route("/setup", show_set_up, methods=["GET"]),
    Route("/setup", set_up, methods=["POST"]),
]


async def _is_signed_in(request: Request) -> bool:
    identity = await to_thread.run_sync(signin.resolve, request.cookies.get(COOKIE))
    return identity is not None and identity.method != "local"


async def _form(request: Request) -> FormData:
    if int(request.headers.get("content-length") or MAX_BYTES) >= MAX_BYTES:
        return FormData()
    return await request.form(max_files=0, max_fields=10)


def _text(form: FormData, name: str) -> str:
    value = form.get(name)
    return value if isinstance(value, str) else ""


def _no_link(error: NexusError) -> Response:
    if isinstance(error, NotFound):
        return html.notice(_("This link does not work"), error.message, error.status)
    return html.failure(error)


def _again(template: str, error: NexusError, **values: Any) -> Response:
    """The form once more, with what was typed (but the password) and the sentence of what was wrong."""
    answer = html.page(template, error.status, error=error.message, **values)
    answer.headers.update(html.retry_after(error))
    return answer


def _enter(request: Request, token: str, target: str) -> Response:
    answer = _go(target)
    answer.headers.append("set-cookie", cookie(request, token))
    return answer


def _go(target: str) -> RedirectResponse:
    return RedirectResponse(target, HTTPStatus.SEE_OTHER, headers={"cache-control": "no-store"})
