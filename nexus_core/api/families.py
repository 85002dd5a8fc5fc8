"""Where programs come in, and how each kind of them is told that it was refused."""

from starlette.requests import HTTPConnection

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


def openai_failure(error: NexusError) -> dict[str, object]:
    """The same in the shape that OpenAI's clients read."""
    kinds = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
    kind = kinds.get(error.status, "server_error" if error.status >= 500 else "invalid_request_error")
    return {"error": {"message": error.message, "type": kind, "param": error.field, "code": error.code}}


FAMILIES = {"/api": failure, "/v1": openai_failure, "/mcp": failure, "/metrics": failure}
"""The first step of an address, and the shape of its refusals."""


def family(connection: HTTPConnection) -> str | None:
    """Which of FAMILIES an address belongs to; None for what is no program's."""
    path = str(connection.scope["path"])
    return next((one for one in FAMILIES if path == one or path.startswith(f"{one}/")), None)
