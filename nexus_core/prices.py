"""What a model call costs, and how much a model can read, from the table that comes with litellm."""

import importlib.metadata
import importlib.util
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from nexus_core.providers import BUILTIN, provider_of, runtime_of
from nexus_core.stream import Usage

_TABLE = "model_prices_and_context_window_backup.json"
_TIER = re.compile(r"(?:in|out)put_cost_per_token_above_(\d+)(k?)_tokens")
_REACHED = frozenset({"xai"})  # their dearer tier begins at the threshold, everybody else's above it


@dataclass(frozen=True)
class Price:
    """What one call cost, in US dollars. None is unknown, never 0.

    `source` is litellm (its table), local (a model of one's own: no provider is paid) or built in;
    `version` is the table's.
    """

    amount: Decimal | None = None
    source: str | None = None
    version: str | None = None


@dataclass(frozen=True)
class Rates:
    """US dollars per token; cached, cache-write and reasoning tokens cost the plain rate if unlisted."""

    input: Decimal
    output: Decimal
    cached: Decimal
    cache_write: Decimal
    reasoning: Decimal


def price(model: str, usage: Usage) -> Price:
    """The price of one call that used these tokens, at the list price.

    Tokens above a model's threshold reprice the whole call. Batch, flex and priority tiers, hour-long caches,
    off-peak hours and images are not known here. No price: a model that is not listed or is listed at
    nothing, and a call whose input or output tokens are unknown.
    """
    if provider_of(model) == BUILTIN:
        return Price(Decimal(0), "built in")
    if is_own(model):
        return Price(Decimal(0), "local")
    if usage.input_tokens is None or usage.output_tokens is None:
        return Price()
    rates = _rates(_entry(model), usage.input_tokens, provider_of(model))
    if rates is None:
        return Price()
    cached, written = usage.cached_tokens or 0, usage.cache_write_tokens or 0
    reasoning = min(usage.reasoning_tokens or 0, usage.output_tokens)
    amount = (
        max(usage.input_tokens - cached - written, 0) * rates.input
        + cached * rates.cached
        + written * rates.cache_write
        + (usage.output_tokens - reasoning) * rates.output
        + reasoning * rates.reasoning
    )
    return Price(amount, "litellm", version())


def rates(model: str, input_tokens: int) -> Rates | None:
    """What each token of a call with so many input tokens costs by today's table; None where it is not listed."""
    return _rates(_entry(model), input_tokens, provider_of(model))


def is_own(model: str) -> bool:
    """Whether the model runs in software of one's own, nearby; Ollama's cloud models do not."""
    name = model.lower()
    own = provider_of(model) in ("ollama", "ollama_chat", "lm_studio", "hosted_vllm", "llamafile")
    return own and runtime_of(model) == "local" and not name.endswith(("-cloud", ":cloud"))


def context_window(model: str) -> int | None:
    """How many tokens the model reads at most, as listed; None where it is not listed."""
    entry = _entry(model)
    size = entry.get("max_input_tokens") or entry.get("max_tokens")
    return int(size) if isinstance(size, int | float) and size > 0 else None


def version() -> str:
    """The price table's version, such as `litellm 1.110.2`."""
    return f"litellm {importlib.metadata.version('litellm')}"


@cache
def table() -> Mapping[str, Mapping[str, Any]]:
    """litellm's own list, read from its file: importing litellm takes seconds, reading this 40 ms."""
    spec = importlib.util.find_spec("litellm")
    folders: Iterable[str] = (spec.submodule_search_locations if spec else None) or ()
    path = next(Path(folder) / _TABLE for folder in folders)
    listed: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    listed.pop("sample_spec", None)
    return listed


def _entry(model: str) -> Mapping[str, Any]:
    """What is listed for this provider's model; never another provider's model of the same name."""
    provider = provider_of(model)
    entry = table().get(model)
    if entry is None and provider != "unknown":
        bare = table().get(model.removeprefix(f"{provider}/"), {})
        entry = bare if str(bare.get("litellm_provider", "")).startswith(provider) else {}
    return entry or {}


def _rates(entry: Mapping[str, Any], input_tokens: int, provider: str) -> Rates | None:
    if entry.get("tiered_pricing"):
        entry, suffix = _band(entry, input_tokens), ""
    else:
        suffix = _suffix(entry, input_tokens, provider in _REACHED)
    plain = _rate(entry, "input_cost_per_token", suffix)
    output = _rate(entry, "output_cost_per_token", suffix)
    if plain is None or output is None or not (plain or output):
        return None
    cached = _rate(entry, "cache_read_input_token_cost", suffix)
    written = _rate(entry, "cache_creation_input_token_cost", suffix)
    reasoning = _rate(entry, "output_cost_per_reasoning_token", suffix)
    return Rates(
        input=plain,
        output=output,
        cached=plain if cached is None else cached,
        cache_write=plain if written is None else written,
        reasoning=output if reasoning is None or suffix else reasoning,
    )


def _suffix(entry: Mapping[str, Any], input_tokens: int, reached: bool) -> str:
    """The ending of the keys that hold for so many input tokens: the highest threshold that is passed."""
    passed = []
    for key in entry:
        if match := _TIER.fullmatch(key):
            threshold = int(match[1]) * (1000 if match[2] else 1)
            if input_tokens > threshold or (reached and input_tokens == threshold):
                passed.append((threshold, f"_above_{match[1]}{match[2]}_tokens"))
    return max(passed, default=(0, ""))[1]


def _band(entry: Mapping[str, Any], input_tokens: int) -> Mapping[str, Any]:
    bands: list[Mapping[str, Any]] = sorted(entry["tiered_pricing"], key=_begin)
    return [band for band in bands if band is bands[0] or input_tokens > _begin(band)][-1]


def _begin(band: Mapping[str, Any]) -> float:
    return float(band.get("range", (0,))[0])


def _rate(entry: Mapping[str, Any], key: str, suffix: str) -> Decimal | None:
    value = entry.get(key + suffix)
    if value is None:
        value = entry.get(key)
    return Decimal(repr(value)) if isinstance(value, int | float) else None
