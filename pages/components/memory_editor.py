"""The editor of a project's memory: unsaved changes stay, and a lost race shows both versions."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import streamlit as st

from nexus_core import memories
from nexus_core.database import transaction
from nexus_core.errors import Conflict
from nexus_core.i18n import _, ngettext
from nexus_core.memories import LISTS, Memory
from pages.components import memory_tables, memory_versions, prose, session
from pages.components.attempt import attempt, refusal

FIELDS = ("summary_md", *LISTS)
ROW_HEIGHT = 62  # pixels; above four times the font size cells wrap


@dataclass(frozen=True)
class Edit:
    """An edit that is going on: the memory that it began from, and which one it is."""

    base: Memory
    round: int

    def key(self, field: str) -> str:
        return f"memory_{self.base.project_id}_{self.round}_{field}"


def editing(project_id: UUID) -> bool:
    """Whether this person has begun to edit this memory."""
    return _place(project_id) in st.session_state


def begin(memory: Memory) -> None:
    """Begin to edit `memory` as it is, with inputs that know nothing of the edit before."""
    rounds = f"memory_rounds_{memory.project_id}"
    st.session_state[rounds] = st.session_state.get(rounds, -1) + 1
    st.session_state[_place(memory.project_id)] = Edit(memory, st.session_state[rounds])


def draw(memory: Memory) -> None:
    """The editor; `memory` is what is stored now, which somebody may have changed since the edit began."""
    edit: Edit = st.session_state[_place(memory.project_id)]
    top = st.container()
    left, right = st.columns([2, 3], gap="medium")
    with left:
        summary = _summary(edit)
    with right:
        lists = {field: _table(edit, field, title) for field, title in memory_tables.titles().items()}
    mine = {"summary_md": summary, **lists}
    changed = [field for field in FIELDS if mine[field] != getattr(edit.base, field)]
    if memory.version != edit.base.version and changed:
        with top:
            memory_versions.draw(edit.base, mine, memory, save)
    with st.bottom, st.container(horizontal=True, vertical_alignment="center"):
        _bar(edit, memory, mine, changed)


def stop(project_id: UUID) -> None:
    """Leave the editor; what was not saved is gone."""
    st.session_state.pop(_place(project_id), None)


def _place(project_id: UUID) -> str:
    return f"memory_edit_{project_id}"


def _summary(edit: Edit) -> str:
    st.subheader(_("Summary"), anchor=False)
    key = edit.key("summary_md")
    names = {"write": _("Write"), "preview": _("Preview")}
    mode = st.segmented_control(
        _("Summary"),
        list(names),
        default="write",
        required=True,
        format_func=names.__getitem__,
        key=f"{key}_mode",
        label_visibility="collapsed",
    )
    if key not in st.session_state:
        st.session_state[key] = edit.base.summary_md
    if mode == "preview":
        with st.container(border=True):
            prose.draw(st.session_state[key] or _("Nothing yet."))
        st.session_state[key] = st.session_state[key]
    else:
        st.text_area(_("Summary, in Markdown"), key=key, height=420, label_visibility="collapsed", persist_state="page")
    return str(st.session_state[key])


def _table(edit: Edit, field: str, title: str) -> list[Any]:
    before = getattr(edit.base, field)
    st.subheader(title, anchor=False)
    edited = st.data_editor(
        memory_tables.frame(field, before),
        key=edit.key(field),
        num_rows="dynamic",
        hide_index=True,
        row_height=ROW_HEIGHT,
        column_config=memory_tables.config(field, before),
        placeholder="",
        alt=title,
    )
    return memory_tables.entries(field, before, edited)


def _bar(edit: Edit, memory: Memory, mine: dict[str, Any], changed: list[str]) -> None:
    if changed:
        said = ngettext("{n} part changed, not saved yet", "{n} parts changed, not saved yet", len(changed))
        st.markdown(f":orange-badge[:material/edit: {said.format(n=len(changed))}]", width="content")
    else:
        st.caption(_("Nothing changed yet."), width="content")
    project = edit.base.project_id
    if memory.version == edit.base.version or not changed:
        st.button(
            _("Save"),
            type="primary",
            icon=":material/save:",
            key=f"memory_{project}_save",
            disabled=not changed,
            on_click=save,
            args=(edit.base, mine),
        )
    st.button(_("Discard") if changed else _("Done"), key=f"memory_{project}_discard", on_click=stop, args=(project,))
    refusal(f"memory_{project}")


def save(read: Memory, mine: dict[str, Any]) -> None:
    """Replace the memory that was `read` by `mine`; when somebody was faster, the editor shows both."""
    saved = attempt(f"memory_{read.project_id}", lambda: _store(read, mine))
    if saved is not None:
        stop(read.project_id)
        st.toast(_("Saved as version {n}.").format(n=saved.version), icon=":material/check:")


def _store(read: Memory, mine: dict[str, Any]) -> Memory | None:
    try:
        with transaction(session.scope()) as tx:
            return memories.replace(tx, read.project_id, version=read.version, **mine)
    except Conflict:
        return None
