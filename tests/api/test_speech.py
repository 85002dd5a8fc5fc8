"""Which language the doors speak: what the browser or program asks for, and a person's own in the cockpit's pages."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from nexus_core import accounts, config, passwords, people, sessions, signin
from nexus_core.api.doors import routes
from nexus_core.api.gate import Gate
from nexus_core.api.shell import Shell
from nexus_core.api.speech import Speech
from nexus_core.database import Scope, transaction
from tests.api.conftest import Program

PASSWORD = "correct horse battery"
SPANISH = {"accept-language": "es-ES,es;q=0.9,en;q=0.8", "accept": "text/html"}
INDEX = Path(streamlit.__file__).parent / "static" / "index.html"


async def index(request: Request) -> Response:
    return FileResponse(INDEX, media_type="text/html")


app = Starlette(
    routes=[*routes, Route("/{path:path}", index)],
    middleware=[Middleware(Speech), Middleware(Gate), Middleware(Shell)],
)


@pytest.fixture
def visitor(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A browser at a server that is open to others and has an administrator, Ana."""
    monkeypatch.setenv("NEXUS_AUTH", "password")
    config.reset()
    base = "http://nexus.test:8501"
    yield TestClient(app, base_url=base, follow_redirects=False, headers={"origin": base})
    config.reset()


@pytest.fixture
def ana(scope: Scope) -> Scope:
    """The owner, with a password."""
    with transaction(scope) as tx:
        people.set_password(tx, scope.user_id, passwords.hash_(PASSWORD))
    return scope


def test_the_first_start_sign_in_and_errors_speak_as_the_browser_asks(visitor: TestClient) -> None:
    first = visitor.get("/setup", headers=SPANISH)
    assert '<html lang="es">' in first.text and "Crear el primer administrador" in first.text
    signin.set_up(signin.set_up_code(), "ana@example.com", "Ana", PASSWORD)
    shown = visitor.get("/sign-in", headers=SPANISH)
    assert '<html lang="es">' in shown.text and "Iniciar sesión" in shown.text
    wrong = visitor.post("/sign-in", data={"email": "x@y.es", "password": "no"}, headers=SPANISH)
    assert wrong.status_code == 401 and "El correo" in wrong.text
    plain = visitor.get("/sign-in")
    assert '<html lang="en">' in plain.text and "Sign in" in plain.text
    gone = visitor.get("/welcome/none", headers=SPANISH)
    assert gone.status_code == 404 and "Este enlace no funciona" in gone.text


def test_a_shared_page_is_in_the_readers_language(visitor: TestClient, scope: Scope) -> None:
    lost = visitor.get("/shared/none", headers=SPANISH)
    assert lost.status_code == 404 and "Este enlace no funciona." in lost.text and '<html lang="es">' in lost.text
    assert "This link does not work." in visitor.get("/shared/none").text


def test_a_persons_own_language_is_that_of_their_pages(visitor: TestClient, ana: Scope) -> None:
    with transaction(Scope.system()) as tx:
        visitor.cookies.set(sessions.COOKIE, sessions.create(tx, ana.user_id, "password"))
    assert '<html lang="es">' in visitor.get("/chat", headers=SPANISH).text
    assert '<html lang="en">' in visitor.get("/chat", headers={"accept": "text/html"}).text
    accounts.speak(ana, "en")
    assert '<html lang="en">' in visitor.get("/chat", headers=SPANISH).text
    accounts.speak(ana, "es")
    assert '<html lang="es">' in visitor.get("/chat", headers={"accept": "text/html"}).text
    assert "¿Cerrar sesión?" in visitor.get("/sign-out").text


def test_refusals_speak_as_asked_and_data_is_the_same(visitor: TestClient, ana: Scope, program: Program) -> None:
    accounts.speak(ana, "es")
    visitor.cookies = program(ana).cookies
    address = "/api/agents/00000000-0000-0000-0000-000000000000"
    english = visitor.get(address)
    spanish = visitor.get(address, headers={"accept-language": "es"})
    assert english.json()["error"] | {"message": ""} == spanish.json()["error"] | {"message": ""}
    assert english.json()["error"]["message"] == "There is no such agent here."
    assert spanish.json()["error"]["message"] == "Aquí no existe ese agente."
    visitor.cookies.clear()
    assert visitor.get("/api/agents", headers={"accept-language": "es"}).json()["error"]["message"] == (
        "Inicie sesión primero."
    )


def test_one_chooses_ones_own_language(ana: Scope, viewer: Scope, program: Program) -> None:
    mine = program(viewer)
    assert mine.get(f"/api/people/{viewer.user_id}").json()["data"]["language"] is None
    chosen = mine.put("/api/people/language", json={"language": "es"})
    assert (chosen.status_code, chosen.json()["data"]["language"]) == (200, "es")
    with transaction(Scope.system()) as tx:
        assert people.get(tx, viewer.user_id).locale == "es"
    assert mine.get(f"/api/people/{ana.user_id}").json()["data"]["language"] is None
    assert mine.put("/api/people/language", json={"language": "xx"}).status_code == 422
    assert mine.put("/api/people/language", json={"language": None}).json()["data"]["language"] is None
