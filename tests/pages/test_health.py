"""The health page: a verdict, a card for each check, the proof on demand."""

from datetime import UTC, datetime, timedelta

from nexus_core import worker
from nexus_core.database import Scope
from tests.nexus_core import ledger
from tests.nexus_core.conversing import until
from tests.pages.conftest import Open

PAGE = "system/health.py"


def test_it_says_whether_it_is_well_and_proves_it(open_page: Open, scope: Scope, operator: Scope) -> None:
    until(lambda: worker.worker().last("reap"))
    page = open_page(scope, PAGE)
    assert [one.value for one in page.success] == ["All is well."]
    page.button(key="health_prove").click().run()
    words = "\n".join(one.value for one in page.markdown)
    assert "They tell the same figures." in words and "follow one another and hold" in words
    assert "Slow statements" not in [one.value for one in open_page(operator, PAGE).subheader]


def test_what_is_wrong_stands_on_top(open_page: Open, scope: Scope, database_url: str) -> None:
    with ledger.owner(database_url) as owner:
        ledger.add(owner, scope, datetime.now(UTC) - timedelta(hours=1), status="running", cost_estimate=None)
        page = open_page(scope, PAGE, range="7d")
    assert page.error and "Something needs you" in page.error[0].value
