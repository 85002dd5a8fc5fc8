"""The table of runs: every row once, whatever the filter and the page."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal

import psycopg
import pytest

from nexus_core import ranges, runs_list
from nexus_core.database import Scope, transaction
from nexus_core.errors import Invalid
from nexus_core.filters import Filters
from tests.nexus_core import ledger
from tests.nexus_core.ledger import NOW

SPAN = ranges.make("30d", "UTC", NOW)


@pytest.fixture
def owner(database_url: str) -> Iterator[psycopg.Connection]:
    with ledger.owner(database_url) as connection:
        yield connection


def ids(scope: Scope, **wanted: object) -> list[object]:
    """The ids of all pages, in order."""
    found: list[object] = []
    after = None
    while True:
        with transaction(scope) as tx:
            page = runs_list.page(tx, SPAN, after=after, limit=7, **wanted)  # type: ignore[arg-type]
        found += [run.id for run in page.runs]
        after = page.after
        if after is None:
            return found


def test_sixty_runs_of_one_moment_are_sixty_rows(scope: Scope, owner: psycopg.Connection) -> None:
    """FIELD-NOTES 28, for runs."""
    wanted = {ledger.add(owner, scope, NOW - timedelta(days=1)) for _n in range(60)}
    newest = ledger.add(owner, scope, NOW)
    ledger.add(owner, scope, NOW - timedelta(days=60))
    found = ids(scope)
    assert len(found) == 61 and set(found) == wanted | {newest} and found[0] == newest


def test_every_filter(scope: Scope, owner: psycopg.Connection) -> None:
    places = ledger.places(owner, scope)
    columns = {
        "project": "project_id",
        "agent": "agent_id",
        "task": "task_id",
        "person": "user_id",
        "conversation": "conversation_id",
    }
    plain = ledger.add(owner, scope, NOW)
    for name, column in columns.items():
        mine, other = (ledger.add(owner, scope, NOW, **{column: place}) for place in places[name])
        assert ids(scope, filters=Filters(**{name: (places[name][0],)})) == [mine]
        assert set(ids(scope, filters=Filters(**{name: tuple(places[name])}))) == {mine, other}
        assert plain in ids(scope, filters=Filters(**{name: (None,)}))
        assert mine not in ids(scope, filters=Filters(**{name: (None,)}))
    failed = ledger.add(
        owner, scope, NOW, status="failed", kind="summary", model="x/y", runtime="local", profile_slug="slow"
    )
    for filters in (
        Filters(status=("failed",)), Filters(kind=("summary",)), Filters(model=("x/y",)), Filters(runtime=("local",)),
        Filters(profile=("slow",)),
    ):  # fmt: skip
        assert ids(scope, filters=filters) == [failed]
    for status in ("planned", "running", "blocked"):
        run = ledger.add(owner, scope, NOW, status=status, cost_estimate=None)
        assert ids(scope, filters=Filters(status=(status,))) == [run]
    unpriced = ledger.add(owner, scope, NOW, cost_estimate=None)
    free = ledger.add(owner, scope, NOW, cost_estimate=Decimal(0))
    assert ids(scope, unpriced=True) == [unpriced]
    assert free in ids(scope, unpriced=False) and unpriced not in ids(scope, unpriced=False)


def test_search_takes_what_is_typed_as_it_is(scope: Scope, owner: psycopg.Connection) -> None:
    found = [ledger.add(owner, scope, NOW, prompt_summary=text) for text in (r"50% of C:\x_1", "50 of C:xx1", "Łąka")]
    assert ids(scope, search="50%") == [found[0]]
    assert ids(scope, search=r"c:\X_") == [found[0]]
    assert ids(scope, search="łĄKA") == [found[2]]
    assert len(ids(scope, search="  ")) == 3


def test_another_workspace_has_its_own(scope: Scope, other_scope: Scope, owner: psycopg.Connection) -> None:
    ledger.add(owner, scope, NOW)
    assert ids(other_scope) == []


def test_a_page_is_bounded(scope: Scope) -> None:
    with transaction(scope) as tx, pytest.raises(Invalid):
        runs_list.page(tx, SPAN, limit=501)
