"""One message of a conversation: a person's as it was typed, an assistant's with its steps and figures."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import streamlit as st
from streamlit.string_util import is_emoji

from nexus_core import chat, messages
from nexus_core.agents import Agent
from nexus_core.database import transaction
from nexus_core.draft import Live
from nexus_core.errors import NexusError, NotFound
from nexus_core.i18n import _
from nexus_core.messages import Message
from nexus_core.runs import Run
from pages.components import chat_actions, chat_figures, chat_keep, chat_parts, chat_receipt, figures, session
from pages.components.chat_place import View
from pages.components.markdown import label, literal

LONG = 20_000  # characters; a longer message of a person is shown in a box that scrolls
TICK = 0.3  # seconds between two looks at an answer that is being written, as long as few are
FIRST = 0.15  # seconds that the first look may wait for the first words; the built-in assistant has them by then
JUST_CHAT_FACE = "💬"


@dataclass(frozen=True)
class Thread:
    """What the messages of one page have in common; `idle` when one may write and nothing is being written; `keeps`
    when they can become part of a project's memory."""

    face: str
    writable: bool
    idle: bool
    keeps: bool
    runs: dict[UUID, Run] = field(default_factory=dict)
    found_id: UUID | None = None


def thread(view: View) -> Thread:
    """The thread of a view."""
    writable = not view.refusal
    keeps = view.place.project_id is not None and writable
    found = view.found.id if view.found else None
    return Thread(face(view.agent), writable, writable and not view.running, keeps, view.runs, found)


def face(agent: Agent | None) -> str:
    """The emoji that stands for who answers."""
    return agent.emoji if agent else JUST_CHAT_FACE


def draw(message: Message, thread: Thread) -> bool:
    """Draw a message, whoever said it; True where it is newer than the page, which is to be drawn anew then."""
    newer: Message | None = None
    place = "chat_found" if message.id == thread.found_id else "chat_message"
    with st.container(key=f"{place}_{message.id}"):
        if message.role == "user" and thread.writable and chat_actions.edited() == message.id:
            _editor(message, thread)
        elif message.role == "user":
            _person(message, thread)
        elif message.role != "assistant":
            _aside(message)
        elif message.status == "streaming" and (newer := _ended_meanwhile(message)) is None:
            st.fragment(_watch, run_every=chat.pace(TICK))(message, thread)
        else:
            _assistant(newer or message, thread)
    return newer is not None


def _person(message: Message, thread: Thread) -> None:
    with st.container(key=f"chat_person_{message.id}", horizontal_alignment="right", gap="xxsmall"):
        name = message.user_name or _("Somebody")
        with st.chat_message(name or "user", avatar=":material/person:", width="content"):
            _said(message)
        with _row(message, "right"):
            st.caption(label(f"{name} · {figures.moment(message.created_at)}"), width="content")
            _versions(message, thread)
            if thread.idle:
                st.button(
                    _("Edit"),
                    key=f"chat_edit_{message.id}",
                    icon=":material/edit:",
                    type="tertiary",
                    help=_("Edit and send again; the former wording stays reachable"),
                    on_click=chat_actions.edit,
                    args=(message.id,),
                )
            _copy(message)
            _keep(message, thread)
        chat_keep.kept(message)


def _said(message: Message) -> None:
    if len(message.body) > LONG:
        with st.container(height=320, border=False):
            st.text(message.body)
    else:
        st.markdown(literal(message.body))
    chat_parts.attachments(message.parts)


def _editor(message: Message, thread: Thread) -> None:
    """What is typed here stays until it is sent or given up, through other answers, conversations and pages."""
    key = f"chat_edit_text_{message.id}"
    st.session_state.setdefault(key, message.body)
    with st.container(key=f"chat_editor_{message.id}", border=True):
        st.text_area(
            _("Your message"), key=key, label_visibility="collapsed", height="content", persist_state="session"
        )
        with st.container(horizontal=True, horizontal_alignment="right"):
            if not thread.idle:
                st.caption(_("An answer is being written; this can be sent once it has ended."))
            st.button(_("Cancel"), key=f"chat_edit_cancel_{message.id}", on_click=chat_actions.end_edit, args=(key,))
            st.button(
                _("Send again"),
                key=f"chat_edit_send_{message.id}",
                type="primary",
                disabled=not thread.idle,
                on_click=chat_actions.resend,
                args=(message.id, key),
            )


