"""Keeping what was said: a message becomes a decision, a question or a risk of the project's memory, and back."""

from typing import Literal
from uuid import UUID

import streamlit as st

from nexus_core import keeping, projects, proposing
from nexus_core.conversations import Conversation
from nexus_core.database import transaction
from nexus_core.i18n import _
from nexus_core.keeping import Kept
from nexus_core.messages import Message
from pages.components import chat_actions, session

PROJECT = "pages/memory/project.py"
_KEPT = "chat_kept"


def menu(message: Message) -> None:
    """The menu "Keep as", and after a click what became of it."""
    names = {
        "decisions": f":material/gavel: {_('Keep as decision')}",
        "open_questions": f":material/help: {_('Keep as open question')}",
        "risks": f":material/warning: {_('Keep as risk')}",
    }
    st.menu_button(
        _("Keep"),
        list(names),
        key=f"chat_keep_{message.id}",
        icon=":material/bookmark_add:",
        type="tertiary",
        format_func=names.__getitem__,
        help=_("Keep in the project's memory, with a link to this message"),
        on_click=_keep,
        args=(message.id,),
    )


def kept(message: Message) -> None:
    """What this message was kept as, with the way there and back; until something else is kept."""
    found: Kept | None = st.session_state.get(_KEPT, {}).get(message.id)
    if found is None:
        return
    said = {
        "decisions": _("Kept as a decision."),
        "open_questions": _("Kept as an open question."),
        "risks": _("Kept as a risk."),
    }
    side: Literal["left", "right"] = "right" if message.role == "user" else "left"
    place = f"chat_kept_{message.id}"
    with st.container(key=place, horizontal=True, horizontal_alignment=side, vertical_alignment="center", gap="small"):
        words = said[found.field] if found.new else _("The memory had it already.")
        st.caption(f":green[:material/check:] {words}", width="content")
        st.page_link(PROJECT, label=_("Open memory"), query_params=session.here())
        if found.new:
            st.button(_("Undo"), key=f"chat_unkeep_{message.id}", type="tertiary", on_click=_undo, args=(message.id,))


def propose(conversation: Conversation) -> None:
    """Have the assistant read this conversation and propose what to remember."""
    if conversation.project_id is None:
        return
    project_id, about = conversation.project_id, {"conversation_id": conversation.id}
    if chat_actions.done(lambda: proposing.propose(session.scope(), project_id, **about)):
        said = _("The assistant reads this conversation; what it proposes waits in the project's memory.")
        st.toast(said, icon=":material/auto_awesome:")


def choose_task(conversation: Conversation) -> None:
    """The dialog in which a conversation gets its task."""
    assert conversation.project_id is not None
    with transaction(session.scope()) as tx:
        found = projects.tasks(tx, conversation.project_id)
    names = {"": _("No task")} | {str(task.id): task.title for task in found}
    if not found:
        st.caption(_("This project has no task yet; tasks are made on its page."))
        return
    current = str(conversation.task_id or "")
    key = f"chat_task_{conversation.id}"
    st.session_state.setdefault(key, current if current in names else "")
    st.selectbox(_("Task"), list(names), format_func=names.__getitem__, key=key)
    st.button(_("Save"), type="primary", key="chat_task_save", on_click=_set_task, args=(conversation.id, key))


def _set_task(conversation_id: UUID, key: str) -> None:
    chosen = st.session_state.get(key)
    task_id = UUID(chosen) if chosen else None
    chat_actions.done(lambda: keeping.update_conversation(session.scope(), conversation_id, task_id=task_id))
    st.rerun()


def _keep(message_id: UUID) -> None:
    field = st.session_state.get(f"chat_keep_{message_id}")
    made: list[Kept] = []
    if field and chat_actions.done(lambda: made.append(keeping.keep(session.scope(), message_id, field))):
        st.session_state[_KEPT] = {message_id: made[0]}


def _undo(message_id: UUID) -> None:
    found: Kept | None = st.session_state.pop(_KEPT, {}).get(message_id)
    if found is not None:
        chat_actions.done(lambda: keeping.undo(session.scope(), found))
