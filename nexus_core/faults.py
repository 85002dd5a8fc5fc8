"""What went wrong at a model's provider, in one sentence; knows litellm's errors by their names alone."""

import ast
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from nexus_core.errors import ModelFailed
from nexus_core.i18n import _
from nexus_core.providers import key_variable, label_of, lacks_version, provider_of

DETAIL_LIMIT = 2000
"""Characters of the provider's own words that are kept."""

_RETRYABLE = frozenset({"rate_limit", "timeout", "connection", "malformed", "unavailable"})
_TIMEOUTS = frozenset({"Timeout", "APITimeoutError", "ReadTimeout", "ConnectTimeout", "TimeoutError"})
_CONNECTION = frozenset({
    "ConnectError", "ReadError", "RemoteProtocolError", "APIConnectionError", "ClientConnectorError",
    "ClientPayloadError", "ConnectionError",
})  # fmt: skip
_UNREADABLE = frozenset({"JSONDecodeError", "UnicodeDecodeError", "APIResponseValidationError", "ValidationError"})
_DOWN = frozenset({"ServiceUnavailableError", "InternalServerError", "BadGatewayError"})
_TOO_LONG = re.compile(
    r"context_length_exceeded|maximum context length|prompt is too long|context.?window|input is too long"
    r"|exceeds? the (?:available )?context|too many (?:input )?tokens|token count .{0,40}exceeds",
    re.IGNORECASE,
)
_FILTERED = re.compile(r"content.?filter|content management policy|content.?policy|responsible.?ai", re.IGNORECASE)
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|credit balance|billing", re.IGNORECASE)
_NO_KEY = re.compile(r"missing .{0,20}(?:api.?key|credentials)|no api.?key", re.IGNORECASE)
_NO_PROVIDER = re.compile(r"LLM Provider NOT provided", re.IGNORECASE)
_MODEL = re.compile(r"\bmodels?\b|model_not_found", re.IGNORECASE)
_OVERLOADED = re.compile(r"overloaded|server_error|internal server error|service unavailable", re.IGNORECASE)
_LIMITED = re.compile(r"rate.?limit", re.IGNORECASE)
_PREFIX = re.compile(r"^(?:(?:litellm\.)?[A-Z]\w*(?:Error|Exception|Timeout)(?: Error)?(?::| - )\s*)+")
_BYTES = re.compile(r"b(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")", re.DOTALL)
_SECRET = re.compile(
    r"(?i)\b(?:sk|pk|rk|gsk|xai|ghp|hf|nx)[-_][\w\-*.…]{6,}|\bAIza[\w-]{10,}|\bAKIA\w{8,}"
    r"|\bey[\w-]{10,}\.[\w-]+(?:\.[\w-]+)?|(?<=bearer )\S+|//[^/\s:@]+:[^/\s@]+(?=@)"
    r"|(?<=key=)[^\s&\"']+|(?<=token=)[^\s&\"']+|\b(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{32,}"
)


@dataclass(frozen=True)
class Call:
    """The call that failed: `started` once anything of the answer had come."""

    model: str
    api_base: str | None = None
    started: bool = False

    @property
    def who(self) -> str:
        return label_of(self.model, self.api_base)


def failed(error: BaseException, call: Call) -> ModelFailed:
    """The error of a call to litellm as ours: kind, one sentence, whether and when to try again, detail."""
    causes = list(_causes(error))
    response = next((r for cause in causes if (r := _response(cause)) is not None), None)
    words = " ".join(dict.fromkeys(f"{cause} {getattr(cause, 'body', None) or ''}" for cause in causes))
    kind = _kind(causes, response, words)
    retry_after = _retry_after(getattr(response, "headers", None) or getattr(error, "litellm_response_headers", None))
    quota = kind == "rate_limit" and bool(_QUOTA.search(words))
    status = getattr(response, "status_code", None)
    if kind == "rate_limit" and (quota or status == 402):
        message = _(
            "{provider} says that the account's credit or quota is used up: add some or choose another model."
        ).format(provider=call.who)
    else:
        message = sentence(kind, call, retry_after=retry_after, words=words, status=status)
    return ModelFailed(
        message,
        error_type=kind,
        retryable=kind in _RETRYABLE and not quota and status != 402,
        retry_after=retry_after,
        detail=own_words(causes[-1] if causes[-1] is not error and _is_wrapper(error) else error),
    )


def timed_out(call: Call, seconds: float) -> ModelFailed:
    """Nothing came from the provider for so many seconds."""
    form = _("{provider} sent nothing for {seconds} seconds: try again or give the profile more time.")
    if call.started:
        form = _("{provider} stopped in mid-answer, nothing came for {seconds} seconds: try again.")
    message = form.format(provider=call.who, seconds=f"{seconds:g}")
    return ModelFailed(message, error_type="timeout", retryable=True)


def broken_off(call: Call) -> ModelFailed:
    """The stream ended as if all were well, without the provider's word that the answer is complete."""
    return ModelFailed(sentence("connection", call), error_type="connection", retryable=True)