def _assistant(message: Message, thread: Thread) -> None:
    run = thread.runs.get(message.run_id) if message.run_id else None
    with st.chat_message("assistant", avatar=_avatar(thread.face)):
        chat_parts.answer(message.parts, run)
        _ending(message, thread)
        with _row(message, "left"):
            if known := chat_figures.line(message, run):
                st.caption(label(known), width="content")
            if run is not None and (warnings := run.metadata.get("budget_warnings")):
                st.caption(f":orange[:material/savings: {label(' '.join(map(str, warnings)))}]", width="content")
            if run is not None and run.status in ("succeeded", "failed"):
                chat_receipt.button(message.id, run)
            _versions(message, thread)
            if message.body:
                _copy(message)
            if thread.idle and message.status != "failed":
                st.button(
                    _("Answer again"),
                    key=f"chat_again_{message.id}",
                    icon=":material/refresh:",
                    type="tertiary",
                    help=_("Answer again; this answer stays reachable"),
                    on_click=chat_actions.answer_again,
                    args=(message.id,),
                )
            _keep(message, thread)
        chat_keep.kept(message)


def _keep(message: Message, thread: Thread) -> None:
    if thread.keeps and message.body:
        chat_keep.menu(message)


def _ending(message: Message, thread: Thread) -> None:
    """Why an answer is not whole, where it stands, and the way on."""
    if message.status == "stopped":
        st.caption(":material/stop_circle: " + _("Stopped; what had been written is kept."))
    if message.status != "failed":
        return
    kept = _("Your question is kept, and so is what had been written.") if message.body else _("Your question is kept.")
    sentence = message.metadata.get("error") or _("No answer came.")
    with st.container(key=f"chat_error_{message.id}"):
        st.error(f"{label(str(sentence))} {kept}", icon=":material/error:")
        if thread.idle:
            st.button(
                _("Try again"),
                key=f"chat_retry_{message.id}",
                icon=":material/refresh:",
                on_click=chat_actions.answer_again,
                args=(message.id,),
            )


def _ended_meanwhile(message: Message) -> Message | None:
    """The answer as it is stored, where it has ended since the page was read; None while it is being written."""
    if chat.live(message, FIRST).version:
        return None
    try:
        with transaction(session.scope()) as tx:
            row = messages.get(tx, message.id)
    except NexusError:
        return None
    return row if row.status != "streaming" else None


def _watch(message: Message, thread: Thread) -> None:
    """Draw an answer that is being written, as far as it has come; the page is drawn anew at its end."""
    live = chat.live(message)
    trouble = ""
    if live.version == 0:  # not begun yet, or another process writes it: its row knows
        try:
            with transaction(session.scope()) as tx:
                row = messages.get(tx, message.id)
            if row.status != "streaming":
                st.rerun()
            live = Live(row.parts, 0)
        except NotFound:
            st.rerun()
        except NexusError as error:
            trouble = error.message
    with st.chat_message("assistant", avatar=_avatar(thread.face)):
        waits = f"{live.note} {_('Nexus tries again by itself …')}" if live.note else trouble
        chat_parts.growing(live.parts, waits)


def _aside(message: Message) -> None:
    """What neither a person nor an assistant said: instructions and results that a program brought."""
    with st.expander(_("Tool result") if message.role == "tool" else _("Instructions"), type="compact"):
        st.text(message.body or chat_parts.plain(message.parts))


def _row(message: Message, side: Any) -> Any:
    return st.container(
        key=f"chat_row_{message.id}",
        horizontal=True,
        horizontal_alignment=side,
        vertical_alignment="center",
        gap="xxsmall",
    )


def _versions(message: Message, thread: Thread) -> None:
    if message.versions < 2:
        return
    for name, icon, other, words in (
        ("previous", ":material/chevron_left:", message.previous_id, _("Earlier version")),
        ("next", ":material/chevron_right:", message.next_id, _("Later version")),
    ):
        if name == "next":
            st.caption(f"{message.version}/{message.versions}", width="content")
        st.button(
            words,
            key=f"chat_{name}_{message.id}",
            icon=icon,
            type="tertiary",
            help=words,
            disabled=other is None or not thread.idle,
            on_click=chat_actions.show_version,
            args=(other,),
        )


def _copy(message: Message) -> None:
    """Streamlit's own copy button, without the text that it copies: the style sheet hides that."""
    with st.container(key=f"chat_copy_{message.id}", width="content"):
        st.code(message.body, language=None, width="content")


def _avatar(emoji: str) -> str:
    """An emoji that Streamlit takes for one; anything else could be read as the name of an image."""
    return emoji if is_emoji(emoji) else "assistant"
