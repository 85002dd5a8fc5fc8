"""/api/self-check: is it well, and if not, what to do about it."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from nexus_core import selfcheck
from nexus_core.api.schema import Camel, Success, Who, done
from nexus_core.api.spans import Days
from nexus_core.database import transaction

router = APIRouter(prefix="/self-check", tags=["Health"])


class Check(Camel):
    """One thing that was looked at."""

    title: str = Field(description="What it is.")
    state: Literal["well", "look", "bad"] = Field(description="How it stands; look: worth a look.")
    found: str = Field(description="What was found.")
    do: str = Field(description="What to do; empty when well.")


class Slow(Camel):
    """A statement, without its parameters."""

    statement: str = Field(description="The statement.")
    calls: int = Field(description="How often it ran.")
    mean_ms: float = Field(description="Milliseconds on average.")
    total_ms: float = Field(description="Milliseconds together.")


@router.get("", response_model=Success[list[Check]], summary="Look whether it is well")
def examine(who: Who, days: Annotated[Days, Query()]) -> dict[str, Any]:
    """What is quick to look at: stuck and unpriced runs, the reaper, the search index, the database's size."""
    with transaction(who) as tx:
        span = days.span(tx)
    return done(selfcheck.examine(who, span))


@router.get("/proof", response_model=Success[list[Check]], summary="Prove the figures")
def prove(who: Who, days: Annotated[Days, Query()]) -> dict[str, Any]:
    """Adds up every run of the range anew and compares cards, charts, tables, files and kept sums; for admins the
    audit's chain, too. It takes a second or more on a large ledger."""
    with transaction(who) as tx:
        span = days.span(tx)
    return done(list(selfcheck.prove(who, span)))


@router.get("/statements", response_model=Success[list[Slow]], summary="List slow statements")
def list_slow_statements(who: Who) -> dict[str, Any]:
    """The slowest on average; none where the server keeps no statistics. Needs the role admin."""
    with transaction(who) as tx:
        return done(selfcheck.slow_statements(tx))
