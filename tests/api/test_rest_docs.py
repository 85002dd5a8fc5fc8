"""docs/rest.md, openai.md and mcp.md tell the truth: what they show is run against the real application."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from nexus_core import api_tokens, signin
from nexus_core.database import ROOT, transaction
from tests.serving import running

PAGE = (ROOT / "docs" / "rest.md").read_text("utf-8")
CONTRACT = """
GET /health
GET POST /api/agents
GET PATCH DELETE /api/agents/{id}
GET /api/conversations
GET /api/conversations/active
GET /api/conversations/{id}/messages
GET PUT /api/projects/{id}/memory
GET POST /api/projects/{id}/conversations
GET PATCH /api/project-conversations/{id}
GET POST /api/project-conversations/{id}/messages
GET POST /api/projects/{id}/assistant-runs
POST GET /api/projects
POST GET /api/projects/{id}/tasks
POST /api/chat
"""
MANAGED = 27
"""Answers of the page's last three sections."""
HERE, KEY = "http://localhost:8501", "nxs_your-token"
SERVER = f"NEXUS={HERE}\n"


@pytest.fixture
def address(database_url: str, tmp_path: Path) -> Iterator[str]:
    """Where Nexus is."""
    with running(tmp_path / "log") as (address, _server):
        yield address


