"""/api/profiles: models as agents use them, and whether they answer; /api/providers: what this machine can reach."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Response
from pydantic import Field

from nexus_core import llm, profiles, trial
from nexus_core.api import shapes
from nexus_core.api.schema import INT, Camel, IfMatch, Object, Success, Text, Who, as_instant, done, tag
from nexus_core.database import transaction

router = APIRouter(tags=["Models"])
ProfileId = Annotated[UUID, Path(description="The profile's id.")]
_MODEL = "The model as litellm names it, with its provider; builtin/recall is the built-in assistant."


class ProfileFields(Camel):
    """What can be said of a profile; keys never are: they belong in the environment."""

    slug: Text = Field("", description="How ledger and programs name it: letters, digits, dots, dashes.")
    name: Text = Field("", max_length=200, description="What people call it.", examples=["Fast and cheap"])
    model: Text = Field("", max_length=200, description=_MODEL, examples=["openai/gpt-5.4-mini"])
    api_base: Text | None = Field(
        None, max_length=2000, description="The address of a server of your own; null: the provider's."
    )
    params: Object = Field({}, description="Parameters of every call; keys are refused.")
    context_tokens: int | None = Field(
        None, ge=1, le=INT, description="How many tokens the model reads; null: as known for it."
    )


class NewProfile(ProfileFields):
    """A new profile."""

    slug: Text = Field(description="How ledger and programs name it; no other has it.", examples=["fast"])
    name: Text = Field(max_length=200, description="What people call it.", examples=["Fast and cheap"])
    model: Text = Field(max_length=200, description=_MODEL, examples=["openai/gpt-5.4-mini"])


class Profile(ProfileFields):
    """A profile."""

    id: UUID = Field(description="Its id.")
    runtime: str = Field(description="Where it runs: built in, local or remote.")
    is_default: bool = Field(description="Whether it serves Just Chat and the agents that name none.")
    updated_at: datetime = Field(description="When it was changed last; the version that If-Match names.")


class DeletedProfile(Camel):
    """What was deleted."""

    id: UUID = Field(description="The profile's id.")


class Question(Camel):
    """What to ask."""

    question: Text = Field("", max_length=2000, description="Left out: who it is.", examples=["Who are you?"])


class Tried(Camel):
    """What a model said."""

    answer: str = Field(description="Its answer; empty where there is none.")
    error: str | None = Field(description="Why the run failed or was blocked.")
    run: shapes.Run = Field(description="The call, from the ledger.")


class Provider(Camel):
    """A provider that can be used as the environment of Nexus stands."""

    provider: str = Field(description="litellm's name for it.", examples=["openai"])
    label: str = Field(description="What people call it.")
    example_model: str | None = Field(description="A model to begin with.")
    how: str = Field(description="What was found, without any key.")


@router.get("/providers", response_model=Success[list[Provider]], summary="List what can be reached")
def list_providers(who: Who) -> dict[str, Any]:
    """Providers that the environment names a key or an address for; nothing is asked over the network."""
    return done(llm.detected())


@router.get("/profiles", response_model=Success[list[Profile]], summary="List profiles")
def list_profiles(who: Who) -> dict[str, Any]:
    """The workspace's, the default first, then by name."""
    with transaction(who) as tx:
        return done([_shown(found) for found in profiles.list_(tx)])


@router.post("/profiles", response_model=Success[Profile], status_code=HTTPStatus.CREATED, summary="Make a profile")
def create_profile(who: Who, body: NewProfile, response: Response) -> dict[str, Any]:
    """Needs the role admin."""
    with transaction(who) as tx:
        made = profiles.save(tx, **body.model_dump())
    tag(response, made.updated_at)
    return done(_shown(made))


@router.get("/profiles/{profile_id}", response_model=Success[Profile], summary="Get a profile")
def get_profile(who: Who, profile_id: ProfileId, response: Response) -> dict[str, Any]:
    """The ETag is the version for If-Match."""
    with transaction(who) as tx:
        found = profiles.get(tx, profile_id)
    tag(response, found.updated_at)
    return done(_shown(found))


@router.patch("/profiles/{profile_id}", response_model=Success[Profile], summary="Change a profile")
def update_profile(
    who: Who, profile_id: ProfileId, body: ProfileFields, version: IfMatch, response: Response
) -> dict[str, Any]:
    """Only the fields that are sent change. Needs the role admin."""
    with transaction(who) as tx:
        before = profiles.get(tx, profile_id)
        fields = {name: getattr(before, name) for name in ProfileFields.model_fields} | body.given()
        since = as_instant(version) or before.updated_at
        after = profiles.save(tx, **fields, profile_id=profile_id, unchanged_since=since)
    tag(response, after.updated_at)
    return done(_shown(after))


@router.post("/profiles/{profile_id}/default", response_model=Success[Profile], summary="Make it the default")
def make_default_profile(who: Who, profile_id: ProfileId) -> dict[str, Any]:
    """It serves Just Chat and the agents that name none. Needs the role admin."""
    with transaction(who) as tx:
        profiles.make_default(tx, profile_id)
        return done(_shown(profiles.get(tx, profile_id)))


@router.post("/profiles/{profile_id}/trial", response_model=Success[Tried], summary="Try a profile")
def try_profile(who: Who, profile_id: ProfileId, body: Question) -> dict[str, Any]:
    """One short, real call to its model, in the ledger as a test. A model that fails is an answer too. Needs the role
    operator."""
    tried = trial.run(who, profile_id, body.question)
    return done({"answer": tried.answer, "error": tried.run.error_message, "run": tried.run})


@router.delete("/profiles/{profile_id}", response_model=Success[DeletedProfile], summary="Delete a profile")
def delete_profile(who: Who, profile_id: ProfileId) -> dict[str, Any]:
    """Its agents use the default from then on; the default can't be deleted. Needs the role admin."""
    with transaction(who) as tx:
        profiles.delete(tx, profile_id)
    return done({"id": profile_id})


def _shown(found: profiles.Profile) -> dict[str, Any]:
    return vars(found) | {"runtime": llm.runtime_of(found.model, found.api_base)}