def sentence(
    kind: str, call: Call, *, retry_after: float | None = None, words: str = "", status: int | None = None
) -> str:
    """What happened and what to do, in one sentence."""
    if kind == "authentication" and _NO_KEY.search(words):
        form = _("{provider} needs a key: set {variable} in the environment or in .env and start Nexus again.")
    elif kind == "authentication" and status == 403:
        form = _("{provider} does not let this key use {model}: check the key's rights or choose another model.")
    elif kind == "rate_limit" and retry_after:
        form = _("{provider} is getting too many requests: try again in {seconds} seconds.")
    elif kind == "connection" and call.started:
        form = _("{provider} broke off before the answer was complete: try again.")
    elif kind == "bad_request" and _NO_PROVIDER.search(words):
        form = _("A model's name begins with its provider (openai/…, ollama/…): correct {model} in the profile.")
    elif kind == "not_found" and lacks_version(call.model, call.api_base) and not _names(words, call.model):
        form = _("{provider} has nothing at its address: it may need /v1 at its end; else it does not know {model}.")
    elif kind == "not_found" and provider_of(call.model).startswith("ollama"):
        form = _("{provider} does not have {model}: run “ollama pull {name}” or choose another model.")
    else:
        form = _sentences()[kind]
    return form.format(
        provider=call.who,
        model=call.model,
        name=call.model.partition("/")[2],
        variable=key_variable(call.model),
        seconds=f"{retry_after or 0:.0f}" if (retry_after or 0) >= 1 else "1",
    )


def _names(words: str, model: str) -> bool:
    """Whether the provider speaks of the model, not only of an address."""
    return model.partition("/")[2].lower() in words.lower() or bool(_MODEL.search(words))


def _sentences() -> dict[str, str]:
    return {
        "authentication": _("{provider} refused the key: set {variable} to a valid key and try again."),
        "rate_limit": _("{provider} is getting too many requests: wait a moment and try again."),
        "timeout": _("{provider} took too long to answer: try again."),
        "context_length": _("The conversation is too long for {model}: lower the agent's limits or begin a new one."),
        "content_filter": _("{provider} refused this for its content rules: say it in other words and try again."),
        "connection": _("{provider} can't be reached: check its address and the network, then try again."),
        "malformed": _("{provider} sent something that can't be read: try again, then check the address."),
        "unavailable": _("{provider} has trouble of its own at the moment: try again in a minute."),
        "bad_request": _("{provider} did not accept the request: check the profile's model and parameters."),
        "not_found": _("{provider} does not know the model {model}: correct its name in the profile."),
        "unknown": _("{provider} failed in a way that Nexus does not know: see the details and try again."),
    }


def own_words(error: BaseException) -> str:
    """The provider's words: litellm's prefixes off, anything like a key redacted, max. 2,000 characters."""
    words = _PREFIX.sub("", str(error).strip())
    try:
        if packed := _BYTES.match(words):
            words = ast.literal_eval(packed[0]).decode()
        said = json.loads(words)
        words = said.get("error", said)["message"]
    except (ValueError, SyntaxError, LookupError, TypeError, AttributeError):
        pass  # not JSON, or not the usual kind: then as it is
    return redact(str(words))[:DETAIL_LIMIT]


def redact(words: str) -> str:
    """The text without anything that looks like a key, and without any key that the environment holds."""
    for name, value in os.environ.items():
        if len(value) >= 8 and name.endswith(("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")):
            words = words.replace(value, "[redacted]")
    return _SECRET.sub("[redacted]", words)


def _kind(causes: list[BaseException], response: Any, words: str) -> str:
    """The error type; what the HTTP answer says goes before what litellm made of it."""
    names = {base.__name__ for cause in causes for base in type(cause).__mro__}
    status = getattr(response, "status_code", None)
    refused = status in (400, 413, 422) or (status is None and not names & _CONNECTION)
    if status == 413 or "ContextWindowExceededError" in names or (refused and _TOO_LONG.search(words)):
        return "context_length"
    if "ContentPolicyViolationError" in names or ((refused or status == 403) and _FILTERED.search(words)):
        return "content_filter"
    if status in (401, 403) or "AuthenticationError" in names or (status is None and _NO_KEY.search(words)):
        return "authentication"
    if status in (402, 429) or "RateLimitError" in names or (status is None and _LIMITED.search(words)):
        return "rate_limit"
    if status == 404 or "NotFoundError" in names:
        return "not_found"
    if status == 408 or names & _TIMEOUTS:
        return "timeout"
    if names & _UNREADABLE:
        return "malformed"
    if status is None and _OVERLOADED.search(words) and not names & (_CONNECTION - {"APIConnectionError"}):
        return "unavailable"
    if status is None and names & _CONNECTION:
        return "connection"
    if (status or 0) >= 500 or (status is None and names & _DOWN):
        return "unavailable"
    return "bad_request" if status is not None or "BadRequestError" in names else "unknown"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and all that led to it, nearest first, each once."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        current = waiting.pop(0)
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        waiting += [getattr(current, "original_exception", None), current.__cause__, current.__context__]


def _is_wrapper(error: BaseException) -> bool:
    return type(error).__name__ == "MidStreamFallbackError"


def _response(cause: BaseException) -> Any:
    """The provider's HTTP answer, where this error carries a real one; litellm also makes some up."""
    real = type(cause).__name__.endswith("HTTPStatusError") or type(cause).__module__.startswith("openai")
    return getattr(cause, "response", None) if real else None


def _retry_after(headers: Any) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `Retry-After` (seconds or a date, RFC 9110 §10.2.3)."""
    if not headers:
        return None
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        try:
            seconds = float(value) * scale
        except (TypeError, ValueError):
            continue
        return seconds if 0 <= seconds < 86_400 else None
    try:
        until = parsedate_to_datetime(headers.get("retry-after") or "")
    except ValueError:
        return None
    aware = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())
