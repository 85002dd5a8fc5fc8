"""Assistants' Markdown, read by markdown-it-py, written anew in the forms that Streamlit draws as meant."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from pages.components.markdown_escape import escape, escape_line_start, keep_spaces, reference
from pages.components.markdown_maths import block_maths, inline_maths, maths_plugin

_DEEPEST = 50  # blocks in blocks; markdown-it leaves out what is deeper
_DEEPEST_EMPHASIS = 20
_LONGEST_REMEMBERED = 4_000  # characters
_ICON = ":material/"  # Streamlit rewrites it in the source, in code too
_SAFE_LINK = re.compile(r"https?://|mailto:|/(?![/\\])|[?#]", re.IGNORECASE)
_LANGUAGE = re.compile(r"[A-Za-z0-9][\w+#.-]{0,30}", re.ASCII)
_MARKUP = re.compile(r"[\\`*\[]|(?<!\w)_|_(?!\w)|~~|\$\$|[<&](?=[#\w])|  \n")
_TASK = re.compile(r"\[[ xX]\] (?=\S)")
_BACKTICKS = re.compile("`+")
_MARKERS = {"bullet_list_open": ("-", "*"), "ordered_list_open": (".", ")")}
_ALIGNMENTS = {"": "---", "text-align:left": ":--", "text-align:center": ":-:", "text-align:right": "--:"}
_DRAWN_BY_STREAMLIT = {"mermaid": "", "math": "latex"}

Written = tuple[str, Token | None]  # a block, and its token where it is code


def write(text: str) -> list[Written] | None:
    """The outermost blocks of `text`; None where it is nested too deeply to be understood."""
    env: dict[str, Any] = {}
    try:
        tokens = _parser.parse(text, env)
        if any(token.level >= _DEEPEST - 1 for token in tokens):
            return None
        return [(block.text, block.token) for block in _Writer(iter(tokens), env).blocks("")]
    except RecursionError:
        return None


def language_of(info: str) -> str:
    """The language that a fence names; "" for none and for one that Streamlit draws instead of showing it."""
    match = _LANGUAGE.fullmatch((info.split() or [""])[0])
    language = match[0] if match else ""
    return _DRAWN_BY_STREAMLIT.get(re.split(r"\W", language, maxsplit=1)[0].lower(), language)


@dataclass(frozen=True)
class _Block:
    kind: str
    text: str
    token: Token | None = None
    marker: int = 0
    tight: bool = False
    parted: bool = False  # cannot follow a paragraph's last line directly


@dataclass
class _Writer:
    tokens: Iterator[Token]
    env: dict[str, Any]

    def blocks(self, end: str) -> list[_Block]:
        """The blocks up to the token `end` of the same container."""
        found: list[_Block] = []
        for token in self.tokens:
            if token.type == end:
                break
            found.append(self._block(token, found[-1] if found else None, end))
        return found

    def _block(self, token: Token, previous: _Block | None, end: str) -> _Block:
        match token.type:
            case "paragraph_open":
                content = self._content()
                box = _TASK.match(content) if end == "list_item_close" and previous is None else None
                start = box[0] if box else ""
                return _Block(token.type, start + self.inline(content[len(start) :]), tight=token.hidden)
            case "heading_open":
                level = min(6, int(token.tag[1]) + 2)  # the page has its own h1 and h2
                return _Block(token.type, f"{'#' * level} {_one_line(self.inline(self._content()))}")
            case "fence" | "code_block":
                nested_icon = end and _ICON in token.content
                return _Block(token.type, _code_lines(token) if nested_icon else _fence(token), token)
            case "blockquote_open":
                return _Block(token.type, _prefix(_join(self.blocks("blockquote_close")), "> ", "> "))
            case "bullet_list_open" | "ordered_list_open":
                return self._list(token, previous)
            case "table_open":
                return _Block(token.type, self._table(), parted=True)
            case "maths_block":
                return _Block(token.type, block_maths(token.content))
            case "hr":
                return _Block(token.type, "___")
        raise ValueError(f"a token that nobody enabled: {token.type}")

    def _content(self) -> str:
        content = next(self.tokens).content
        next(self.tokens)  # the closing tag
        return content

    def _list(self, token: Token, previous: _Block | None) -> _Block:
        flip = previous.marker ^ 1 if previous is not None and previous.kind == token.type else 0
        marker = _MARKERS[token.type][flip]
        number = int(token.attrGet("start") or 1) if token.type == "ordered_list_open" else None
        items: list[str] = []
        tight = True
        for item in self.tokens:
            if item.type != "list_item_open":
                break
            content = self.blocks("list_item_close")
            tight = tight and all(block.tight for block in content if block.kind == "paragraph_open")
            start = f"{marker} " if number is None else f"{min(number + len(items), 999_999_999)}{marker} "
            items.append(_prefix(_join(content, tight=tight) or reference(" "), start, " " * len(start)))
        written = ("\n" if tight else "\n\n").join(items)
        return _Block(token.type, written, marker=flip, parted=number not in (None, 1))

    def _table(self) -> str:
        rows: list[list[str]] = []
        alignments: list[str] = []
        for token in self.tokens:
            if token.type == "table_close":
                break
            if token.type == "tr_open":
                rows.append([])
            elif token.type in ("th_open", "td_open"):
                rows[-1].append(_one_line(self.inline(self._content(), in_table=True)))
                if token.type == "th_open":
                    alignments.append(_ALIGNMENTS[str(token.attrGet("style") or "")])
        rows.insert(1, alignments)
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)

    def inline(self, content: str, *, in_table: bool = False) -> str:
        """What stands in one paragraph, heading or cell."""
        if self.env.get("references") or len(content) > _LONGEST_REMEMBERED:
            return _inline(content, in_table, self.env)
        return _remembered_inline(content, in_table)


def _inline(content: str, in_table: bool, env: dict[str, Any]) -> str:
    if _MARKUP.search(content):
        tokens: list[Token] = []
        _parser.inline.parse(content, _parser, env, tokens)
        written = _inline_tokens(tokens, in_table)
    else:
        written = "\n".join(escape(line.strip(" \t")) for line in content.split("\n"))
    return "\n".join(escape_line_start(line.strip(" \t")) for line in written.split("\n"))


@lru_cache(maxsize=2048)
def _remembered_inline(content: str, in_table: bool) -> str:
    """A stream is written anew with every chunk, and all but its end is known already."""
    return _inline(content, in_table, {})


def _inline_tokens(tokens: list[Token], in_table: bool) -> str:
    out: list[str] = []
    text: list[str] = []
    depth = 0
    link: str | None = None
    for token in [*tokens, Token("end", "", 0)]:
        if token.type == "text" or (token.type == "text_special" and not token.content.isspace()):
            text.append(token.content)
            continue
        out.append(escape("".join(text)))
        text.clear()
        match token.type:
            case "text_special":  # a space that was written as a reference
                out.append(reference(token.content))
            case "softbreak" | "hardbreak":
                out.append("\n" if token.type == "softbreak" else "\\\n")
            case "em_open" | "strong_open" | "s_open":
                depth += 1
                out.append(token.markup if depth <= _DEEPEST_EMPHASIS else "")
            case "em_close" | "strong_close" | "s_close":
                out.append(token.markup if depth <= _DEEPEST_EMPHASIS else "")
                depth -= 1
            case "code_inline":
                out.append(_code(token.content, in_table))
            case "maths_inline":
                out.append(inline_maths(token.content, in_table=in_table))
            case "link_open":
                link, began = str(token.attrGet("href")), len(out)
                out.append("[")
            case "link_close":
                out.append(_link_end(link or "", empty=not "".join(out[began + 1 :])))
                link = None
            case "image":
                out.append(_image(token, within_link=link is not None))
    return "".join(out)


def _link_end(href: str, *, empty: bool) -> str:
    return f"{escape(href) if empty else ''}]({escape(href)})"


def _image(token: Token, *, within_link: bool) -> str:
    source = str(token.attrGet("src"))
    name = _names.renderInlineAsText(token.children, _parser.options, {}) or source
    return escape(name) if within_link else f"[{escape(name)}{_link_end(source, empty=False)}"


def _code(content: str, in_table: bool) -> str:
    if in_table and "\\|" in content:
        return escape(content)  # a cell has no way to write this as code
    if _ICON in content:
        first, *rest = content.split(_ICON)
        spans = [first, *(_ICON[1:] + part for part in rest)]
        return reference(":").join(_code(span, in_table) if span else "" for span in spans)
    fence = "`" * (max((len(run) for run in _BACKTICKS.findall(content)), default=0) + 1)
    edges = content[:1] + content[-1:]
    padding = " " if "`" in edges or (edges == "  " and content.strip(" ")) else ""
    body = content.replace("|", "\\|") if in_table else content
    return f"{fence}{padding}{body}{padding}{fence}"


def _fence(token: Token) -> str:
    fence = "`" * max([3, *(len(run) + 1 for run in _BACKTICKS.findall(token.content))])
    body = token.content if not token.content or token.content.endswith("\n") else token.content + "\n"
    return f"{fence}{language_of(token.info)}\n{body}{fence}"


def _code_lines(token: Token) -> str:
    """A code block of which Streamlit would rewrite the text, line by line as spans, which can be parted."""
    lines = token.content.removesuffix("\n").expandtabs(4).split("\n")
    return "\\\n".join(keep_spaces(line, _code(line.strip(), False)) for line in lines)


def _join(blocks: list[_Block], *, tight: bool = False) -> str:
    """Blocks of one container; in a tight list a blank line parts only those that could run together."""
    written = ""
    for previous, block in zip([None, *blocks], blocks, strict=False):
        close = tight and not block.parted and (previous is None or previous.kind != "blockquote_open")
        written += ("" if previous is None else "\n" if close else "\n\n") + block.text
    return written


def _prefix(text: str, first: str, rest: str) -> str:
    head, *tail = text.split("\n")
    return "\n".join([first + head, *(rest + line if line else rest.rstrip() for line in tail)])


def _one_line(text: str) -> str:
    return text.replace("\\\n", " ").replace("\n", " ")


def _reader() -> MarkdownIt:
    md = MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST}).enable(["table", "strikethrough"])
    md.core.ruler.enableOnly(["normalize", "block"])
    md.validateLink = lambda url: bool(_SAFE_LINK.match(url))  # type: ignore[method-assign]
    return md.use(maths_plugin)


_parser = _reader()
_names = RendererHTML()
