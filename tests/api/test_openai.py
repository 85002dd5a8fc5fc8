"""/v1 through OpenAI's own client: memory by session, user or history, tools, streams, refusals."""

import json
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from uuid import UUID

import openai
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion
from starlette.testclient import TestClient

from nexus_core import api_tokens, budgets, conversations, run_detail
from nexus_core.database import Scope, transaction
from tests.api.conftest import Program, door, token
from tests.api.serving import served
from tests.nexus_core.conversing import (
    agent,
    bodies,
    connect,
    contents,
    message,
    project,
    run_of,
    shown,
    system,
    until,
)
from tests.nexus_core.model_server import ModelServer, Tap, echo, ending, tool_call
from tests.store import ask as rows

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a place.",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
    },
}


TEXT = st.sampled_from(["hi", "", " ", "\0 nul", "\ud800", "👨‍👩‍👧‍👦", "x" * 50])
CALL = {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{"}}]}
PIECE = st.one_of(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "system", "developer"]), "content": TEXT}),
    st.fixed_dictionaries({"role": st.just("tool"), "tool_call_id": st.sampled_from(["a", "b"]), "content": TEXT}),
    st.just(CALL),
)
ENDS: list[list[dict[str, Any]]] = [
    [{"role": "user", "content": "\0 \ud800"}], [CALL, {"role": "tool", "tool_call_id": "a", "content": "r"}],
]  # fmt: skip
OPTIONS: dict[str, Any] = {
    "stream": st.booleans(), "user": st.sampled_from(["u", "v:w%", "\0", "\ud800", ""]), "stop": TEXT,
    "metadata": st.fixed_dictionaries({}, optional={"session_id": st.sampled_from(["s", "\0"])}),
    "tools": st.just([WEATHER]), "max_tokens": st.sampled_from([1, 10**30]),
}  # fmt: skip


@pytest.fixture
def ai(program: Program, ready: Scope, operator: Scope) -> Iterator[openai.OpenAI]:
    """OpenAI's client, told another base URL."""
    with served(door) as address:
        yield openai.OpenAI(
            base_url=f"{address}/v1",
            api_key="unused",
            default_headers={"cookie": f"nexus_session={token(operator)}"},
            max_retries=0,
            timeout=30,
        )


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def ask(ai: openai.OpenAI, *said: dict[str, Any], model: str = "loopback", **more: Any) -> ChatCompletion:
    answer: ChatCompletion = ai.chat.completions.create(model=model, messages=list(said), **more)  # type: ignore[call-overload]
    return answer


def text(answer: ChatCompletion) -> str:
    return answer.choices[0].message.content or ""


def where(answer: ChatCompletion) -> UUID:
    return UUID(answer.nexus["conversation_id"])  # type: ignore[attr-defined]


def test_the_history_that_a_client_resends_is_stored_once(ai: openai.OpenAI, ready: Scope, operator: Scope) -> None:
    with ModelServer(echo) as server:
        connect(ready, server.base)
        told = {"role": "system", "content": "Be brief. It is 10:00."}
        first = ask(ai, told, user("One"), temperature=0.5)
        assert (text(first), first.choices[0].finish_reason, first.model) == ("Answer 1", "stop", "loopback")
        assert first.usage and (first.usage.prompt_tokens, first.usage.total_tokens) == (11, 18)
        assert system(server.bodies[0]) == "Be brief. It is 10:00." and server.bodies[0]["temperature"] == 0.5
        second = ask(ai, told | {"content": "Be brief. 10:01."}, user("One"), assistant("Answer 1\n"), user("Two"))
        assert where(second) == where(first), "a system's text may change"
        assert contents(server.bodies[1]) == ["One", "Answer 1", "Two"]
        assert bodies(operator, where(first)) == ["One", "Answer 1", "Two", "Answer 2"]
        again = ask(ai, user("One"), assistant("Answer 1"), user("Two"))
        assert where(again) == where(first) and bodies(operator, where(first))[-1] == "Answer 3"
        assert shown(operator, where(first))[-1].versions == 2
        assert where(ask(ai, user("One"))) != where(first), "the same first words begin another conversation"
        edited = ask(ai, user("Uno"), assistant("Answer 1"), user("Two"))
        assert bodies(operator, where(edited)) == ["Uno", "Answer 1", "Two", "Answer 5"]
        assert contents(server.bodies[4]) == ["Uno", "Answer 1", "Two"]
        long = [turn for n in range(60) for turn in (user(f"q{n}"), assistant(f"a{n}"))]
        assert len(contents((ask(ai, *long, user("Now")), server.bodies[-1])[1])) == 121, "nothing of it is cut away"
        run = run_of(operator, UUID(first.nexus["run_id"]))  # type: ignore[attr-defined]
        assert (run.status, run.input_tokens, run.profile_slug) == ("succeeded", 11, "loopback")
    assert rows(operator, "SELECT count(*) FROM assistant_runs")[0][0] == 6
    with transaction(operator) as tx:
        assert not tx.rows("programs.after", heard="", project_id=None, agent_id=None)


