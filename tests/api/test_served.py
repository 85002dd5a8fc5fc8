"""The real application in a process of its own: the cold deep link, the WebSocket, the first set-up, a bad start."""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from nexus_core import signin
from nexus_core.sessions import COOKIE

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "correct horse battery"
LONGEST = 90.0  # seconds to the first answer, on a machine that does much else


class Served:
    """A running uvicorn, its address, and what it has printed."""

    def __init__(self, log: Path, host: str, **environment: str) -> None:
        with socket.create_server((host, 0)) as free:
            self.port = free.getsockname()[1]
        self.log = log
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "uvicorn", "app:app", "--host", host, "--port", str(self.port)],
                cwd=ROOT, env=os.environ | environment, stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip
        self.address = f"http://127.0.0.1:{self.port}"

    def ready(self) -> "Served":
        """Wait for the first answer."""
        deadline = time.monotonic() + LONGEST
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                if httpx2.get(f"{self.address}/health").status_code == 200:
                    return self
            except httpx2.TransportError:
                time.sleep(0.1)
        raise AssertionError(self.log.read_text())

    def client(self, token: str | None = None) -> httpx2.Client:
        """A browser that sends what browsers send."""
        cookies = {COOKIE: token} if token else None
        return httpx2.Client(base_url=self.address, headers={"origin": self.address}, cookies=cookies)

    def websocket(self, token: str | None = None, origin: str | None = None) -> int:
        """The status with which the handshake of Streamlit's WebSocket is answered."""
        headers = {"Cookie": f"{COOKIE}={token}"} if token else {}
        url = self.address.replace("http", "ws", 1) + "/_stcore/stream"
        try:
            with connect(url, additional_headers=headers, origin=origin, subprotocols=["streamlit"]):
                return 101
        except InvalidStatus as refused:
            return refused.response.status_code


@pytest.fixture
def serve(database_url: str, tmp_path: Path) -> Iterator[Callable[..., Served]]:
    started: list[Served] = []

    def start(host: str = "127.0.0.1", **environment: str) -> Served:
        started.append(Served(tmp_path / f"{len(started)}.log", host, **environment))
        return started[-1]

    yield start
    for served in started:
        served.process.terminate()
    for served in started:
        served.process.wait(30)


def test_an_anonymous_cold_deep_link_runs_no_script(serve: Callable[..., Served]) -> None:
    signin.set_up(signin.set_up_code(), "ana@example.com", "Ana", PASSWORD)
    served = serve().ready()
    with served.client() as client:
        answer = client.get("/home?conversation=1")
        assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=/home%3Fconversation%3D1")
        assert "streamlit" not in client.get(answer.headers["location"]).text.lower()
        assert client.get("/_stcore/health").status_code == 401
        assert served.websocket() == 403
        assert served.websocket("wrong") == 403
        form = {"email": "ana@example.com", "password": PASSWORD, "next": "/home?conversation=1"}
        entered = client.post("/sign-in", data=form)
        assert (entered.status_code, entered.headers["location"]) == (303, "/home?conversation=1")
        assert "Streamlit" in client.get("/home?conversation=1").text
        token = client.cookies[COOKIE]
    assert served.websocket(token) == 101
    assert served.websocket(token, served.address) == 101
    assert served.websocket(token, "https://evil.example") == 403
    signin.sign_out(token)
    assert served.websocket(token) == 403


def test_the_owner_of_the_machine_goes_straight_in(serve: Callable[..., Served]) -> None:
    served = serve().ready()
    assert served.websocket() == 403
    with served.client() as client:
        assert client.get("/home", headers={"host": "evil.example"}).status_code == 421
        assert client.get("/home", headers={"x-forwarded-for": "127.0.0.1"}).status_code == 303
        answer = client.get("/home")
        assert answer.status_code == 200
        assert served.websocket(client.cookies[COOKIE], served.address) == 101
        assert served.websocket(client.cookies[COOKIE], "http://localhost:3000") == 403


def test_who_listens_to_everybody_needs_the_code_from_the_console(serve: Callable[..., Served]) -> None:
    served = serve("0.0.0.0").ready()
    owner = signin.local_owner().person
    with served.client() as client:
        form = client.get("/home", follow_redirects=True)
        assert form.url.path == "/setup"
        code = re.search(r"[0-9A-Z]{4}(-[0-9A-Z]{4}){2}", served.log.read_text())
        assert code is not None and code[0] not in form.text
        given = {"code": code[0], "name": "Ana", "email": "ana@example.com", "password": PASSWORD, "next": "/home"}
        assert client.post("/setup", data=given).headers["location"] == "/home"
        token = client.cookies[COOKIE]
    identity = signin.resolve(token)
    assert identity is not None and identity.person.id == owner.id
    assert served.websocket(token) == 101


def test_a_start_without_a_database_is_one_line(serve: Callable[..., Served]) -> None:
    served = serve(NEXUS_DATABASE_URL="postgresql://nobody:secret@127.0.0.1:9/none")
    assert served.process.wait(LONGEST) == 1
    printed = served.log.read_text()
    assert "can't be reached" in printed and "NEXUS_DATABASE_URL" in printed
    assert "Traceback" not in printed and "secret" not in printed
