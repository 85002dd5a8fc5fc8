"""Settings, from the environment and from a file .env beside the application."""

import os
from functools import cache
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import parse_qs, urlsplit

from dotenv import load_dotenv
from limits import parse
from pydantic import AfterValidator, AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from nexus_core.errors import SetupFailed
from nexus_core.i18n import _

SCHEMES = ("postgres", "postgresql", "postgresql+psycopg")
EXAMPLE_URL = "postgresql://user:password@host:5432/nexus"


def _absolute(path: Path) -> Path:
    return path.expanduser().absolute()


def libpq_url(url: str) -> str:
    """The URL with the scheme that libpq, psycopg and psql know, `postgresql://`.

    Raises ValueError, with a sentence that never repeats the URL (it may hold a password).
    """
    scheme, separator, rest = url.strip().partition("://")
    if not separator or scheme.lower() not in SCHEMES:
        raise ValueError(_("it must look like {example}").format(example=EXAMPLE_URL))
    parts = urlsplit("//" + rest)
    odd = _("write special characters in the password as %XX (@ is %40, / is %2F, # is %23, ? is %3F)")
    try:
        wrong = bool(parts.fragment) or parts.netloc.count("@") > 1 or ("," not in parts.netloc and parts.port == 0)
    except ValueError:
        raise ValueError(_("its port is not a number; {hint}").format(hint=odd)) from None
    if wrong:
        raise ValueError(odd)
    if not parts.path.strip("/") and "dbname" not in parse_qs(parts.query):
        raise ValueError(_("it names no database; it must look like {example}").format(example=EXAMPLE_URL))
    return "postgresql://" + rest


def _rate(value: str) -> str | None:
    if value.strip().lower() == "off":
        return None
    try:
        rate = parse(value)
    except ValueError:
        rate = None
    if rate is None or rate.amount < 1:
        raise ValueError(_("it must look like {example}").format(example="600/minute"))
    return value


def _issuer(value: str) -> str:
    parts = urlsplit(value)
    loopback = parts.hostname in ("localhost", "127.0.0.1", "::1")
    if parts.scheme != "https" and not (parts.scheme == "http" and loopback):
        raise ValueError(_("it must look like {example}").format(example="https://login.example.com/realm"))
    return value.rstrip("/")


def _groups(value: str) -> str:
    for pair in filter(None, (one.strip() for one in value.split(","))):
        if pair.rpartition("=")[2].strip() not in ("viewer", "operator", "admin") or pair.startswith("="):
            raise ValueError(_("it must look like {example}").format(example="nexus-admins=admin, staff=operator"))
    return value


Rate = Annotated[str | None, AfterValidator(lambda value: value and _rate(value))]


class Settings(BaseSettings):
    """What the person who runs Nexus decides; every name is an environment variable.

    `home` (NEXUS_HOME) holds the bundled server's data. `database_url` (NEXUS_DATABASE_URL) names a
    PostgreSQL 15 to 18 of one's own, as a `postgresql://` URL; None means the bundled one. `database_pooled`
    (NEXUS_DATABASE_POOLED) says that a pooler stands before it that gives each transaction another connection.
    `replica_url` (NEXUS_REPLICA_URL) names a read replica of it, for reports. `port` is PORT or NEXUS_PORT; 0
    lets the system choose. `auth` (NEXUS_AUTH): `local` signs the owner of this machine in on loopback, `password`
    never does, `auto` is local on loopback and password anywhere else. `secret` (NEXUS_SECRET) signs cookies
    and links; None means that one is made and kept in `home`. `metrics_token` (NEXUS_METRICS_TOKEN) opens
    /metrics, and nothing else, for whoever scrapes it.

    `rate_token`, `rate_person` and `rate_address` (NEXUS_RATE_…) say how often a program may ask, as in "10 per second"
    or "600/minute", None (off) without limit; `max_body_mb` (NEXUS_MAX_BODY_MB) how large a request may be, in MiB.
    `embedding_model` (NEXUS_EMBEDDING_MODEL), litellm's name of one, tells what messages mean instead of the built-in
    model; `embedding_api_base` is the address of a server of one's own for it.

    `oidc_…` (NEXUS_OIDC_…) let people sign in by an OpenID Connect provider, when `oidc_issuer` and `oidc_client_id`
    are set: see docs/people.md.
    """

    model_config = SettingsConfigDict(
        env_prefix="NEXUS_", env_ignore_empty=True, extra="ignore", populate_by_name=True, frozen=True
    )

    home: Annotated[Path, AfterValidator(_absolute)] = Field(default=Path(".nexus"), validate_default=True)
    database_url: Annotated[str, AfterValidator(libpq_url)] | None = None
    database_pooled: bool = False
    replica_url: Annotated[str, AfterValidator(libpq_url)] | None = None
    host: str = "127.0.0.1"
    port: int = Field(default=8501, ge=0, le=65535, validation_alias=AliasChoices("PORT", "NEXUS_PORT"))
    auth: Literal["auto", "local", "password"] = "auto"
    rate_token: Rate = "600/minute"
    rate_person: Rate = "600/minute"
    rate_address: Rate = "3000/minute"
    oidc_issuer: Annotated[str, AfterValidator(_issuer)] | None = None
    oidc_client_id: str = ""
    oidc_client_secret: SecretStr | None = None
    oidc_name: str = ""
    oidc_scopes: str = "openid email profile"
    oidc_workspace: str = "default"
    oidc_default_role: Literal["viewer", "operator", "admin"] | None = None
    oidc_groups_claim: str = "groups"
    oidc_groups: Annotated[str, AfterValidator(_groups)] = ""
    max_body_mb: int = Field(default=4, ge=1, le=1024)
    secret: SecretStr | None = Field(default=None, min_length=16)
    metrics_token: SecretStr | None = Field(default=None, min_length=16)
    embedding_model: str | None = Field(default=None, pattern=r"^[^/\s]+/\S+$")
    embedding_api_base: str | None = Field(default=None, pattern=r"^https?://\S+$")


@cache
def settings() -> Settings:
    """The settings of this process, read once; `reset` forgets them.

    Variables of the file .env (NEXUS_ENV_FILE names another) enter the environment first, models' keys too,
    and never replace what is set already. Raises SetupFailed when a value can't be.
    """
    load_dotenv(os.environ.get("NEXUS_ENV_FILE", ".env"), override=False)
    try:
        return Settings()
    except ValidationError as error:
        raise SetupFailed(_sentence(error)) from None


def reset() -> None:
    """Forget the settings, so that the next call reads the environment anew (for tests)."""
    settings.cache_clear()


def _sentence(error: ValidationError) -> str:
    """The first fault of a pydantic error, naming its variable and never its value."""
    first = error.errors(include_input=False, include_url=False)[0]
    name = str(first["loc"][0])
    variable = name if name.isupper() else f"NEXUS_{name.upper()}"
    return _("{variable} can't be used: {reason}.").format(
        variable=variable, reason=first["msg"].removeprefix("Value error, ").removesuffix(".")
    )