def test_a_session_and_a_user_choose_what_is_remembered(
    ai: openai.OpenAI, client: TestClient, ready: Scope, operator: Scope
) -> None:
    ada = agent(operator, "Ada Löve", memory_mode="user", instructions="You are Ada.")
    with ModelServer(echo) as server:
        connect(ready, server.base)
        first = ask(ai, user("I am Ana"), metadata={"session_id": "s-1"})
        second = ask(ai, user("Hello?"), assistant("what was sent does not matter"), user("Who am I?"),
                     metadata={"session_id": "s-1"})  # fmt: skip
        assert where(second) == where(first)
        assert contents(server.bodies[1]) == ["I am Ana", "Answer 1", "Who am I?"]
        assert where(ask(ai, user("Who am I?"), metadata={"session_id": "s-2"})) != where(first)
        assert contents(server.bodies[2]) == ["Who am I?"]
        body = {"message": "And here?", "sessionId": "s-1"}
        assert client.post("/api/chat", json=body).json()["data"]["conversationId"] == str(where(first))
        for name, words in (("bob", "Bob's cat is Tom"), ("eve", "What is the cat called?"), ("bob", "And the cat?")):
            last = ask(ai, user(words), user=name, model="ada-love")
        assert contents(server.bodies[5]) == ["What is the cat called?"], "what one user says is not another's"
        assert contents(server.bodies[6]) == ["Bob's cat is Tom", "Answer 5", "And the cat?"]
        assert system(server.bodies[6]).startswith("You are Ada.")
        ask(ai, user("Elsewhere?"), user="bob", metadata={"session_id": "t"}, model="Ada Löve")
        assert "Bob's cat is Tom" in contents(server.bodies[7]), "user memory goes over sessions, of one user"
        ask(ai, user("What did they say?"), model=str(ada))
        assert contents(server.bodies[8]) == ["What did they say?"], "nor is it its owner's"
        assert bodies(operator, where(last))[:2] == ["Bob's cat is Tom", "Answer 5"]
        plain = client.post("/api/chat", json={"message": "Hi", "agentId": str(ada)}).json()["data"]["conversationId"]
        assert plain != str(where(last)), "no program's conversation goes on by itself"
        apollo = str(project(operator))
        there = ask(ai, user("Hi"), metadata={"project_id": apollo}, model="ada-love")
        assert client.get(f"/api/conversations/{where(there)}").json()["data"]["projectId"] == apollo


