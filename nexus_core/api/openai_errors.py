"""Refusals as OpenAI's clients expect them: {"error": {message, type, param, code}} with a status that they know."""

from http import HTTPStatus
from typing import Any

from starlette.responses import JSONResponse

from nexus_core.api.html import retry_after
from nexus_core.errors import ModelFailed, NexusError

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "invalid_request_error",
    409: "conflict_error",
    413: "invalid_request_error",
    429: "rate_limit_error",
}
_OF_MODELS = {
    "budget": (429, "insufficient_quota"),
    "rate_limit": (429, "rate_limit_exceeded"),
    "context_length": (400, "context_length_exceeded"),
    "content_filter": (400, "content_filter"),
    "bad_request": (400, "bad_request"),
    "timeout": (504, "timeout"),
    "interrupted": (503, "interrupted"),
}
_AGAIN = ("rate_limit", "interrupted")
"""What another try may mend; everything else of a model's was tried again already, or stays as it is."""


def body(error: NexusError) -> dict[str, Any]:
    """The JSON of a refusal."""
    status, code = _judged(error)
    kind = "insufficient_quota" if code == "insufficient_quota" else _KINDS.get(status, "server_error")
    told = {"message": error.message, "type": kind, "param": error.field, "code": code}
    detail = {key: error.detail[key] for key in ("conversation_id", "message_id", "run_id") if key in error.detail}
    return {"error": told | ({"nexus": detail} if detail else {})}


def refusal(error: NexusError) -> JSONResponse:
    """A refusal with its status; `x-should-retry: false` stops OpenAI's clients from asking twice more in vain."""
    status, _code = _judged(error)
    headers = retry_after(error)
    if isinstance(error, ModelFailed) and error.error_type not in _AGAIN:
        headers["x-should-retry"] = "false"
    return JSONResponse(body(error), status, headers=headers)


def _judged(error: NexusError) -> tuple[int, str]:
    if isinstance(error, ModelFailed):
        return _OF_MODELS.get(error.error_type, (error.status, f"model_{error.error_type}"))
    if error.status == HTTPStatus.UNPROCESSABLE_ENTITY:
        return HTTPStatus.BAD_REQUEST, "invalid_value" if error.field else "invalid_request"
    if error.status == HTTPStatus.NOT_FOUND and error.field == "model":
        return error.status, "model_not_found"
    codes = {HTTPStatus.UNAUTHORIZED: "invalid_api_key", HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_exceeded"}
    return error.status, codes.get(HTTPStatus(error.status), error.code)
