"""/api/audit: who did what, when and through which door; and the proof that nothing of it was changed."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from nexus_core import audit, audit_export, runs_query
from nexus_core.api.schema import Camel, Success, Who, aware, done
from nexus_core.audit import Wanted
from nexus_core.database import transaction
from nexus_core.filenames import attachment

router = APIRouter(prefix="/audit", tags=["Audit"])
DOOR = Literal["page", "api", "mcp", "cli", "worker", "gate"]
Words = Annotated[list[str], Field(max_length=50)]


class AuditWanted(BaseModel):
    """Which entries; what is left out is everything."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, validate_by_alias=True)
    from_at: datetime | None = Field(None, alias="from", description="From this instant on.")
    to_at: datetime | None = Field(None, alias="to", description="Before this instant.")
    person: UUID | None = Field(None, description="What this person did, and what was done about them.")
    door: list[DOOR] = Field([], description="Only what came through these; may be given many times.")
    action: Words = Field([], description="Only these, such as create, update, delete.")
    entity: Words = Field([], description="Only about these, such as agent, project, budget.")
    entity_id: UUID | None = Field(None, description="Only about this one.")

    def wanted(self) -> Wanted:
        """As the core has it; raises Invalid for an instant without a zone."""
        ends = aware(self.from_at, "from"), aware(self.to_at, "to")
        doors, actions, entities = (tuple(values) or None for values in (self.door, self.action, self.entity))
        return Wanted(*ends, self.person, doors, actions, entities, self.entity_id)


class PageWanted(AuditWanted):
    """The same, a page at a time."""

    after: str = Field("", max_length=200, description="The next page: `page.after` of this one.")
    limit: int = Field(100, ge=1, le=200, description="At most so many.")


class Entry(Camel):
    """A change, a sign-in, an export, a first look at another's conversation."""

    number: int | None = Field(description="Its place in the workspace's chain, without gaps.")
    id: UUID = Field(description="Its id.")
    at: datetime = Field(description="When.")
    user_id: UUID | None = Field(description="Who; null: nobody who is known.")
    user_name: str | None = Field(description="That person's name.")
    door: str = Field(description="Through what: page, api, mcp, cli, worker or gate.")
    action: str = Field(description="What was done.", examples=["create"])
    entity: str = Field(description="To what kind of thing.", examples=["agent"])
    entity_id: UUID | None = Field(description="To which one.")
    detail: dict[str, Any] = Field(description="What changed; never a secret, never a message's text.")


class After(Camel):
    """Where a page stands."""

    after: str | None = Field(description="Brings the next page; null: this is the last.")


class Entries(Success[list[Entry]]):
    """The envelope of a page of entries."""

    page: After = Field(description="Where this page stands.")


class Verdict(Camel):
    """What making every seal anew found."""

    holds: bool = Field(description="Whether nothing is wrong.")
    entries: int = Field(description="Entries in the chain, numbered from 1 to `lastNumber`.")
    broken_at: int | None = Field(description="The first number that does not follow the one before it.")
    unsealed: int = Field(description="Entries in the log that are not in the chain.")
    last_number: int = Field(description="The newest number.")
    last_hash: str = Field(
        description="Its seal. Kept elsewhere, it tells later whether anything up to here was changed."
    )


@router.get("", response_model=Entries, summary="List the audit")
def list_audit(who: Who, asked: Annotated[PageWanted, Query()]) -> dict[str, Any]:
    """The newest first; go on with `after`. Needs the role admin."""
    with transaction(who) as tx:
        page = audit.page(tx, asked.wanted(), after=runs_query.cursor(asked.after), limit=asked.limit)
    after = runs_query.cursor_text(page.after) if page.after else None
    return done(page.entries) | {"page": {"after": after}}


@router.get("/entities", response_model=Success[list[str]], summary="List what the audit is about")
def list_audit_entities(who: Who) -> dict[str, Any]:
    """The kinds of things that occur, to filter by. Needs the role admin."""
    with transaction(who) as tx:
        return done(audit.entities(tx))


@router.get("/verify", response_model=Success[Verdict], summary="Verify the audit")
def verify_audit(who: Who) -> dict[str, Any]:
    """Every seal is made anew. It proves that no entry was changed, removed or put between others without making every
    later seal anew. Needs the role admin."""
    with transaction(who) as tx:
        found = audit.verify(tx)
    return done(vars(found) | {"holds": found.holds})


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
    summary="Export the audit",
)
def export_audit(who: Who, asked: Annotated[AuditWanted, Query()]) -> StreamingResponse:
    """Every entry that fits as CSV, written while it is read; the export is an entry itself. Needs the role admin."""
    lines = audit_export.csv(who, asked.wanted())
    return StreamingResponse(lines, media_type="text/csv", headers=attachment("nexus-audit.csv"))
