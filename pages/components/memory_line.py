"""One proposed line: what it would change, what stands in its place by now, and its form for editing it."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import streamlit as st

from nexus_core.entries import DETAIL, MAIN, detail_text, entry_line, main_text
from nexus_core.i18n import _
from nexus_core.memory_diff import Change, lines_of
from nexus_core.proposals import Line
from pages.components import memory_changes, memory_tables
from pages.components.markdown import literal

GONE = "\0gone"
"""Stands for an entry that somebody removed, where None means that nothing clashes."""


def draw(change: Change) -> None:
    """What a line would change."""
    lines = lines_of(change, memory_tables.say)
    st.markdown("\\\n".join(map(memory_changes.marked, lines[: memory_changes.LONGEST])) or _("No difference."))


def current(field: str, now: Any) -> None:
    """What stands in the line's place by now."""
    text = _("It was removed.") if now == GONE else now if field == "summary_md" else entry_line(now, memory_tables.say)
    with st.container(border=True, height=220 if len(text) > 1_000 else "content"):
        st.markdown(literal(text))


def form(line: Line, key: str) -> None:
    """The inputs of a line: the summary's text, or an entry's sentence and what it adds."""
    if line.field == "summary_md":
        st.session_state.setdefault(f"{key}_text", line.after)
        st.text_area(_("Summary, in Markdown"), key=f"{key}_text", height=260)
        return
    names = {"why": _("Why"), "answer": _("Answer"), "mitigation": _("Mitigation"), "url": _("Address")}
    st.session_state.setdefault(f"{key}_text", main_text(line.after))
    st.session_state.setdefault(f"{key}_detail", detail_text(line.after))
    st.text_area(_("Sentence"), key=f"{key}_text", height="content")
    st.text_input(names[DETAIL[line.field]], key=f"{key}_detail")


def edited(line: Line, key: str) -> Any:
    """What the form says, as `deciding.accept` takes it."""
    text = str(st.session_state.get(f"{key}_text") or "")
    if line.field == "summary_md":
        return text
    detail = str(st.session_state.get(f"{key}_detail") or "").strip()
    return {MAIN[line.field]: text.strip()} | (
        {DETAIL[line.field]: detail} if detail or detail_text(line.after) else {}
    )


def keep_clashes(clashes: Mapping[UUID, Any]) -> None:
    """Remember what stands in the place of lines that could not be taken."""
    for line_id, now in clashes.items():
        st.session_state[f"line_{line_id}_clash"] = GONE if now is None else now
        st.session_state[f"line_{line_id}_edit"] = True


def clash(line_id: UUID) -> Any:
    """What stands in the place of a line that could not be taken; None where nothing clashed."""
    return st.session_state.get(f"line_{line_id}_clash")
