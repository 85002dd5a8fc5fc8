"""/api/projects/{id}/memory: the living memory of a project and its revisions."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response
from pydantic import AwareDatetime, Field

from nexus_core import memories, memory_diff, projects
from nexus_core.api.projects import ProjectId
from nexus_core.api.schema import INT, Entries, IfMatch, Limit, Object, Snake, Text, Who, as_number, tag
from nexus_core.database import transaction
from nexus_core.entries import Values

router = APIRouter(tags=["Project memory"])
Version = Annotated[int, Path(ge=1, le=INT, description="A version of the memory.")]
SOURCE = Literal["hand", "proposal", "api", "restore", "import", "sql"]
FIELD = Literal["summary_md", "decisions", "open_questions", "risks", "links"]


class MemoryFields(Snake):
    """The living memory whole: a list that is left out is empty afterwards; the former version stays as a revision."""

    summary_md: Text = Field("", description="The living summary, Markdown.", examples=["We go to the moon."])
    decisions: Entries = Field([], description="What was decided; texts or objects.", examples=[[{"what": "Lisbon"}]])
    open_questions: Entries = Field([], description="What is open.", examples=[[{"question": "Which engine?"}]])
    risks: Entries = Field([], description="What may go wrong.", examples=[[{"risk": "Weather"}]])
    links: Entries = Field(
        [], description="Where to look.", examples=[[{"label": "Plan", "url": "https://example.com"}]]
    )
    metadata: Object | None = Field(None, description="Anything of yours; left out: as it is.")
    version: int | None = Field(
        None, ge=1, le=INT, description="The version that was read: 409 when it is not current. Or send If-Match."
    )


class Held(Snake):
    """What a memory holds."""

    project_id: UUID = Field(description="The project.")
    version: int = Field(description="Grows with each change.")
    summary_md: str = Field(description="The living summary, Markdown.")
    decisions: list[Any] = Field(description="What was decided.")
    open_questions: list[Any] = Field(description="What is open.")
    risks: list[Any] = Field(description="What may go wrong.")
    links: list[Any] = Field(description="Where to look.")
    metadata: Any = Field(description="What its callers added.")


class Memory(Held):
    """The living memory of a project."""

    updated_by: UUID | None = Field(description="Who changed it last.")
    updated_by_name: str | None = Field(description="That person's name.")
    updated_at: datetime = Field(description="When it was changed last.")


class Saved(Snake):
    """When, by whom and from what a version was made."""

    version: int = Field(description="The version.")
    source: SOURCE = Field(description="From what: by hand, from a proposal, through the API, by restoring, …")
    proposal_id: UUID | None = Field(description="The proposal that it came from.")
    restored_from: int | None = Field(description="The version that was restored.")
    note: str = Field(description="What its author said of it.")
    created_by: UUID | None = Field(description="Who made it.")
    created_by_name: str | None = Field(description="That person's name.")
    created_at: datetime = Field(description="When.")


class Revision(Held, Saved):
    """A version with all that it held."""


class Change(Snake):
    """A change between two versions."""

    field: FIELD = Field(description="The part of the memory.")
    kind: Literal["added", "removed", "changed", "closed", "reopened", "moved"] = Field(description="What happened.")
    before: Any = Field(description="The entry, or the summary, as it was.")
    after: Any = Field(description="The entry, or the summary, as it became.")
    lines: list[str] = Field(description="The same to read: [-removed-] and {+added+} words, line by line.")


@router.get("/projects/{project_id}/memory", response_model=Memory, summary="Get the memory")
def get_memory(who: Who, project_id: ProjectId, response: Response) -> Any:
    """The ETag is the version for If-Match."""
    with transaction(who) as tx:
        found = memories.get(tx, project_id)
    tag(response, found.version)
    return found


@router.put("/projects/{project_id}/memory", response_model=Memory, summary="Replace the memory")
def replace_memory(who: Who, project_id: ProjectId, body: MemoryFields, version: IfMatch, response: Response) -> Any:
    """With a version, 409 when somebody was faster; `detail` then holds what is current and what was read. Needs the
    role operator."""
    fields = body.model_dump() | {"version": body.version or as_number(version), "source": "api"}
    with transaction(who) as tx:
        after = memories.replace(tx, project_id, **fields)
    tag(response, after.version)
    return after


@router.get("/projects/{project_id}/memory/revisions", response_model=list[Saved], summary="List revisions")
def list_revisions(
    who: Who,
    project_id: ProjectId,
    before: Annotated[int | None, Query(ge=1, le=INT, description="Only those before this version.")] = None,
    limit: Limit = 50,
) -> Any:
    """Every version, newest first."""
    with transaction(who) as tx:
        projects.get(tx, project_id)
        return memories.revisions(tx, project_id, before=before, limit=limit)


@router.get("/projects/{project_id}/memory/as-of", response_model=Revision, summary="Get the memory of a moment")
def get_memory_as_of(
    who: Who,
    project_id: ProjectId,
    at: Annotated[AwareDatetime | None, Query(description="An instant with its zone; left out: now.")] = None,
) -> Any:
    """The version that was current then."""
    with transaction(who) as tx:
        projects.get(tx, project_id)
        return memories.as_of(tx, project_id, at or datetime.now(UTC))


@router.get("/projects/{project_id}/memory/revisions/{version}", response_model=Revision, summary="Get a revision")
def get_revision(who: Who, project_id: ProjectId, version: Version) -> Any:
    """One version with all that it held."""
    with transaction(who) as tx:
        return memories.revision(tx, project_id, version)


@router.get(
    "/projects/{project_id}/memory/revisions/{version}/diff", response_model=list[Change], summary="Compare versions"
)
def diff_revisions(
    who: Who,
    project_id: ProjectId,
    version: Version,
    to: Annotated[int | None, Query(ge=1, le=INT, description="The later version; left out: the current one.")] = None,
) -> Any:
    """What changed from one version to another."""
    with transaction(who) as tx:
        before = memories.values(memories.revision(tx, project_id, version))
        after: Values = memories.values(memories.revision(tx, project_id, to) if to else memories.get(tx, project_id))
    marks = {memory_diff.DROP: "[-{}-]", memory_diff.ADD: "{{+{}+}}", memory_diff.SAME: "{}", memory_diff.GAP: "…"}
    return [
        Change(
            **vars(change),
            lines=["".join(marks[op.op].format(op.text) for op in line) for line in memory_diff.lines_of(change)],
        )
        for change in memory_diff.changes(before, after)
    ]


@router.post(
    "/projects/{project_id}/memory/revisions/{version}/restore", response_model=Memory, summary="Restore a revision"
)
def restore_revision(who: Who, project_id: ProjectId, version: Version, read: IfMatch, response: Response) -> Any:
    """It becomes the next version; with If-Match, 409 when the current one is another. Needs the role operator."""
    with transaction(who) as tx:
        after = memories.restore(tx, project_id, version, read=as_number(read))
    tag(response, after.version)
    return after
