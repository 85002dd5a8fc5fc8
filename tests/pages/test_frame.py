"""The frame: selectors that follow the URL, links that keep it, and one sentence when something fails."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from nexus_core import people, projects, signin
from nexus_core.database import Scope, transaction
from nexus_core.errors import StoreUnavailable
from nexus_core.signin import Identity
from pages.components import session

WHO = session.who
APP = Path(__file__).resolve().parents[2] / "app.py"


@pytest.fixture
def open_app(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Opens Home as the owner of the machine, with these query parameters."""
    monkeypatch.setattr(session, "who", signin.local_owner)

    def start(**parameters: str) -> AppTest:
        app = AppTest.from_file(str(APP), default_timeout=60)
        for name, value in parameters.items():
            app.query_params[name] = value
        return app.run()

    return start


def test_a_project_is_chosen_in_the_url(scope: Scope, open_app: Callable[..., AppTest]) -> None:
    with transaction(scope) as tx:
        project = projects.create(tx, "Alpha")
    app = open_app()
    assert not app.exception
    assert [box.key for box in app.sidebar.selectbox] == ["frame_project"]
    assert app.sidebar.selectbox(key="frame_project").value == ""
    app.sidebar.selectbox(key="frame_project").select(str(project.id)).run()
    assert app.query_params["project"] == str(project.id)
    assert app.sidebar.selectbox(key="frame_project").value == str(project.id)
    app.sidebar.selectbox(key="frame_project").select("").run()
    assert "project" not in app.query_params


def test_a_link_opens_its_project(scope: Scope, open_app: Callable[..., AppTest]) -> None:
    with transaction(scope) as tx:
        project = projects.create(tx, "Alpha")
    app = open_app(project=str(project.id))
    assert app.sidebar.selectbox(key="frame_project").value == str(project.id)


def test_another_workspace_forgets_the_project(
    scope: Scope, other_scope: Scope, open_app: Callable[..., AppTest]
) -> None:
    with transaction(Scope(other_scope.workspace_id, scope.user_id, "system")) as tx:
        assert scope.user_id
        people.join(tx, scope.user_id, "viewer")
    with transaction(scope) as tx:
        project = projects.create(tx, "Alpha")
    app = open_app(project=str(project.id))
    app.sidebar.selectbox(key="frame_workspace").select("other").run()
    assert app.query_params["workspace"] == "other"
    assert "project" not in app.query_params
    assert "viewer" in "".join(caption.value for caption in app.sidebar.caption)


def test_an_unknown_workspace_is_one_sentence(open_app: Callable[..., AppTest]) -> None:
    app = open_app(workspace="no-such-workspace")
    assert not app.exception
    assert [error.value for error in app.error] == ["There is no such workspace here."]


def test_a_store_that_is_away_is_one_sentence_and_a_retry(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> Identity:
        raise StoreUnavailable("The database can't be reached.")

    monkeypatch.setattr(session, "who", away)
    app = open_app()
    assert not app.exception
    assert [error.value for error in app.error] == ["The database can't be reached."]
    monkeypatch.setattr(session, "who", signin.local_owner)
    app.button(key="frame_retry").click().run()
    assert not app.error and not app.exception


def test_an_ended_session_is_told_so(open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signin, "resolve", lambda token: None)
    monkeypatch.setattr(session, "who", WHO)
    app = open_app()
    assert not app.exception
    assert [info.value for info in app.info] == ["You are not signed in any more."]
    assert not app.sidebar.selectbox
