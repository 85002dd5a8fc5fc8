"""A project's tasks: what is to be done, how far it is, and where it is talked about."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import streamlit as st

from nexus_core import conversations, keeping, projects
from nexus_core.conversations import Conversation, Place
from nexus_core.database import transaction
from nexus_core.i18n import _, ngettext
from nexus_core.projects import TASK_STATUSES, Task
from pages.components import figures, notice, session
from pages.components.attempt import attempt, refusal
from pages.components.conversation_list import CHAT
from pages.components.markdown import label, literal

CLOSED = ("done", "cancelled")


def draw(project_id: UUID, editable: bool) -> None:
    """The form for a new one, the open tasks, and the closed ones behind a click."""
    with transaction(session.scope()) as tx:
        found = projects.tasks(tx, project_id)
        talks = conversations.of_project(tx, project_id, limit=200)
    about: dict[UUID, list[Conversation]] = {}
    for conversation in talks:
        if conversation.task_id:
            about.setdefault(conversation.task_id, []).append(conversation)
    if editable:
        _new(project_id)
    opened = [task for task in found if task.status not in CLOSED]
    closed = [task for task in found if task.status in CLOSED]
    if not opened:
        st.caption(_("No open task. A task gathers what is said about one thing to do."))
    for task in opened:
        _task(task, about.get(task.id, ()), editable)
    if closed:
        words = ngettext("{n} closed", "{n} closed", len(closed)).format(n=len(closed))
        with st.expander(words, type="compact", key=f"tasks_{project_id}_closed"):
            for task in closed:
                _task(task, about.get(task.id, ()), editable)


def statuses() -> dict[str, str]:
    """How far a task can be, as people read it."""
    return dict(zip(TASK_STATUSES, (_("open"), _("in progress"), _("done"), _("cancelled")), strict=True))


def _new(project_id: UUID) -> None:
    key = f"tasks_{project_id}_new"
    with (
        st.form(key, border=False, clear_on_submit=False),
        st.container(horizontal=True, vertical_alignment="bottom", width=560),
    ):
        st.text_input(
            _("New task"), key=f"{key}_title", placeholder=_("What is to be done?"), label_visibility="collapsed"
        )
        st.form_submit_button(
            _("Add"), icon=":material/add:", key=f"{key}_add", on_click=_create, args=(project_id, f"{key}_title")
        )
    refusal(key)


def _create(project_id: UUID, key: str) -> None:
    def create() -> Task:
        with transaction(session.scope()) as tx:
            return projects.create_task(tx, project_id, str(st.session_state[key] or ""))

    if attempt(f"tasks_{project_id}_new", create):
        st.session_state[key] = ""


def _task(task: Task, talks: Sequence[Conversation], editable: bool) -> None:
    key = f"task_{task.id}"
    with st.container(border=True, key=key, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(f"**{label(task.title)}**", width="stretch")
            if editable:
                _status(task, key)
                _menu(task, key)
            else:
                st.badge(statuses()[task.status], color="gray")
        when = figures.moment(task.closed_at or task.created_at)
        st.caption((_("Closed {when}") if task.closed_at else _("Since {when}")).format(when=when))
        if task.notes:
            st.markdown(literal(task.notes))
        for conversation in talks:
            st.page_link(
                CHAT,
                label=label(conversation.title or _("New conversation")),
                icon=":material/chat:",
                query_params=session.here() | {"conversation": str(conversation.id)},
            )
        refusal(key)


def _status(task: Task, key: str) -> None:
    names = statuses()
    st.session_state[f"{key}_status"] = task.status
    st.selectbox(
        _("Status"),
        list(names),
        key=f"{key}_status",
        format_func=names.__getitem__,
        label_visibility="collapsed",
        width=150,
        on_change=_move,
        args=(task, key),
    )


def _move(task: Task, key: str) -> None:
    status = st.session_state[f"{key}_status"]
    done = attempt(key, lambda: keeping.update_task(session.scope(), task.id, status=status))
    if done is not None and done[1] is not None:
        words = _("Closed. The assistant reads what was said about it and will propose what to remember.")
        notice.say(words, ":material/auto_awesome:")


def _menu(task: Task, key: str) -> None:
    names = {
        "talk": f":material/chat: {_('Talk about it')}",
        "edit": f":material/edit: {_('Edit')}",
        "delete": f":material/delete: {_('Delete …')}",
    }
    choice = st.menu_button(
        _("More"),
        list(names),
        key=f"{key}_menu",
        icon=":material/more_horiz:",
        format_func=names.__getitem__,
        type="tertiary",
    )
    if choice == "talk":
        _talk(task, key)
    elif choice == "edit":
        st.dialog(_("Edit task"))(_edit)(task, key)
    elif choice == "delete":
        st.dialog(_("Delete this task?"))(_delete)(task, key)


def _talk(task: Task, key: str) -> None:
    def begin() -> Conversation:
        with transaction(session.scope()) as tx:
            return conversations.create(tx, Place(task.project_id), kind="task", task_id=task.id)

    begun = attempt(key, begin)
    if begun is not None:
        st.switch_page(CHAT, query_params=session.here() | {"conversation": str(begun.id)})


def _edit(task: Task, key: str) -> None:
    title = st.text_input(_("Title"), value=task.title, key=f"{key}_title", max_chars=200)
    notes = st.text_area(_("Notes"), value=task.notes, key=f"{key}_notes", height=160)
    refusal(f"{key}_edit")
    if st.button(_("Save"), type="primary", key=f"{key}_save"):
        changes: dict[str, Any] = {"title": title or "", "notes": notes or "", "unchanged_since": task.updated_at}
        if attempt(f"{key}_edit", lambda: keeping.update_task(session.scope(), task.id, **changes)):
            st.rerun()
        st.rerun(scope="fragment")


def _delete(task: Task, key: str) -> None:
    st.markdown(_("**{title}** goes for good. What was said about it stays.").format(title=label(task.title)))
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button(_("Cancel"), key=f"{key}_keep"):
            st.rerun()
        if st.button(_("Delete"), key=f"{key}_delete", type="primary"):
            attempt(key, lambda: _remove(task.id))
            st.rerun()


def _remove(task_id: UUID) -> None:
    with transaction(session.scope()) as tx:
        projects.delete_task(tx, task_id)
