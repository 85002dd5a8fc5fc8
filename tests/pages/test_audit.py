"""The audit page: what an administrator sees, finds, proves and takes along; what others do not see."""

from uuid import uuid4

from nexus_core import agents, audit
from nexus_core.database import Scope, transaction
from pages.components import audit_table
from tests.nexus_core import ledger
from tests.pages.conftest import Open

PAGE = "insight/audit.py"


def note(scope: Scope, count: int, entity: str = "widget") -> None:
    with transaction(scope) as tx:
        for number in range(count):
            audit.record(tx, "create", entity, uuid4(), {"name": f"{entity} {number}"})


def words(page: object) -> str:
    return "\n".join(e.value for kind in ("title", "markdown", "caption", "info", "success", "error")
                     for e in getattr(page, kind))  # fmt: skip


def test_it_shows_what_was_done_by_whom(open_page: Open, scope: Scope, operator: Scope) -> None:
    with transaction(operator) as tx:
        agents.create(tx, "=HYPERLINK(1)")
    page = open_page(scope, PAGE, about="agent")
    table = page.dataframe[0].value
    assert list(table["who"]) == ["Olga"] and list(table["what"]) == ["Created: agent"]
    assert "name: =HYPERLINK(1)" in table["detail"][0]
    with transaction(scope) as tx:
        entry = audit.page(tx, audit.Wanted(entities=("agent",))).entries[0]
    assert table["number"][0] == entry.number


def test_pages_go_back_and_forth(open_page: Open, scope: Scope) -> None:
    note(scope, audit_table.SIZE + 20)
    page = open_page(scope, PAGE, about="widget")
    assert len(page.dataframe[0].value) == audit_table.SIZE
    page.button(key="audit_older").click().run()
    assert len(page.dataframe[0].value) == 20
    page.button(key="audit_newer").click().run()
    assert len(page.dataframe[0].value) == audit_table.SIZE


def test_verify_says_what_it_proves_and_where_it_breaks(open_page: Open, scope: Scope, database_url: str) -> None:
    note(scope, 5)
    page = open_page(scope, PAGE)
    page.button(key="audit_verify").click().run()
    assert "hold" in page.success[0].value and "What this proves" in words(page)
    with transaction(scope) as tx:
        verdict, entry = audit.verify(tx), audit.latest(tx)[2]
    assert page.code[0].value == f"{verdict.last_number} {verdict.last_hash}"
    with ledger.owner(database_url) as owner:
        owner.execute("ALTER TABLE audit DISABLE TRIGGER USER")
        owner.execute("UPDATE audit SET detail = '{}' WHERE id = %s", (entry.id,))
    page.button(key="audit_verify").click().run()
    assert f"entry {entry.number} was changed" in page.error[0].value


def test_the_file_has_every_entry_and_is_an_entry_itself(scope: Scope) -> None:
    note(scope, 7)
    asked = audit.Wanted(entities=("widget",))
    lines = audit_table.file(scope, asked).decode("utf-8-sig").splitlines()
    assert len(lines) == 8 and lines[0].startswith("number,at,who,what")
    with transaction(scope) as tx:
        assert audit.latest(tx)[0].action == "export"
    assert audit_table.file(scope, audit.Wanted(entities=("nothing",))).decode("utf-8-sig").startswith("number,at")


def test_nothing_found_and_nobody_else(open_page: Open, scope: Scope, operator: Scope) -> None:
    page = open_page(scope, PAGE, door="mcp")
    assert "Nothing happened" in words(page) and not page.dataframe
    page = open_page(operator, PAGE)
    assert "for administrators" in words(page) and not page.dataframe
