"""Who serves a model, where it runs, and what the environment offers."""

import pytest

from nexus_core import llm, prices
from nexus_core.providers import PROVIDERS, host_of, key_variable, label_of, provider_of, runtime_of


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in PROVIDERS.values():
        for name in (*provider.keys, *provider.bases):
            monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("model", "provider"),
    [("openai/gpt-4o-mini", "openai"), ("groq/openai/gpt-oss-20b", "groq"), ("builtin/recall", "builtin"),
     ("gpt-4o", "unknown"), ("/x", "unknown"), ("openai/", "unknown"), ("", "unknown")],
)  # fmt: skip
def test_provider_of(model: str, provider: str) -> None:
    assert provider_of(model) == provider


@pytest.mark.parametrize(
    ("model", "base", "runtime"),
    [
        ("builtin/recall", None, "built in"),
        ("openai/gpt-4o-mini", None, "remote"),
        ("openai/x", "http://localhost:1234/v1", "local"),
        ("openai/x", "http://127.0.0.1:1234/v1", "local"),
        ("openai/x", "http://[::1]:1234/v1", "local"),
        ("openai/x", "http://192.168.1.20/v1", "local"),
        ("openai/x", "http://ollama:11434", "local"),
        ("openai/x", "http://host.docker.internal:11434", "local"),
        ("openai/x", "https://api.example.com/v1", "remote"),
        ("openai/x", "https://localhost.example.com/v1", "remote"),
        ("openai/x", "https://8.8.8.8/v1", "remote"),
        ("ollama/llama3.1", None, "local"),
        ("anthropic/claude-haiku-4-5", None, "remote"),
    ],
)
def test_runtime_of(model: str, base: str | None, runtime: str) -> None:
    assert runtime_of(model, base) == runtime


def test_the_environments_address_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_API_BASE", "https://gpu.example.com")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1234/v1")
    assert runtime_of("ollama/llama3.1") == "remote"
    assert runtime_of("openai/x") == "local"
    assert runtime_of("openai/x", "https://api.example.com") == "remote"


def test_labels_never_show_a_password() -> None:
    assert label_of("openai/x") == "OpenAI"
    assert label_of("openai/x", "http://me:secret@box:1/v1") == "The OpenAI-compatible server at box:1"
    assert label_of("ollama/x") == "Ollama at localhost:11434"
    assert host_of("box:8080/v1") == "box:8080"


def test_key_variable() -> None:
    assert key_variable("gemini/x") == "GEMINI_API_KEY"
    assert key_variable("newcomer/x") == "NEWCOMER_API_KEY"


def test_nothing_is_detected_where_nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "  ")
    assert llm.detected() == []


def test_keys_and_addresses_are_detected_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret")
    monkeypatch.setenv("OPENAI_API_BASE", "http://me:secret@localhost:1234/v1")
    monkeypatch.setenv("OLLAMA_API_BASE", "http://localhost:11434")
    found = {one.provider: one for one in llm.detected()}
    assert set(found) == {"anthropic", "openai", "ollama"}
    assert found["anthropic"].how == "ANTHROPIC_API_KEY is set."
    assert found["openai"].how == "OPENAI_API_BASE points to localhost:1234."
    assert found["openai"].example_model is None
    assert found["ollama"].label == "Ollama"
    assert "secret" not in str(found)


def test_every_example_is_listed_so_that_it_has_a_price_and_a_window() -> None:
    for name, provider in PROVIDERS.items():
        if provider.example and not provider.home and name != "openrouter":
            assert provider_of(provider.example) == name
            assert prices.context_window(provider.example), provider.example
