"""Profiles: admins alone change them, keys never get in, the default is always one."""

from typing import Any

import pytest

from nexus_core import agents, audit, profiles
from nexus_core.database import Scope, transaction
from nexus_core.errors import Conflict, Forbidden, Invalid, NotFound
from nexus_core.profiles import Profile

GOOD: dict[str, Any] = {"slug": "mini", "name": "Mini", "model": "openai/gpt-4o-mini"}


def saved(scope: Scope, **fields: Any) -> Profile:
    with transaction(scope) as tx:
        return profiles.save(tx, **(GOOD | fields))


def test_a_workspace_begins_with_the_built_in_one(scope: Scope) -> None:
    with transaction(scope) as tx:
        assert [(one.model, one.is_default) for one in profiles.list_(tx)] == [("builtin/recall", True)]
        assert profiles.default(tx).model == profiles.BUILTIN


def test_what_is_saved_comes_back(scope: Scope) -> None:
    fields = {
        "api_base": "http://localhost:11434",
        "params": {"temperature": 0.2, "stop": ["x"]},
        "context_tokens": 8192,
    }
    profile = saved(scope, slug=" Mini.V2 ", **fields)
    assert profile.slug == "mini.v2"
    with transaction(scope) as tx:
        assert profiles.get(tx, profile.id) == profile
    assert {key: getattr(profile, key) for key in fields} == fields


def test_changing_one_keeps_its_id_and_whether_it_is_the_default(scope: Scope) -> None:
    profile = saved(scope)
    with transaction(scope) as tx:
        profiles.make_default(tx, profile.id)
    changed = saved(scope, profile_id=profile.id, name="Other", api_base="  ")
    assert (changed.id, changed.name, changed.is_default, changed.api_base) == (profile.id, "Other", True, None)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("slug", "has space"),
        ("slug", ""),
        ("slug", "-x"),
        ("name", " "),
        ("model", ""),
        ("model", "gpt-4o"),
        ("params", {"api_key": "sk-1"}),
        ("params", {"Authorization": "Bearer x"}),
        ("params", {"extra_headers": [{"X-Api-Key": "x"}]}),
        ("params", {"aws_secret_access_key": "x"}),
        ("api_base", "localhost:11434"),
        ("api_base", "file:///etc/passwd"),
        ("api_base", "https://user:pass@example.com"),
    ],
)
def test_what_cannot_be_names_its_field(scope: Scope, field: str, value: Any) -> None:
    with pytest.raises(Invalid) as refused:
        saved(scope, **{field: value})
    assert refused.value.field == field


def test_parameters_that_only_sound_like_keys_are_kept(scope: Scope) -> None:
    assert saved(scope, params={"max_tokens": 100}).params == {"max_tokens": 100}


def test_a_slug_is_taken_in_its_workspace_alone(scope: Scope, other_scope: Scope) -> None:
    saved(scope)
    with pytest.raises(Conflict):
        saved(scope, name="Second")
    assert saved(other_scope).slug == "mini"


def test_there_is_one_default_and_it_cannot_be_deleted(scope: Scope) -> None:
    profile = saved(scope)
    with transaction(scope) as tx:
        builtin = profiles.default(tx)
        profiles.make_default(tx, profile.id)
        assert [one.slug for one in profiles.list_(tx) if one.is_default] == ["mini"]
        with pytest.raises(Invalid):
            profiles.delete(tx, profile.id)
        profiles.delete(tx, builtin.id)
        assert [one.slug for one in profiles.list_(tx)] == ["mini"]


def test_the_agents_of_a_deleted_one_use_the_default(scope: Scope) -> None:
    profile = saved(scope)
    with transaction(scope) as tx:
        agent = agents.create(tx, "Analyst", profile_id=profile.id)
        profiles.delete(tx, profile.id)
        assert agents.get(tx, agent.id).profile_id is None


def test_operators_read_only(operator: Scope, scope: Scope) -> None:
    profile = saved(scope)
    with transaction(operator) as tx:
        assert profile in profiles.list_(tx)
        for attempt in (
            lambda: profiles.save(tx, **GOOD),
            lambda: profiles.save(tx, **GOOD, profile_id=profile.id),
            lambda: profiles.make_default(tx, profile.id),
            lambda: profiles.delete(tx, profile.id),
        ):
            with pytest.raises(Forbidden):
                attempt()


def test_another_workspace_finds_nothing(scope: Scope, other_scope: Scope) -> None:
    profile = saved(scope)
    with transaction(other_scope) as tx:
        assert profile not in profiles.list_(tx)
        for attempt in (
            lambda: profiles.get(tx, profile.id),
            lambda: profiles.save(tx, **GOOD, profile_id=profile.id),
            lambda: profiles.make_default(tx, profile.id),
            lambda: profiles.delete(tx, profile.id),
        ):
            with pytest.raises(NotFound):
                attempt()
        assert profiles.default(tx).model == profiles.BUILTIN


def test_the_audit_has_each_change(scope: Scope) -> None:
    profile = saved(scope, params={"temperature": 0.5})
    saved(scope, profile_id=profile.id)
    with transaction(scope) as tx:
        profiles.make_default(tx, profile.id)
        entries = [entry for entry in audit.latest(tx) if entry.entity_id == profile.id]
    assert [entry.action for entry in entries] == ["update", "update", "create"]
    assert entries[0].detail == {"default": "mini"}
