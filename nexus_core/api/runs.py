"""/api/assistant-runs: a run of the ledger by its id, its next state, and the runs of a range as a file."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from nexus_core import rollup, runs, runs_export, runs_query
from nexus_core.api.project_memory import Count, Name, Run, Short
from nexus_core.api.schema import Money, Object, Snake, Who
from nexus_core.database import transaction

router = APIRouter(tags=["Project memory"])
RunId = Annotated[UUID, Path(description="The run's id.")]


class RunChanges(Snake):
    """The next state of a run made elsewhere, and what is known by then; what is left out stays as it is."""

    status: Literal["running", "succeeded", "failed", "blocked", "cancelled"] = Field(
        description="planned becomes running, blocked or failed; running becomes succeeded or failed. cancelled is "
        "kept as failed with the `error_type` cancelled.",
        examples=["running"],
    )
    response_summary: Short = Field(None, description="What was answered, in short.")
    served_model: Name = Field(None, description="The model that answered, where it is another one.")
    input_tokens: Count = Field(None, description="Tokens sent, cached ones included.")
    cached_tokens: Count = Field(None, description="Of these, read from the provider's cache.")
    cache_write_tokens: Count = Field(None, description="Of these, written to the provider's cache.")
    output_tokens: Count = Field(None, description="Tokens written, reasoning included.")
    reasoning_tokens: Count = Field(None, description="Of these, reasoning.")
    cost_estimate: Annotated[Money | None, Field(ge=0, lt=10**9)] = Field(None, description="US dollars.")
    duration_ms: Annotated[int | None, Field(ge=0, le=10**10)] = Field(
        None, description="In milliseconds; left out: the time since it was started."
    )
    error_type: Name = Field(None, description="Of a failed or blocked run, the kind of failure.")
    error_message: Short = Field(None, description="Of a failed or blocked run, why.")
    metadata: Object = Field({}, description="Added to what is there.")


_OR_NONE = "Only these; `none`: those without."


class RunsWanted(BaseModel):
    """Which runs are wanted, as the address of the Runs page says it; every filter may be given several times."""

    from_at: str = Field(
        "", alias="from", description="Its first instant, ISO 8601.", examples=["2026-06-01T00:00:00Z"]
    )
    to_at: str = Field("", alias="to", description="The first instant that is not in it any more; left out: now.")
    range: Literal["", *runs_query.NAMES] = Field(  # type: ignore[valid-type]
        "", description="In place of from and to: the days of the workspace's time zone. Left out: 30d."
    )
    q: str = Field("", max_length=200, description="Words of what was asked, answered or failed, or of the model.")
    unpriced: Literal["", "0", "1"] = Field("", description="1: only those without a price; 0: only the others.")
    kind: list[str] = Field([], description="Only these: answer, summary, proposal, test, embedding, external.")
    provider: list[str] = Field([], description=_OR_NONE)
    model: list[str] = Field([], description="Only these.")
    runtime: list[str] = Field([], description=_OR_NONE)
    profile: list[str] = Field([], description=_OR_NONE)
    status: list[str] = Field([], description="Only these: planned, running, succeeded, failed, blocked.")
    project: list[str] = Field([], description=_OR_NONE)
    task: list[str] = Field([], description=_OR_NONE)
    agent: list[str] = Field([], description=_OR_NONE)
    person: list[str] = Field([], description=_OR_NONE)
    conversation: list[str] = Field([], description=_OR_NONE)

    def query(self) -> dict[str, list[str]]:
        """As the query of an address."""
        values = self.model_dump(by_alias=True)
        return {name: value if isinstance(value, list) else [value] for name, value in values.items() if value}


@router.get(
    "/assistant-runs.csv",
    summary="Runs as CSV",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)
def export_runs(who: Who, wanted: Annotated[RunsWanted, Query()]) -> StreamingResponse:
    """Every run that fits, the newest first, written while it is read. Texts that a spreadsheet would run begin with an
    apostrophe; unknown is empty. Of private conversations there are figures, no words."""
    with transaction(who) as tx:
        zone = rollup.zone(tx)
    asked = runs_query.from_query(wanted.query(), zone.key, datetime.now(UTC))
    name = f"runs-{asked.span.first}-{asked.span.last}.csv"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(runs_export.begin(who, asked), media_type="text/csv", headers=headers)


@router.get("/assistant-runs/{run_id}", response_model=Run, summary="Get a run")
def get_run(who: Who, run_id: RunId) -> Any:
    """Any run of the workspace; of a private conversation's its figures alone."""
    with transaction(who) as tx:
        return runs.get(tx, run_id)


@router.patch("/assistant-runs/{run_id}", response_model=Run, summary="Move a run on")
def update_run(who: Who, run_id: RunId, body: RunChanges) -> Any:
    """Start, end or cancel a run that is made elsewhere: 409, with the current `status` in `detail`, for a state that
    does not follow, and when somebody was faster. Needs the role operator."""
    with transaction(who) as tx:
        return runs.advance(tx, run_id, **body.model_dump())
