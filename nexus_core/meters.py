"""What this process has counted since it began, for Prometheus; no label of it can take more than a few values."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

REGISTRY = CollectorRegistry()
TOKENS = {
    "input_tokens": "input", "cached_tokens": "cached", "cache_write_tokens": "cache_write", "output_tokens": "output",
    "reasoning_tokens": "reasoning",
}  # fmt: skip
ERRORS = frozenset({
    "authentication", "rate_limit", "timeout", "context_length", "content_filter", "connection", "malformed",
    "unavailable", "bad_request", "not_found", "interrupted", "budget", "store_unavailable", "unknown",
})  # fmt: skip
RUNTIMES = frozenset({"built in", "local", "remote"})
KINDS = frozenset({"answer", "summary", "proposal", "test"})
DOORS = frozenset({"page", "api", "mcp", "cli", "worker"})

_TURNS = Counter("nexus_turns", "Questions accepted, by the door that they came through.", ["door"], registry=REGISTRY)
_RUNS = Counter("nexus_runs", "Attempts that ended.", ["kind", "status", "runtime"], registry=REGISTRY)
_FAILURES = Counter("nexus_run_failures", "Attempts that failed or were blocked.", ["error_type"], registry=REGISTRY)
_TOKENS = Counter(
    "nexus_tokens", "Tokens; input includes cached and cache_write, output includes reasoning.", ["kind"],
    registry=REGISTRY,
)  # fmt: skip
_COST = Counter("nexus_cost_usd", "US dollars of the runs that have a price.", registry=REGISTRY)
_UNPRICED = Counter("nexus_unpriced_runs", "Runs that succeeded and have no price.", registry=REGISTRY)
_SECONDS = Histogram(
    "nexus_run_duration_seconds", "From question to end.", buckets=(0.1, 0.5, 1, 2, 5, 10, 20, 60, 180, 600),
    registry=REGISTRY,
)  # fmt: skip
_FIRST = Histogram(
    "nexus_first_token_seconds", "To the first piece.", buckets=(0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30),
    registry=REGISTRY,
)  # fmt: skip
STREAMS = Gauge("nexus_streams", "HTTP clients that watch an answer now.", registry=REGISTRY)


def begun(door: str) -> None:
    """A question was accepted through a door of DOORS."""
    _TURNS.labels(door if door in DOORS else "other").inc()


def ended(
    kind: str,
    status: str,
    runtime: str | None,
    figures: Mapping[str, Any],
    *,
    cost: Decimal | None = None,
    stopped: bool = False,
    error_type: str | None = None,
) -> None:
    """An attempt ended; `figures` are its tokens, duration_ms and first_token_ms as the ledger has them."""
    shown = "stopped" if stopped else status
    _RUNS.labels(_known(kind, KINDS), shown, _known(runtime, RUNTIMES)).inc()
    if error_type or status in ("failed", "blocked"):
        _FAILURES.labels(error_type if error_type in ERRORS else "unknown").inc()
    for name, label in TOKENS.items():
        _TOKENS.labels(label).inc(figures.get(name) or 0)
    if cost is not None:
        _COST.inc(float(cost))
    elif status == "succeeded":
        _UNPRICED.inc()
    for name, histogram in (("duration_ms", _SECONDS), ("first_token_ms", _FIRST)):
        if (milliseconds := figures.get(name)) is not None:
            histogram.observe(milliseconds / 1000)


def _known(value: str | None, values: frozenset[str]) -> str:
    return value if value in values else "other"
