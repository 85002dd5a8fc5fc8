"""The rules of the house: who may import whom, where SQL lives, how long things may be."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CORE = sorted((ROOT / "nexus_core").rglob("*.py"))
PAGES = sorted((ROOT / "pages").rglob("*.py"))
LEAVES = {"config", "errors", "i18n", "l10n"}
PURE = {
    "text", "tokens", "parts", "window", "stream", "languages", "entries", "memory_diff", "memory_merge", "dialogue",
    "meters",
}  # fmt: skip
NOUNS = {
    "workspaces", "people", "sessions", "projects", "agents", "profiles", "conversations", "messages", "memories",
    "summaries", "runs", "tags", "proposals", "shares", "api_tokens",
    "programs",
}  # fmt: skip
STATEMENT = re.compile(r"^\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|CREATE|ALTER|DROP|SET|GRANT)\s+\S", re.DOTALL)
SQL_ELSEWHERE = {
    "cluster.py": "makes the database itself, before there is one to hold a statement",
}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imported(path: Path) -> Iterator[str]:
    """The full names that a file imports, at any depth."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def of_core(path: Path) -> set[str]:
    """The modules of nexus_core that a file imports, by their first name."""
    found = {name.split(".")[1] for name in imported(path) if name.startswith("nexus_core.")}
    return {name for name in found if (ROOT / "nexus_core" / name).with_suffix(".py").exists() or name == "api"}


def packages(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imported(path)}


@pytest.mark.parametrize("path", CORE, ids=name_of)
def test_core_knows_no_screen(path: Path) -> None:
    assert not packages(path) & {"streamlit", "pages", "app"}


@pytest.mark.parametrize("path", [path for path in CORE if path.name != "llm.py"], ids=name_of)
def test_litellm_is_imported_in_one_place(path: Path) -> None:
    assert "litellm" not in packages(path)


def test_mcp_is_imported_when_an_assistant_asks() -> None:
    """Its package takes a second: one module imports it, and nobody imports that one by a statement."""
    every = [*CORE, *PAGES, ROOT / "app.py"]
    assert [path.name for path in every if "mcp" in packages(path)] == ["mcp_server.py"]
    assert [path.name for path in every if "nexus_core.api.mcp_server" in imported(path)] == []


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_pages_know_no_database_no_model_and_no_routes(path: Path) -> None:
    assert not packages(path) & {"sqlalchemy", "psycopg", "litellm"}
    assert "api" not in of_core(path)


@pytest.mark.parametrize("name", sorted(LEAVES))
def test_leaves_import_only_leaves(name: str) -> None:
    assert of_core(ROOT / "nexus_core" / f"{name}.py") <= LEAVES


@pytest.mark.parametrize("name", sorted(PURE))
def test_pure_modules_import_no_store(name: str) -> None:
    assert of_core(ROOT / "nexus_core" / f"{name}.py") <= LEAVES | PURE


@pytest.mark.parametrize("name", sorted(NOUNS))
def test_nouns_import_no_other_noun_and_no_model(name: str) -> None:
    path = ROOT / "nexus_core" / f"{name}.py"
    assert of_core(path) <= LEAVES | PURE | {"database", "audit"}
    assert ".commit(" not in path.read_text("utf-8"), "one commit, at the edge"


@pytest.mark.parametrize("path", [*CORE, *PAGES, ROOT / "app.py"], ids=name_of)
def test_sql_lives_in_sql(path: Path) -> None:
    if path.name in SQL_ELSEWHERE:
        return
    texts = [node.value for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Constant)]
    assert [text for text in texts if isinstance(text, str) and STATEMENT.match(text)] == []


@pytest.mark.parametrize("path", [*CORE, *PAGES, ROOT / "app.py"], ids=name_of)
def test_files_and_functions_stay_short(path: Path) -> None:
    source = path.read_text("utf-8")
    page = path in PAGES and path.parent.name != "components" and path.name != "__init__.py"
    assert source.count("\n") <= (60 if path.name == "app.py" else 120 if page else 300)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.body[0].lineno + 1
            assert length <= 40, f"{node.name} has {length} lines"


@pytest.mark.parametrize("path", CORE, ids=name_of)
def test_tx_or_model_never_both(path: Path) -> None:
    """A function that takes a transaction is not asynchronous and calls no model."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and "tx" in {arg.arg for arg in node.args.args}:
            assert isinstance(node, ast.FunctionDef), node.name
            called = {ast.unparse(call.func) for call in ast.walk(node) if isinstance(call, ast.Call)}
            assert not called & {"llm.stream", "llm.complete", "builtin.answer"}, node.name


@pytest.mark.parametrize("path", sorted((ROOT / "sql" / "queries").glob("*.sql")), ids=name_of)
def test_a_statement_is_used(path: Path) -> None:
    """Dead statements go: each name occurs somewhere in the code as "noun.verb"."""
    source = "\n".join(file.read_text("utf-8") for file in CORE)
    for name in re.findall(r"^-- name: *(\S+)", path.read_text("utf-8"), re.MULTILINE):
        assert f'"{path.stem}.{name}"' in source, f"{path.stem}.{name} is used nowhere"
