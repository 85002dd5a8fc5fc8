"""A project's living memory: read by everybody, edited by operators; its proposals, revisions and tasks."""

import streamlit as st

from nexus_core import memories, projects, proposals, weighing
from nexus_core.database import Scope, transaction
from nexus_core.i18n import _
from nexus_core.memories import Memory
from nexus_core.projects import Project
from pages.components import (
    figures,
    home_start,
    memory_editor,
    memory_proposals,
    memory_revisions,
    memory_tasks,
    memory_view,
    memory_weight,
    session,
)
from pages.components.markdown import label

MEMORY, PROPOSALS, REVISIONS, TASKS = TABS = ("memory", "proposals", "revisions", "tasks")


def main() -> None:
    """The memory of the project of the URL, or the way to one."""
    scope = session.scope()
    project_id = session.project_id()
    if project_id is None:
        _choose(scope)
        return
    with transaction(scope) as tx:
        project = projects.get(tx, project_id)
        memory = memories.get(tx, project_id)
        limits = weighing.limits(tx)
        counts = {PROPOSALS: proposals.waiting(tx, project_id)}
        counts[TASKS] = len(projects.tasks(tx, project_id, open_only=True))
    editable = scope.role != "viewer"
    asked = st.query_params.get("tab", MEMORY)
    tab = asked if asked in TABS else MEMORY
    editing = editable and memory_editor.editing(project_id)
    _head(project, memory, editable=editable, offered=tab == MEMORY and not editing)
    _tabs(tab, counts, memory_editor.unsaved(project_id))
    if tab == PROPOSALS:
        memory_proposals.draw(project_id, editable)
    elif tab == REVISIONS:
        memory_revisions.draw(memory, editable)
    elif tab == TASKS:
        memory_tasks.draw(project_id, editable)
    elif editing:
        memory_editor.draw(memory, limits)
    else:
        memory_weight.draw(memory, limits, f"memory_{project_id}")
        memory_editor.offer_discarded(project_id)
        memory_view.draw(memory)


def _head(project: Project, memory: Memory, *, editable: bool, offered: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        st.title(label(project.name), anchor=False, width="content")
        if editable and offered:
            st.button(
                _("Edit memory"),
                type="primary",
                icon=":material/edit:",
                key=f"memory_{project.id}_edit",
                on_click=memory_editor.begin,
                args=(memory,),
            )
    version = _("Version {n}").format(n=memory.version)
    who = memory.updated_by_name
    changed = _("changed by {name}, {when}") if who else _("changed {when}")
    when = changed.format(name=who, when=figures.moment(memory.updated_at))
    st.caption(label(f"{version} · {when}"))
    if not editable:
        st.caption(_("You can read this memory; changing it needs the operator role."))


def _tabs(tab: str, counts: dict[str, int], unsaved: int) -> None:
    """The tabs, the open one in the URL; a number says what waits, a mark that something is not saved."""
    names = {MEMORY: _("Memory"), PROPOSALS: _("Proposals"), REVISIONS: _("Revisions"), TASKS: _("Tasks")}
    names |= {name: f"{names[name]} ({count})" for name, count in counts.items() if count}
    if unsaved:
        names[MEMORY] += " :orange[•]"
    st.session_state["project_tab"] = tab
    st.segmented_control(
        _("Part"),
        list(TABS),
        key="project_tab",
        required=True,
        format_func=names.__getitem__,
        label_visibility="collapsed",
        on_change=_open,
    )


def _open() -> None:
    tab = st.session_state["project_tab"]
    if tab == MEMORY:
        st.query_params.pop("tab", None)
    else:
        st.query_params["tab"] = tab


def _choose(scope: Scope) -> None:
    st.title(_("Project memory"), anchor=False)
    st.caption(_("Summary, decisions, open questions, risks and links, known to every conversation of a project."))
    with transaction(scope) as tx:
        found = projects.list_(tx)
    with st.container(width=560):
        if not found:
            st.markdown(_("**There is no project yet.**"))
        home_start.projects_and_new("project_page", found, editable=scope.role != "viewer")


main()
