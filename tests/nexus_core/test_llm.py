"""Calls to models against real HTTP servers on loopback: llmock, and one that sends what no mock would."""

import asyncio
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock
from llmock.scenarios import Fail, Reply
from llmock.scenarios import ToolCall as MockCall

from nexus_core import faults, llm, tokens
from nexus_core.errors import ModelFailed
from nexus_core.providers import PROVIDERS
from nexus_core.stream import Event, Finished, ModelRequest, ReasoningDelta, TextDelta, ToolCall, Usage
from tests.nexus_core.faulty_server import FaultyServer, delta, sse, usage

MODELS = {"openai": "openai/gpt-4o-mini", "anthropic": "anthropic/claude-sonnet-4-5"}
ASK = ({"role": "user", "content": "Which city did we choose for the launch?"},)
TOOLS = tuple(
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("search_memory", "list_decisions")
)


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test spends money, whatever the environment holds."""
    for provider in PROVIDERS.values():
        for name in (*provider.keys, *provider.bases):
            monkeypatch.delenv(name, raising=False)


@pytest.fixture
def keys(no_keys: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-for-tests")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key-for-tests")


@pytest.fixture(params=["openai", "anthropic"])
def provider(request: pytest.FixtureRequest) -> Iterator[str]:
    return request.param


def run(request: ModelRequest) -> list[Event]:
    async def collect() -> list[Event]:
        async with aclosing(llm.stream(request)) as events:
            return [event async for event in events]

    return asyncio.run(collect())


def ask(model: str, base: str | None = None, **fields: Any) -> list[Event]:
    return run(ModelRequest(model, ASK, api_base=base, **fields))


def fail(model: str, base: str | None = None, **fields: Any) -> ModelFailed:
    with pytest.raises(ModelFailed) as caught:
        ask(model, base, **fields)
    return caught.value


def spoken(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def end(events: list[Event]) -> Finished:
    assert isinstance(events[-1], Finished)
    assert sum(isinstance(event, Finished) for event in events) == 1
    return events[-1]


# what a provider says when all is well


def test_answer_comes_in_pieces_and_ends_with_the_providers_usage(llmock: LLMock, provider: str) -> None:
    llmock.reply("We chose Łódź 🚀 for the launch.")
    events = ask(MODELS[provider])
    assert spoken(events) == "We chose Łódź 🚀 for the launch."
    assert sum(isinstance(event, TextDelta) for event in events) > 3
    finished = end(events)
    assert finished.reason == "stop"
    assert finished.served_model == MODELS[provider].partition("/")[2]
    assert finished.usage.source == "provider"
    assert finished.usage.input_tokens == len(ASK[0]["content"]) // 4
    assert finished.usage.output_tokens
    body = llmock.last_request.body
    assert body["stream"] is True
    if provider == "openai":
        assert body["stream_options"] == {"include_usage": True}


def test_openai_does_not_say_what_was_cached_or_thought_so_it_is_unknown(llmock: LLMock) -> None:
    used = end(ask(MODELS["openai"])).usage
    assert (used.cached_tokens, used.cache_write_tokens, used.reasoning_tokens) == (None, None, None)


def test_complete_gives_the_whole_text(llmock: LLMock) -> None:
    llmock.reply("Lisbon, in May.")
    text, finished = asyncio.run(llm.complete(ModelRequest(MODELS["openai"], ASK)))
    assert (text, finished.reason) == ("Lisbon, in May.", "stop")


def test_parallel_tool_calls_come_whole_and_in_order(llmock: LLMock, provider: str) -> None:
    calls = (
        MockCall("search_memory", {"query": "launch city with a long name", "limit": 5}),
        MockCall("list_decisions", {}),
    )
    llmock.add(Reply(text="Let me look.", tool_calls=calls))
    events = ask(MODELS[provider], tools=TOOLS)
    found = [event for event in events if isinstance(event, ToolCall)]
    assert [(call.name, call.arguments) for call in found] == [
        ("search_memory", '{"query": "launch city with a long name", "limit": 5}'),
        ("list_decisions", "{}"),
    ]
    assert len({call.call_id for call in found}) == 2
    assert spoken(events) == "Let me look."
    assert end(events).reason == "tool_calls"


def test_arguments_stay_the_string_that_came() -> None:
    came = '{"z": 1,  "a": 2, "a": 3, "t": "caf\\u00e9 \\ud83d\\ude80"}'
    pieces = [
        delta(tool_calls=[{"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}]),
        *(delta(tool_calls=[{"index": 0, "function": {"arguments": came[i : i + 5]}}]) for i in range(0, len(came), 5)),
        delta(finish="tool_calls"),
    ]
    with FaultyServer(sse(*pieces)) as server:
        events = ask("openai/x", server.base, tools=TOOLS)
    assert events[:-1] == [ToolCall("c1", "f", came)]


def test_calls_that_all_have_index_0_stay_apart() -> None:
    def call(name: str) -> dict[str, Any]:
        return {
            "index": 0,
            "id": f"id-{name}",
            "type": "function",
            "function": {"name": name, "arguments": "{}"},
        }

    pieces = sse(delta(tool_calls=[call("a")]), delta(tool_calls=[call("b")]), delta(finish="stop"))
    with FaultyServer(pieces) as server:
        events = ask("openai/x", server.base, tools=TOOLS)
    assert events[:-1] == [ToolCall("id-a", "a", "{}"), ToolCall("id-b", "b", "{}")]
    assert end(events).reason == "tool_calls"


def test_a_call_cut_by_the_length_limit_is_not_a_call() -> None:
    cut = {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": '}}
    with FaultyServer(sse(delta(tool_calls=[cut]), delta(finish="length"))) as server:
        events = ask("openai/x", server.base, tools=TOOLS)
    assert [type(event) for event in events] == [Finished]
    assert end(events).reason == "length"


def test_reasoning_is_told_from_the_answer() -> None:
    pieces = sse(
        delta(reasoning_content="Think: "),
        delta(reasoning_content="it was Lisbon."),
        delta("Lisbon."),
        delta(finish="stop"),
        {**delta(), "choices": [], "usage": usage(9, 12, completion_tokens_details={"reasoning_tokens": 8})},
    )
    with FaultyServer(pieces) as server:
        events = ask("openai/x", server.base)
    assert [event for event in events if isinstance(event, ReasoningDelta)] == [
        ReasoningDelta("Think: "),
        ReasoningDelta("it was Lisbon."),
    ]
    assert spoken(events) == "Lisbon."
    used = end(events).usage
    assert (used.output_tokens, used.reasoning_tokens) == (12, 8)


def test_an_emoji_cut_between_two_chunks_comes_whole() -> None:
    first, second = json.dumps(delta("go \ud83d")), json.dumps(delta("\ude80!"))
    with FaultyServer(sse(first, second, delta(finish="stop"))) as server:
        events = ask("openai/x", server.base)
    assert spoken(events) == "go 🚀!"
    for event in events:
        if isinstance(event, TextDelta):
            event.text.encode()


def test_a_character_cut_between_two_packets_comes_whole() -> None:
    raw = b"".join(sse(json.dumps(delta("żółw"), ensure_ascii=False), delta(finish="stop")))
    with FaultyServer([raw[i : i + 1] for i in range(len(raw))]) as server:
        assert spoken(ask("openai/x", server.base)) == "żółw"


def test_content_filter_in_the_stream_is_the_end_not_an_error(llmock: LLMock, provider: str) -> None:
    llmock.add(Reply(text="I was about to", finish_reason="content_filter"))
    events = ask(MODELS[provider])
    assert (spoken(events), end(events).reason) == ("I was about to", "content_filter")


def test_the_same_word_again_and_again_is_an_answer() -> None:
    pieces = sse(*[delta("again ")] * 150, delta(finish="stop"))
    with FaultyServer(pieces) as server:
        assert spoken(ask("openai/x", server.base)) == "again " * 150


# usage


def test_without_a_usage_chunk_the_usage_is_estimated_and_says_so() -> None:
    with FaultyServer(sse(delta("Lisbon it is."), delta(finish="stop"))) as server:
        used = end(ask("openai/x", server.base)).usage
    assert used.source == "estimated"
    assert used.input_tokens == tokens.count(ASK[0]["content"]) + tokens.MESSAGE_OVERHEAD
    assert used.output_tokens == tokens.count("Lisbon it is.")
    assert used.cached_tokens is None


def test_of_usage_in_every_chunk_the_last_counts() -> None:
    pieces = sse(
        {**delta("a"), "usage": usage(7, 1)},
        {**delta("b"), "usage": usage(7, 2)},
        {**delta(finish="stop"), "usage": usage(7, 3)},
    )
    with FaultyServer(pieces) as server:
        used = end(ask("openai/x", server.base)).usage
    assert used == Usage(input_tokens=7, output_tokens=3, source="provider")


def test_a_count_that_nobody_can_believe_is_no_count() -> None:
    last = {**delta(), "choices": [], "usage": usage(10**19, 5)}
    with FaultyServer(sse(delta("a"), delta(finish="stop"), last)) as server:
        used = end(ask("openai/x", server.base)).usage
    assert used == Usage(input_tokens=None, output_tokens=5, source="provider")


def test_the_model_that_answered_is_the_providers_word() -> None:
    last = {**delta(), "choices": [], "usage": usage(7, 3)}
    with FaultyServer(sse(delta("a"), delta(finish="stop"), last)) as server:
        assert end(ask("openai/x", server.base)).served_model == "served-1"


def test_cached_tokens_are_part_of_the_input() -> None:
    last = {**delta(), "choices": [], "usage": usage(1000, 5, prompt_tokens_details={"cached_tokens": 900})}
    with FaultyServer(sse(delta("a"), delta(finish="stop"), last)) as server:
        used = end(ask("openai/x", server.base)).usage
    assert (used.input_tokens, used.cached_tokens) == (1000, 900)


@pytest.mark.usefixtures("keys")
def test_anthropics_cache_counts_are_added_to_the_input() -> None:
    def event(**fields: Any) -> bytes:
        return f"event: {fields['type']}\ndata: {json.dumps(fields)}\n\n".encode()

    spent = {"input_tokens": 3, "cache_creation_input_tokens": 12304, "cache_read_input_tokens": 0}
    message = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "claude-sonnet-4-5"}
    pieces = [
        event(type="message_start", message={**message, "usage": {**spent, "output_tokens": 1}}),
        event(type="content_block_start", index=0, content_block={"type": "text", "text": ""}),
        event(type="content_block_delta", index=0, delta={"type": "text_delta", "text": "Lisbon"}),
        event(type="content_block_stop", index=0),
        event(type="message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 550}),
        event(type="message_stop"),
    ]
    with FaultyServer(pieces) as server:
        used = end(ask("anthropic/claude-sonnet-4-5", server.base.removesuffix("/v1"), params={"max_tokens": 9})).usage
    assert (used.input_tokens, used.cache_write_tokens, used.cached_tokens) == (12307, 12304, 0)
    assert used.output_tokens == 550
    assert f"{llm.price('anthropic/claude-sonnet-4-5', used).amount:.5f}" == "0.05440"


def test_an_estimate_counts_tools_and_calls() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"q": "Lisbon"}'}}
    plain = ModelRequest("openai/x", ASK)
    busy = ModelRequest("openai/x", (*ASK, {"role": "assistant", "content": None, "tool_calls": [call]}), tools=TOOLS)
    small, large = llm.estimated(plain, "done").input_tokens, llm.estimated(busy, "done").input_tokens
    assert small is not None
    assert large is not None
    assert large > small + tokens.count(json.dumps(TOOLS))


# faults

FAULTS = [
    (401, {}, "authentication", False, "refused the key: set {key} to a valid key and try again."),
    (403, {}, "authentication", False, "does not let this key use {model}"),
    (404, {}, "not_found", False, "does not know the model {model}"),
    (429, {"retry_after": 7}, "rate_limit", True, "is getting too many requests: try again in 7 seconds."),
    (429, {"message": "You exceeded your current quota."}, "rate_limit", False, "credit or quota is used up"),
    (500, {}, "unavailable", True, "has trouble of its own"),
    (503, {}, "unavailable", True, "has trouble of its own"),
    (529, {}, "unavailable", True, "has trouble of its own"),
    (408, {}, "timeout", True, "took too long"),
    (413, {}, "context_length", False, "too long for {model}"),
    (400, {"code": "context_length_exceeded"}, "context_length", False, "too long for {model}"),
    (400, {"message": "prompt is too long: 9 > 8 maximum"}, "context_length", False, "too long for {model}"),
    (400, {"code": "content_filter"}, "content_filter", False, "content rules"),
    (400, {"message": "temperature is above 2"}, "bad_request", False, "did not accept the request"),
]


@pytest.mark.parametrize(("status", "extra", "kind", "retryable", "words"), FAULTS)
def test_an_http_error_is_one_clear_sentence(
    llmock: LLMock, provider: str, status: int, extra: dict[str, Any], kind: str, retryable: bool, words: str
) -> None:
    llmock.add(Fail(status, times=None, **extra))
    error = fail(MODELS[provider])
    name = {"openai": "OpenAI", "anthropic": "Anthropic"}[provider]
    assert (error.error_type, error.retryable) == (kind, retryable)
    assert words.format(key=f"{name.upper()}_API_KEY", model=MODELS[provider]) in error.message
    assert "litellm" not in error.message
    assert error.message.endswith(".")
    assert "\n" not in error.message
    assert len(llmock.requests) == 1
    if kind not in ("context_length",):
        assert name in error.message


@pytest.mark.parametrize(
    ("path", "said", "hint"),
    [
        ("", {"detail": "Not Found"}, True),
        ("/api", "404 page not found", True),
        ("/v1", {"detail": "Not Found"}, False),
        ("", {"error": {"message": "The model `tiny` does not exist.", "code": "model_not_found"}}, False),
    ],
)
def test_a_bare_404_of_an_own_address_says_that_v1_may_be_missing(path: str, said: Any, hint: bool) -> None:
    headers = ("Content-Type: application/json",)
    with FaultyServer([json.dumps(said).encode()], status="404 Not Found", headers=headers) as server:
        error = fail("openai/tiny", server.base.removesuffix("/v1") + path)
    assert error.error_type == "not_found"
    assert ("may need /v1 at its end" in error.message) is hint
    assert "openai/tiny" in error.message


def test_retry_after_is_in_seconds_also_below_one(llmock: LLMock, provider: str) -> None:
    llmock.rate_limit(retry_after=0.25)
    assert fail(MODELS[provider]).retry_after == 0.25


def test_retry_after_may_be_a_date() -> None:
    late = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 90))
    headers = ("Content-Type: application/json", f"Retry-After: {late}")
    with FaultyServer([b"{}"], status="429 Too Many Requests", headers=headers) as server:
        error = fail("openai/x", server.base)
    assert error.retry_after is not None
    assert 80 < error.retry_after < 91


def test_the_providers_words_are_kept_without_keys_and_bounded(
    llmock: LLMock, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_SERVICE_TOKEN", "hunter2-hunter2")
    said = "Incorrect API key provided: sk-proj-abc123DEF456ghi789, hunter2-hunter2. Ask for another. " + "x " * 3000
    llmock.fail(401, message=said)
    error = fail(MODELS[provider])
    kept = error.detail["provider"]
    assert kept.replace("REDACTED", "[redacted]").startswith(
        "Incorrect API key provided: [redacted], [redacted]. Ask for another."
    )
    assert "abc123" not in kept
    assert len(kept) <= 2000
    assert "abc123" not in error.message


@pytest.mark.parametrize(
    "secret",
    ["sk-ant-api03-AbC-123", "Bearer eyJhbGciOi.eyJzdWIi.c2ln", "AIzaSyA1234567890", "https://me:pw1@host/v1",
     "?key=abcdef&x=1", "0123456789abcdef0123456789abcdef", "gsk_abc123def456"],
)  # fmt: skip
def test_what_looks_like_a_key_is_redacted(secret: str) -> None:
    assert secret not in faults.redact(f"it said {secret} there")
    assert "[redacted]" in faults.redact(f"it said {secret} there")


def test_ordinary_words_are_not_redacted() -> None:
    words = "The model gpt-4o-mini-2024-07-18 was asked by req_011CS for a task-oriented answer."
    assert faults.redact(words) == words


@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_dropped_stream_fails(llmock: LLMock, provider: str, after: int) -> None:
    llmock.reply("one two three four five six").disconnect(after_chunks=after)
    error = fail(MODELS[provider])
    assert (error.error_type, error.retryable) == ("connection", True)


@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_stream_that_ends_early_without_a_word_fails(llmock: LLMock, provider: str, after: int) -> None:
    llmock.reply("one two three four five six").truncate(after_chunks=after)
    error = fail(MODELS[provider])
    assert (error.error_type, error.retryable) == ("connection", True)


def test_what_came_before_a_dropped_stream_is_given_out_first(llmock: LLMock) -> None:
    llmock.reply("one two three four five six").disconnect(after_chunks=4)
    came: list[Event] = []

    async def collect() -> None:
        async for event in llm.stream(ModelRequest(MODELS["openai"], ASK)):
            came.append(event)

    with pytest.raises(ModelFailed, match="broke off before the answer was complete"):
        asyncio.run(collect())
    assert spoken(came) == "one two three "


@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_malformed_chunk_fails(llmock: LLMock, provider: str, after: int) -> None:
    llmock.reply("one two three four five six").corrupt(after_chunks=after)
    error = fail(MODELS[provider])
    assert error.error_type in (("malformed",) if provider == "openai" else ("malformed", "connection"))
    assert error.retryable


def test_html_instead_of_an_answer_fails() -> None:
    with FaultyServer(
        [b"<html><body>Sign in to the Wi-Fi</body></html>"], headers=("Content-Type: text/html",)
    ) as server:
        error = fail("openai/x", server.base)
    assert error.error_type in ("malformed", "connection")


@pytest.mark.parametrize(
    ("said", "kind"),
    [({"message": "Overloaded", "type": "overloaded_error"}, "unavailable"),
     ({"message": "Rate limit reached", "type": "rate_limit_error"}, "rate_limit")],
)  # fmt: skip
def test_an_error_inside_the_stream_is_the_providers(said: dict[str, str], kind: str) -> None:
    with FaultyServer(sse(delta("Lis"), {"error": said})) as server:
        assert fail("openai/x", server.base).error_type == kind


def test_nothing_listens_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    error = fail("openai/x", f"http://127.0.0.1:{port}/v1")
    assert (error.error_type, error.retryable) == ("connection", True)
    assert f"The OpenAI-compatible server at 127.0.0.1:{port} can't be reached" in error.message


def test_ollama_that_is_not_running() -> None:
    error = fail("ollama_chat/llama3", "http://127.0.0.1:9")
    assert error.error_type == "connection"
    assert error.message.startswith("Ollama at 127.0.0.1:9 can't be reached")


@pytest.mark.usefixtures("keys")
def test_silence_before_the_first_chunk_ends_in_time(provider: str) -> None:
    with FaultyServer(head=False, hang=True) as server:
        began = time.monotonic()
        error = fail(MODELS[provider], server.base, first_chunk_timeout=0.3, idle_timeout=30)
        assert time.monotonic() - began < 1.5
    assert (error.error_type, error.retryable) == ("timeout", True)
    assert "sent nothing for 0.3 seconds" in error.message


def test_silence_in_the_middle_ends_in_time(llmock: LLMock, provider: str) -> None:
    llmock.reply("one two three four five six").stall(after_chunks=4, seconds=20)
    began = time.monotonic()
    error = fail(MODELS[provider], idle_timeout=0.3)
    assert time.monotonic() - began < 1.5
    assert error.error_type == "timeout"
    assert "stopped in mid-answer, nothing came for 0.3 seconds" in error.message


def test_a_long_answer_that_keeps_coming_is_not_cut(llmock: LLMock) -> None:
    llmock.reply("one two three four five six").pace(120)
    assert spoken(ask(MODELS["openai"], idle_timeout=0.5, first_chunk_timeout=0.5)) == "one two three four five six"


@pytest.mark.parametrize(
    ("model", "variable"), [("openai/gpt-5.2", "OPENAI"), ("anthropic/claude-haiku-4-5", "ANTHROPIC")]
)
def test_without_a_key_it_says_which_to_set(model: str, variable: str) -> None:
    error = fail(model)
    assert error.error_type == "authentication"
    assert f"needs a key: set {variable}_API_KEY" in error.message


def test_a_server_of_ones_own_needs_no_key() -> None:
    with FaultyServer(sse(delta("hi"), delta(finish="stop"))) as server:
        assert spoken(ask("openai/x", server.base)) == "hi"


def test_a_name_without_a_provider_is_refused() -> None:
    error = fail("gpt-of-my-own")
    assert error.error_type == "bad_request"
    assert error.message.startswith("A model's name begins with its provider")


# cancelling


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("began", [False, True])
def test_cancel_returns_at_once_and_closes_the_connection(provider: str, began: bool) -> None:
    first = delta("hey") if provider == "openai" else {"type": "message_start", "message": {"id": "m", "usage": {}}}

    async def cancel(server: FaultyServer) -> float:
        request = ModelRequest(MODELS[provider], ASK, api_base=server.base)
        task = asyncio.create_task(llm.complete(request))
        while not server.bodies:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        stopped = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - stopped < 0.1
        return stopped

    with FaultyServer(sse(first, done=False) if began else (), head=began, hang=True) as server:
        stopped = asyncio.run(cancel(server))
        while not server.closed and time.monotonic() < stopped + 2:
            time.sleep(0.005)
        assert server.closed[0] - stopped < 0.1


def test_leaving_the_stream_closes_the_connection() -> None:
    async def leave(server: FaultyServer) -> None:
        async with aclosing(llm.stream(ModelRequest("openai/x", ASK, api_base=server.base))) as events:
            async for event in events:
                assert event == TextDelta("hey")
                return

    with FaultyServer(sse(delta("hey"), done=False), hang=True) as server:
        asyncio.run(leave(server))
        left = time.monotonic()
        while not server.closed and time.monotonic() < left + 2:
            time.sleep(0.005)
        assert server.closed


# litellm itself

QUIET = """
import asyncio, sys, threading, time
from contextlib import aclosing
asked = []
def watch(event, args):
    if event == "socket.getaddrinfo":
        asked.append(args[0])
    elif event == "socket.connect" and isinstance(args[1], tuple):
        asked.append(args[1][0])
