"""Calls to language models: one request in, a stream of events out; the only import of litellm."""

import asyncio
import gc
import logging
import os
import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from nexus_core import faults, prices, tokens, wire
from nexus_core.answers import Answer, estimated
from nexus_core.errors import ModelFailed
from nexus_core.prices import Price, context_window, price
from nexus_core.providers import (
    EXAMPLE_BASE,
    EXAMPLES,
    Detected,
    base_of,
    connected,
    detected,
    key_variable,
    label_of,
    provider_of,
    runtime_of,
)
from nexus_core.stream import Event, Finished, ModelRequest, TextDelta, Usage
from nexus_core.wire import Plain, Wire

__all__ = [
    "EXAMPLES",
    "EXAMPLE_BASE",
    "Detected",
    "Price",
    "complete",
    "connected",
    "context_window",
    "detected",
    "embed",
    "estimated",
    "label_of",
    "price",
    "provider_of",
    "ready",
    "runtime_of",
    "stream",
    "warm",
]

_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOCAL_AUTOROUTER_PRESETS": "True",
    "LITELLM_LOCAL_BLOG_POSTS": "True",
    "LITELLM_LOCAL_POLICY_TEMPLATES": "True",
    "LITELLM_MODE": "PRODUCTION",  # or it loads the .env of some folder above site-packages
    "REPEATED_STREAMING_CHUNK_LIMIT": "100000",  # or a row of 100 equal chunks fails
}
EMBEDDING_TIMEOUT = 60.0
_loading = threading.Lock()
_loaded: Any = None
_warming: threading.Thread | None = None
_log = logging.getLogger(__name__)


def warm() -> None:
    """Load tokenizer and litellm in a background thread, once; returns at once. For when the first page is out."""
    global _warming
    if not ready() and _warming is None:
        # No daemon: killed in the middle of an import, it leaves a lock on which the interpreter waits at its end.
        _warming = threading.Thread(target=_warm, name="warm-litellm")
        _warming.start()


def _warm() -> None:
    try:
        tokens.warm()
        _litellm()
    except Exception as error:  # noqa: BLE001 - the process ends meanwhile; else the first answer tries again and says why
        _log.info("litellm was not warmed: %s", error)


def ready() -> bool:
    """Whether litellm is imported and has made its first, slow steps."""
    return _loaded is not None


async def stream(request: ModelRequest) -> AsyncGenerator[Event, None]:
    """The model's answer as it comes: text and reasoning, then its complete tool calls, then always Finished.

    Never retries. Close it (contextlib.aclosing) or cancel its task to end the HTTP stream. Usage is the
    provider's last word, or an estimate where it gave none. Raises ModelFailed: also when the answer breaks off,
    when a chunk can't be read and when `first_chunk_timeout` or `idle_timeout` is over.
    """
    if not ready():
        await asyncio.to_thread(_litellm)
    call = faults.Call(request.model, request.api_base)
    answer = Answer()
    async with aclosing(_chunks(request, call)) as chunks:
        async for chunk, source in chunks:
            answer.source = source
            for event in answer.say(chunk.text) if isinstance(chunk, Plain) else answer.take(chunk):
                yield event
    for event in answer.end(request, call):
        yield event


async def complete(request: ModelRequest) -> tuple[str, Finished]:
    """The whole text of an answer and how it ended; raises ModelFailed."""
    text: list[str] = []
    finished = Finished("stop")
    async with aclosing(stream(request)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                text.append(event.text)
            elif isinstance(event, Finished):
                finished = event
    return "".join(text), finished


def embed(model: str, texts: Sequence[str], api_base: str | None) -> tuple[list[list[float]], Usage]:
    """The vectors of texts by an embedding model, in their order, and what it counted; blocks. Raises ModelFailed."""
    call = faults.Call(model, api_base)
    try:
        known = {"encoding_format": "float", "timeout": EMBEDDING_TIMEOUT, "num_retries": 0, "max_retries": 0}
        answer = _litellm().embedding(model=model, input=list(texts), **known, **_address(model, api_base))
        found = sorted(answer.data, key=lambda one: one["index"])
        vectors = [[float(value) for value in one["embedding"]] for one in found]
    except Exception as error:
        raise faults.failed(error, call) from error
    if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1:
        raise ModelFailed(faults.sentence("malformed", call), error_type="malformed")
    counted = getattr(answer.usage, "prompt_tokens", None) or None
    return vectors, Usage(input_tokens=counted, output_tokens=0, source="provider" if counted else "none")


async def _chunks(request: ModelRequest, call: faults.Call) -> AsyncGenerator[tuple[Any, Any], None]:
    """Plain text and litellm's chunks, each with its stream; faults as ModelFailed; closes the HTTP stream at the end.

    The first chunk is always litellm's: it says which model answers.
    """
    source: Any = None
    below: Wire | None = None
    started = False
    try:
        async with asyncio.timeout(request.first_chunk_timeout) as patience:
            source = await _loaded.acompletion(**_arguments(request))
            below = wire.below(source)
            chunk = await anext(source, None)
        while chunk is not None:
            started = started or isinstance(chunk, Plain) or bool(chunk.choices)
            yield chunk, source
            async with asyncio.timeout(request.idle_timeout) as patience:
                chunk = (await below.plain() if below else None) or await anext(source, None)
    except Exception as error:
        now = faults.Call(call.model, call.api_base, started)
        if patience.expired():
            seconds = request.idle_timeout if started else request.first_chunk_timeout
            raise faults.timed_out(now, seconds) from None
        raise faults.failed(error, now) from error
    finally:
        if source is not None:
            await source.aclose()


def _arguments(request: ModelRequest) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        **request.params,
        "model": request.model,
        "messages": [dict(message) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
        "num_retries": 0,
        "max_retries": 0,
        "timeout": max(request.first_chunk_timeout, request.idle_timeout) + 5,
    }
    if request.tools:
        arguments["tools"] = [dict(tool) for tool in request.tools]
    return arguments | _address(request.model, request.api_base)


def _address(model: str, api_base: str | None) -> dict[str, Any]:
    base = base_of(model, api_base)
    found = {"api_base": base} if base else {}
    if base and provider_of(model) == "openai" and not os.environ.get(key_variable(model)):
        found["api_key"] = "none"  # a server of one's own often needs none, the client insists on one
    return found


def _litellm() -> Any:
    """litellm, imported once (4 to 5 seconds), told to stay off the network and to keep quiet."""
    global _loaded
    with _loading:
        if _loaded is None:
            collecting = gc.isenabled()
            gc.disable()  # a full collection during the import stops every other thread for 200 ms
            try:
                os.environ.update(_ENVIRONMENT)
                import litellm  # noqa: PLC0415

                litellm.telemetry = False
                litellm.suppress_debug_info = True
                litellm.drop_params = True
                litellm.DEFAULT_MAX_RETRIES = 0  # type: ignore[attr-defined]  # taken for embeddings when told 0
                litellm.disable_token_counter = True  # its tokenizers load for 0.8 s; counted in tokens.py
                prices.table()
                asyncio.run(_first_steps(litellm))
                _loaded = litellm
            finally:
                gc.freeze()
                if collecting:
                    gc.enable()
    return _loaded


async def _first_steps(litellm: Any) -> None:
    """A call that ends inside this process, because litellm loads much of itself only then."""
    answer = await litellm.acompletion(
        model="openai/warm", messages=[{"role": "user", "content": "hi"}], stream=True, mock_response="hi"
    )
    async for _chunk in answer:
        pass
