"""Profiles: named model configurations. Keys are never among them; they stay in the environment."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from uuid6 import uuid7

from nexus_core import audit
from nexus_core.database import Json, Transaction
from nexus_core.errors import Conflict, Invalid
from nexus_core.i18n import _
from nexus_core.text import one_line

BUILTIN = "builtin/recall"


@dataclass(frozen=True)
class Profile:
    """A model as agents use it.

    `model` is litellm's name (openai/gpt-5.4-mini, ollama_chat/llama3.2, …) or builtin/recall; `api_base` the address
    of a server of one's own; `params` extra parameters of each call; `context_tokens` what fits into the model, None
    where it is not known.
    """

    id: UUID
    slug: str
    name: str
    model: str
    api_base: str | None
    params: dict[str, Any]
    context_tokens: int | None
    is_default: bool
    updated_at: datetime


def list_(tx: Transaction) -> list[Profile]:
    """The workspace's profiles, the default first, then by name."""
    return tx.all(Profile, "profiles.list")


def get(tx: Transaction, profile_id: UUID) -> Profile:
    """One profile; raises NotFound."""
    return tx.get(Profile, "profiles.get", id=profile_id)


def default(tx: Transaction) -> Profile:
    """The profile of Just Chat and of agents that name none; raises NotFound in a workspace without one."""
    return tx.get(Profile, "profiles.default")


def save(
    tx: Transaction,
    *,
    slug: str,
    name: str,
    model: str,
    api_base: str | None = None,
    params: dict[str, Any] | None = None,
    context_tokens: int | None = None,
    profile_id: UUID | None = None,
    unchanged_since: datetime | None = None,
) -> Profile:
    """Make a profile, or change the one with `profile_id`.

    Raises Forbidden (admins alone), Conflict for a taken slug and where it was changed after `unchanged_since`, an
    `updated_at`, NotFound, and Invalid, for a key among `params` too.
    """
    tx.scope.require("admin")
    before = get(tx, profile_id) if profile_id else None
    slug = slug.strip().lower()
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,62}", slug):
        raise Invalid(_("A slug has letters, digits, dots and dashes, 63 at most."), field="slug")
    if not (name := one_line(name)) or not (model := one_line(model)):
        raise Invalid(_("A profile needs a name and a model."), field="name" if not name else "model")
    if model != BUILTIN and "/" not in model:
        raise Invalid(_("Write the model with its provider, such as openai/gpt-5.4-mini."), field="model")
    if any(re.search(r"key|token$|secret|password|authorization", name, re.IGNORECASE) for name in _names(params)):
        raise Invalid(_("Keys are not stored here: set them in the environment or in .env."), field="params")
    values: dict[str, Any] = {"slug": slug, "name": name, "model": model, "context_tokens": context_tokens}
    values |= {"id": profile_id or uuid7(), "api_base": _address(api_base), "params": Json(params or {})}
    if before is None:
        profile = tx.get(Profile, "profiles.create", **values)
    elif (changed := tx.one(Profile, "profiles.update", **values, unchanged_since=unchanged_since)) is None:
        version = {"version": before.updated_at.isoformat()}
        raise Conflict(_("Somebody changed this profile meanwhile."), detail=version)
    else:
        profile = changed
    audit.record(tx, "update" if before else "create", "profile", profile.id, {"slug": slug, "model": model})
    return profile


def make_default(tx: Transaction, profile_id: UUID) -> None:
    """Let this profile serve Just Chat and the agents that name none. Raises Forbidden, NotFound."""
    tx.scope.require("admin")
    profile = get(tx, profile_id)
    tx.execute("profiles.clear_default")
    tx.execute("profiles.make_default", id=profile_id)
    audit.record(tx, "update", "profile", profile_id, {"default": profile.slug})


def delete(tx: Transaction, profile_id: UUID) -> None:
    """Remove a profile; its agents use the default from then on. Raises Forbidden, NotFound, Invalid."""
    tx.scope.require("admin")
    profile = get(tx, profile_id)
    if profile.is_default:
        raise Invalid(_("Make another profile the default first."))
    tx.execute("profiles.delete", id=profile_id)
    audit.record(tx, "delete", "profile", profile_id, {"slug": profile.slug})


def _names(value: Any) -> Iterator[str]:
    """Every name in a JSON value, at any depth: headers hold keys, too."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield str(name)
            yield from _names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _names(inner)


def _address(api_base: str | None) -> str | None:
    api_base = (api_base or "").strip() or None
    if api_base:
        parts = urlsplit(api_base)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
            raise Invalid(
                _("An address looks like http://localhost:11434, without name or password."), field="api_base"
            )
    return api_base
