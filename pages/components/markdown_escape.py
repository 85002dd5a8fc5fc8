"""Plain text as Markdown that shows it unchanged, whatever Streamlit 1.67 would make of it.

Marks become character references. Short codes, arrows and bare addresses are looked for in the decoded text,
where references do not help: there one character stands in `:color[…]` without a colour, which Streamlit
draws as a bare <span> and which so parts the text.
"""

import re

_MARKS = re.compile(
    r"(?P<short>:[A-Za-z0-9_+-]+:)"
    r"|(?P<arrow>(?<![^\s\ufeff])(?:<->|->|<-|--|>=|<=|~=)(?![^\s\ufeff]))"
    r"|(?P<address>:(?=//)|(?<=www)\.|@)"
    r"|[\\`*_{}\[\]<>~|$\n\r\t]|:(?!\s|\Z)|&(?=[#\w])|!\Z",
    re.IGNORECASE,
)
_LINE_START = re.compile(r"(?P<number>\d{1,9})(?P<dot>[.)])|[#+=-]")
_RUN_OF_SPACES = re.compile(r"(?<= ) +")


def reference(text: str) -> str:
    """Every character of `text` as a numeric character reference."""
    return "".join(f"&#{ord(character)};" for character in text)


def apart(character: str) -> str:
    """`character` in a text node of its own, without any look."""
    return f":color[{reference(character)}]"


def escape(text: str, *, links: bool = True) -> str:
    """`text` for the middle of a line; without `links` Streamlit makes no link of a bare address either."""

    def replace(match: re.Match[str]) -> str:
        found = match[0]
        if match["short"]:
            return reference(":") + escape(found[1:-1]) + apart(":")
        if match["arrow"]:
            return reference(found[0]) + apart(found[1]) + reference(found[2:])
        return apart(found) if match["address"] and not links else reference(found)

    return _MARKS.sub(replace, text)


def escape_line_start(line: str) -> str:
    """An escaped `line` that begins no list, heading or rule."""
    match = _LINE_START.match(line)
    if match is None:
        return line
    kept = match["number"] or ""
    return kept + reference(match["dot"] or match[0]) + line[match.end() :]


def keep_spaces(line: str, written: str) -> str:
    """`written`, which stands for the words of `line`, behind its indentation; a blank line keeps its height.

    Also spaces beyond ASCII: Streamlit strips them from the ends of the whole text.
    """
    words = line.lstrip()
    if not words:
        return reference(" ")
    spaces = line[: len(line) - len(words)]
    return "".join(reference(space if space > "\x7f" else "\xa0") for space in spaces) + written


def keep_runs_of_spaces(line: str) -> str:
    """An escaped `line` of which no space is lost between the words."""
    return _RUN_OF_SPACES.sub(lambda run: "&nbsp;" * len(run[0]), line)
