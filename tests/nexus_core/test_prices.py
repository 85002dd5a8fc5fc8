"""What calls cost: exact numbers, from the table that comes with litellm."""

from collections.abc import Iterator
from decimal import Decimal

import pytest

from nexus_core import llm, prices
from nexus_core.stream import Usage


@pytest.fixture(autouse=True)
def no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OLLAMA_API_BASE", raising=False)


def cost(model: str, sent: int | None, made: int | None, **parts: int | None) -> Decimal | None:
    return llm.price(model, Usage(input_tokens=sent, output_tokens=made, **parts)).amount  # type: ignore[arg-type]


def test_tokens_written_to_the_cache_have_their_own_price() -> None:
    amount = cost("anthropic/claude-sonnet-4-5", 12307, 550, cache_write_tokens=12304, cached_tokens=0)
    assert amount == Decimal("0.054399")
    assert f"{amount:.5f}" == "0.05440"


def test_cached_tokens_have_their_own_price() -> None:
    assert cost("openai/gpt-4o-mini", 1000, 0, cached_tokens=900) == Decimal("0.0000825")


def test_a_tier_reprices_the_whole_call() -> None:
    assert cost("gemini/gemini-2.5-pro", 199_000, 0) == Decimal("0.24875")
    assert cost("gemini/gemini-2.5-pro", 200_000, 0) == Decimal("0.25")
    assert cost("gemini/gemini-2.5-pro", 201_000, 0) == Decimal("0.5025")
    assert cost("gemini/gemini-2.5-pro", 201_000, 1000, cached_tokens=1000) == Decimal("0.51525")


def test_a_table_of_bands_reprices_the_whole_call() -> None:
    assert cost("dashscope/qwen-flash", 256_000, 1000) == Decimal("0.0132")
    assert cost("dashscope/qwen-flash", 256_001, 1000) == Decimal("0.06600025")


def test_what_is_not_known_has_no_price() -> None:
    assert llm.price("openai/never-heard-of", Usage(1, None, None, 1)) == llm.Price(None, None, None)
    assert cost("openai/gpt-4o-mini", None, 5) is None
    assert cost("openai/gpt-4o-mini", 5, None) is None
    assert cost("gpt-of-my-own", 5, 5) is None
    assert cost("groq/gpt-4o-mini", 5, 5) is None  # another provider's model of that name
    assert cost("codestral/codestral-latest", 5, 5) is None  # listed at nothing


def test_source_and_version_are_kept() -> None:
    price = llm.price("openai/gpt-4o-mini", Usage(1000, None, None, 1000))
    assert price == llm.Price(Decimal("0.00075"), "litellm", "litellm 1.110.2")


def test_no_provider_is_paid_for_ones_own_models() -> None:
    assert llm.price("builtin/recall", Usage()) == llm.Price(Decimal(0), "built in")
    assert llm.price("ollama/anything", Usage()) == llm.Price(Decimal(0), "local")
    assert cost("ollama/gpt-oss:120b-cloud", 5, 5) is None


def test_context_windows() -> None:
    assert llm.context_window("anthropic/claude-sonnet-4-5") == 200_000
    assert llm.context_window("openai/gpt-4o-mini") == 128_000
    assert llm.context_window("openai/never-heard-of") is None


def chat_models() -> Iterator[tuple[str, str]]:
    for name, entry in sorted(prices.table().items()):
        provider = str(entry.get("litellm_provider"))
        if entry.get("mode") == "chat" and provider in ("openai", "anthropic", "gemini", "mistral", "xai", "groq"):
            yield name, name if name.startswith(f"{provider}/") else f"{provider}/{name}"


def test_every_price_is_what_litellm_makes_of_it() -> None:
    litellm = llm._litellm()
    different, compared = [], 0
    for name, model in chat_models():
        for sent in (1_000, 150_000, 300_000):
            ours = cost(model, sent, 700, cached_tokens=100)
            if ours is None:
                continue
            usage = litellm.Usage(
                prompt_tokens=sent,
                completion_tokens=700,
                total_tokens=sent + 700,
                prompt_tokens_details={"cached_tokens": 100},
            )
            theirs = sum(
                litellm.cost_per_token(model=model, custom_llm_provider=model.partition("/")[0], usage_object=usage)
            )
            compared += 1
            if abs(float(ours) - theirs) > 1e-12:
                different.append((name, sent, float(ours), theirs))
    assert compared > 300
    assert different == []