def test_a_client_runs_its_own_tools(ai: openai.OpenAI, ready: Scope, operator: Scope) -> None:
    broken = [True]

    def script(body: dict[str, Any], number: int) -> Iterator[Any]:
        if body["messages"][-1]["role"] != "tool":
            yield "Let me look. "
            yield tool_call("get_weather", '{"place": "Paris"}')
            yield from ending("tool_calls")
        elif "sun" in body["messages"][-1]["content"] and broken:
            broken.clear()
            yield b"data: nonsense\n\n"
        else:
            yield "Sunny in Paris."

    with ModelServer(script) as server:
        connect(ready, server.base)
        said: list[Any] = [user("Paris?")]
        first = ask(ai, *said, tools=[WEATHER], tool_choice="auto")
        called = first.choices[0].message
        assert (
            first.choices[0].finish_reason == "tool_calls" and called.tool_calls and called.content == "Let me look. "
        )
        call: Any = called.tool_calls[0]
        assert (call.function.name, call.function.arguments) == ("get_weather", '{"place": "Paris"}')
        assert server.bodies[0]["tools"] == [WEATHER] and server.bodies[0]["tool_choice"] == "auto"
        said += [called.model_dump(exclude_none=True), {"role": "tool", "tool_call_id": call.id, "content": "sun"}]
        second = ask(ai, *said, tools=[WEATHER])
        assert text(second) == "Sunny in Paris." and second.choices[0].finish_reason == "stop"
        assert second.id == first.id, "call, result and answer are one message"
        assert [one["role"] for one in server.bodies[-1]["messages"]] == ["system", "user", "assistant", "tool"]
        third = ask(ai, *said, assistant(text(second)), user("And Rome?"), tools=[WEATHER])
        assert where(third) == where(first) and third.choices[0].finish_reason == "tool_calls"
        stored = shown(operator, where(first))
        assert [one.role for one in stored] == ["user", "assistant", "user", "assistant"]
        assert [part["type"] for part in stored[1].parts] == ["text", "tool-get_weather", "step-start", "text"]
        assert stored[1].parts[1]["output"] == "sun" and stored[1].body == "Let me look. \n\nSunny in Paris."
        with transaction(operator) as tx:
            whole = run_detail.load(tx, UUID(second.nexus["run_id"]))  # type: ignore[attr-defined]
        assert whole.sent and whole.sent.exact and whole.sent.messages[-1]["content"] == "sun"
        alone = {"role": "tool", "tool_call_id": "call_1", "content": "rain"}
        session: Any = {"metadata": {"session_id": "s"}, "tools": [WEATHER]}
        begun = ask(ai, user("Oslo?"), **session)
        assert text(ask(ai, alone, **session)) == text(ask(ai, alone, **session)) == "Sunny in Paris."
        assert len(shown(operator, where(begun))) == 2
        for wrong in ([alone], [user("Hi"), alone]):
            with pytest.raises(openai.BadRequestError):
                ask(ai, *wrong, tools=[WEATHER])
        kept = ask(
            ai, user("Ask"), assistant("x") | {"tool_calls": [call.model_dump()]}, alone | {"tool_call_id": call.id}
        )
        assert len(shown(operator, where(kept))) == 2 and text(kept) == "Sunny in Paris.", "a history of elsewhere"
    runs = rows(operator, "SELECT status, count(*) FROM assistant_runs GROUP BY 1 ORDER BY 1")
    assert [tuple(row) for row in runs] == [("failed", 1), ("succeeded", 6)]


def test_both_sorts_of_tools_beside_each_other(ai: openai.OpenAI, ready: Scope, operator: Scope) -> None:
    def script(body: dict[str, Any], number: int) -> Iterator[Any]:
        if number == 1:
            yield tool_call("list_decisions", "{}", "ours")
            yield tool_call("get_weather", '{"place": "Rome"}', "theirs", index=1)
            yield from ending("tool_calls")
        else:
            yield "Done."

    apollo = {"project_id": str(project(operator))}
    with ModelServer(script) as server:
        connect(ready, server.base)
        first = ask(ai, user("Both"), tools=[WEATHER], metadata=apollo | {"session_id": "s"})
        assert [call.id for call in first.choices[0].message.tool_calls or ()] == ["theirs"]
        result = {"role": "tool", "tool_call_id": "theirs", "content": "sun"}
        assert text(ask(ai, result, tools=[WEATHER], metadata=apollo | {"session_id": "s"})) == "Done."
        told = [one["content"] for one in server.bodies[1]["messages"] if one["role"] == "tool"]
        assert told == ["[]", "sun"]
        names = [tool["function"]["name"] for tool in server.bodies[1]["tools"]]
        assert names == ["search_memory", "read_conversation", "list_decisions", "get_weather"]


