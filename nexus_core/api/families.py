"""Where programs come in, and how each kind of them is told that it was refused."""

from starlette.requests import HTTPConnection

from nexus_core.api import openai_errors
from nexus_core.errors import NexusError, Unauthenticated


class BadToken(Unauthenticated):
    """A personal token was sent that opens nothing."""


def challenge(error: NexusError) -> dict[str, str]:
    """The header that goes with a 401 where programs come in (RFC 6750, section 3)."""
    if not isinstance(error, Unauthenticated):
        return {}
    wrong = ', error="invalid_token"' if isinstance(error, BadToken) else ""
    return {"www-authenticate": f'Bearer realm="Nexus"{wrong}'}


def failure(error: NexusError) -> dict[str, object]:
    """The body of every refused API request; with `detail` where there is more for a program."""
    reason = {"code": error.code, "message": error.message, "field": error.field}
    return {"success": False, "error": reason | ({"detail": error.detail} if error.detail else {})}


FAMILIES = {"/api": failure, "/v1": openai_errors.body, "/mcp": failure, "/metrics": failure}
"""The first step of an address, and the shape of its refusals."""


def family(connection: HTTPConnection) -> str | None:
    """Which of FAMILIES an address belongs to; None for what is no program's."""
    path = str(connection.scope["path"])
    return next((one for one in FAMILIES if path == one or path.startswith(f"{one}/")), None)