@pytest.fixture
def printed(address: str, tmp_path: Path) -> list[str]:
    """What the commands of the page print."""
    commands = "".join(re.findall(r"^```bash\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
    assert commands.startswith(SERVER)
    script = tmp_path / "commands.sh"
    here = commands.replace(SERVER, f"NEXUS={address}\n")
    script.write_text(
        "set -euo pipefail\n" + re.sub(r"^(curl|post|patch|upload) ", r"echo; \1 ", here, flags=re.MULTILINE)
    )
    done = subprocess.run(["bash", str(script)], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")


def test_the_commands_do_what_the_page_says(printed: list[str]) -> None:
    told = [json.loads(line) for line in printed if line.startswith(("{", "["))]
    enveloped = [one["data"] for one in told if isinstance(one, dict) and "success" in one]
    assert all(one["success"] for one in told if isinstance(one, dict) and "success" in one)
    enveloped, managed = enveloped[:-MANAGED], enveloped[-MANAGED:]
    _managed(managed)
    health, ana, active, ada, listed, stopped, *of_conversations, decided, begun, made = enveloped
    assert begun == {"begun": True} and [(one["fromSeq"], one["toSeq"]) for one in made] == [(1, 4)]
    found, tagged, by_tag, fork, trashed, trash, restored, *others = of_conversations
    one, versions, gauge, going, changed, words, imported, links, withdrawn, *of_tokens = others
    assert versions == [one] and (gauge["mode"], going["conversations"], changed) == ("session", 1, {"changed": 1})
    assert [word["name"] for word in words] == ["demo", "intro"]
    by_token, revoked, me, sessions = of_tokens
    assert [one["name"] for one in by_token] == ["Ada"] and set(revoked) == {"id"} and printed.count("401") == 1
    assert (me["role"], me["isLocalOwner"], sessions) == ("admin", True, [])
    first = restored["id"]
    assert first in {one["id"] for one in found} and tagged["tags"] == ["intro"]
    assert [one["id"] for one in by_tag] == [one["id"] for one in trash] == [trashed["id"]] == [first]
    assert imported["known"] == len(imported["conversations"]) > 1 and not imported["failed"]
    assert [one["id"] for one in links] == [withdrawn["id"]] and links[0]["views"] == 1
    assert {"200", "404"} <= set(printed) and any(line.startswith("> My name is Ana") for line in printed)
    assert fork["metadata"]["forked_from"]["conversation_id"] == first
    assert health["status"] == health["database"] == "ok"
    assert active["messages"][0]["content"] == "My name is Ana"
    assert active["id"] == ana["conversationId"] != ada["conversationId"]
    assert [one["sessionId"] for one in listed] == ["my-session"] and stopped == {"stopped": False}
    assert "Lisbon" in decided["assistantMessage"]["content"] and decided["run"]["costEstimate"] == 0
    plain = [one for one in told if isinstance(one, list) or "success" not in one]
    replaced, memory, message, messages, told_of, talk, talks, projects, tasks, run, runs, started, ended, *later = (
        plain
    )
    diff, restored, revisions, then, _said, task, asked, proposal, accepted, *later = later
    weight, known, forgotten, ledger, whole, folded, rules, due = later
    assert weight[0]["tokens"] > 0 and known["entries"][0]["field"] and forgotten["open_questions"] == []
    assert ledger["after"] and whole["run"]["id"] == ended["id"] and len(ledger["runs"]) == 1
    assert told_of == talk == talks[0] and talk["summary_md"] and len(talks) == 1
    assert [one["name"] for one in projects] == ["Apollo"] and [one["id"] for one in tasks] == [task["id"]]
    assert [rule["delete_after_days"] for rule in rules] == [730] and set(folded) == {"run_id"}
    assert [(one["archives"], one["deletes"]) for one in due] == [(0, 0)] and "204" in printed
    assert replaced == memory and memory["version"] == 2
    assert [change["kind"] for change in diff] == ["changed", "added"]
    assert (restored["version"], [one["version"] for one in revisions]) == (3, [3, 2, 1]) and then["version"] == 3
    assert set(asked) == {"run_id"} and proposal["status"] == "pending"
    assert accepted["memory"]["version"] == 4 and accepted["proposal"]["status"] == "accepted"
    assert "small engine" in json.dumps(accepted["memory"])
    assert messages == [message] and message["body"] == "Which engine?"
    assert runs == [run] and run["cost_estimate"] is None and task["status"] == "done"
    assert (started["status"], ended["status"], ended["id"]) == ("running", "succeeded", started["id"])
    exported = [line.split(",") for line in printed if ",succeeded,external," in line]
    assert {row[0] for row in exported} == {run["id"], ended["id"]}
    events = [line.removeprefix("data: ") for line in printed if line.startswith("data: ")]
    assert events[-1] == "[DONE]" and "Ana" in "".join(json.loads(one).get("delta", "") for one in events[:-1])


def _managed(told: list[Any]) -> None:
    """The sections on costs, settings and the audit."""
    costs, _failed, choices, table, view, views, missing, price, prices, changes, undone, *settings = told
    assert costs["total"]["runs"] == sum(one["runs"] for one in costs["series"]) > 0
    assert sum(row["cost"] or 0 for row in table["rows"]) == costs["total"]["cost"] and choices["values"]["model"]
    assert views == [view] and [one["model"] for one in missing] == ["openai/gpt-4o-mini"]
    assert prices["own"] == [price] and price["version"] == 1
    assert sum(one["runs"] for one in changes) == undone["runs"] > 0 and undone["undoneAt"]
    mine, workspace, _providers, profile, tried, budget, budgets, deleted, *agents, entries, proof, checks, proved = (
        settings
    )
    assert mine[0]["slug"] == "default" and workspace["timeZone"] == "Europe/Berlin"
    assert profile["name"] == "What we said" and tried["answer"] and tried["run"]["status"] == "succeeded"
    assert (budgets, deleted, budget["amount"]) == ([budget], {"id": budget["id"]}, 250)
    changed, copy, known, gone = agents
    assert changed == copy and copy in known and (copy["name"], gone["id"]) == ("Bea", copy["id"])
    assert [entry["action"] for entry in entries] == ["delete", "set"] and proof["holds"]
    assert {one["state"] for one in proved} == {"well"} and len(checks) == 6


def test_the_page_shows_everything_that_the_contract_names() -> None:
    """So that each of its addresses is asked for above, by curl, without a token."""
    promised = {
        (method, path.replace("{id}", "{}"))
        for methods, path in re.findall(r"((?:[A-Z]+ )+)(/\S+)", CONTRACT)
        for method in methods.split()
    }
    commands = " ".join(re.findall(r"^```bash\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)).replace("\\\n", " ")
    said = re.findall(r"\b(curl|post|patch)\b([^\n;|]*?)\$NEXUS(/[^\s\"'?|)]*)", commands)
    methods = {"post": "POST", "patch": "PATCH"}
    shown = {
        (methods.get(how) or re.findall(r"-X (\w+)", options + " -X GET")[0], re.sub(r"\$[A-Z]+", "{}", path))
        for how, options, path in said
    }
    assert promised - shown == set() and len(promised) == 24


def test_the_owners_doors_do_what_their_pages_say_and_are_closed_to_other_sites(address: str) -> None:
    _examples_run(address)

    def status(*options: str) -> str:
        said = ("-d", '{"message": "x"}', "-o", "/dev/null", "-w", "%{http_code}", f"{address}/api/chat")
        return subprocess.run(["curl", "-s", *options, *said], capture_output=True, text=True, timeout=60).stdout

    json_ = ("-H", "content-type: application/json")
    assert status(*json_) == "200"
    for attack in (
        (),  # a form, as a page could send it
        ("-H", "content-type: text/plain"),
        (*json_, "-H", "origin: https://evil.example"),
        (*json_, "-H", "sec-fetch-site: cross-site"),
    ):
        assert status(*attack) == "403", attack
    assert status(*json_, "-H", "host: evil.example") == "421"
    assert status(*json_, "-H", "x-forwarded-for: 203.0.113.9") == "401"


def _examples_run(address: str) -> None:
    """The other pages' examples: OpenAI's client, the MCP client and curl; and /metrics counts what they did."""
    with transaction(signin.scope_for(signin.local_owner(), None, "cli")) as tx:
        key = api_tokens.create(tx, "examples")[1]
    commands = [[sys.executable, "-c", one] for page in ("openai.md", "mcp.md") for one in _blocks(page, "python")]
    commands += [["bash", "-euc", one] for one in _blocks("openai.md", "bash")]
    written = [[part.replace(HERE, address).replace(KEY, key) for part in command] for command in commands]
    running = [subprocess.Popen(command, stdout=-1, stderr=-1, text=True) for command in written]
    done = [(process.communicate(timeout=120), process.returncode) for process in running]
    assert [code for _told, code in done] == [0, 0, 0], done
    openai, mcp, curl = (told[0] for told, _code in done)
    assert "['builtin']" in openai and "Ana" in openai and "total_tokens" in openai
    assert "'propose_memory_update'" in mcp and "'conversations': [" in mcp
    assert json.loads(curl)["choices"][0]["finish_reason"] == "stop"
    counted = httpx2.get(f"{address}/metrics").text
    assert 'nexus_runs_total{kind="answer",runtime="built in",status="succeeded"}' in counted


def _blocks(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
