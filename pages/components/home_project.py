"""Home of a project: what it remembers, what is open, what was said lately and by whom."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from nexus_core import l10n
from nexus_core.entries import is_closed, main_text
from nexus_core.i18n import _
from nexus_core.memories import Memory
from nexus_core.projects import Task
from nexus_core.text import clip
from pages.components import memory_view, prose, session
from pages.components.markdown import label

PROJECT = "pages/memory/project.py"
SUMMARY = 700
FIRST = 4


def summary(memory: Memory) -> None:
    """The beginning of the living summary, whole paragraphs of it, and the way to the rest."""
    text = memory.summary_md.strip()
    if not text:
        st.caption(_("The living summary is empty. It is what every conversation of this project starts from."))
    else:
        prose.draw(beginning(text))
    title = _("Read the whole memory") if text else _("Write it")
    st.page_link(PROJECT, label=title, icon=":material/menu_book:", query_params=session.here())


def beginning(text: str, limit: int = SUMMARY) -> str:
    """The first paragraphs that fit into `limit` characters; one that is longer alone is clipped."""
    kept: list[str] = []
    for paragraph in text.split("\n\n"):
        if kept and len("\n\n".join([*kept, paragraph])) > limit:
            break
        kept.append(paragraph)
    return clip("\n\n".join(kept), limit)


def lists(memory: Memory, tasks: Sequence[Task], spend: Callable[[], None]) -> None:
    """Decisions, open questions, risks, tasks and links that still hold, how many and the first ones; and the spend."""
    shown = (
        ("decisions", _("Decisions"), ":material/gavel:", _live(memory.decisions), _("Nothing decided yet.")),
        ("questions", _("Open questions"), ":material/help:", _live(memory.open_questions), _("No open question.")),
        ("risks", _("Risks"), ":material/warning:", _live(memory.risks), _("No risk noted.")),
        ("tasks", _("Open tasks"), ":material/task_alt:", [_task(task) for task in tasks], _("No open task.")),
    )
    grid = st.grid(3, min_column_width=260)
    for name, title, icon, lines, nothing in shown:
        with grid.container(border=True, height="stretch", gap="xsmall", key=f"home_{name}"):
            st.markdown(f"{icon} **{title}** :gray-badge[{len(lines)}]")
            if not lines:
                st.caption(nothing)
            st.markdown("\n".join(f"- {label(clip(line, 120))}" for line in lines[:FIRST]))
            if len(lines) > FIRST:
                st.caption(_("and {n} more").format(n=len(lines) - FIRST))
    with grid.container(border=True, height="stretch", gap="xsmall", key="home_links"):
        st.markdown(f":material/link: **{_('Links')}** :gray-badge[{len(memory.links)}]")
        if not memory.links:
            st.caption(_("No link kept."))
        for entry in memory.links[:FIRST]:
            memory_view.link(entry)
        if len(memory.links) > FIRST:
            st.caption(_("and {n} more").format(n=len(memory.links) - FIRST))
    with grid.container(border=True, height="stretch", gap="xsmall", key="home_spend"):
        spend()


def _live(entries: Sequence[Any]) -> list[str]:
    """The sentences of what is not settled, the newest first."""
    return [_dated(entry) for entry in reversed(entries) if not is_closed(entry)]


def _dated(entry: Any) -> str:
    on = str(entry.get("decided_on") or "") if isinstance(entry, Mapping) else ""
    return f"{clip(main_text(entry), 100)} ({l10n.written_day(on)})" if on else main_text(entry)


def _task(task: Task) -> str:
    return f"{task.title} ({_('in progress')})" if task.status == "in_progress" else task.title
