"""What the code imports is what requirements.txt names, each pinned."""

import ast
import re
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INSTALLED = packages_distributions()
OURS = {"app", "bench", "nexus_core", "pages", "tests"}


def pinned(file: str) -> dict[str, str]:
    """Name → version of a requirements file; fails on a line that pins no exact version."""
    found = {}
    for line in (ROOT / file).read_text().splitlines():
        wanted = line.split("#")[0].partition(";")[0].strip()
        if wanted and not wanted.startswith("-r "):
            match = re.fullmatch(r"([A-Za-z0-9_.-]+)(?:\[[a-z,]+\])?==([0-9][0-9a-z.]*)", wanted)
            assert match, f"{file}: {line} is not an exact pin"
            found[match[1].lower()] = match[2]
    return found


def imported(*folders: str) -> Iterator[tuple[str, str]]:
    """Every foreign top-level module that the Python files of these folders import, with a file that does."""
    for folder in folders:
        place = ROOT / folder
        for path in [place] if place.is_file() else place.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and not node.level:
                    names = [node.module or ""]
                for name in names:
                    top = name.split(".")[0]
                    if top not in OURS and top not in sys.stdlib_module_names:
                        yield top, str(path.relative_to(ROOT))


def missing(wanted: Iterator[tuple[str, str]], named: set[str]) -> dict[str, str]:
    """Modules whose distribution is not among `named`, with a file that imports them."""
    return {
        module: path
        for module, path in wanted
        if not {name.lower() for name in INSTALLED.get(module, [module])} & named
    }


def test_what_runs_is_named() -> None:
    assert missing(imported("nexus_core", "pages", "app.py"), set(pinned("requirements.txt"))) == {}


def test_what_tests_is_named() -> None:
    named = set(pinned("requirements.txt")) | set(pinned("requirements-dev.txt"))
    assert missing(imported("tests", "bench", ".ci"), named) == {}
