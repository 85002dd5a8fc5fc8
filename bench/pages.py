"""How long each page's script takes, as a browser waits for it: on the demo workspace, and on a full store."""

import argparse
import asyncio
import json
import statistics
import sys
from datetime import UTC, datetime
from typing import Any

import httpx2
import psycopg

from bench import corpus, ledger
from bench.cockpit import Cockpit, Times
from bench.load import nexus
from bench.store import fresh_database
from nexus_core import agents, conversations, demo, people, projects, runs_list, signin
from nexus_core.database import Scope, transaction
from nexus_core.ranges import make

PLAIN = ("costs", "runs", "conversations", "agents", "audit", "models", "people", "tokens", "settings", "health")


def places(scope: Scope, workspace: str, zone: str) -> dict[str, tuple[str, str]]:
    """Every page by name: its path and its query, which opens something of the workspace where a page can."""
    with transaction(scope) as tx:
        project = projects.list_(tx)[0].id
        talk = next(one for one in conversations.recent(tx, project, limit=200) if one.next_seq > 4)
        agent = agents.list_(tx)[0].id
        run = runs_list.page(tx, make("365d", zone, datetime.now(UTC))).runs[0].id
    here = f"workspace={workspace}"
    of_talk = f"{here}&project={project}&conversation={talk.id}" + (f"&agent={talk.agent_id}" if talk.agent_id else "")
    return {
        "home": ("", f"{here}&project={project}"),
        "chat": ("chat", of_talk),
        "project": ("project", f"{here}&project={project}"),
        **{name: (name, here) for name in PLAIN},
        "costs_365": ("costs", f"{here}&range=365d"),
        "found": ("conversations", f"{here}&q=contract"),
        "conversation": ("conversations", f"{here}&open={talk.id}"),
        "agent": ("agents", f"{here}&agent={agent}"),
        "run": ("runs", f"{here}&run={run}"),
        "prices": ("models", f"{here}&tab=prices"),
    }


def owner(address: str) -> str:
    """The cookie of this machine's owner, whom the first page signs in."""
    with httpx2.Client(headers={"accept": "text/html"}, follow_redirects=True) as browser:
        browser.get(address).raise_for_status()
        return "; ".join(f"{name}={value}" for name, value in browser.cookies.items())


async def opened(address: str, cookie: str, page: str, query: str, rounds: int) -> float:
    """Median milliseconds of a page in a new tab each time, after one that warms it; a page that fails ends it all."""
    times = Times()
    for _round in range(rounds + 1):
        tab = await Cockpit.open(address, cookie, page, query, times)
        if tab.failures:
            raise SystemExit(f"{page}?{query}: {tab.failures}")
        await tab.close()
    return round(statistics.median(times.whole[1:]) * 1000, 1)


def measure_here(scope: Scope, workspace: str, zone: str, rounds: int = 7) -> dict[str, float]:
    """Milliseconds of every page of a workspace on the database that the settings name."""
    found = {}
    with nexus(NEXUS_AUTH="local") as (address, _process):
        cookie = owner(address)
        for name, (page, query) in places(scope, workspace, zone).items():
            found[name] = asyncio.run(opened(address, cookie, page, query, rounds))
            sys.stderr.write(f"{workspace} {name} {found[name]} ms\n")
    return found


def of_demo() -> dict[str, float]:
    """The pages of the demo workspace."""
    with fresh_database():
        there = demo.load(signin.scope_for(signin.local_owner(), None, "cli"))
        return measure_here(there, demo.SLUG, ledger.ZONE)


def of_full(messages: int, runs: int) -> dict[str, float]:
    """The pages of a workspace with so many messages and runs."""
    with fresh_database() as url, psycopg.connect(url, autocommit=True) as admin:
        scope = signin.scope_for(signin.local_owner(), None, "cli")
        with transaction(Scope(scope.workspace_id, scope.user_id, "system")) as tx:
            others = [people.create(tx, f"p{n}@example.com", f"Person {n}", "operator").id for n in range(5)]
            slug = tx.connection.exec_driver_sql("SELECT slug FROM workspaces").scalar_one()
        corpus.fill(admin, scope, messages, others)
        ledger.fill(url, scope, runs, datetime.now(UTC))
        return measure_here(scope, slug, ledger.ZONE)


def main() -> None:
    """Print the figures, or with --json one object."""
    parser = argparse.ArgumentParser(prog="python -m bench.pages", description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000, help="messages of the full store")
    parser.add_argument("--runs", type=int, default=10_000_000, help="runs of the full store; 0: the demo alone")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args()
    found: dict[str, Any] = {"pages": of_demo()}
    if arguments.runs:
        full = of_full(arguments.messages, arguments.runs)
        found |= {"messages": arguments.messages, "runs": arguments.runs, "pages_full": full}
    if arguments.json:
        print(json.dumps(found))
        return
    for name, took in found["pages"].items():
        print(f"{name:>14} {took:>8.1f} ms on the demo" + (f"{full[name]:>10.1f} ms full" if arguments.runs else ""))


if __name__ == "__main__":
    main()
