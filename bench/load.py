"""Many people at once on one process: pages over WebSockets and programs over HTTP, an answer streaming to each."""

import argparse
import asyncio
import json
import os
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import httpx2
import psutil

from bench.cockpit import PATIENCE, Cockpit, Times
from bench.paced import word
from bench.store import fresh_database
from nexus_core import passwords, people, profiles, signin
from nexus_core.database import ROOT, Scope, transaction

PASSWORD = "correct horse battery"
CLICK_SECONDS = 10.0


@dataclass
class Load:
    """What is asked for: `people`, of whom `programs` stream over HTTP and the others in the cockpit; answers of
    `seconds` at `pace` chunks a second, begun within `spread` seconds.
    """

    people: int = 50
    programs: int = 10
    seconds: float = 30.0
    pace: float = 20.0
    spread: float = 10.0

    @property
    def chunks(self) -> int:
        """Chunks of one answer."""
        return int(self.seconds * self.pace)


@dataclass
class Found:
    """What was met: times in seconds, memory in bytes; `lost` counts chunks that a page, a program or a row lacks.

    `cores` is how much of one the process used, on average, while answers streamed.
    """

    times: Times = field(default_factory=Times)
    first: list[float] = field(default_factory=list)
    lost: int = 0
    before: int = 0
    most: int = 0
    cores: float = 0.0


@contextmanager
def paced(load: Load) -> Iterator[str]:
    """The address of the model, in a process of its own."""
    command = [sys.executable, "-m", "bench.paced", str(load.pace), str(load.chunks)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as model:
        assert model.stdin is not None
        assert model.stdout is not None
        yield f"http://127.0.0.1:{model.stdout.readline().strip()}/v1"
        model.stdin.close()


@contextmanager
def nexus(**environment: str) -> Iterator[tuple[str, psutil.Process]]:
    """One process of Nexus, as `serve` starts it, once it answers: its address and the process."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryFile("w+") as log:
        settings = {"NEXUS_AUTH": "password", "PORT": str(port), "NEXUS_ENV_FILE": os.devnull, "OPENAI_API_KEY": "none"}
        command = [sys.executable, "-m", "nexus_core", "serve"]
        served = subprocess.Popen(
            command, cwd=ROOT, env=os.environ | settings | environment, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(f"{address}/health", served)
            yield address, psutil.Process(served.pid)
        finally:
            served.terminate()
            served.wait(30)
            log.seek(0)
            sys.stderr.write(log.read())


def _wait_for(url: str, served: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and served.poll() is None:
        try:
            if httpx2.get(url).status_code == 200:
                return
        except httpx2.TransportError:
            time.sleep(0.1)
    raise SystemExit("Nexus did not start; its log is above")


def furnish(base: str, count: int) -> list[str]:
    """Make people who may chat, and the model's profile everybody's; their e-mail addresses."""
    scope = signin.scope_for(signin.local_owner(), None, "cli")
    hashed = passwords.hash_(PASSWORD)
    emails = [f"person{number}@example.com" for number in range(count)]
    with transaction(scope) as tx:
        made = profiles.save(tx, slug="paced", name="Paced", model="openai/paced", api_base=base)
        profiles.make_default(tx, made.id)
    with transaction(Scope(scope.workspace_id, scope.user_id, "system")) as tx:
        for number, email in enumerate(emails):
            people.create(tx, email, f"Person {number}", "operator", password_hash=hashed)
    return emails


async def sign_in(address: str, email: str, number: int) -> str:
    """The cookie of a person who signs in by the form, from a machine of their own behind a proxy on this one."""
    came_from = f"10.0.{number // 250}.{number % 250 + 1}"
    async with httpx2.AsyncClient(headers={"origin": address, "x-forwarded-for": came_from}) as browser:
        answer = await browser.post(f"{address}/sign-in", data={"email": email, "password": PASSWORD, "next": "/"})
        if answer.status_code != HTTPStatus.SEE_OTHER:
            raise SystemExit(f"sign-in: {answer.status_code} {answer.text}")
        return "; ".join(f"{name}={value}" for name, value in browser.cookies.items())


class Bench:
    """The clients of one measurement."""

    def __init__(self, address: str, load: Load) -> None:
        self.address, self.load, self.found = address, load, Found()

    async def person(self, cookie: str, number: int, begin: asyncio.Event, opened: asyncio.Semaphore) -> None:
        """Open the chat, ask, click now and then while the answer comes, and see it to its end."""
        tag = f"p{number}"
        async with opened:
            tab = await Cockpit.open(self.address, cookie, "chat", "", self.found.times)
        await begin.wait()
        await asyncio.sleep(random.uniform(0, self.load.spread))
        asked = time.perf_counter()
        first: list[float] = []
        mark = word(tag, 0).strip()

        def watch(text: str) -> None:
            if mark in text and not first:
                first.append(time.perf_counter() - asked)

        tab.watchers.append(watch)
        await tab.say(f"Tell me a long story about {tag}")
        clicks = asyncio.create_task(self._clicks(tab))
        last = word(tag, self.load.chunks - 1).strip()
        async with asyncio.timeout(self.load.seconds + PATIENCE):
            while not tab.at_rest or not any(last in text for text in tab.shown.values()):
                await asyncio.sleep(0.1)
        clicks.cancel()
        self.found.first += first
        self._count(tag, " ".join(tab.shown.values()))
        await tab.close()

    async def program(self, cookie: str, number: int, begin: asyncio.Event) -> None:
        """Ask over HTTP, and read the stream to its end."""
        tag = f"p{number}"
        headers = {"cookie": cookie, "origin": self.address}
        await begin.wait()
        await asyncio.sleep(random.uniform(0, self.load.spread))
        asked, text = time.perf_counter(), ""
        ask = {"message": f"Tell me a long story about {tag}", "sessionId": tag, "stream": True}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as client,
            client.stream("POST", f"{self.address}/api/chat", json=ask) as answer,
        ):
            answer.raise_for_status()
            async for line in answer.aiter_lines():
                said = json.loads(line.removeprefix("data: ")) if line.startswith("data: {") else {}
                if said.get("type") == "text-delta":
                    if not text:
                        self.found.first.append(time.perf_counter() - asked)
                    text += said["delta"]
        self._count(tag, text)

    def _count(self, tag: str, text: str) -> None:
        seen = set(re.findall(rf"\b{tag}w\d{{4}}\b", text))
        self.found.lost += sum(word(tag, number).strip() not in seen for number in range(self.load.chunks))

    async def _clicks(self, tab: Cockpit) -> None:
        await asyncio.sleep(random.uniform(0, CLICK_SECONDS))
        while True:
            await tab.click()
            await asyncio.sleep(CLICK_SECONDS)


async def _warm(address: str, cookie: str) -> None:
    """Load the models' library and every page once, as a process that has run for a minute has."""
    tab = await Cockpit.open(address, cookie, "chat", "", Times())
    await tab.say("Tell me a long story about warmth")
    async with asyncio.timeout(PATIENCE):
        while not any("warmthw0000" in text for text in tab.shown.values()):
            await asyncio.sleep(0.1)
    await tab.close()


async def _run(address: str, process: psutil.Process, load: Load, emails: list[str]) -> Found:
    bench = Bench(address, load)
    cookies = [await sign_in(address, email, number) for number, email in enumerate(emails)]
    await _warm(address, cookies.pop())
    bench.found.before = process.memory_info().rss
    begin, opened = asyncio.Event(), asyncio.Semaphore(4)
    everybody = [
        bench.program(cookie, n, begin) if n < load.programs else bench.person(cookie, n, begin, opened)
        for n, cookie in enumerate(cookies)
    ]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(each) for each in everybody]
        while len(bench.found.times.whole) < load.people - load.programs:
            await asyncio.sleep(0.1)
        sys.stderr.write(f"{load.people} people are in and ask now\n")
        began, used = time.perf_counter(), sum(process.cpu_times()[:2])
        begin.set()
        while not all(task.done() for task in tasks):
            bench.found.most = max(bench.found.most, process.memory_info().rss)
            await asyncio.sleep(0.5)
        bench.found.cores = (sum(process.cpu_times()[:2]) - used) / (time.perf_counter() - began)
    return bench.found


