"""Streamlit's page, whatever address it is opened at: absolute addresses, its server named, the policy in step."""

import re
from pathlib import Path

import pytest
import streamlit
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from nexus_core.api import gate, shell

INDEX = Path(streamlit.__file__).parent / "static" / "index.html"
BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8", "accept-encoding": "gzip"}


async def index(request: Request) -> Response:
    return FileResponse(INDEX, media_type="text/html")


async def other(request: Request) -> Response:
    return HTMLResponse('<head></head><img src="./x">' * 100, headers={"etag": "mine"})


async def file(request: Request) -> Response:
    return PlainTextResponse("x" * 2000)


@pytest.fixture
def client() -> TestClient:
    routes = [Route("/other", other), Route("/file", file), Route("/api/file", file), Route("/{path:path}", index)]
    app = Starlette(routes=routes, middleware=[Middleware(shell.Shell), Middleware(GZipMiddleware)])
    return TestClient(app, headers=BROWSER)


@pytest.mark.parametrize("path", ["/", "/chat", "/chat/deep/nope"])
def test_the_page_finds_its_files_and_its_server_from_every_address(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert "etag" not in answer.headers, "it is not Streamlit's file any more"
    assert not re.findall(r'(?:src|href)="(?!/|https?:)', answer.text)
    assert answer.text.count(f"<script>{shell.SCRIPT}</script>") == 1
    assert answer.text.index(shell.SCRIPT) < answer.text.index('type="module"')
    assert f"'{shell.SCRIPT_HASH}'" in gate.HEADERS["content-security-policy"]


def test_everything_else_passes_as_it_is(client: TestClient) -> None:
    page = client.get("/other")
    assert page.text == '<head></head><img src="./x">' * 100 and page.headers["etag"] == "mine"
    assert client.get("/file", headers={"accept": "*/*"}).headers["content-encoding"] == "gzip"
    assert client.get("/api/file").headers["content-encoding"] == "gzip"
    assert client.get("/chat", headers={"accept": "*/*"}).content == INDEX.read_bytes()
    assert "__streamlit" not in client.head("/chat").text
