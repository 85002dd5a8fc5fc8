"""The editor of a project's memory: unsaved changes stay in the session, and a lost race shows both versions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import streamlit as st

from nexus_core import memories, memory_diff
from nexus_core.database import transaction
from nexus_core.errors import Conflict
from nexus_core.i18n import _
from nexus_core.memories import Memory
from nexus_core.memory_diff import Change
from nexus_core.weighing import Limit
from pages.components import memory_changes, memory_tables, memory_versions, memory_weight, notice, prose, session
from pages.components.attempt import attempt, refusal

ROW_HEIGHT = 62  # pixels; above four times the font size cells wrap


@dataclass(frozen=True)
class Edit:
    """An edit that is going on: the memory that it began from, what its inputs began with, and which ones they are."""

    base: Memory
    start: dict[str, Any]
    round: int

    def key(self, field: str) -> str:
        return f"memory_{self.base.project_id}_{self.round}_{field}"


def editing(project_id: UUID) -> bool:
    """Whether this person has begun to edit this memory."""
    return _place(project_id) in st.session_state


def unsaved(project_id: UUID) -> int:
    """How many changes to this memory are not saved yet."""
    edit: Edit | None = st.session_state.get(_place(project_id))
    draft = st.session_state.get(_draft(project_id))
    return len(memory_diff.changes(memories.values(edit.base), draft)) if edit and draft else 0


def begin(memory: Memory) -> None:
    """Begin to edit `memory` as it is, with inputs that know nothing of the edit before."""
    for place in (_draft(memory.project_id), _discarded(memory.project_id)):
        st.session_state.pop(place, None)
    _start(memory, memories.values(memory))


def draw(memory: Memory, limits: Sequence[Limit]) -> None:
    """The editor; `memory` is what is stored now, which somebody may have changed since the edit began."""
    edit = _resumed(memory.project_id)
    top = st.container()
    left, right = st.columns([4, 7], gap="medium")
    with left:
        summary = _summary(edit)
    with right:
        lists = {field: _table(edit, field, title) for field, title in memory_tables.titles().items()}
    mine = {"summary_md": summary, **lists}
    st.session_state[_draft(memory.project_id)] = mine
    changed = memory_diff.changes(memories.values(edit.base), mine)
    if memory.version != edit.base.version and not changed:
        begin(memory)
        st.rerun()
    with top:
        if memory.version != edit.base.version and changed:
            memory_versions.draw(edit.base, mine, memory, save)
        memory_weight.draw(replace(memory, **mine), limits, edit.key("budget"))
    with st.bottom, st.container(horizontal=True, vertical_alignment="center"):
        _bar(edit, memory, mine, changed)


def discard(project_id: UUID) -> None:
    """Leave the editor without saving; until the next edit a click brings it back."""
    st.session_state[_discarded(project_id)] = (
        st.session_state[_place(project_id)],
        st.session_state[_draft(project_id)],
    )
    stop(project_id)


def offer_discarded(project_id: UUID) -> None:
    """The way back to what was discarded last, where there is something."""
    if _discarded(project_id) in st.session_state:
        st.button(
            _("Bring back what I discarded"),
            key=f"memory_{project_id}_undiscard",
            icon=":material/undo:",
            type="tertiary",
            on_click=_bring_back,
            args=(project_id,),
        )


def _bring_back(project_id: UUID) -> None:
    edit, draft = st.session_state.pop(_discarded(project_id))
    _start(edit.base, draft)
    st.session_state[_draft(project_id)] = draft


def _discarded(project_id: UUID) -> str:
    return f"memory_discarded_{project_id}"


def stop(project_id: UUID) -> None:
    """Leave the editor; what was not saved is gone."""
    for place in (_place(project_id), _draft(project_id)):
        st.session_state.pop(place, None)


def _place(project_id: UUID) -> str:
    return f"memory_edit_{project_id}"


def _draft(project_id: UUID) -> str:
    return f"memory_draft_{project_id}"


def _start(memory: Memory, start: dict[str, Any]) -> Edit:
    rounds = f"memory_rounds_{memory.project_id}"
    st.session_state[rounds] = st.session_state.get(rounds, -1) + 1
    edit = Edit(memory, start, st.session_state[rounds])
    st.session_state[_place(memory.project_id)] = edit
    return edit


def _resumed(project_id: UUID) -> Edit:
    """The edit that is going on; after another page or tab, whose drawing lost the inputs, with new ones."""
    edit: Edit = st.session_state[_place(project_id)]
    draft = st.session_state.get(_draft(project_id))
    return edit if draft is None or edit.key("links") in st.session_state else _start(edit.base, draft)


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
        st.session_state[key] = edit.start["summary_md"]
    if mode == "preview":
        with st.container(border=True):
            prose.draw(st.session_state[key] or _("Nothing yet."))
        st.session_state[key] = st.session_state[key]
    else:
        st.text_area(_("Summary, in Markdown"), key=key, height=420, label_visibility="collapsed", persist_state="page")
    return str(st.session_state[key])


def _table(edit: Edit, field: str, title: str) -> list[Any]:
    before = edit.start[field]
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


def _bar(edit: Edit, memory: Memory, mine: dict[str, Any], changed: list[Change]) -> None:
    project = edit.base.project_id
    if changed:
        said = _("{changes}, not saved yet").format(changes=memory_changes.count(changed))
        st.markdown(f":orange-badge[:material/edit: {said}]", width="content")
    else:
        st.caption(_("Nothing changed yet."), width="content")
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
    leave = discard if changed else stop
    st.button(_("Discard") if changed else _("Done"), key=f"memory_{project}_discard", on_click=leave, args=(project,))
    if changed and st.button(_("See diff"), key=f"memory_{project}_diff", icon=":material/difference:"):
        st.dialog(_("What you changed"), width="large")(memory_changes.draw)(changed)
    refusal(f"memory_{project}")


def save(read: Memory, mine: dict[str, Any]) -> None:
    """Replace the memory that was `read` by `mine`; when somebody was faster, the editor shows both."""
    saved = attempt(f"memory_{read.project_id}", lambda: _store(read, mine))
    if saved is not None:
        stop(read.project_id)
        told = memory_changes.told(memory_diff.changes(memories.values(read), memories.values(saved)))
        notice.say(_("Saved as version {n}. {told}").format(n=saved.version, told=told))


def _store(read: Memory, mine: dict[str, Any]) -> Memory | None:
    try:
        with transaction(session.scope()) as tx:
            return memories.replace(tx, read.project_id, version=read.version, **mine)
    except Conflict:
        return None
