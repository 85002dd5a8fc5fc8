"""Clients that Nexus did not write: the documents' examples against the running application, useChat from npm."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nexus_core import api_tokens, signin
from nexus_core.database import ROOT, Scope, transaction
from nexus_core.sessions import COOKIE
from tests.api.conftest import Program, door, token
from tests.api.serving import served
from tests.api.test_served import Served, serve
from tests.nexus_core.conversing import connect, project
from tests.nexus_core.model_server import ModelServer, Tap, ending, tool_call

HERE, KEY = "http://localhost:8501", "nxs_your-token"
CLIENTS = Path(__file__).parent / "clients"
OFFLINE = re.compile(r"ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|E404|ENOVERSIONS")
__all__ = ["serve"]


def examples(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_the_documents_examples_run(serve: Callable[..., Served]) -> None:
    """OpenAI's client, the MCP client and curl, against the application as it is served to the machine's owner."""
    application = serve().ready()
    with transaction(signin.scope_for(signin.local_owner(), None, "cli")) as tx:
        key = api_tokens.create(tx, "examples")[1]
    commands = [
        [sys.executable, "-c", example] for page in ("openai.md", "mcp.md") for example in examples(page, "python")
    ]
    commands += [["bash", "-euc", example] for example in examples("openai.md", "bash")]
    assert len(commands) == 3
    written = [[part.replace(HERE, application.address).replace(KEY, key) for part in command] for command in commands]
    running = [subprocess.Popen(command, stdout=-1, stderr=-1, text=True) for command in written]
    done = [(process.communicate(timeout=60), process.returncode) for process in running]
    assert [code for _told, code in done] == [0, 0, 0], done
    openai, mcp, curl = (told[0] for told, _code in done)
    assert "['builtin']" in openai and "Ana" in openai and "total_tokens" in openai
    assert "'propose_memory_update'" in mcp and "'conversations': [" in mcp
    assert json.loads(curl)["choices"][0]["finish_reason"] == "stop"
    with application.client() as client:
        assert 'nexus_runs_total{kind="answer",runtime="built in",status="succeeded"}' in client.get("/metrics").text


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The folder of the npm clients, installed as their lock file says."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("no node: ai and @ai-sdk/react are not tried here")
    folder = tmp_path / "clients"
    shutil.copytree(CLIENTS, folder)
    command = [npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    if done.returncode and OFFLINE.search(done.stderr):
        pytest.skip("no npm registry: ai and @ai-sdk/react are not tried here")
    assert done.returncode == 0, done.stderr
    return folder


def test_use_chat_streams_resumes_and_shows_tools(
    installed: Path, program: Program, ready: Scope, operator: Scope
) -> None:
    tap = Tap("One two ", "three.")

    def script(body: dict[str, Any], number: int) -> Iterator[Any]:
        if number == 1:
            yield from tap(body, number)
        elif number == 2:
            yield tool_call("list_decisions", "{}")
            yield from ending("tool_calls")
        else:
            yield "None yet."

    with ModelServer(script) as server, served(door) as address:
        connect(ready, server.base)
        about = {"address": address, "cookie": f"{COOKIE}={token(operator)}", "project": str(project(operator))}
        command = ["node", "chat.mjs", json.dumps(about)]
        environment = os.environ | {"NODE_ENV": "development"}
        process = subprocess.Popen(command, cwd=installed, env=environment, stdout=-1, stderr=-1, text=True)
        assert process.stdout is not None
        line = process.stdout.readline()
        tap.opened.set()
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    begun, whole, tools = map(json.loads, [line, *output.splitlines()])
    assert begun == {"status": ["streaming", "streaming"], "texts": ["Count", "One two "]}
    assert whole["texts"] == [["Count", "One two three."]] * 2 and whole["metadata"]["inputTokens"] == 11
    kinds = ["step-start", "tool-list_decisions", "step-start", "text"]
    assert [part["type"] for part in tools["parts"]] == kinds and tools["error"] is None
    assert (tools["parts"][1]["state"], tools["parts"][1]["output"]) == ("output-available", [])
    assert [part["type"] for part in tools["stored"]] == kinds[1:]
