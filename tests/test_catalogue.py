"""Every text that a person reads is in every language, whole; and no text is shown that no catalogue could know."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages import Message

from nexus_core.i18n import LANGUAGES
from tests import catalogue

ROOT = catalogue.ROOT
PAGES = sorted((ROOT / "pages").rglob("*.py"))
CODE = [ROOT / "app.py", *PAGES, *sorted((ROOT / "nexus_core").rglob("*.py"))]
TEMPLATES = sorted((ROOT / "nexus_core").rglob("*.html"))
OTHERS = sorted(set(LANGUAGES) - {"en"})
SPEAKS = {"_", "ngettext", "pgettext"}
MARKS = re.compile(
    r"\{[^{}]*\}"  # what is put in
    r"|:material/\w+:|:[a-z]+(?:-[a-z]+)?\[|\]\([^)]*\)"  # icons, coloured text, where links lead
    r"|\*\*|~~|`[^`]*`|^#+ |^- |\n"
    r"|</?\w[^>]*>|&\w+;|%[sd]",
    re.MULTILINE,
)
SHOWN = {
    "title", "header", "subheader", "caption", "markdown", "text", "write", "badge", "metric", "toast", "info",
    "warning", "error", "success", "button", "download_button", "form_submit_button", "link_button", "menu_button",
    "page_link", "checkbox", "toggle", "radio", "selectbox", "multiselect", "pills", "segmented_control", "text_input",
    "text_area", "number_input", "date_input", "time_input", "slider", "select_slider", "file_uploader", "chat_input",
    "expander", "popover", "status", "spinner", "progress", "dialog", "Page", "Column", "TextColumn", "NumberColumn",
    "DateColumn", "DatetimeColumn", "LinkColumn", "CheckboxColumn", "SelectboxColumn", "MultiselectColumn",
    "ListColumn", "say",
}  # fmt: skip
"""What shows its first argument to a person."""
READ = {"label", "help", "placeholder", "title", "alt", "caption", "text", "on_label", "delta"}
"""Arguments that a person reads, of whichever of them."""
NAMES = {
    "API",
    "CSV",
    "JSON",
    "Markdown",
    "Nexus",
    "OpenTelemetry",
    "Parquet",
    "openapi",
    "json",
    "fast",
    "gray",
    "orange",
}
"""Said alike in every language: names, a slug, colours."""
UNSAID = re.compile(r":material/\w+:|:[a-z-]+\[|</?\w[^>]*>|&\w+;|https?:\S+|\S*[/@]\S*|\{.*\}")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def texts(message: Message) -> list[tuple[str, str]]:
    """Each English form with its translation."""
    if isinstance(message.id, str):
        return [(message.id, str(message.string))]
    return list(zip(message.id, message.string, strict=True))


def words(text: str) -> list[str]:
    """What of a literal somebody would have to translate."""
    return [word for word in re.findall(r"[^\W\d_]{2,}", UNSAID.sub(" ", text)) if word not in NAMES]


@pytest.mark.parametrize("code", OTHERS)
def test_nothing_lacks_its_translation(code: str) -> None:
    assert catalogue.lacking(code) == [], "python -m tests.catalogue prints what to fill in"


@pytest.mark.parametrize("code", OTHERS)
def test_nothing_is_doubtful_or_said_no_more(code: str) -> None:
    known = catalogue.read(code)
    assert [message.id for message in known if message.id and message.fuzzy] == []
    said = catalogue.messages(catalogue.said())
    assert [*known.obsolete, *(key for key in catalogue.messages(known) if key not in said)] == []


@pytest.mark.parametrize("code", OTHERS)
def test_what_is_no_word_is_alike(code: str) -> None:
    """Placeholders, Markdown, icons, tags, and blanks at the ends, which something is put together with."""
    odd = []
    for message in catalogue.read(code):
        for english, other in texts(message) if message.id else ():
            edges = [(text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]) for text in (english, other)]
            if edges[0] != edges[1] or Counter(MARKS.findall(english)) != Counter(MARKS.findall(other)):
                odd.append((english, other))
    assert odd == []


@pytest.mark.parametrize("text", ["**{n}** of `x`", ":material/add: {name}", "a\nb", "[{a}](/b) &amp; <b>c</b>"])
def test_such_a_mark_is_seen(text: str) -> None:
    assert MARKS.findall(text) and MARKS.sub("", text) != text


@pytest.mark.parametrize("path", CODE, ids=name_of)
def test_a_text_is_made_when_it_is_shown(path: Path) -> None:
    """One that is made at import is in the language of nobody; and only literal ones are in the catalogues."""
    tree = ast.parse(path.read_text("utf-8"))
    assert [ast.unparse(call) for call in spoken(at_import(tree))] == []
    variable = [ast.unparse(call) for call in spoken(ast.walk(tree)) if not isinstance(call.args[0], ast.Constant)]
    noted = any(isinstance(node, ast.Call) and ast.unparse(node.func) == "later" for node in ast.walk(tree))
    assert noted or variable == []


def test_a_text_made_at_import_is_seen() -> None:
    source = (
        'A = {"a": _("x")}\ndef f(b=_("y")): _("z")\nclass C:\n    d = ngettext("u", "v", 2)\n    e = lambda: _("w")'
    )
    assert [call.args[0].value for call in spoken(at_import(ast.parse(source)))] == ["x", "y", "u"]


def at_import(node: ast.AST) -> Iterator[ast.AST]:
    """What runs when a module is imported: bodies of functions do not, their defaults and decorators do."""
    for child in ast.iter_child_nodes(node):
        yield child
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            defaults = [*child.args.defaults, *filter(None, child.args.kw_defaults), *child.decorator_list]
            yield from (found for part in defaults for found in ast.walk(part))
        elif not isinstance(child, ast.Lambda):
            yield from at_import(child)


def spoken(nodes: Iterator[ast.AST]) -> Iterator[ast.Call]:
    """The calls among them that make a text."""
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SPEAKS:
            yield node


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_a_page_shows_no_literal(path: Path) -> None:
    assert untold(ast.parse(path.read_text("utf-8"))) == []


def test_a_literal_is_seen() -> None:
    source = (
        'st.button("Save")\nst.caption(f"{n} runs")\nst.badge(_("Fine"))\nst.text_input(_("A"), help="Help me")\n'
        'st.markdown(":material/add:")\nplace.metric("x" if y else "Zwei", 1)\nst.title(label("Home"))\n'
        'st.text(words["ab"])'
    )
    assert untold(ast.parse(source)) == ["Save", "runs", "Help me", "Zwei", "Home"]


def untold(tree: ast.AST) -> list[str]:
    """Words that are shown without having gone through a catalogue."""
    found = []
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in SHOWN:
            if ast.unparse(call.func.value) == "_log":
                continue
            read = [*call.args[:1], *(given.value for given in call.keywords if given.arg in READ)]
            found += [text.strip() for one in read for text in literals(one) if words(text)]
    return found


def literals(node: ast.expr) -> Iterator[str]:
    """The literals of an expression that end up in its value as they are."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id == "label":
            yield from literals(node.args[0])
    elif isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Add):
        return
    elif isinstance(node, ast.JoinedStr | ast.BinOp | ast.IfExp | ast.BoolOp | ast.FormattedValue):
        parts = {ast.IfExp: ("body", "orelse"), ast.FormattedValue: ("value",)}.get(type(node))
        children = [getattr(node, part) for part in parts] if parts else ast.iter_child_nodes(node)
        for child in children:
            if isinstance(child, ast.expr):
                yield from literals(child)


@pytest.mark.parametrize("path", TEMPLATES, ids=name_of)
def test_a_template_shows_no_literal(path: Path) -> None:
    text = re.sub(r"<style>.*?</style>", "", path.read_text("utf-8"), flags=re.DOTALL)
    read = re.findall(r'(?:title|alt|placeholder|aria-label)="([^"]*)"', text)
    shown = re.sub(r"\{%.*?%\}|\{\{.*?\}\}", " ", " ".join([*read, re.sub(r"<[^>]*>", " ", text)]))
    assert words(shown) == []
