"""The reference pages say what the code says: settings, commands, views; and links between documents lead somewhere."""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from pydantic.fields import FieldInfo

from nexus_core.__main__ import _parser
from nexus_core.config import Settings
from nexus_core.database import ROOT
from tests.nexus_core.ledger import owner

DOCS = ROOT / "docs"
NOT_OURS = {"NEXUS_ALLOWED_HOSTS", "NEXUS_ENV_FILE", "NEXUS_TEST_DATABASE_URL"}  # read where they are used
VIEWS = """
SELECT CASE table_schema WHEN 'public' THEN '' ELSE table_schema || '.' END || table_name AS name,
       array_agg(column_name::text ORDER BY ordinal_position) AS columns
FROM information_schema.columns JOIN information_schema.views USING (table_schema, table_name)
WHERE table_schema IN ('public', 'system') AND table_name NOT LIKE 'pg_stat%' GROUP BY 1
"""


def cells(page: Path) -> Iterator[list[str]]:
    """The rows of a page's tables."""
    for line in page.read_text("utf-8").splitlines():
        if line.startswith("| `"):
            yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def named(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def variables(name: str, field: FieldInfo) -> list[str]:
    aliases = getattr(field.validation_alias, "choices", None)
    return list(aliases or [f"NEXUS_{name.upper()}"])


def shown(field: FieldInfo) -> str | None:
    """A default as the page writes it; None where there is none."""
    value = field.default
    return None if value in (None, "") else str(value).lower() if isinstance(value, bool) else str(value)


def test_every_setting_is_described_with_its_default_and_no_other() -> None:
    described = {tuple(named(row[0])): row for row in cells(DOCS / "settings.md")}
    wanted = {tuple(variables(name, field)): field for name, field in Settings.model_fields.items()}
    assert set(described) - {(name,) for name in NOT_OURS} == set(wanted)
    for names, field in wanted.items():
        said = described[names][2]
        default = shown(field)
        assert named(said)[:1] == ([default] if default else named(said)[:1]), (names, said)
        assert default or said.startswith(("none", "made once")), (names, said)


def test_every_variable_of_the_code_is_described() -> None:
    code = "".join(
        path.read_text("utf-8") for folder in ("nexus_core", "pages") for path in (ROOT / folder).rglob("*.py")
    )
    page = (DOCS / "settings.md").read_text("utf-8")
    for name in set(re.findall(r"NEXUS_[A-Z_]*[A-Z]\b", code)) - {"NEXUS_RATE", "NEXUS_OIDC"}:
        assert f"`{name}`" in page, name


def commands(parser: argparse.ArgumentParser, before: tuple[str, ...] = ()) -> Iterator[tuple[str, set[str]]]:
    """Each command with its arguments, and its options."""
    under = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for action in under:
        for name, below in action.choices.items():
            yield from commands(below, (*before, name))
    if not under:
        rest = [a for a in parser._actions if not isinstance(a, argparse._HelpAction)]
        places = [str(a.metavar or a.dest) for a in rest if not a.option_strings]
        yield " ".join((*before, *places)), {option for a in rest for option in a.option_strings}


def test_every_command_and_option_is_described_and_no_other() -> None:
    described = {named(row[0])[0]: set(re.findall(r"--[a-z-]+", row[1])) for row in cells(DOCS / "cli.md")}
    assert described == dict(commands(_parser()))


def test_every_view_is_described_with_its_columns(database_url: str) -> None:
    with owner(database_url) as connection:
        found = dict(connection.execute(VIEWS).fetchall())
    described = {named(row[0])[0]: named(row[2]) for row in cells(DOCS / "sql.md") if len(row) == 3}
    assert {name: columns for name, columns in described.items() if name in found} == found


def test_the_picture_of_the_store_names_its_tables(database_url: str) -> None:
    picture = (DOCS / "architecture.md").read_text("utf-8").split("```mermaid")[2].partition("```")[0]
    groups = set(re.findall(r"subgraph (\w+)", picture))
    with owner(database_url) as connection:
        found = {row[0] for row in connection.execute("SELECT relname FROM pg_class WHERE relkind IN ('r', 'p')")}
    named = set(re.findall(r"\b[a-z_]{4,}\b", re.sub(r"\[.*?\]|subgraph|flowchart", "", picture)))
    assert len(named) > 20 and named - groups <= found, named - groups - found


@pytest.mark.parametrize("page", sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")]), ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if not re.match(r"[a-z]+:", link):
            path, _sep, anchor = unquote(link).partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), f"{page.name}: {link}"
            assert not anchor or anchor in anchors(target), f"{page.name}: {link}"


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head).strip().lower().replace(" ", "-") for head in heads}


def test_every_decision_is_listed() -> None:
    index = (DOCS / "decisions" / "README.md").read_text("utf-8")
    for page in (DOCS / "decisions").glob("0*.md"):
        title = page.read_text("utf-8").splitlines()[0].removeprefix("# ")
        assert f"[{title}]({page.name})" in index, page.name
