"""Buttons: what a click runs draws nothing, and each has a name that can be heard."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "pages").rglob("*.py"))
EVENTS = {"on_click", "on_change", "on_submit", "on_dismiss", "on_select"}
SILENT = {"rerun", "switch_page"}


def functions() -> dict[str, ast.FunctionDef]:
    """Every function of the pages as module.name."""
    return {
        f"{path.stem}.{node.name}": node
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
    }


def named(node: ast.AST, module: str) -> str:
    """A reference to a function as module.name; st.error as st.error."""
    return f"{module}.{node.id}" if isinstance(node, ast.Name) else ast.unparse(node)


def callbacks() -> Iterator[str]:
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            for keyword in node.keywords if isinstance(node, ast.Call) else ():
                if keyword.arg in EVENTS:
                    yield named(keyword.value, path.stem)


def drawn(name: str, known: dict[str, ast.FunctionDef], seen: set[str]) -> Iterator[str]:
    """The elements that a function draws, by itself or through others of the pages."""
    if name in seen or name not in known:
        return
    seen.add(name)
    for node in ast.walk(known[name]):
        if isinstance(node, ast.Call):
            called = named(node.func, name.split(".")[0])
            if called.startswith("st.") and called.count(".") == 1 and called.removeprefix("st.") not in SILENT:
                yield f"{name}: {called}"
            yield from drawn(called, known, seen)


def test_no_callback_draws() -> None:
    known = functions()
    found = set(callbacks())
    assert {"agent_actions._delete", "chat_actions.stop"} <= found & set(known)
    assert [words for name in sorted(found) for words in drawn(name, known, set())] == []


def test_no_button_is_without_a_name() -> None:
    """An icon alone is called after its picture ("refresh icon"); `frame.css` hides a label that is only heard."""
    nameless = [
        f"{path.name}:{node.lineno}"
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] in {"button", "menu_button", "popover", "page_link"}
        and node.args[:1]
        and isinstance(node.args[0], ast.Constant)
        and not str(node.args[0].value).strip()
    ]
    assert nameless == []
