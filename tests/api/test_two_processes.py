"""Two processes of Nexus on one PostgreSQL, as docs/deploy.md puts them: on ports of their own, and behind nginx."""

import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect as websocket

from nexus_core import config, messages, profiles, worker
from nexus_core.database import ROOT, Scope, transaction
from nexus_core.sessions import COOKIE
from tests.api.conftest import door, token
from tests.api.serving import events, kinds, served, written
from tests.machine import free_port
from tests.nexus_core.conversing import connect, until
from tests.nexus_core.model_server import ModelServer, Tap
from tests.serving import Server, running

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/sbin:/usr/local/sbin")
SHIPPED = ROOT / "docs" / "deploy" / "nginx.conf"
HOST = "nexus.example.com"
MAIN = """
daemon off; worker_processes 1; pid {home}/nginx.pid; error_log {home}/error.log;
events {{ worker_connections 256; }}
http {{
    log_format who '$upstream_addr'; access_log {home}/access.log who;
    client_body_temp_path {home}/body; proxy_temp_path {home}/proxy; fastcgi_temp_path {home}/fastcgi;
    uwsgi_temp_path {home}/uwsgi; scgi_temp_path {home}/scgi;
    include {home}/nexus.conf;
}}
"""


@dataclass
class Two:
    """Two processes: `first` one of its own, `second` this one; a client that reaches each, and the way that both take.

    `address` is what a browser would have in its address bar, `port` where that is reached.
    """

    process: Server
    first: httpx2.Client
    second: httpx2.Client
    address: str
    port: int


@contextmanager
def nginx(home: Path, ports: tuple[int, int]) -> Iterator[int]:
    """nginx with the file that ships, its addresses and certificate replaced; its port."""
    port = free_port()
    certificate = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={HOST}"]
    made = ["-keyout", str(home / "privkey.pem"), "-out", str(home / "fullchain.pem")]
    subprocess.run(["openssl", "req", "-x509", *certificate, *made], check=True, capture_output=True)
    text = SHIPPED.read_text("utf-8")
    changes = {
        "/etc/ssl/nexus": str(home), "listen 443": f"listen 127.0.0.1:{port}",
        "127.0.0.1:8501": f"127.0.0.1:{ports[0]}", "127.0.0.1:8502": f"127.0.0.1:{ports[1]}",
    }  # fmt: skip
    for former, latter in changes.items():
        assert former in text
        text = text.replace(former, latter)
    (home / "nexus.conf").write_text(text)
    (home / "nginx.conf").write_text(MAIN.format(home=home))
    assert NGINX
    process = subprocess.Popen([NGINX, "-p", str(home), "-c", str(home / "nginx.conf")])
    try:
        until(lambda: process.poll() is not None or listens(port))
        assert process.poll() is None, (home / "error.log").read_text()
        yield port
    finally:
        process.terminate()
        process.wait(30)


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def client(address: str, session: str, host: str | None = None) -> httpx2.Client:
    """A browser that is signed in; `host` is the name and port that it believes to speak to."""
    scheme, _slashes, place = address.partition("://")
    headers = {"origin": f"{scheme}://{host or place}", "host": host or place}
    return httpx2.Client(base_url=address, cookies={COOKIE: session}, headers=headers, timeout=30, verify=False)


def by_nginx(home: Path, front: int, port: int, operator: Scope) -> tuple[httpx2.Client, httpx2.Client]:
    """Two sessions that nginx sends to different processes, the first to the one at `port`; each always to its own."""
    found: dict[bool, httpx2.Client] = {}
    while len(found) < 2:
        tried = client(f"https://127.0.0.1:{front}", token(operator), f"{HOST}:{front}")
        before = len(where(home))
        assert [tried.get("/api/agents").status_code for _time in range(3)] == [200] * 3
        went = until(lambda start=before: len(where(home)) == start + 3 and where(home)[start:])
        assert len(set(went)) == 1
        found.setdefault(went[0] == f"127.0.0.1:{port}", tried)
    return found[True], found[False]


def where(home: Path) -> list[str]:
    """Which process nginx has asked, request by request."""
    return (home / "access.log").read_text().split()


@pytest.fixture
def model(scope: Scope) -> Iterator[Tap]:
    """Says "One two ", and the rest once it is told to; everybody's model."""
    tap = Tap()
    with ModelServer(tap) as server:
        connect(scope, server.base)
        yield tap
        tap.opened.set()


