"""The conversations of one agent: beside the thread on a wide screen, in a drawer on a narrow one."""

from uuid import UUID

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from nexus_core import conversations
from nexus_core.conversations import Conversation, Place
from nexus_core.database import transaction
from nexus_core.i18n import _
from pages.components import chat_actions, chat_hits, chat_place, figures, session
from pages.components.chat_place import View
from pages.components.markdown import label

PAGE = 25
WIDTH = 250  # pixels; the style sheet knows it, too
TICK = 3.0  # seconds between two looks while another conversation is being answered
_TICKING = "chat_list_ticking"


def room() -> DeltaGenerator:
    """The room for the list beside the thread, which is drawn after it: what was said counts more."""
    return st.container(key="chat_panel", width=WIDTH, gap="xsmall")


def panel(view: View, room: DeltaGenerator) -> None:
    """The list beside the thread; it follows the answers that are being written in other conversations."""
    ticking = bool(st.session_state.get(_TICKING))
    with room:
        st.fragment(_followed, run_every=TICK if ticking else None)(view, ticking)


def drawer(view: View) -> None:
    """The same list over the page, for narrow screens."""
    st.dialog(_("Conversations"), position="left", width="small")(_entries)(view, "drawer")


def _followed(view: View, ticking: bool) -> None:
    busy = _entries(view, "panel")
    if busy != ticking:
        st.session_state[_TICKING] = busy
        st.rerun()


def _entries(view: View, where: str) -> bool:
    """Draw the list; returns whether another conversation than the shown one is being answered."""
    _new(view, where)
    words = st.text_input(
        _("Search titles and messages"),
        key=f"chat_search_{where}",
        type="search",
        live="300ms",
        placeholder=_("Search"),
        label_visibility="collapsed",
    )
    archived = bool(st.session_state.get(f"chat_archived_{where}"))
    busy = False
    if (words or "").strip():
        shown = _pages(where) * PAGE
        with st.container(key=f"chat_entries_{where}", gap=None):
            more = chat_hits.draw(words or "", view.place, where, archived=archived, shown=shown, open_=_open)
        _load_more(more, where)
    else:
        busy = _all(view, where, archived)
    st.toggle(_("Archived ones"), key=f"chat_archived_{where}")
    return busy


def _all(view: View, where: str, archived: bool) -> bool:
    """Draw the list when nothing is looked for; returns whether another one than the shown is being answered."""
    found, more, others = _read(view, archived, _pages(where))
    with st.container(key=f"chat_entries_{where}", gap=None):
        for conversation in found:
            _entry(conversation, view, where)
    if not found:
        st.caption(_("Nothing is archived.") if archived else _("No conversations yet."))
    _load_more(more, where)
    if others and not archived:
        with st.container(key=f"chat_others_{where}", gap=None):
            st.caption(_("Of others in this project"))
            for conversation in others:
                _entry(conversation, view, where)
    here = view.conversation.id if view.conversation else None
    return any(conversation.running and conversation.id != here for conversation in found)


def _read(view: View, archived: bool, pages: int) -> tuple[list[Conversation], bool, list[Conversation]]:
    """So many pages of one's own conversations, whether there are more, and the project's of other people."""
    found: list[Conversation] = []
    scope = session.scope()
    with transaction(scope) as tx:
        for _page in range(pages):
            last = found[-1] if found else None
            page = conversations.list_(tx, view.place, archived=archived, before=last, limit=PAGE)
            found += page
        project_id = view.place.project_id
        recent = conversations.recent(tx, project_id, limit=PAGE) if project_id else []
    others = [conversation for conversation in recent if conversation.user_id != scope.user_id]
    return found, len(found) == pages * PAGE, others[:8]


def _new(view: View, where: str) -> None:
    st.button(
        _("New conversation"),
        key=f"chat_new_{where}",
        icon=":material/edit_square:",
        width="stretch",
        disabled=bool(view.barred),
        help=view.barred or (_("In Just Chat, as this agent was deleted") if view.gone else None),
        on_click=_begin,
        args=(view,),
    )


def _entry(conversation: Conversation, view: View, where: str) -> None:
    shown = view.conversation is not None and conversation.id == view.conversation.id
    unread = conversation.unread and not shown
    title = label(conversation.title) or _("New conversation")
    state = "shown" if shown else "item"
    with st.container(
        key=f"chat_{state}_{where}_{conversation.id}",
        horizontal=True,
        wrap=False,
        gap=None,
        vertical_alignment="center",
    ):
        st.button(
            f"**{title}**" if unread else title,
            key=f"chat_open_{where}_{conversation.id}",
            type="tertiary",
            icon="spinner" if conversation.running else ":material/mark_chat_unread:" if unread else None,
            width="stretch",
            on_click=_open,
            args=(conversation.id,),
        )
        st.caption(figures.when(conversation.last_message_at), width="content")


def _open(conversation_id: UUID, message_id: UUID | None = None) -> None:
    chat_place.go(conversation_id, message_id=message_id)
    st.rerun()


def _begin(view: View) -> None:
    chat_actions.new_conversation(Place(view.place.project_id) if view.gone else view.place)
    st.rerun()


def _pages(where: str) -> int:
    return int(st.session_state.get(f"chat_pages_{where}", 1))


def _load_more(more: bool, where: str) -> None:
    if more:
        st.button(
            _("Load more"), key=f"chat_more_{where}", type="tertiary", width="stretch", on_click=_more, args=(where,)
        )


def _more(where: str) -> None:
    st.session_state[f"chat_pages_{where}"] = _pages(where) + 1
