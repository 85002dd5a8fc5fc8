"""/mcp through the official client, over HTTP: the tools, roles, strangers and other sites."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID, uuid4

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from nexus_core import api_tokens, memories, proposals, recall, runs
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.sessions import COOKIE
from tests.api.conftest import Program, door, token
from tests.api.serving import served
from tests.nexus_core.conversing import ask, project
from tests.store import ask as rows

Assistant = Callable[..., Any]
NAMES = (
    "search_memory", "get_project_memory", "propose_memory_update", "list_conversations", "read_conversation",
    "record_run",
)  # fmt: skip
READING = {"search_memory", "get_project_memory", "list_conversations", "read_conversation"}


@pytest.fixture
def address(program: Program) -> Iterator[str]:
    with served(door) as found:
        yield found


@pytest.fixture
def assistant(address: str) -> Assistant:
    """`assistant(scope, work, mode)`: what `work(client)` gives, as the person of a scope."""

    def working(scope: Scope, work: Callable[[Client], Any], mode: str = "auto") -> Any:
        async def connected() -> Any:
            cookies = {COOKIE: token(scope)}
            async with httpx2.AsyncClient(cookies=cookies, timeout=30) as http:
                way = streamable_http_client(f"{address}/mcp", http_client=http)
                async with Client(way, mode=mode) as client:
                    return await work(client)

        return anyio.run(connected)

    return working


def use(assistant: Assistant, scope: Scope, name: str, **given: Any) -> Any:
    """What a tool gives; a refusal as its sentence."""

    async def work(client: Client) -> Any:
        return await client.call_tool(name, given)

    told = assistant(scope, work)
    return told.content[0].text if told.is_error else told.structured_content


def test_a_coding_assistant_shares_the_project_s_memory(
    assistant: Assistant, operator: Scope, viewer: Scope, other_scope: Scope
) -> None:
    apollo = project(operator, "Apollo")
    with transaction(operator) as tx:
        decided = {"id": "d1", "what": "Launch from Kourou", "why": "near the equator", "status": "active"}
        memories.replace(tx, apollo, version=None, decisions=[decided], summary_md="A rocket.")
    for mode in ("auto", "legacy"):

        async def look(client: Client) -> Any:
            return await client.list_tools(), client.instructions

        listed, instructions = assistant(viewer, look, mode)
        assert tuple(tool.name for tool in listed.tools) == NAMES and "get_project_memory" in instructions
        assert {tool.name for tool in listed.tools if tool.annotations.read_only_hint} == READING
    memory = use(assistant, viewer, "get_project_memory", project="apollo")
    assert memory["summary_md"] == "A rocket." and memory["decisions"][0]["entry"]["what"] == "Launch from Kourou"
    key = memory["decisions"][0]["key"]
    changes = [
        {"action": "add", "part": "risks", "text": "Strikes in the harbour", "detail": "Book early"},
        {"action": "close", "part": "decisions", "entry": key},
        {"action": "add", "part": "decisions", "text": "Launch from Kourou"},
        {"action": "edit", "part": "summary", "text": "A rocket to the moon."},
    ]
    made = use(assistant, operator, "propose_memory_update", project=str(apollo), changes=changes)
    assert made["proposed"] == 3, "what is known is left out"
    again = use(assistant, operator, "propose_memory_update", project="Apollo", changes=changes)
    assert again["proposal_id"] is None
    with transaction(operator) as tx:
        waiting = proposals.get(tx, UUID(made["proposal_id"]))
        assert (waiting.status, waiting.created_by) == ("pending", operator.user_id)
        assert [(line.op, line.field) for line in waiting.lines] == [
            ("add", "risks"), ("close", "decisions"), ("edit", "summary_md"),
        ]  # fmt: skip
        assert memories.get(tx, apollo).version == memory["version"], "a person accepts, nobody else"
    recorded = use(
        assistant, operator, "record_run", project="Apollo", model="anthropic/claude-5", input_tokens=10,
        output_tokens=5, cost_estimate=0.25, prompt_summary="Write the launcher",
    )  # fmt: skip
    with transaction(operator) as tx:
        run = runs.get(tx, UUID(recorded["run_id"]))
    assert (run.kind, run.status, str(run.cost_estimate), run.duration_ms) == (
        "external",
        "succeeded",
        "0.2500000000",
        None,
    )
    doors = rows(operator, "SELECT DISTINCT door FROM audit WHERE action = 'create' AND entity IN ('run', 'proposal')")
    assert [row[0] for row in doors] == ["mcp"]
    for name, given, said in (
        ("get_project_memory", {"project": "Gemini"}, "There are: Apollo"),
        ("get_project_memory", {}, "project: Field required"),
        ("get_project_memory", {"project": "Apollo", "x": 1}, "x: Extra inputs"),
        ("propose_memory_update", {"project": "Apollo", "changes": [changes[1] | {"entry": "no"}]}, "changes.0"),
        ("record_run", {"project": "Apollo", "model": "m", "input_tokens": -1}, "input_tokens"),
        ("read_conversation", {"conversation_id": str(uuid4())}, "no such"),
        ("erase_everything", {}, "There is no tool"),
    ):
        assert said in use(assistant, operator, name, **given), name
    assert "operator role" in use(assistant, viewer, "propose_memory_update", project="Apollo", changes=changes)
    assert "operator role" in use(assistant, viewer, "record_run", project="Apollo", model="m")
    assert "There are: none" in use(assistant, other_scope, "get_project_memory", project=str(apollo))


def test_conversations_are_found_and_read(assistant: Assistant, operator: Scope, viewer: Scope) -> None:
    apollo = project(operator, "Apollo")
    turn, _answer = ask(operator, "Why do we launch from Kourou? Near the equator.", place=Place(apollo))
    secret, _answer = ask(operator, "My own kourou secret")
    recall.index_pending()
    listed = use(assistant, viewer, "list_conversations", project="Apollo")["conversations"]
    assert [one["conversation_id"] for one in listed] == [str(turn.conversation_id)] and listed[0]["messages"] == 2
    read = use(assistant, viewer, "read_conversation", conversation_id=str(turn.conversation_id), limit=1)
    assert (read["earlier"], read["messages"][0]["role"]) == (1, "assistant")
    earlier = use(
        assistant, viewer, "read_conversation", conversation_id=str(turn.conversation_id),
        before=read["messages"][0]["message"],
    )  # fmt: skip
    assert earlier["messages"][0]["text"].startswith("Why do we launch")
    found = use(assistant, viewer, "search_memory", query="equator launch", project="Apollo")
    assert found["passages"][0]["conversation_id"] == str(turn.conversation_id)
    mine = use(assistant, operator, "search_memory", query="kourou")["passages"]
    assert {one["conversation_id"] for one in mine} == {str(turn.conversation_id), str(secret.conversation_id)}
    theirs = use(assistant, viewer, "search_memory", query="kourou")["passages"]
    assert [one["conversation_id"] for one in theirs] == [str(turn.conversation_id)]
    assert "no such" in use(assistant, viewer, "read_conversation", conversation_id=str(secret.conversation_id))


def test_strangers_other_sites_and_other_methods_are_refused(address: str, operator: Scope) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    kinds = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    with httpx2.Client(base_url=address, headers=kinds, timeout=30) as anyone:
        assert anyone.post("/mcp", json=call).status_code == 401
        anyone.cookies = httpx2.Cookies({COOKIE: token(operator)})
        assert len(anyone.post("/mcp", json=call).json()["result"]["tools"]) == 6
        assert anyone.post("/mcp/", json=call).status_code == 200
        apollo = project(operator, "Apollo")
        project(operator, "Gemini")
        with transaction(operator) as tx:
            key = api_tokens.create(tx, "assistant", role="viewer", project_ids=[apollo])[1]
        anyone.cookies = httpx2.Cookies()
        anyone.headers["authorization"] = f"Bearer {key}"
        asked = {"name": "get_project_memory", "arguments": {"project": "Gemini"}}
        told = anyone.post("/mcp", json=call | {"method": "tools/call", "params": asked}).json()["result"]
        assert told["isError"] and told["content"][0]["text"].endswith("There are: Apollo.")
        del anyone.headers["authorization"]
        anyone.cookies = httpx2.Cookies({COOKIE: token(operator)})
        assert anyone.post("/mcp", json=call, headers={"origin": "https://evil.example"}).status_code == 403
        assert anyone.post("/mcp", json=call, headers={"sec-fetch-site": "cross-site"}).status_code == 403
        for method in ("GET", "DELETE"):
            refused = anyone.request(method, "/mcp")
            assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
        assert anyone.post("/mcp?workspace=nowhere", json=call).json()["error"]["code"] == "not_found"
        assert anyone.post("/mcp", content=b"{" * 5_000_000).status_code == 413
        assert anyone.post("/mcp", content=b"{").status_code == 400
