"""/api/chat: a message and its answer, whole and as the AI SDK's stream; resume, stop, the same send twice."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from starlette.testclient import TestClient

from nexus_core import chat, worker
from nexus_core.database import Scope
from tests.api.conftest import Program
from tests.api.serving import events, kinds, written
from tests.nexus_core.conversing import agent, bodies, connect, message, project, run_of, shown, until
from tests.nexus_core.faulty_server import delta
from tests.nexus_core.model_server import ModelServer, Tap, echo, ending, tool_call
from tests.store import ask as rows

WHOLE = ["start", "start-step", "text-start", "text-delta", "text-end", "finish-step", "finish", "[DONE]"]


def said(client: TestClient | httpx2.Client, body: dict[str, Any], status: int = 200) -> Any:
    answer = client.post("/api/chat", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()["data" if status == 200 else "error"]


def ui(text: str, message_id: str = "m-1", role: str = "user") -> dict[str, Any]:
    """A message as useChat keeps it."""
    return {"id": message_id, "role": role, "parts": [{"type": "text", "text": text}]}


# Whole


def test_nothing_but_a_message_is_just_chat(client: TestClient, operator: Scope) -> None:
    first = said(client, {"message": "My name is Ana"})
    second = said(client, {"message": "What is my name?"})
    assert first["conversationId"] == second["conversationId"]
    assert (first["userMessage"]["role"], first["userMessage"]["content"]) == ("user", "My name is Ana")
    answer = second["assistantMessage"]
    assert (answer["role"], answer["status"], answer["model"]) == ("assistant", "complete", "builtin/recall")
    assert "Ana" in answer["content"]
    assert [one.id for one in shown(operator, UUID(first["conversationId"]))][-1] == UUID(answer["id"])
    run = second["run"]
    assert (run["id"], run["status"], run["costEstimate"]) == (answer["runId"], "succeeded", 0.0)
    assert run_of(operator, UUID(run["id"])).output_tokens == run["outputTokens"]


def test_agent_project_and_session_choose_the_conversation(client: TestClient, operator: Scope) -> None:
    ada, apollo = str(agent(operator)), str(project(operator))
    made = [
        said(client, {"message": "Hello"} | where)["conversationId"]
        for where in (
            {}, {"agentId": ada}, {"projectId": apollo}, {"agentId": ada, "projectId": apollo}, {"sessionId": "s-1"},
            {"sessionId": "s-2"}, {"sessionId": "s-1", "agentId": ada},
        )
    ]  # fmt: skip
    assert len(set(made)) == 7
    again = said(client, {"message": "Again", "sessionId": "s-1"})
    assert again["conversationId"] == made[4]
    assert bodies(operator, UUID(made[5]))[0] == "Hello" and len(bodies(operator, UUID(made[5]))) == 2
    for body, status, field in (
        ({"conversationId": made[0], "agentId": ada}, 422, "agentId"),
        ({"conversationId": made[1], "projectId": apollo}, 422, "projectId"),
        ({"conversationId": str(uuid4())}, 404, None),
        ({"agentId": str(uuid4())}, 404, None),
        ({"projectId": str(uuid4())}, 404, None),
        ({"sessionId": ""}, 422, "sessionId"),
        ({"message": "  "}, 422, "message"),
        ({"message": None}, 422, "message"),
    ):
        error = said(client, {"message": "Hello"} | body, status)  # type: ignore[operator]
        assert error["field"] == field, body
    assert rows(operator, "SELECT count(*) FROM messages")[0][0] == 16


def test_the_same_send_twice_is_one(client: TestClient, ready: Scope) -> None:
    with ModelServer(echo) as server:
        connect(ready, server.base)
        body = {"message": "Yes", "clientMessageId": "c-1"}
        first, again = said(client, body), said(client, body)
        assert first == again and len(server.bodies) == 1
        assert said(client, {"message": "Yes"})["userMessage"]["id"] != first["userMessage"]["id"]


def test_a_failed_answer_says_so_and_what_was_stored(client: TestClient, ready: Scope, operator: Scope) -> None:
    connect(ready, "http://127.0.0.1:9/v1")
    error = said(client, {"message": "Hello"}, 502)
    assert error["code"] == "model_failed" and error["detail"]["errorType"] == "connection"
    stored = message(operator, UUID(error["detail"]["messageId"]))
    assert (stored.status, str(stored.conversation_id)) == ("failed", error["detail"]["conversationId"])
    assert bodies(operator, stored.conversation_id)[0] == "Hello"


def test_a_viewer_and_a_stranger_can_say_nothing(
    reader: TestClient, program: Program, operator: Scope, other_scope: Scope
) -> None:
    turn = chat.send(operator, "Hello")
    until(lambda: worker.worker().live(turn.answer_id) is None)
    assert "operator role" in said(reader, {"message": "Hello"}, 403)["message"]
    stranger = program(other_scope)
    assert said(stranger, {"message": "Hello", "conversationId": str(turn.conversation_id)}, 404)["code"] == "not_found"
    mine = said(stranger, {"message": "Hello", "sessionId": str(turn.conversation_id)})
    assert mine["conversationId"] != str(turn.conversation_id), "another's id is a session id like any other"
    assert stranger.get(f"/api/chat/{turn.conversation_id}/stream").status_code == 204, "their own, by its session"
    assert stranger.get(f"/api/chat/{uuid4()}/stream").status_code == 404
    assert len(bodies(operator, turn.conversation_id)) == 2


# As a stream


def test_the_stream_comes_piece_by_piece(wire: httpx2.Client, ready: Scope, operator: Scope) -> None:
    tap = Tap("One two ", "three.")
    with ModelServer(tap) as server:
        connect(ready, server.base)
        with wire.stream("POST", "/api/chat", json={"message": "Count", "stream": True}) as answer:
            told: list[Any] = []
            for event in events(answer):
                told.append(event)
                if written(told) == "One two ":  # the rest is said only now
                    tap.opened.set()
    assert kinds(told) == WHOLE and written(told) == "One two three."
    start, finish = told[0], told[-2]
    stored = message(operator, UUID(start["messageId"]))
    assert (stored.body, stored.status) == ("One two three.", "complete")
    assert start["messageMetadata"] == {"conversationId": str(stored.conversation_id)}
    assert finish["messageMetadata"]["runId"] == str(stored.run_id)
    assert (finish["messageMetadata"]["status"], finish["messageMetadata"]["inputTokens"]) == ("complete", 11)
    assert told[2]["id"] == told[3]["id"] == told[-4]["id"]


def test_accept_asks_for_a_stream_and_false_for_none(client: TestClient) -> None:
    answer = client.post("/api/chat", json={"message": "Hello"}, headers={"accept": "text/event-stream"})
    assert kinds(list(events(answer))) == WHOLE
    whole = client.post("/api/chat", json={"messages": [ui("Hello")], "stream": False})
    assert whole.json()["data"]["assistantMessage"]["status"] == "complete"


def test_the_answer_outlives_its_reader_and_is_resumed_from_its_first_piece(
    wire: httpx2.Client, ready: Scope, operator: Scope
) -> None:
    tap = Tap("First ", "last.")
    with ModelServer(tap) as server:
        connect(ready, server.base)
        with wire.stream("POST", "/api/chat", json={"message": "Go", "stream": True, "sessionId": "s-1"}) as answer:
            start = next(events(answer))
        tap.flowing.wait(10)
        where = start["messageMetadata"]["conversationId"]
        assert message(operator, UUID(start["messageId"])).status == "streaming"
        told: list[Any] = []
        by_id, by_session = (wire.stream("GET", f"/api/chat/{name}/stream") for name in (where, "s-1"))
        with by_id as late, by_session as other:
            for event in events(late):
                told.append(event)
                if written(told) == "First ":
                    tap.opened.set()
            assert written(list(events(other))) == "First last."
        assert kinds(told) == WHOLE and written(told) == "First last." and told[0]["messageId"] == start["messageId"]
    for name in (where, "s-1"):
        assert wire.get(f"/api/chat/{name}/stream").status_code == 204
    assert message(operator, UUID(start["messageId"])).body == "First last."


def test_stopping_keeps_what_came(wire: httpx2.Client, ready: Scope, operator: Scope) -> None:
    tap = Tap("So far ", "never")
    with ModelServer(tap) as server:
        connect(ready, server.base)
        told: list[Any] = []
        stopped: list[Any] = []
        with wire.stream("POST", "/api/chat", json={"message": "Go", "stream": True}) as answer:
            for event in events(answer):
                told.append(event)
                if event != "[DONE]" and event["type"] == "text-delta":
                    where = told[0]["messageMetadata"]["conversationId"]
                    stopped.append(wire.post(f"/api/conversations/{where}/stop").json())
        tap.opened.set()
        assert stopped[0] == {"success": True, "data": {"stopped": True}}
        assert kinds(told) == [*WHOLE[:5], "abort", *WHOLE[5:]]
        assert told[-2]["messageMetadata"]["status"] == "stopped"
        assert message(operator, UUID(told[0]["messageId"])).body == "So far "
        assert wire.post(f"/api/conversations/{where}/stop").json()["data"] == {"stopped": False}


def test_thoughts_tools_and_steps(wire: httpx2.Client, ready: Scope, operator: Scope) -> None:
    def script(body: dict[str, Any], number: int) -> Iterator[Any]:
        if number == 1:
            yield delta(reasoning_content="Let me ")
            yield delta(reasoning_content="look.")
            yield "Looking. "
            yield tool_call("list_decisions", '{"status": "active"}')
            yield from ending("tool_calls")
        else:
            yield "None yet."

    with ModelServer(script) as server:
        connect(ready, server.base)
        body = {"message": "What did we decide?", "projectId": str(project(operator)), "stream": True}
        with wire.stream("POST", "/api/chat", json=body) as answer:
            told = list(events(answer))
    assert kinds(told) == [
        "start", "start-step", "reasoning-start", "reasoning-delta", "reasoning-end", "text-start", "text-delta",
        "text-end", "tool-input-available", "tool-output-available", "finish-step", "start-step", "text-start",
        "text-delta", "text-end", "finish-step", "finish", "[DONE]",
    ]  # fmt: skip
    assert (written(told, "reasoning"), written(told)) == ("Let me look.", "Looking. None yet.")
    called, came = (one for one in told if one != "[DONE]" and one["type"].startswith("tool-"))
    assert (called["toolName"], called["input"]) == ("list_decisions", {"status": "active"})
    stored = message(operator, UUID(told[0]["messageId"]))
    kept = next(part for part in stored.parts if part["type"] == "tool-list_decisions")
    assert called["toolCallId"] == came["toolCallId"] == kept["toolCallId"] and came["output"] == kept["output"]
    assert len({one["id"] for one in told[:-1] if one["type"].endswith("-start")} - {None}) == 3


def test_a_failure_is_an_error_part(wire: httpx2.Client, ready: Scope, operator: Scope) -> None:
    connect(ready, "http://127.0.0.1:9/v1")
    with wire.stream("POST", "/api/chat", json={"message": "Hello", "stream": True}) as answer:
        told = list(events(answer))
    assert [kind for kind in kinds(told) if kind != "data-note"] == [
        "start", "start-step", "error", "finish-step", "finish", "[DONE]",
    ]  # fmt: skip
    stored = message(operator, UUID(told[0]["messageId"]))
    error = next(one for one in told if one["type"] == "error")
    assert error["errorText"] == stored.metadata["error"] and "Traceback" not in error["errorText"]
    assert [one["data"]["note"] for one in told[:-1] if one["type"] == "data-note" and one["transient"]]
    refused = wire.post("/api/chat", json={"message": "", "stream": True})
    assert (refused.status_code, refused.json()["error"]["field"]) == (422, "message")


def test_a_quiet_stream_beats(wire: httpx2.Client, ready: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nexus_core.watching.BEAT_SECONDS", 0.05)
    tap = Tap("", "At last.")
    with ModelServer(tap) as server:
        connect(ready, server.base)
        beats = 0
        with wire.stream("POST", "/api/chat", json={"message": "Wait", "stream": True}) as answer:
            for line in answer.iter_lines():
                beats += line.startswith(":")
                if beats == 3:
                    tap.opened.set()
    assert beats >= 3


def test_deleting_the_conversation_ends_the_stream(wire: httpx2.Client, ready: Scope) -> None:
    tap = Tap()
    with ModelServer(tap) as server:
        connect(ready, server.base)
        told: list[Any] = []
        with wire.stream("POST", "/api/chat", json={"message": "Go", "stream": True}) as answer:
            for event in events(answer):
                told.append(event)
                if event != "[DONE]" and event["type"] == "text-delta":
                    where = told[0]["messageMetadata"]["conversationId"]
                    assert wire.delete(f"/api/conversations/{where}").status_code == 200
        tap.opened.set()
    assert kinds(told)[-4:] == ["error", "finish-step", "finish", "[DONE]"]


def test_odd_characters_stay_within_their_event(wire: httpx2.Client, ready: Scope) -> None:
    odd = 'a\n\nb\u2028c\u2029d\x85e\0f "g" 👨‍👩‍👧 data: {'
    with ModelServer(lambda body, number: iter([odd])) as server:
        connect(ready, server.base)
        with wire.stream("POST", "/api/chat", json={"message": "Go", "stream": True}) as answer:
            assert written(list(events(answer))) == odd.replace("\0", "")


# useChat, as DefaultChatTransport sends it


def test_use_chat_sends_goes_on_regenerates_and_edits(wire: httpx2.Client, ready: Scope, operator: Scope) -> None:
    def post(trigger: str, *history: dict[str, Any], **more: Any) -> list[Any]:
        body = {"id": "Xk29-chat", "messages": list(history), "trigger": f"{trigger}-message"} | more
        with wire.stream("POST", "/api/chat", json=body) as answer:
            return list(events(answer))

    with ModelServer(echo) as server:
        connect(ready, server.base)
        first = post("submit", ui("Hello", "m-1"))
        where = UUID(first[0]["messageMetadata"]["conversationId"])
        reply = ui("Answer 1", first[0]["messageId"], "assistant")
        assert kinds(first) == WHOLE and written(first) == "Answer 1"
        assert written(post("submit", ui("Hello", "m-1"))) == "Answer 1" and len(server.bodies) == 1, "a retry"
        second = post("submit", ui("Hello", "m-1"), reply, ui("More", "m-2"))
        assert bodies(operator, where) == ["Hello", "Answer 1", "More", "Answer 2"]
        third = post("regenerate", ui("Hello", "m-1"), reply, ui("More", "m-2"), messageId=second[0]["messageId"])
        assert third[0]["messageId"] != second[0]["messageId"]
        assert bodies(operator, where) == ["Hello", "Answer 1", "More", "Answer 3"]
        post("regenerate", ui("Hello", "m-1"), reply, ui("More", "m-2"))
        post("regenerate", ui("Hello", "m-1"), reply, ui("More", "m-2"), messageId="m-2")
        assert bodies(operator, where) == ["Hello", "Answer 1", "More", "Answer 5"]
        post("submit", ui("Goodbye", "m-1"), messageId="m-1")
        assert bodies(operator, where) == ["Goodbye", "Answer 6"]
        by_id = post("submit", ui("By id", "m-9"), id=str(where))
        assert by_id[0]["messageMetadata"]["conversationId"] == str(where)
    kept = wire.get(f"/api/conversations/{where}/messages").json()["data"]
    assert (kept[0]["role"], kept[0]["parts"]) == ("user", [{"type": "text", "text": "Goodbye"}])


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 422, "message"),
        ({"messages": [ui("Hello", role="assistant")]}, 422, "messages"),
        ({"messages": [{"role": "user", "parts": [{"type": "file", "url": "data:,x"}]}]}, 422, "messages"),
        ({"messages": [{"role": "user", "parts": []}]}, 422, "message"),
        ({"messages": "Hello"}, 422, "messages"),
        ({"id": "new", "messages": [ui("Hello")], "trigger": "resume"}, 422, "trigger"),
    ],
)
def test_what_use_chat_can_not_send(client: TestClient, body: dict[str, Any], status: int, field: str) -> None:
    assert said(client, body, status)["field"] == field


def test_a_second_question_while_answering_is_busy(wire: httpx2.Client, ready: Scope) -> None:
    tap = Tap()
    with ModelServer(tap) as server:
        connect(ready, server.base)
        with wire.stream("POST", "/api/chat", json={"message": "Go", "stream": True}) as answer:
            told = events(answer)
            where = next(told)["messageMetadata"]["conversationId"]
            busy = wire.post("/api/chat", json={"message": "And?", "conversationId": where})
            assert (busy.status_code, busy.json()["error"]["code"]) == (409, "busy")
            tap.opened.set()
            assert list(told)[-1] == "[DONE]"
