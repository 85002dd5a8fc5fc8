"""Errors that a person can act on; each carries its HTTP status and a stable code."""

from typing import Any


class NexusError(Exception):
    """Base of every error that Nexus raises on purpose.

    `message` is one sentence for the person who caused it; `field` names the input at fault, `detail` holds what
    a program may need (never a secret, never a stack trace).
    """

    status = 500
    code = "error"

    def __init__(self, message: str, *, field: str | None = None, detail: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.detail = detail or {}


class Invalid(NexusError):
    """The input cannot be accepted as it is."""

    status = 422
    code = "invalid"


class Unauthenticated(NexusError):
    """Nobody is signed in."""

    status = 401
    code = "unauthenticated"


class Forbidden(NexusError):
    """The person is known and may not do this."""

    status = 403
    code = "forbidden"


class NotFound(NexusError):
    """There is no such thing, or it is not this person's to see; the two are the same on purpose."""

    status = 404
    code = "not_found"


class Conflict(NexusError):
    """Somebody else changed it first; `detail` holds the current version."""

    status = 409
    code = "conflict"


class Busy(NexusError):
    """The conversation is answering somebody right now."""

    status = 409
    code = "busy"


class TooMany(NexusError):
    """Too many attempts; `detail["retry_after"]` is in seconds."""

    status = 429
    code = "too_many"


class ModelFailed(NexusError):
    """A model gave no usable answer.

    `error_type` is one of: authentication, rate_limit, timeout, context_length, content_filter, connection,
    malformed, unavailable, bad_request, not_found, interrupted, unknown.
    `retryable` says whether the same request may succeed a moment later; `retry_after` is in seconds, when the
    provider said it; `detail` holds the provider's own words, bounded and free of keys.
    """

    status = 502
    code = "model_failed"

    def __init__(
        self,
        message: str,
        *,
        error_type: str,
        retryable: bool = False,
        retry_after: float | None = None,
        detail: str = "",
    ) -> None:
        super().__init__(message, detail={"error_type": error_type, "provider": detail})
        self.error_type = error_type
        self.retryable = retryable
        self.retry_after = retry_after


class StoreUnavailable(NexusError):
    """PostgreSQL can't be reached or answers no more; nothing was written."""

    status = 503
    code = "store_unavailable"


class SetupFailed(NexusError):
    """Nexus can't start; the message is the one line that says what to do."""

    code = "setup_failed"
