"""The few pages that need no cockpit: sign-in, first set-up, and plain notices."""

from http import HTTPStatus
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from nexus_core import oidc
from nexus_core.config import settings
from nexus_core.errors import NexusError, TooMany
from nexus_core.i18n import _, language

_environment = Environment(
    loader=PackageLoader("nexus_core.api"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)
_environment.globals |= {"_": _, "language": language}
_environment.globals["provider"] = lambda: oidc.configured() and (settings().oidc_name or _("single sign-on"))


def page(template: str, status: int = HTTPStatus.OK, **values: Any) -> HTMLResponse:
    """A template of nexus_core/api/templates as a response that no cache keeps."""
    text = _environment.get_template(template).render(**values)
    return HTMLResponse(text, status, headers={"cache-control": "no-store"})


def notice(title: str, sentence: str, status: int, *, retry: bool = False) -> HTMLResponse:
    """A page of one sentence; `retry` adds a button that asks for the same address again."""
    return page("notice.html", status, title=title, sentence=sentence, retry=retry)


def failure(error: NexusError) -> HTMLResponse:
    """An error as a page, for who has no cockpit to see it in."""
    answer = notice(_("Nexus can't answer right now"), error.message, error.status, retry=error.status >= 500)
    answer.headers.update(retry_after(error))
    return answer


def retry_after(error: NexusError) -> dict[str, str]:
    """The header that says when to try again, for an error that knows."""
    return {"retry-after": str(int(error.detail["retry_after"]) + 1)} if isinstance(error, TooMany) else {}
