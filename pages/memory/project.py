"""A project's living memory: read by everybody, edited by operators."""

import streamlit as st

from nexus_core import memories, projects
from nexus_core.database import Scope, transaction
from nexus_core.i18n import _
from nexus_core.memories import Memory
from nexus_core.projects import Project
from pages.components import figures, home_start, memory_editor, memory_view, session
from pages.components.markdown import label


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
    editable = scope.role != "viewer"
    editing = editable and memory_editor.editing(project_id)
    _head(project, memory, editable=editable, editing=editing)
    if editing:
        memory_editor.draw(memory)
    else:
        memory_view.draw(memory)


def _head(project: Project, memory: Memory, *, editable: bool, editing: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        st.title(label(project.name), anchor=False, width="content")
        if editable and not editing:
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
    st.caption(label(" · ".join((version, when, memory_view.weight(memory)))))
    if not editable:
        st.caption(_("You can read this memory; changing it needs the operator role."))


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
