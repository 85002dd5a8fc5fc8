"""Markdown that others wrote as HTML that is safe to show to anybody: no markup of theirs, nothing that is fetched."""

from collections.abc import MutableMapping, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from nexus_core.i18n import _

LONGEST = 200_000  # characters; what is longer is shown as it is written
SCHEMES = ("http://", "https://", "mailto:")
_REL = "noopener nofollow noreferrer"
_ALIGN = "text-align:"


class _Renderer(RendererHTML):
    """Links that lead away say so, an image is a link to it, and a cell's alignment is a class, not a style."""

    def link_open(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]) -> str:
        tokens[at].attrs |= {"rel": _REL, "target": "_blank"}
        return self.renderToken(tokens, at, options, env)

    def image(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]) -> str:
        words = tokens[at].content.strip() or _("Image")
        said = Token("text", "", 0, content=f"🖼 {words}")
        opened = sum(token.nesting for token in tokens[:at] if token.type.startswith("link"))
        if opened:
            return self.text([said], 0, options, env)
        link = Token("link_open", "a", 1, attrs={"href": str(tokens[at].attrs.get("src", ""))})
        close = Token("link_close", "a", -1)
        return (
            self.link_open([link], 0, options, env)
            + self.text([said], 0, options, env)
            + self.renderToken([close], 0, options, env)
        )

    def _cell(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]) -> str:
        style = str(tokens[at].attrs.pop("style", ""))
        if style.startswith(_ALIGN):
            tokens[at].attrs["class"] = style.removeprefix(_ALIGN)
        return self.renderToken(tokens, at, options, env)

    th_open = _cell
    td_open = _cell


_MARKDOWN = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable(["table", "strikethrough"])
_MARKDOWN.validateLink = lambda url: url.lower().startswith(SCHEMES)  # type: ignore[method-assign]


def render(text: str) -> str | None:
    """The Markdown as HTML; None where it is too long to be looked at as Markdown."""
    return None if len(text) > LONGEST else _MARKDOWN.render(text)
