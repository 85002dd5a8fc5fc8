"""A run as a span with the gen_ai attributes of OpenTelemetry; pure.

Names and meanings: Semantic Conventions 1.41.1, "Semantic conventions for generative client AI spans" (in development);
https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/
"""

from collections.abc import Mapping
from typing import Any

from nexus_core.runs import Run

VERSION = "1.41.1"
SCHEMA = f"https://opentelemetry.io/schemas/{VERSION}"
# litellm's names for providers, where the conventions have a name of their own for them.
_PROVIDERS = {
    "gemini": "gcp.gemini", "vertex_ai": "gcp.vertex_ai", "azure": "azure.ai.openai", "azure_ai": "azure.ai.inference",
    "bedrock": "aws.bedrock", "mistral": "mistral_ai", "xai": "x_ai", "watsonx": "ibm.watsonx.ai",
    "cohere_chat": "cohere",
}  # fmt: skip


def span(run: Run, receipt: Mapping[str, Any] | None = None, agent: str | None = None) -> dict[str, Any]:
    """The run as a client span: name, times (ISO 8601), status and attributes; what is unknown has no attribute.

    `receipt` tells why the last call ended, `agent` is the agent's name. The texts that were sent and answered
    (`gen_ai.input.messages`, `gen_ai.output.messages`), which the conventions leave to be asked for, are not in it.
    """
    found = {
        "name": f"chat {_model(run)}",
        "kind": "CLIENT",
        "schema_url": SCHEMA,
        "start_time": run.started_at and run.started_at.isoformat(),
        "end_time": run.finished_at and run.finished_at.isoformat(),
        "status": {"code": "ERROR" if run.status in ("failed", "blocked") else "UNSET"},
        "attributes": attributes(run, receipt, agent),
    }
    return {name: value for name, value in found.items() if value is not None}


def attributes(run: Run, receipt: Mapping[str, Any] | None = None, agent: str | None = None) -> dict[str, Any]:
    """The attributes of `span`; those of Nexus begin with `nexus.`."""
    reasons = [step.get("reason") for step in (receipt or {}).get("steps") or ()]
    first = run.first_token_ms
    found = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _PROVIDERS.get(run.provider or "", run.provider),
        "gen_ai.request.model": _model(run),
        "gen_ai.request.stream": True if run.kind == "answer" else None,
        "gen_ai.response.model": run.served_model,
        "gen_ai.response.finish_reasons": [reasons[-1]] if reasons and reasons[-1] else None,
        "gen_ai.response.time_to_first_chunk": None if first is None else first / 1000,
        "gen_ai.conversation.id": run.conversation_id and str(run.conversation_id),
        "gen_ai.agent.id": run.agent_id and str(run.agent_id),
        "gen_ai.agent.name": agent,
        "gen_ai.usage.input_tokens": run.input_tokens,
        "gen_ai.usage.output_tokens": run.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": run.cached_tokens,
        "gen_ai.usage.cache_creation.input_tokens": run.cache_write_tokens,
        "gen_ai.usage.reasoning.output_tokens": run.reasoning_tokens,
        "error.type": (run.error_type or "_OTHER") if run.status in ("failed", "blocked") else None,
        "nexus.run.id": str(run.id),
        "nexus.run.kind": run.kind,
        "nexus.run.status": run.status,
        "nexus.request.id": str(run.request_id),
        "nexus.request.attempt": run.attempt,
        "nexus.cost.usd": None if run.cost_estimate is None else f"{run.cost_estimate:f}",
    }
    return {name: value for name, value in found.items() if value is not None}


def _model(run: Run) -> str:
    """The model's name as its provider has it."""
    return run.model.removeprefix(f"{run.provider}/") if run.provider else run.model
