"""Whatever a page can do, the API can do: derived from the code, verb by verb."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from nexus_core.api import api
from tests.test_layers import ROOT

Name = tuple[str, str]
CHANGE = re.compile(r"\b(INSERT INTO|UPDATE\s+\w|DELETE FROM)\b")
HOME = "nexus_core."
BY_ANOTHER = {
    "accounts.deactivate": ("change_person", "accounts.change does it, with a role in the same transaction"),
    "accounts.reactivate": ("change_person", "accounts.change does it, with a role in the same transaction"),
    "accounts.set_role": ("change_person", "accounts.change does it"),
    "audit_export.begin": ("export_audit", "the page writes its own columns; audit_export.csv is made of the same"),
    "conversations.delete": ("delete_conversation", "the page empties what it tried an agent with; shelf.delete does"),
    "conversations.rename": ("update_conversation", "a change of the title alone"),
    "conversations.set_archived": ("update_conversation", "a change of the status alone"),
    "conversations.update": ("update_conversation", "keeping.update_conversation is it, and proposes what to remember"),
    "keeping.fold": ("create_proposal", "of one project; the page sorts by project what somebody chose"),
    "keeping.summarise_all": ("summarise_conversation", "one by one, each with its own answer"),
    "tags.replace": ("update_conversation", "keeping.update_conversation does it in the same transaction"),
    "chat.stop_here": ("stop_answer", "the part of a stop that needs no database; chat.stop begins with it"),
}
"""Verbs that a page calls and no route, each with the operation that does the same, and why that is so."""
BY_COMMAND = {"demo.load": "demo", "demo.remove": "demo"}
"""Verbs of the server itself, with the command that does the same: a demo is for people, no token makes a workspace."""


def modules() -> dict[str, ast.Module]:
    """The code by the full name of its module."""
    files = [*(ROOT / "nexus_core").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]
    return {_module(file): ast.parse(file.read_text("utf-8")) for file in files}


def _module(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


CODE = modules()
VERBS: dict[Name, ast.AST] = {
    (module, node.name): node
    for module, tree in CODE.items()
    for node in tree.body
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
}
CHANGES = {
    f"{file.stem}.{part.split()[0]}"
    for file in (ROOT / "sql" / "queries").glob("*.sql")
    for part in re.split(r"^-- name: *", file.read_text("utf-8"), flags=re.MULTILINE)[1:]
    if CHANGE.search(re.sub(r"--.*", "", part))
}


@cache
def known(module: str) -> dict[str, tuple[str, str | None]]:
    """What the names that a module imports stand for: a module, or a name in one."""
    found: dict[str, tuple[str, str | None]] = {}
    for node in ast.walk(CODE[module]):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                found[alias.asname or alias.name] = (full, None) if full in CODE else (node.module, alias.name)
    return found


@cache
def mentioned(module: str, node: ast.AST) -> frozenset[Name]:
    """The functions that a piece of code names."""
    return frozenset(_mentioned(known(module), module, node))


def _mentioned(names: dict[str, tuple[str, str | None]], module: str, node: ast.AST) -> Iterator[Name]:
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            target = names.get(part.value.id)
            if target and target[1] is None and (target[0], part.attr) in VERBS:
                yield target[0], part.attr
        elif isinstance(part, ast.Name):
            target = names.get(part.id, (module, part.id))
            if target[1] and (target[0], target[1]) in VERBS:
                yield target[0], target[1]


@cache
def changes(verb: Name) -> bool:
    """Whether a verb, or what it calls, changes a row, asks for a role or writes into the audit.

    Where the worker begins, what it does later is not the verb's.
    """
    seen, rest = set[Name](), [verb]
    while rest:
        here = rest.pop()
        if here in seen or here[0] == f"{HOME}worker":
            continue
        seen.add(here)
        if _touches(VERBS[here]):
            return True
        rest += mentioned(here[0], VERBS[here])
    return False


@cache
def _touches(node: ast.AST) -> bool:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and part.value in CHANGES:
            return True
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "require":
            return True
    return False


def called(prefix: str) -> set[str]:
    """The changing verbs of the core that the modules of a folder name."""
    found = {name for module, tree in CODE.items() if module.startswith(prefix) for name in mentioned(module, tree)}
    mine = {name for name in found if name[0].startswith(HOME) and not name[0].startswith(f"{HOME}api")}
    return {".".join((name[0].removeprefix(HOME), name[1])) for name in mine if changes(name)}


def test_whatever_a_page_can_do_the_api_can_do() -> None:
    pages, routes = called("pages"), called("nexus_core.api")
    assert {"budgets.put", "chat.send", "trial.run", "chat.show_version", "audit.page"} <= pages, "it sees the verbs"
    assert not {"budgets.statuses", "chat.live", "views.of_page"} & pages, "it sees what changes nothing"
    assert pages - routes - set(BY_ANOTHER) == set(BY_COMMAND)
    commands = (ROOT / "nexus_core" / "__main__.py").read_text("utf-8")
    assert all(f'add_parser("{command}"' in commands for command in BY_COMMAND.values())
    assert set(BY_ANOTHER) <= pages, "an exception that nobody needs any more"
    assert {operation for operation, _why in BY_ANOTHER.values()} <= set(_operations())


def _operations() -> Iterable[str]:
    return (told["operationId"] for item in api.openapi()["paths"].values() for told in item.values())
