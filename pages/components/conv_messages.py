"""What was said in one conversation, to read: a link to each message, its other versions, a fork from it."""

import streamlit as st

from nexus_core import chat, messages, runs
from nexus_core.conversations import Conversation
from nexus_core.database import transaction
from nexus_core.i18n import _, ngettext
from nexus_core.messages import Message
from nexus_core.runs import Run
from pages.components import chat_figures, chat_parts, conv_actions, conv_place, figures, session
from pages.components.attempt import attempt
from pages.components.markdown import label, literal

PAGE = 30
LONG = 20_000  # characters; a longer message is shown in a box that scrolls


def draw(found: Conversation, *, editable: bool) -> None:
    """The newest messages of the path that is shown, oldest first, and the way to the earlier ones."""
    key = f"conv_shown_{found.id}"
    with transaction(session.scope()) as tx:
        page = chat.read(tx, found.id, limit=int(st.session_state.get(key, PAGE)))
        earlier = messages.earlier(tx, found.id, page[0].seq) if page else 0
        known = runs.of(tx, [message.run_id for message in page if message.run_id])
    if not page:
        st.caption(_("Nothing was said yet."))
    if earlier:
        words = ngettext("Show earlier ({n} message)", "Show earlier ({n} messages)", earlier).format(n=earlier)
        st.button(words, key="conv_earlier", icon=":material/arrow_upward:", on_click=_more, args=(key,))
    for message in page:
        with st.container(key=f"conv_message_{message.id}", gap="xsmall"):
            _head(message, found, editable)
            _said(message, known.get(message.run_id) if message.run_id else None)


def _more(key: str) -> None:
    st.session_state[key] = int(st.session_state.get(key, PAGE)) + 2 * PAGE


def _head(message: Message, found: Conversation, editable: bool) -> None:
    names = {"user": message.user_name or _("Somebody"), "assistant": _("Assistant"), "tool": _("Tool result")}
    name = names.get(message.role, _("Instructions"))
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.markdown(f"**{label(name)}** :small[:gray[{label(figures.moment(message.created_at))}]]", width="content")
        st.space("stretch")
        st.page_link(
            conv_place.CHAT,
            label=f":small[{message.seq}]",
            icon=":material/link:",
            help=_("Open the chat at this message"),
            query_params=conv_place.in_chat(found, message.id),
            width="content",
        )
        if message.versions > 1:
            _versions(message, editable and not found.running)
        if editable and message.status != "streaming":
            st.button(
                _("Fork"),
                key=f"conv_fork_{message.id}",
                icon=":material/fork_right:",
                type="tertiary",
                help=_("Fork: a new conversation that begins with what was said up to here"),
                on_click=conv_actions.fork_from,
                args=(message.id,),
            )


def _said(message: Message, run: Run | None) -> None:
    if message.role == "assistant":
        chat_parts.answer(message.parts, run)
        if message.status == "streaming":
            st.caption(_("still being written"))
        elif message.status == "failed":
            st.error(label(str(message.metadata.get("error") or _("No answer came."))), icon=":material/error:")
        if known := chat_figures.line(message, run):
            st.caption(label(known))
    elif len(message.body) > LONG:
        with st.container(height=320, border=False):
            st.text(message.body)
    else:
        st.markdown(literal(message.body or chat_parts.plain(message.parts)))
        chat_parts.attachments(message.parts)


def _versions(message: Message, editable: bool) -> None:
    words = _("{n} of {all} versions").format(n=message.version, all=message.versions)
    with st.popover(words, type="tertiary", key=f"conv_versions_{message.id}", width="content"):
        with transaction(session.scope()) as tx:
            found = messages.versions(tx, message)
        for version in found:
            with st.container(border=True, gap="xsmall", key=f"conv_version_{version.id}"):
                facts = (str(version.version), figures.moment(version.created_at), version.model or "")
                st.caption(label(_("Version {facts}").format(facts=" · ".join(fact for fact in facts if fact))))
                if version.role == "assistant":
                    chat_parts.answer(version.parts, None)
                else:
                    st.markdown(literal(version.body))
                if version.id != message.id and editable:
                    st.button(_("Show this one"), key=f"conv_show_{version.id}", on_click=_show, args=(version,))


def _show(version: Message) -> None:
    attempt(conv_actions.REFUSED, lambda: chat.show_version(session.scope(), version.id))
