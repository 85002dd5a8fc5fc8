"""/api/assistant-runs: a run of the ledger by its id, its next state, the list and the file of the runs of a range."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query
from fastapi.responses import StreamingResponse
from pydantic import Field

from nexus_core import rollup, run_detail, runs, runs_export, runs_look, runs_query
from nexus_core.api.project_memory import Count, Name, Run, Short
from nexus_core.api.schema import Money, Object, Snake, Who
from nexus_core.api.spans import Narrowed
from nexus_core.database import Transaction, transaction
from nexus_core.runs_query import Asked

router = APIRouter(tags=["Runs"])
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


class RunsWanted(Narrowed):
    """Which runs are wanted, as the address of the Runs page says it; every filter may be given several times."""

    from_at: str = Field(
        "", alias="from", max_length=60, description="Its first instant, ISO 8601.", examples=["2026-06-01T00:00:00Z"]
    )
    to_at: str = Field(
        "", alias="to", max_length=60, description="The first instant that is not in it any more; left out: now."
    )
    range: Literal["", *runs_query.NAMES] = Field(  # type: ignore[valid-type]
        "", description="In place of from and to: the days of the workspace's time zone. Left out: 30d."
    )
    q: str = Field("", max_length=200, description="Words of what was asked, answered or failed, or of the model.")
    unpriced: Literal["", "0", "1"] = Field("", description="1: only those without a price; 0: only the others.")

    def asked(self, tx: Transaction) -> Asked:
        """As the core has it; raises Invalid for a broken time, id or page."""
        return runs_query.from_query(self.query(), rollup.zone(tx).key, datetime.now(UTC))

    def query(self) -> dict[str, list[str]]:
        """As the query of an address."""
        values = self.model_dump(by_alias=True)
        return {name: value if isinstance(value, list) else [value] for name, value in values.items() if value}


class PageWanted(RunsWanted):
    """The same, a page at a time."""

    after: str = Field("", max_length=200, description="The next page: `after` of this one.")
    limit: int = Field(50, ge=1, le=200, description="At most so many.")

    def query(self) -> dict[str, list[str]]:
        """As the query of an address, which knows no limit."""
        return {name: values for name, values in super().query().items() if name != "limit"}


class LedgerRun(Run):
    """A run in the ledger's list."""

    request_id: UUID = Field(description="What was asked for; its attempts share it.")
    attempt: int = Field(description="Which attempt at it this was.")
    agent_id: UUID | None = Field(description="The agent that answered.")
    user_id: UUID | None = Field(description="Who asked.")
    provider: str | None = Field(description="The model's provider.")
    served_model: str | None = Field(description="The model that answered, by its provider's word.")
    cache_write_tokens: int | None = Field(description="Of the tokens sent, written to the cache.")
    cost_source: str | None = Field(description="Whose price it is: litellm, own, local, built in.")
    price_version: str | None = Field(description="That price's version.")
    first_token_ms: int | None = Field(description="To the first piece, in milliseconds.")
    stopped: bool = Field(description="A person stopped it.")


class Found(Snake):
    """A page of runs."""

    runs: list[LedgerRun] = Field(description="The runs, newest first.")
    after: str | None = Field(description="Brings the next page; null: this is the last.")
    reached: datetime | None = Field(
        description="The page is not full: it looked back to here in the time it has; go on with `after`."
    )


class Whole(Snake):
    """Everything that is known of a run; what are another person's words is null."""

    run: dict[str, Any] = Field(description="The run; money as text, exact.")
    attempts: list[dict[str, Any]] = Field(description="The attempts at the same request, the first one first.")
    names: dict[str, str] = Field(description="What its project, task, agent and people are called, by id.")
    price: dict[str, Any] = Field(description="How its price came about: tokens times price, line by line.")
    repriced: list[dict[str, Any]] = Field(description="What re-pricings made of its amount.")
    receipt: dict[str, Any] | None = Field(description="What it was sent, section by section, with its tokens.")
    sent: dict[str, Any] | None = Field(description="The messages that it was sent, and whether to the letter.")
    provider_error: str | None = Field(description="The provider's own words, where it failed.")
    answer: dict[str, Any] | None = Field(description="The message that came of it.")
    open_telemetry: dict[str, Any] = Field(description="The same as attributes of an OpenTelemetry span.")


@router.get("/assistant-runs", response_model=Found, summary="List the ledger")
def list_ledger(who: Who, wanted: Annotated[PageWanted, Query()]) -> Any:
    """Every run that fits, the newest first, of every project and of none; go on with `after`. Of private conversations
    there are figures, no words."""
    with transaction(who) as tx:
        asked = wanted.asked(tx)
    page = next(runs_look.look(who, asked, limit=wanted.limit))
    after = runs_query.cursor_text(page.after) if page.after else None
    return {"runs": page.runs, "after": after, "reached": page.reached}


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
        asked = wanted.asked(tx)
    name = f"runs-{asked.span.first}-{asked.span.last}.csv"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(runs_export.begin(who, asked), media_type="text/csv", headers=headers)


@router.get("/assistant-runs/{run_id}", response_model=Run, summary="Get a run")
def get_run(who: Who, run_id: RunId) -> Any:
    """Any run of the workspace; of a private conversation's its figures alone."""
    with transaction(who) as tx:
        return runs.get(tx, run_id)


@router.get("/assistant-runs/{run_id}/whole", response_model=Whole, summary="Get a run whole")
def get_whole_run(who: Who, run_id: RunId) -> Any:
    """Its attempts, its price line by line, its receipt with what was sent, and what came back; the audit has that
    another's conversation was looked at."""
    with transaction(who) as tx:
        return run_detail.document(run_detail.load(tx, run_id))


@router.patch("/assistant-runs/{run_id}", response_model=Run, summary="Move a run on")
def update_run(who: Who, run_id: RunId, body: RunChanges) -> Any:
    """Start, end or cancel a run that is made elsewhere: 409, with the current `status` in `detail`, for a state that
    does not follow, and when somebody was faster. Needs the role operator."""
    with transaction(who) as tx:
        return runs.advance(tx, run_id, **body.model_dump())
