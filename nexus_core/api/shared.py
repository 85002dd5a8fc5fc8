"""/shared/…: the public page of a share, which shows its snapshot and nothing else."""

import base64
import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import UUID

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from nexus_core import l10n, safehtml, shares
from nexus_core.api import html
from nexus_core.database import Scope, transaction
from nexus_core.errors import NexusError, NotFound
from nexus_core.i18n import _, language

STYLE = (Path(__file__).parent / "templates" / "shared.css").read_text("utf-8")
_POLICY = "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_DIGEST = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
_SANDBOX = "sandbox allow-popups allow-popups-to-escape-sandbox"
POLICY = f"default-src 'none'; style-src 'sha256-{_DIGEST}'; {_POLICY}; {_SANDBOX}"
REFUSAL_POLICY = f"default-src 'none'; style-src 'unsafe-inline'; {_POLICY}"
HEADERS = {"referrer-policy": "no-referrer", "x-frame-options": "DENY", "x-robots-tag": "noindex, nofollow"}
_GATE = Scope(None, None, "system", "gate")


@dataclass(frozen=True)
class Shown:
    """A message on the page; `html` None: `text` is shown as it was typed."""

    role: str
    text: str
    html: str | None
    at: datetime

    @property
    def speaker(self) -> str:
        """Who says it, without a name."""
        return _("Assistant") if self.role == "assistant" else _("Person")

    @property
    def when(self) -> str:
        """When it was said."""
        return _moment(self.at)


async def page(request: Request) -> Response:
    """The snapshot; the same refusal whether a link is wrong, withdrawn, expired or its conversation gone."""
    counted = request.method == "GET"
    try:
        answer, policy = await to_thread.run_sync(_page, request.path_params["token"], counted), POLICY
    except NotFound as error:
        answer, policy = html.notice(_("Nothing to see here"), error.message, error.status), REFUSAL_POLICY
    except NexusError as error:
        answer, policy = html.failure(error), REFUSAL_POLICY
    answer.headers.update(HEADERS | {"content-security-policy": policy})
    return answer


routes = [Route("/shared/{token}", page, methods=["GET"])]


def _page(token: str, counted: bool) -> HTMLResponse:
    with transaction(_GATE) as tx:
        found = shares.visit(tx, token, counted=counted)
    title, messages = _content(found.id, language())
    return html.page(
        "shared.html",
        title=title or _("Conversation"),
        messages=messages,
        taken=_moment(found.created_at),
        until=_moment(found.expires_at),
        style=STYLE,
    )


@lru_cache(maxsize=16)
def _content(share_id: UUID, _spoken: str) -> tuple[str, list[Shown]]:
    """What a share shows, ready in a language; a snapshot never changes, whether it may be shown was asked before."""
    with transaction(_GATE) as tx:
        told = shares.snapshot(tx, share_id)
    return str(told["title"]), [_shown(message) for message in told["messages"]]


def _shown(message: dict[str, Any]) -> Shown:
    text = str(message["text"])
    rendered = safehtml.render(text) if message["role"] == "assistant" else None
    at = datetime.fromisoformat(message["at"])
    return Shown(message["role"], text, rendered, at)


def _moment(instant: datetime) -> str:
    return f"{l10n.instant(instant.astimezone(UTC))} UTC"