@pytest.fixture(params=["ports of their own", "nginx"])
def two(
    request: pytest.FixtureRequest, operator: Scope, model: Tap, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Two]:
    """Both processes and the ways to them."""
    if request.param == "nginx" and NGINX is None:
        pytest.skip("no nginx on this machine: its file in docs/deploy is not tried")
    monkeypatch.setenv("NEXUS_ALLOWED_HOSTS", HOST)
    monkeypatch.setattr(worker, "REAP_SECONDS", 0.2)
    config.reset()
    with ExitStack() as stack:
        there, process = stack.enter_context(running(tmp_path / "log"))
        port = int(there.rpartition(":")[2])
        here = stack.enter_context(served(door))
        if request.param == "nginx":
            front = stack.enter_context(nginx(tmp_path, (port, int(here.rpartition(":")[2]))))
            clients = by_nginx(tmp_path, front, port, operator)
            address = f"wss://{HOST}:{front}"
        else:
            front, address = port, f"ws://127.0.0.1:{port}"
            clients = client(f"http://127.0.0.1:{port}", token(operator)), client(here, token(operator))
        for each in clients:
            stack.callback(each.close)
        yield Two(process, *clients, address, front)


def test_what_one_process_begins_another_watches_and_stops_and_ends_when_it_is_killed(
    two: Two, scope: Scope, operator: Scope, model: Tap
) -> None:
    conversation = watched_and_stopped(two, model)
    assert stored(operator, conversation)[-1] == ("stopped", "One two ")
    assert cockpit(two) == 101
    assert anybody(two) == ({401} if two.address.startswith("wss") else {200})

    model.flowing.clear()
    with two.first.stream("POST", "/api/chat", json={"message": "Again", "sessionId": "s", "stream": True}) as answer:
        assert written(list(islice(events(answer), 4))) == "One two "
        until(lambda: stored(operator, conversation)[-1] == ("streaming", "One two "))
        two.process.kill()
        two.process.wait(30)
    until(lambda: stored(operator, conversation)[-1] == ("failed", "One two "))
    with transaction(scope) as tx:
        built_in = next(profile for profile in profiles.list_(tx) if profile.model == profiles.BUILTIN)
        profiles.make_default(tx, built_in.id)
    onward = two.second.post("/api/chat", json={"message": "Go on", "sessionId": "s"})
    assert onward.status_code == 200, onward.text
    assert onward.json()["data"]["conversationId"] == conversation
    if two.address.startswith("wss"):  # whoever was with the dead one is with the other now
        assert two.first.get("/api/agents").status_code == 200
        assert two.first.get(f"/api/conversations/{conversation}/messages").status_code == 200


def anybody(two: Two) -> set[int]:
    """How those are answered who are not signed in, while this machine's owner needs no form; also as a liar would.

    A proxy on this machine makes everybody's connection come from this machine.
    """
    with httpx2.Client(base_url=str(two.first.base_url), verify=False) as stranger:
        hosts = (str(two.first.headers["host"]), "localhost", "127.0.0.1:8501")
        return {stranger.get("/api/agents", headers={"host": host}).status_code for host in hosts}


def watched_and_stopped(two: Two, model: Tap) -> str:
    """An answer is begun at one process, seen and stopped at the other; the conversation's id."""
    with two.first.stream("POST", "/api/chat", json={"message": "Count", "sessionId": "s", "stream": True}) as answer:
        begun = events(answer)
        assert written(list(islice(begun, 4))) == "One two "
        with two.second.stream("GET", "/api/chat/s/stream") as other:
            seen = events(other)
            assert written(list(islice(seen, 4))) == "One two "
            found = two.second.get("/api/conversations?isJustChat=true").json()["data"][0]["id"]
            assert two.second.post(f"/api/conversations/{found}/stop").json()["data"] == {"stopped": True}
            assert kinds(list(begun))[-2:] == kinds(list(seen))[-2:] == ["finish", "[DONE]"]
    return str(found)


def stored(operator: Scope, conversation: str) -> list[tuple[str, str]]:
    with transaction(operator) as tx:
        return [(row.status, row.body) for row in messages.page(tx, UUID(conversation), limit=10)]


def cockpit(two: Two) -> int:
    """The status with which Streamlit's WebSocket is answered, where a browser would ask for it."""
    cookie, origin = f"{COOKIE}={two.first.cookies[COOKIE]}", two.address.replace("ws", "http", 1)
    options: dict[str, Any] = {"ssl": ssl._create_unverified_context()} if origin.startswith("https") else {}
    try:
        with websocket(
            f"{two.address}/_stcore/stream", origin=origin, additional_headers={"Cookie": cookie},
            subprotocols=["streamlit"], sock=socket.create_connection(("127.0.0.1", two.port)), **options,
        ):  # fmt: skip
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code