def test_a_stream_ends_with_usage_and_stops_when_its_reader_goes(
    ai: openai.OpenAI, ready: Scope, operator: Scope
) -> None:
    tap = Tap("One two ", "three.")
    with ModelServer(tap) as server:
        connect(ready, server.base)
        stream: Any = ai.chat.completions.create(
            model="loopback", messages=[{"role": "user", "content": "Count"}], stream=True,
            stream_options={"include_usage": True},
        )  # fmt: skip
        chunks = []
        for chunk in stream:
            chunks.append(chunk)
            tap.opened.set()
        assert [chunk.object for chunk in chunks] == ["chat.completion.chunk"] * len(chunks)
        assert chunks[0].choices[0].delta.role == "assistant" and len({chunk.id for chunk in chunks}) == 1
        said = [chunk.choices[0].delta.content or "" for chunk in chunks[:-1]]
        assert said[1] == "One two " and "".join(said) == "One two three."
        assert [chunk.choices[0].finish_reason for chunk in chunks[:-1]] == [None] * (len(chunks) - 2) + ["stop"]
        assert chunks[-1].choices == [] and chunks[-1].usage.prompt_tokens == 11 and chunks[0].usage is None
        tap.opened.clear()
        stream = ai.chat.completions.create(model="loopback", messages=[{"role": "user", "content": "Go"}], stream=True)
        answer_id = UUID(hex=next(stream).id.removeprefix("chatcmpl-"))
        stream.close()
        stopped = until(lambda: (found := message(operator, answer_id)).status != "streaming" and found)
        assert (stopped.status, stopped.body) == ("stopped", "One two ")
        tap.first = ""
        with pytest.raises(openai.APITimeoutError):
            ask(ai.with_options(timeout=0.3), user("Soon"), stream=True, metadata={"session_id": "left"})
        nothing = "SELECT true FROM messages WHERE status = 'stopped' AND body = ''"
        until(lambda: rows(operator, nothing))
        tap.first = "One two "
        asked = ai.with_options(timeout=0.3)
        with pytest.raises(openai.APITimeoutError):
            ask(asked, user("Slow"), extra_headers={"idempotency-key": "k-1"})
        tap.opened.set()
        late = ask(ai, user("Slow"), extra_headers={"idempotency-key": "k-1"})
        assert text(late) == "One two three.", "asked plainly, it goes on; the same key finds it"
        assert len(server.bodies) == 4
        tap.first, tap.then = "", ""
        with pytest.raises(openai.APIStatusError) as failed:
            ai.chat.completions.create(model="loopback", messages=[{"role": "user", "content": "?"}], stream=True)
        assert failed.value.status_code == 502, "what fails before the first word has its status, streamed too"


def test_a_token_is_the_api_key_and_keeps_to_its_project(ai: openai.OpenAI, ready: Scope, operator: Scope) -> None:
    apollo, gemini = project(operator, "Apollo"), project(operator, "Gemini")
    with transaction(operator) as tx:
        key = api_tokens.create(tx, "CI", project_ids=[apollo])[1]
    mine = openai.OpenAI(base_url=ai.base_url, api_key=key, max_retries=0)
    with ModelServer(echo) as server:
        connect(ready, server.base)
        answer = ask(mine, user("Where am I?"), user="ana")
        with transaction(operator) as tx:
            assert conversations.get(tx, where(answer)).project_id == apollo
        with pytest.raises(openai.PermissionDeniedError):
            ask(mine, user("Hi"), metadata={"project_id": str(gemini)})
    with pytest.raises(openai.AuthenticationError) as wrong:
        openai.OpenAI(base_url=ai.base_url, api_key="nxs_" + "0" * 48, max_retries=0).models.list()
    assert wrong.value.code == "invalid_api_key"


