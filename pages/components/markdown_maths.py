r"""Maths for markdown-it-py, between `$$ $$`, `\( \)` and `\[ \]` only, and as Streamlit wants it written."""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

_CLOSERS = {"$$": "$$", "\\(": "\\)", "\\[": "\\]"}
_LONGEST = 20_000  # characters of one formula
_DOLLARS = re.compile(r"\$+")


def maths_plugin(md: MarkdownIt) -> None:
    """Teach `md` the tokens `maths_inline` and `maths_block`; their content is the formula alone."""
    md.inline.ruler.before("escape", "maths_inline", _inline)
    md.block.ruler.before("fence", "maths_block", _block, {"alt": ["paragraph", "reference", "blockquote", "list"]})


def inline_maths(formula: str, *, in_table: bool = False) -> str:
    """`formula` within a line."""
    line = " ".join(_without_images(formula).split())
    if in_table:
        line = line.replace("|", r"\vert ")
    runs = {len(run) for run in _DOLLARS.findall(line)}
    fence = "$" * next(length for length in range(2, len(runs) + 3) if length not in runs)
    padding = " " if line.startswith("$") or line.endswith("$") else ""
    return f"{fence}{padding}{line}{padding}{fence}"


def block_maths(formula: str) -> str:
    """`formula` on lines of its own."""
    fence = "$" * max([2, *(len(run) + 1 for run in _DOLLARS.findall(formula))])
    return f"{fence}\n{_without_images(formula)}\n{fence}"


def _without_images(formula: str) -> str:
    """The same formula, in which not even a parser that knows no maths finds an image."""
    return formula.replace("![", "!{}[")


def _inline(state: StateInline, silent: bool) -> bool:
    opener = state.src[state.pos : state.pos + 2]
    if opener not in _CLOSERS:
        return False
    begin = state.pos + 2
    end = state.src.find(_CLOSERS[opener], begin, min(state.posMax, begin + _LONGEST))
    content = state.src[begin:end].strip() if end >= 0 else ""
    if not content or (opener == "$$" and content.startswith("$")):
        return False
    if not silent:
        state.push("maths_inline", "math", 0).content = content
    state.pos = end + 2
    return True


def _block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    begin = state.bMarks[first] + state.tShift[first]
    opener = state.src[begin : begin + 2]
    if opener not in ("$$", "\\[") or state.is_code_block(first):
        return False
    lines: list[str] = []
    for line in range(first, last):
        if line > first and (state.isEmpty(line) or state.sCount[line] < state.blkIndent):
            return False
        start = state.bMarks[line] + state.tShift[line] + (2 if line == first else 0)
        text, closed, rest = state.src[start : state.eMarks[line]].partition(_CLOSERS[opener])
        lines.append(text)
        if closed:
            break
    else:
        return False
    content = "\n".join(lines).strip()
    if rest.strip() or not content or content.startswith("$"):
        return False
    if not silent:
        token = state.push("maths_block", "math", 0)
        token.content, token.map = content, [first, line + 1]
        state.line = line + 1
    return True
