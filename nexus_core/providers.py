"""Who serves a model, where it runs, which providers the environment names; no network, no litellm."""

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import urlsplit

from nexus_core.i18n import _

BUILTIN = "builtin"


@dataclass(frozen=True)
class Provider:
    """A provider as people know it: the variables that may hold its key (sentences name the first) and its
    address, the address that counts where none is set, and a model to begin with.
    """

    label: str
    keys: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    home: str | None = None
    example: str | None = None


PROVIDERS: Mapping[str, Provider] = MappingProxyType(
    {
        "openai": Provider(
            "OpenAI",
            ("OPENAI_API_KEY",),
            ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
            example="openai/gpt-5.4-mini",
        ),
        "anthropic": Provider(
            "Anthropic",
            ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
            ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE"),
            example="anthropic/claude-haiku-4-5",
        ),
        "gemini": Provider("Google Gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY"), example="gemini/gemini-flash-latest"),
        "mistral": Provider(
            "Mistral", ("MISTRAL_API_KEY",), ("MISTRAL_API_BASE",), example="mistral/mistral-small-latest"
        ),
        "groq": Provider("Groq", ("GROQ_API_KEY",), example="groq/openai/gpt-oss-120b"),
        "deepseek": Provider("DeepSeek", ("DEEPSEEK_API_KEY",), example="deepseek/deepseek-v4-flash"),
        "xai": Provider("xAI", ("XAI_API_KEY",), example="xai/grok-4.3"),
        "openrouter": Provider("OpenRouter", ("OPENROUTER_API_KEY",), example="openrouter/openrouter/auto"),
        "together_ai": Provider(
            "Together AI",
            ("TOGETHERAI_API_KEY", "TOGETHER_API_KEY"),
            example="together_ai/openai/gpt-oss-120b",
        ),
        "cohere_chat": Provider("Cohere", ("COHERE_API_KEY", "CO_API_KEY"), example="cohere_chat/command-a-03-2025"),
        "azure": Provider("Azure OpenAI", ("AZURE_API_KEY",), ("AZURE_API_BASE",)),
        "ollama": Provider(
            "Ollama", bases=("OLLAMA_API_BASE",), home="http://localhost:11434", example="ollama_chat/llama3.2"
        ),
        "ollama_chat": Provider("Ollama", bases=("OLLAMA_API_BASE",), home="http://localhost:11434"),
        "lm_studio": Provider("LM Studio", bases=("LM_STUDIO_API_BASE",), home="http://localhost:1234"),
        "hosted_vllm": Provider("vLLM", bases=("HOSTED_VLLM_API_BASE",), home="http://localhost:8000"),
        "llamafile": Provider("llamafile", bases=("LLAMAFILE_API_BASE",), home="http://localhost:8080"),
    }
)


EXAMPLES = tuple(str(PROVIDERS[name].example) for name in ("openai", "anthropic", "ollama"))
"""The models that README and forms name."""
EXAMPLE_BASE = "http://localhost:1234/v1"
"""What the address of a server that speaks OpenAI's protocol looks like."""


@dataclass(frozen=True)
class Detected:
    """A provider that can be used as the environment stands.

    `provider` is litellm's name for it, `label` the one that people know, `example_model` a model to begin
    with (None where only the server's owner knows), `how` a sentence on what was found.
    """

    provider: str
    label: str
    example_model: str | None
    how: str


def provider_of(model: str) -> str:
    """The provider in litellm's name for a model: `openai` of `openai/gpt-4o-mini`; `unknown` if none."""
    prefix, slash, rest = model.partition("/")
    return prefix if slash and prefix and rest else "unknown"


def base_of(model: str, api_base: str | None) -> str | None:
    """The address that a call goes to, where it is not the provider's own: given, or from the environment."""
    provider = PROVIDERS.get(provider_of(model))
    if api_base or provider is None:
        return api_base or None
    return _first(provider.bases)[1] or provider.home


def runtime_of(model: str, api_base: str | None = None) -> str:
    """Where the model runs: `built in`, `local` (this machine or its own network) or `remote`."""
    if provider_of(model) == BUILTIN:
        return "built in"
    base = base_of(model, api_base)
    return "local" if base and _is_near(urlsplit(_with_scheme(base)).hostname or "") else "remote"


def host_of(base: str) -> str:
    """Host and port of an address, nothing else of it (an address may hold a password)."""
    return urlsplit(_with_scheme(base)).netloc.rpartition("@")[2]


def label_of(model: str, api_base: str | None = None) -> str:
    """How a sentence names whoever serves the model: the provider, or the server at one's own address."""
    name = provider_of(model)
    provider = PROVIDERS.get(name, Provider(name))
    base = base_of(model, api_base)
    if base is None:
        return provider.label
    if provider.home:
        return _("{provider} at {host}").format(provider=provider.label, host=host_of(base))
    return _("The {provider}-compatible server at {host}").format(provider=provider.label, host=host_of(base))


def connected(model: str, api_base: str | None) -> bool:
    """Whether a profile's model can be reached as things stand: by an address of its own, or by the environment."""
    keys = PROVIDERS.get(provider_of(model), Provider("")).keys or (key_variable(model),)
    return provider_of(model) != BUILTIN and (base_of(model, api_base) is not None or bool(_first(keys)[1]))


def lacks_version(model: str, api_base: str | None) -> bool:
    """Whether an own address of OpenAI's kind ends without the /v1 that most such servers want."""
    base = base_of(model, api_base)
    like_openai = provider_of(model) in ("openai", "lm_studio", "hosted_vllm", "llamafile")
    return base is not None and like_openai and not re.search(r"/v\d", urlsplit(_with_scheme(base)).path)


def key_variable(model: str) -> str:
    """The environment variable that the provider's key belongs in."""
    name = provider_of(model)
    provider = PROVIDERS.get(name)
    return provider.keys[0] if provider and provider.keys else f"{name.upper()}_API_KEY"


def detected() -> list[Detected]:
    """Providers that the environment names a key or an address for; nothing is asked over the network."""
    found: dict[str, Detected] = {}
    for name, provider in PROVIDERS.items():
        key, base = _first(provider.keys), _first(provider.bases)
        if not (key[1] or base[1]) or provider.label in found:
            continue
        if base[1]:
            how = _("{variable} points to {host}.").format(variable=base[0], host=host_of(base[1]))
            label = provider.label if provider.home else label_of(f"{name}/", base[1])
            found[provider.label] = Detected(name, label, provider.example if provider.home else None, how)
        else:
            how = _("{variable} is set.").format(variable=key[0])
            found[provider.label] = Detected(name, provider.label, provider.example, how)
    return list(found.values())


def _first(variables: tuple[str, ...]) -> tuple[str, str]:
    """The first of these variables that is set, with its value; two empty texts where none is."""
    values = ((name, os.environ.get(name, "").strip()) for name in variables)
    return next(((name, value) for name, value in values if value), ("", ""))


def _with_scheme(base: str) -> str:
    return base if "://" in base else "//" + base


def _is_near(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith((".localhost", ".local", ".internal", ".lan", ".home.arpa"))
    return address.is_loopback or address.is_private or address.is_link_local
