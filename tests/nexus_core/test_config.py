"""Settings: what is accepted, what is refused in one sentence, and what .env may do."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from nexus_core import config
from nexus_core.errors import SetupFailed


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No NEXUS_* variable, an empty folder to stand in, and an environment that is put back afterwards."""
    before = dict(os.environ)
    for name in [n for n in os.environ if n.startswith("NEXUS_") or n == "PORT"]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    config.reset()
    yield
    config.reset()
    for name in set(os.environ) - set(before):
        del os.environ[name]


def test_defaults(tmp_path: Path) -> None:
    settings = config.settings()
    assert settings.home == tmp_path / ".nexus"
    assert (settings.host, settings.port, settings.auth) == ("127.0.0.1", 8501, "auto")
    assert settings.database_url is None
    assert settings.secret is None


def test_port_wins_over_nexus_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEXUS_PORT", "9001")
    assert config.settings().port == 9001
    monkeypatch.setenv("PORT", "9002")
    config.reset()
    assert config.settings().port == 9002


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEXUS_DATABASE_URL", "")
    monkeypatch.setenv("PORT", "")
    assert config.settings().database_url is None
    assert config.settings().port == 8501


def test_dotenv_reaches_the_environment_and_does_not_replace_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("NEXUS_PORT=9003\nOPENAI_API_KEY=from-file\nNEXUS_AUTH=password\n")
    monkeypatch.setenv("NEXUS_AUTH", "local")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    settings = config.settings()
    assert settings.port == 9003
    assert settings.auth == "local"
    assert os.environ["OPENAI_API_KEY"] == "from-file"


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_every_usual_scheme_becomes_one(monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    monkeypatch.setenv("NEXUS_DATABASE_URL", f"{scheme}://me:a%40b@db.example:5433/nexus?sslmode=require")
    assert config.settings().database_url == "postgresql://me:a%40b@db.example:5433/nexus?sslmode=require"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql:///nexus?host=/var/run/postgresql",
        "postgresql://a.example,b.example/nexus?target_session_attrs=primary",
        "postgresql://a.example:5432,b.example:5433/nexus",
        "postgresql://[::1]:5432/nexus",
        "postgresql://?host=/tmp&dbname=nexus",
    ],
)
def test_forms_that_libpq_knows_are_kept(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("NEXUS_DATABASE_URL", url)
    assert config.settings().database_url == url


@pytest.mark.parametrize(
    "url",
    [
        "mysql://u:hunter2@host/db",
        "host=localhost dbname=nexus password=hunter2",
        "postgresql://u:hunter2@host:port/nexus",
        "postgresql://u:hunter2@x@host/nexus",
        "postgresql://u:hunter2#@host/nexus",
        "postgresql://u:hunter2/@host/nexus",
        "postgresql://u:hunter2@host",
        "hunter2",
    ],
)
def test_a_wrong_url_is_one_line_without_the_password(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("NEXUS_DATABASE_URL", url)
    with pytest.raises(SetupFailed) as caught:
        config.settings()
    assert caught.value.message.startswith("NEXUS_DATABASE_URL can't be used: ")
    assert "hunter2" not in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("name", "value"),
    [("PORT", "http"), ("PORT", "70000"), ("NEXUS_AUTH", "none"), ("NEXUS_SECRET", "short")],
)
def test_a_wrong_value_names_its_variable(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SetupFailed, match=name) as caught:
        config.settings()
    assert "\n" not in caught.value.message


def test_rates_and_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert config.settings().rate_token == "600/minute"
    monkeypatch.setenv("NEXUS_RATE_TOKEN", "off")
    monkeypatch.setenv("NEXUS_RATE_ADDRESS", "10 per second")
    config.reset()
    assert (config.settings().rate_token, config.settings().rate_address) == (None, "10 per second")
    for name, wrong in (("RATE_PERSON", "often"), ("RATE_PERSON", "0/minute"), ("MAX_BODY_MB", "0")):
        monkeypatch.setenv(f"NEXUS_{name}", wrong)
        config.reset()
        with pytest.raises(SetupFailed, match=f"NEXUS_{name} can't be used"):
            config.settings()
        monkeypatch.delenv(f"NEXUS_{name}")


def test_an_identity_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    assert config.settings().oidc_issuer is None
    for name, wrong in (
        ("ISSUER", "http://login.example.com"), ("ISSUER", "login.example.com"), ("GROUPS", "staff=boss"),
        ("GROUPS", "=admin"), ("DEFAULT_ROLE", "owner"),
    ):  # fmt: skip
        monkeypatch.setenv(f"NEXUS_OIDC_{name}", wrong)
        config.reset()
        with pytest.raises(SetupFailed, match=f"NEXUS_OIDC_{name} can't be used"):
            config.settings()
        monkeypatch.delenv(f"NEXUS_OIDC_{name}")
    monkeypatch.setenv("NEXUS_OIDC_ISSUER", "https://login.example.com/realms/acme/")
    config.reset()
    assert config.settings().oidc_issuer == "https://login.example.com/realms/acme"