def test_nothing_that_is_sent_is_a_fault_of_ours(client: TestClient) -> None:
    answered = []
    document = client.get("/v1/openapi.json").json()
    for name, schema in document["components"]["schemas"].items():
        described = [bool(told.get("description")) for told in schema.get("properties", {}).values()]
        assert all(described) or "ValidationError" in name, name

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(st.lists(PIECE, max_size=4), st.sampled_from(ENDS), st.fixed_dictionaries({}, optional=OPTIONS))
    def sent(said: list[dict[str, Any]], end: list[dict[str, Any]], more: dict[str, Any]) -> None:
        body = json.dumps({"model": "builtin", "messages": [*said, *end]} | more)
        answer = client.post("/v1/chat/completions", content=body, headers={"content-type": "application/json"})
        answered.append(answer.status_code)
        assert answer.status_code in (200, 400), (body, answer.text)

    sent()
    assert set(answered) == {200, 400}


def test_refusals_are_openai_s(ai: openai.OpenAI, program: Program, reader: TestClient, ready: Scope) -> None:
    assert [model.id for model in ai.models.list()] == ["builtin"]
    for name in ("builtin", "Built in", "builtin/recall", "recall"):
        assert ai.models.retrieve(name).id == "builtin"
    with pytest.raises(openai.NotFoundError) as unknown:
        ask(ai, user("Hi"), model="gpt-none")
    assert (unknown.value.code, unknown.value.param) == ("model_not_found", "model")
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,xx"}}]}
    for said, more, field in (
        ([picture], {}, "messages.0.content"),
        ([assistant("Hi")], {}, "messages"),
        ([user("  ")], {}, "messages"),
        ([], {}, "messages"),
        ([user("Hi")], {"n": 2}, "n"),
        ([user("Hi")], {"extra_body": {"user": "x" * 300}}, "user"),
        ([user("Hi")], {"extra_body": {"metadata": {"session_id": 7}}}, "metadata.session_id"),
        ([user("Hi")], {"extra_body": {"tools": [{"type": "web_search"}]}}, "tools.0.type"),
    ):
        with pytest.raises(openai.BadRequestError) as refused:
            ask(ai, *said, model="builtin", **more)  # type: ignore[arg-type]
        assert (refused.value.type, refused.value.param) == ("invalid_request_error", field)
    with pytest.raises(openai.NotFoundError):
        ask(ai, user("Hi"), model="builtin", metadata={"project_id": "none"})
    body = {"model": "builtin", "messages": [user("Hi")]}
    assert reader.post("/v1/chat/completions", json=body).json()["error"]["type"] == "permission_error"
    assert reader.get("/v1/models").status_code == 200
    stranger = TestClient(door, base_url="http://nexus.test:8501").get("/v1/models", headers={"accept": "text/html"})
    assert stranger.status_code == 401 and "error" in stranger.json()
    missing = reader.get("/v1/nothing")
    assert missing.status_code == 404 and missing.json()["error"]["type"] == "invalid_request_error"
    assert reader.post("/v1/chat/completions", content=b"x" * 5_000_000).status_code == 413
    with ModelServer(echo) as server:
        connect(ready, server.base)
        with transaction(ready) as tx:
            budgets.put(tx, "workspace", Decimal("0.0000001"))
        begun = time.monotonic()
        with pytest.raises(openai.RateLimitError) as spent:
            ask(ai.with_options(max_retries=2), user("Hi"), model="loopback")
        assert spent.value.code == "insufficient_quota" and "budget" in spent.value.message.lower()
        assert server.bodies == [] and time.monotonic() - begun < 5
    assert rows(ready, "SELECT count(*) FROM assistant_runs WHERE status = 'blocked'")[0][0] == 1
