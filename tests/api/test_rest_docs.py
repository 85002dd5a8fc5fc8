"""docs/rest.md tells the truth: its commands are run as they stand, against the real application without a token."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from nexus_core.database import ROOT
from tests.api.test_served import Served, serve

PAGE = (ROOT / "docs" / "rest.md").read_text("utf-8")
SERVER = "NEXUS=http://localhost:8501\n"
__all__ = ["serve"]


@pytest.fixture
def printed(serve: Callable[..., Served], tmp_path: Path) -> list[str]:
    """What the commands of the page print."""
    served = serve().ready()
    commands = "".join(re.findall(r"^```bash\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
    assert commands.startswith(SERVER)
    script = tmp_path / "commands.sh"
    here = commands.replace(SERVER, f"NEXUS={served.address}\n")
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
    health, ana, active, ada, listed, stopped, *of_conversations, decided, begun, made = enveloped
    assert begun == {"begun": True} and [(one["fromSeq"], one["toSeq"]) for one in made] == [(1, 4)]
    found, tagged, by_tag, fork, trashed, trash, restored, imported, links, withdrawn, *of_tokens = of_conversations
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
    replaced, memory, message, messages, run, runs, started, ended, *later = plain
    diff, restored, revisions, then, _said, task, asked, proposal, accepted, folded, rules, due = later
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


def test_the_owners_door_is_closed_to_other_sites(serve: Callable[..., Served]) -> None:
    served = serve().ready()

    def status(*options: str) -> str:
        said = ("-d", '{"message": "x"}', "-o", "/dev/null", "-w", "%{http_code}", f"{served.address}/api/chat")
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
