"""A client that Nexus did not write: useChat, from npm; test_rest_docs runs OpenAI's and MCP's."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nexus_core.database import Scope
from nexus_core.sessions import COOKIE
from tests.api.conftest import Program, door, token
from tests.api.serving import served
from tests.nexus_core.conversing import connect, project
from tests.nexus_core.model_server import ModelServer, Tap, ending, tool_call

CLIENTS = Path(__file__).parent / "clients"
OFFLINE = re.compile(r"ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|E404|ENOVERSIONS")


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
        output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    begun, whole, tools = map(json.loads, [line, *output.splitlines()])
    assert begun == {"status": ["streaming", "streaming"], "texts": ["Count", "One two "]}
    assert whole["texts"] == [["Count", "One two three."]] * 2 and whole["metadata"]["inputTokens"] == 11
    kinds = ["step-start", "tool-list_decisions", "step-start", "text"]
    assert [part["type"] for part in tools["parts"]] == kinds and tools["error"] is None
    assert (tools["parts"][1]["state"], tools["parts"][1]["output"]) == ("output-available", [])
    assert [part["type"] for part in tools["stored"]] == kinds[1:]
