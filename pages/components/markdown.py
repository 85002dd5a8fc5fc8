"""Text that others wrote, made safe for Streamlit: assistants' Markdown, persons' words, labels."""

from dataclasses import dataclass
from functools import lru_cache

from pages.components.markdown_escape import escape, escape_line_start, keep_runs_of_spaces, keep_spaces
from pages.components.markdown_writer import language_of, write

LONGEST = 200_000  # characters; what is longer is shown as plain text, not as Markdown
_ICON = ":material/"


@dataclass(frozen=True)
class Block:
    """One thing to draw: `body` by st.markdown or, where `is_code`, by st.code in `language`."""

    body: str
    is_code: bool = False
    language: str | None = None


def label(text: str) -> str:
    """`text` for titles, labels, tabs, buttons, toasts, tooltips: literal, on one line, nothing in it a link.

    Not for what Streamlit does not parse: st.text, st.code, placeholders, options of a selectbox, cells of a
    dataframe, titles of st.Page.
    """
    return escape_line_start(escape(" ".join(text.split()), links=False))


@lru_cache(maxsize=256)
def literal(text: str) -> str:
    """A person's `text` for st.markdown, as it was typed: line breaks and runs of spaces kept, no markup.

    st.text does not parse either, but it removes leading and common indentation. A tab takes four columns.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\\\n".join(_typed(line.expandtabs(4)) for line in lines)


def _typed(line: str) -> str:
    written = escape_line_start(escape(line.strip()))
    return keep_spaces(line, keep_runs_of_spaces(written))


@lru_cache(maxsize=256)
def assistant_markdown(text: str) -> str:
    r"""An assistant's Markdown for st.markdown, also unfinished: a stream shows as far as it is understood.

    Kept: emphasis, lists, tables, quotes, code, links (http, https, mailto, pages of ours) and maths between
    `$$ $$`, `\( \)` and `\[ \]`. An image becomes a link. All else stands there as it was written: HTML,
    other dollars and links, Streamlit's directives, short codes and arrows.
    Code with `:material/` in it needs `assistant_blocks`: Streamlit rewrites that in the source.
    """
    if len(text) > LONGEST:
        return literal(text)
    written = write(text)
    return literal(text) if written is None else "\n\n".join(body for body, _ in written)


@lru_cache(maxsize=256)
def assistant_blocks(text: str) -> tuple[Block, ...]:
    """An assistant's Markdown as what a page draws in turn, almost always one block.

    A code block with `:material/` in it stands alone, for st.code, where nothing is rewritten.
    """
    written = write(text) if _ICON in text and len(text) <= LONGEST else None
    if written is None:
        return (Block(assistant_markdown(text)),)
    blocks: list[Block] = []
    for body, code in written:
        if code is not None and _ICON in code.content:
            # st.code removes one newline at either end
            blocks.append(Block("\n" + code.content, is_code=True, language=language_of(code.info) or None))
        elif blocks and not blocks[-1].is_code:
            blocks[-1] = Block(blocks[-1].body + "\n\n" + body)
        else:
            blocks.append(Block(body))
    return tuple(blocks)