sys.addaudithook(watch)
from nexus_core import llm
from nexus_core.errors import ModelFailed
from nexus_core.stream import ModelRequest
assert "litellm" not in sys.modules and not llm.ready()
began = time.monotonic()
llm.warm(); llm.warm()
assert time.monotonic() - began < 0.5
thread, = [t for t in threading.enumerate() if t.name == "warm-litellm"]
thread.join(60)
assert llm.ready() and "litellm" in sys.modules
async def call(model):
    request = ModelRequest(model, [{"role": "user", "content": "hi"}], api_base=sys.argv[1])
    try:
        async with aclosing(llm.stream(request)) as events:
            async for event in events:
                pass
    except ModelFailed as error:
        print(model, error.error_type)
for model in ("openai/gpt-4o-mini", "anthropic/claude-sonnet-4-5"):
    asyncio.run(call(model))
print("asked", sorted(set(asked) - {"127.0.0.1", b"127.0.0.1"}), len(asked) > 0)
"""


def test_litellm_is_imported_in_the_background_and_asks_nobody_anything(tmp_path: Any) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY=from-a-stray-file\n")
    with FaultyServer([b"{}"], status="503 Busy", headers=("Content-Type: application/json",)) as server:
        environment = {"PYTHONPATH": ":".join(sys.path), "ANTHROPIC_API_KEY": "k", "PATH": "/usr/bin:/bin"}
        done = subprocess.run(
            [sys.executable, "-c", QUIET, server.base],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "openai/gpt-4o-mini unavailable",
        "anthropic/claude-sonnet-4-5 unavailable",
        "asked [] True",
    ]
    assert done.stderr == ""
    assert server.keys[0] == "Bearer none"


def test_a_process_that_ends_while_litellm_is_loaded_ends_without_a_word() -> None:
    code = "import time; from nexus_core import llm; llm.warm(); time.sleep(0.7)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
