"""/api/retention and /api/erasures: how long conversations are kept, and the erasure of a person."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query
from pydantic import Field

from nexus_core import erasure, retention
from nexus_core.api.memory import FIELD
from nexus_core.api.schema import Snake, Text, Who
from nexus_core.database import transaction

router = APIRouter(tags=["Keeping and erasing"])
RuleId = Annotated[UUID, Path(description="The rule's id.")]
Days = Annotated[int | None, Field(ge=1, le=retention.LONGEST)]
Email = Annotated[Text, Field(min_length=3, max_length=254)]


class NewRule(Snake):
    """How long conversations are kept, from their newest message on."""

    project_id: UUID | None = Field(
        None, description="The project; null: everything else in the workspace, what is outside any project too."
    )
    archive_after_days: Days = Field(None, description="Archived after so many days; null: never.", examples=[90])
    delete_after_days: Days = Field(None, description="Moved to the trash after so many days; null: never.")


class Rule(Snake):
    """A rule; the worker applies it once a day."""

    id: UUID = Field(description="Its id.")
    project_id: UUID | None = Field(description="The project; null: everything else in the workspace.")
    project_name: str | None = Field(description="The project's name.")
    archive_after_days: int | None = Field(description="Archived after so many days; null: never.")
    delete_after_days: int | None = Field(description="Moved to the trash after so many days; null: never.")
    applied_at: datetime | None = Field(description="When it was applied last.")


class Due(Snake):
    """What a rule would do now."""

    rule_id: UUID = Field(description="The rule.")
    project_id: UUID | None = Field(description="Its project.")
    archives: int = Field(description="Conversations that it would archive.")
    deletes: int = Field(description="Conversations that it would move to the trash.")
    messages: int = Field(description="Messages in those that it would move to the trash.")
    oldest: datetime | None = Field(description="When the longest untouched of them had its newest message.")


class Staying(Snake):
    """An entry of a project's memory that an erasure leaves: the project's, for an editor to change."""

    workspace: str = Field(description="The slug of the workspace.")
    project_id: UUID = Field(description="The project.")
    project_name: str = Field(description="Its name.")
    field: FIELD = Field(description="The list it is in.")
    entry: dict[str, Any] = Field(description="The entry.")


class NewErasure(Snake):
    """Whom to erase."""

    email: Email = Field(description="The person's e-mail address.", examples=["ana@example.com"])


class Erasure(Snake):
    """What was removed; nothing brings it back."""

    person_id: UUID = Field(description="Who it was; the audit names this id.")
    removed: dict[str, int] = Field(
        description="Rows by table; of runs only the person and the words, of memories only the name."
    )
    staying: list[Staying] = Field(description="Entries of memories that came from what they said, or named them.")
    whole: bool = Field(description="Whether the person is gone from this server; false: another workspace has them.")


@router.get("/retention", response_model=list[Rule], summary="List retention rules")
def list_rules(who: Who) -> Any:
    """The workspace's first, then those of projects, which take its place there."""
    with transaction(who) as tx:
        return retention.rules(tx)


@router.put("/retention", response_model=Rule, summary="Set a retention rule")
def put_rule(who: Who, body: NewRule) -> Any:
    """In place of the one that the project, or the workspace, had. Needs the role admin."""
    with transaction(who) as tx:
        rule_id = retention.put(tx, **body.model_dump())
        return next(rule for rule in retention.rules(tx) if rule.id == rule_id)


@router.get("/retention/preview", response_model=list[Due], summary="Try the retention rules out")
def preview_rules(who: Who) -> Any:
    """What each rule would do now, in counts; nothing changes. Needs the role admin."""
    return retention.preview(who)


@router.delete("/retention/{rule_id}", status_code=HTTPStatus.NO_CONTENT, summary="Remove a retention rule")
def remove_rule(who: Who, rule_id: RuleId) -> None:
    """What it did stays done. Needs the role admin."""
    with transaction(who) as tx:
        retention.remove(tx, rule_id)


@router.get("/erasures/preview", response_model=list[Staying], summary="See what an erasure leaves in memories")
def preview_erasure(
    who: Who, email: Annotated[str, Query(min_length=3, max_length=254, description="The person's e-mail address.")]
) -> Any:
    """Nothing changes. Needs the role admin."""
    return erasure.staying(who, email)


@router.post("/erasures", response_model=Erasure, status_code=HTTPStatus.CREATED, summary="Erase a person")
def create_erasure(who: Who, body: NewErasure) -> Any:
    """Everything of theirs in the workspace, for good and at once. Figures of the ledger, entries of projects' memories
    and what others wrote stay. Needs the role admin; nobody erases themselves."""
    done = erasure.erase(who, body.email)
    return vars(done) | {"whole": done.whole}