def _stored_without(load: Load) -> int:
    """Chunks that the stored answers lack."""
    with transaction(Scope.system()) as tx:
        rows = tx.connection.exec_driver_sql(
            "SELECT body FROM public.messages WHERE role = 'assistant' AND status = 'complete'"
        )
        stored = set(re.findall(r"\bp\d+w\d{4}\b", " ".join(row[0] for row in rows)))
    return sum(word(f"p{n}", k).strip() not in stored for n in range(load.people) for k in range(load.chunks))


def measure(load: Load) -> dict[str, Any]:
    """All figures of a load on a fresh database."""
    with fresh_database():
        return measure_here(load)


def measure_here(load: Load) -> dict[str, Any]:
    """All figures of a load on the database that the settings name, which nobody has chatted in."""
    with paced(load) as base:
        emails = furnish(base, load.people + 1)
        with nexus() as (address, process):
            found = asyncio.run(_run(address, process, load, emails))
    return {
        "people": load.people,
        "lost_chunks": found.lost + _stored_without(load),
        "script_p95_ms": p95(found.times.whole),
        "first_chunk_p95_ms": p95(found.first),
        "rss_per_session_mb": round((found.most - found.before) / load.people / 1024**2, 2),
        "script_median_ms": round(statistics.median(found.times.whole) * 1000),
        "scripts": len(found.times.whole),
        "look_p95_ms": p95(found.times.fragments),
        "looks": len(found.times.fragments),
        "cores": round(found.cores, 2),
    }


def p95(seconds: list[float]) -> int:
    """The 95th percentile, in whole milliseconds."""
    return round(statistics.quantiles(seconds, n=20, method="inclusive")[-1] * 1000)


def main() -> None:
    """Print the figures, or with --json the promised ones as JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.load", description=__doc__)
    parser.add_argument("--people", type=int, default=50, help="how many stream at once")
    parser.add_argument("--programs", type=int, help="how many of them are programs, over HTTP (default: a fifth)")
    parser.add_argument("--seconds", type=float, default=30.0, help="how long one answer streams")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args()
    programs = arguments.people // 5 if arguments.programs is None else arguments.programs
    found = measure(Load(arguments.people, min(programs, arguments.people - 1), arguments.seconds))
    promised = ("people", "lost_chunks", "script_p95_ms", "first_chunk_p95_ms", "rss_per_session_mb")
    if arguments.json:
        print(json.dumps({name: found[name] for name in promised}))
        return
    for name, value in found.items():
        print(f"{name:>20} {value}")


if __name__ == "__main__":
    main()
