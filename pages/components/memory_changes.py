"""Changes of a memory as people read them: what happened, in words and with the words marked."""

from collections import Counter
from collections.abc import Iterable, Sequence

import streamlit as st

from nexus_core.i18n import _, ngettext
from nexus_core.memory_diff import ADD, DROP, GAP, Change, Line, Piece, lines_of
from pages.components import memory_tables
from pages.components.markdown_escape import escape, escape_line_start

LONGEST = 200
"""Lines of one change; a longer one is cut, and says so."""


def draw(changes: Sequence[Change]) -> None:
    """The changes, part by part."""
    if not changes:
        st.caption(_("No difference."))
    for field, title in titles().items():
        of_field = [change for change in changes if change.field == field]
        if not of_field:
            continue
        st.markdown(f"**{title}**")
        for change in of_field:
            draw_one(change)


def draw_one(change: Change) -> None:
    """One change: an entry's with its kind before it, the summary's line by line."""
    lines = lines_of(change, memory_tables.say)
    text = "\\\n".join(map(marked, lines[:LONGEST]))
    if change.field == "summary_md":
        st.markdown(text)
    else:
        st.markdown(f"- :small[:gray[{kinds()[change.kind]}]] {text}")
    if len(lines) > LONGEST:
        st.caption(_("and {n} more lines").format(n=len(lines) - LONGEST))


def marked(line: Line) -> str:
    """A line as Markdown: what went is struck out on red, what came is on green, bold amid the rest; all literal."""
    mixed = len(line) > 1
    return escape_line_start("".join(_piece(piece, mixed) for piece in line)) or "&nbsp;"


def told(changes: Iterable[Change]) -> str:
    """The changes in one sentence: "Summary changed · Decisions: 1 added, 1 closed"."""
    counts = Counter((change.field, change.kind) for change in changes)
    found = []
    for field, title in titles().items():
        parts = [
            name if kind == "moved" or field == "summary_md" else f"{count} {name}"
            for (of, kind), count in counts.items()
            if of == field and (name := kinds()[kind])
        ]
        if parts:
            found.append(f"{title}: {', '.join(parts)}")
    return " · ".join(found)


def count(changes: Sequence[Change]) -> str:
    """How many changes, in words."""
    return ngettext("{n} change", "{n} changes", len(changes)).format(n=len(changes))


def titles() -> dict[str, str]:
    """What the parts of a memory are called."""
    return {"summary_md": _("Summary")} | memory_tables.titles()


def kinds() -> dict[str, str]:
    """What can happen to an entry, as people read it."""
    return {
        "added": _("added"),
        "removed": _("removed"),
        "changed": _("changed"),
        "closed": _("closed"),
        "reopened": _("reopened"),
        "moved": _("reordered"),
    }


def _piece(piece: Piece, mixed: bool) -> str:
    if piece.op == GAP:
        return ":gray[…]"
    core = piece.text.strip()
    if piece.op not in (ADD, DROP):
        return escape(piece.text, links=False)
    if not core:
        return piece.text if piece.op == ADD else ""
    begin = piece.text[: len(piece.text) - len(piece.text.lstrip())]
    end = piece.text[len(piece.text.rstrip()) :]
    came = f"**{escape(core, links=False)}**" if mixed else escape_line_start(escape(core, links=False))
    shown = f":green-background[{came}]" if piece.op == ADD else f":red-background[~~{escape(core, links=False)}~~]"
    return f"{begin}{shown}{end}"
