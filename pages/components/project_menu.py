"""The project's menu in the frame: make one, rename, archive and bring back, delete; each asked in a dialog."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar
from uuid import UUID

import streamlit as st

from nexus_core import projects
from nexus_core.database import Transaction, transaction
from nexus_core.i18n import _, ngettext
from nexus_core.projects import Contents, Project
from pages.components import dialog, notice, session
from pages.components.attempt import attempt, refusal, told
from pages.components.markdown import label

T = TypeVar("T")
KEY = "project_menu"
NEW, RENAME, DELETE, ARCHIVED = "project_new", "project_rename", "project_delete", "project_archived"


def draw(project: Project | None, archived: list[Project]) -> None:
    """The menu beside the selector of projects, for the chosen one, and the dialog that it opened."""
    names = {NEW: f":material/add: {_('New project…')}"}
    if project:
        away = project.status == "archived"
        names |= {
            RENAME: f":material/edit: {_('Rename…')}",
            "quiet" if project.auto_propose else "propose": _automatic(project),
            "restore" if away else "archive": f":material/unarchive: {_('Bring back')}"
            if away
            else f":material/archive: {_('Archive')}",
            DELETE: f":material/delete: {_('Delete…')}",
        }
    if archived:
        names[ARCHIVED] = f":material/inventory_2: {_('Archived projects…')}"
    st.menu_button(
        _("Manage projects"),
        list(names),
        format_func=names.__getitem__,
        key=KEY,
        type="tertiary",
        icon=":material/more_vert:",
        on_click=_chosen,
        args=(project and project.id,),
    )
    refusal(KEY)
    dialog.draw(NEW, _new, lambda _about: _("New project"), icon=":material/create_new_folder:")
    dialog.draw(ARCHIVED, partial(_put_away, archived), lambda _about: _("Archived projects"))
    if project:
        dialog.draw(RENAME, partial(_rename, project), lambda _about: _("Rename the project"), icon=":material/edit:")
        title = label(_("Delete {name}?").format(name=project.name))
        dialog.draw(DELETE, partial(_question, project), lambda _about: title, icon=":material/delete:")


def _automatic(project: Project) -> str:
    if project.auto_propose:
        return f":material/notifications_off: {_('Stop automatic proposals')}"
    return f":material/auto_awesome: {_('Propose automatically')}"


def show(project_id: UUID | None) -> None:
    """Let the URL name this project, or none; what else it names belongs to the former one."""
    kept = {name: value for name, value in session.here().items() if name != "project"}
    session.move(kept | ({"project": str(project_id)} if project_id else {}))


def _chosen(project_id: UUID | None) -> None:
    choice = st.session_state[KEY]
    if choice in (NEW, RENAME, DELETE, ARCHIVED):
        for name in (NEW, RENAME, DELETE, ARCHIVED):
            dialog.close(name)
        dialog.open_(choice)
    elif choice in ("quiet", "propose") and project_id:
        _set_automatic(project_id, choice == "propose")
    elif choice and project_id:
        _set_status(project_id, "archived" if choice == "archive" else "active")


def _set_status(project_id: UUID, status: str) -> None:
    if attempt(KEY, lambda: _do(lambda tx: projects.update(tx, project_id, status=status))):
        notice.say(_("Archived. It can be brought back.") if status == "archived" else _("Brought back."))
        show(project_id)


def _set_automatic(project_id: UUID, wanted: bool) -> None:
    if attempt(KEY, lambda: _do(lambda tx: projects.update(tx, project_id, auto_propose=wanted))):
        on = _("What is closed, marked or archived here lets the assistant propose what to remember.")
        notice.say(on if wanted else _("The assistant proposes only when it is asked now."))


def _new(_about: object) -> None:
    with st.form("project_new_form", border=False):
        name = st.text_input(_("Name"), key="project_new_name", max_chars=200)
        about = st.text_input(
            _("What it is about"), key="project_new_about", placeholder=_("One sentence, if you like")
        )
        made = st.form_submit_button(_("Make"), type="primary", icon=":material/add:", key="project_new_make")
    if made:
        project = _tried(lambda tx: projects.create(tx, name, about))
        if project:
            _done(NEW, project.id, _("Made."))


def _rename(project: Project, _about: object) -> None:
    with st.form("project_rename_form", border=False):
        key = f"project_rename_{project.id}"
        name = st.text_input(_("Name"), project.name, key=key, max_chars=200)
        about = st.text_input(_("What it is about"), project.description, key=f"{key}_about")
        saved = st.form_submit_button(_("Save"), type="primary", icon=":material/save:", key="project_rename_save")
    since = project.updated_at
    if saved and _tried(
        lambda tx: projects.update(tx, project.id, name=name, description=about, unchanged_since=since)
    ):
        _done(RENAME, project.id, _("Saved."))


def _question(project: Project, _about: object) -> None:
    found = _tried(lambda tx: projects.contents(tx, project.id))
    if found is None:
        return
    st.markdown(_("This goes for good:"))
    st.markdown("\n".join(f"- {line}" for line in _what_goes(found)))
    st.caption(_("No conversation is kept outside the project. The ledger keeps its figures, without words."))
    if not found.own and session.scope().role != "admin":
        st.info(_("Others' words are in it, or another made it: deleting it needs an administrator."))
        return
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button(_("Cancel"), key="project_delete_cancel"):
            dialog.close(DELETE)
            st.rerun()
        sure = st.button(_("Delete project"), type="primary", icon=":material/delete:", key="project_delete_sure")
    if sure and _tried(lambda tx: projects.delete(tx, project.id)) is not None:
        _done(DELETE, None, _("Deleted."), notice.GONE)


def _what_goes(found: Contents) -> list[str]:
    talks = ngettext("{n} conversation with its messages", "{n} conversations with their messages", found.conversations)
    tasks = ngettext("{n} task", "{n} tasks", found.tasks)
    versions = ngettext("the living memory, {n} version", "the living memory, all {n} versions", found.version)
    lines = [versions.format(n=found.version)]
    lines += [talks.format(n=found.conversations)] if found.conversations else []
    return lines + ([tasks.format(n=found.tasks)] if found.tasks else [])


def _put_away(archived: list[Project], _about: object) -> None:
    for project in archived:
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(label(project.name), width="content")
            if st.button(_("Bring back"), icon=":material/unarchive:", key=f"project_back_{project.id}") and _tried(
                lambda tx, known=project: projects.update(tx, known.id, status="active")  # type: ignore[misc]
            ):
                _done(ARCHIVED, project.id, _("Brought back."))


def _done(name: str, project_id: UUID | None, words: str, icon: str = notice.DONE) -> None:
    dialog.close(name)
    show(project_id)
    notice.say(words, icon)
    st.rerun()


def _tried(action: Callable[[Transaction], T]) -> T | None:
    """What an action of the open dialog gives, or None when it was refused, which the dialog then says."""
    with told():
        return _do(action)
    return None


def _do(action: Callable[[Transaction], T]) -> T:
    with transaction(session.scope()) as tx:
        return action(tx)
