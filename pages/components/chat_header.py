"""The line above a thread: who answers, the title, how full the memory is, and what can be done."""

from uuid import UUID

import streamlit as st

from nexus_core.agents import Agent
from nexus_core.conversations import Conversation
from nexus_core.gauge import Gauge
from nexus_core.i18n import _, ngettext
from nexus_core.shelf import TRASH_DAYS
from nexus_core.text import clip, one_line
from pages.components import (
    chat_actions,
    chat_keep,
    chat_list,
    chat_place,
    conv_export,
    conv_share,
    dialog,
    figures,
    modes,
)
from pages.components.chat_place import JUST_CHAT, View
from pages.components.markdown import label

AGENT = "chat_agent"
EXPORT, SHARE = "chat_export", "chat_share"
_RENAMING = "chat_renaming"


def draw(view: View) -> None:
    """Draw the line."""
    with st.container(key="chat_head", horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall"):
        words = _("Conversations")
        if st.button(words, key="chat_list_open", icon=":material/menu:", type="tertiary", help=words):
            chat_list.drawer(view)
        _chooser(view)
        if view.conversation:
            _title(view.conversation, bool(view.barred))
            if view.gauge:
                _gauge(view.gauge)
            _menu(view.conversation, view)
            dialog.draw(EXPORT, lambda about: conv_export.draw([about]), lambda _about: _("Export"))
            dialog.draw(SHARE, conv_share.draw, lambda _about: _("Share by a link"))


def _chooser(view: View) -> None:
    names = {JUST_CHAT: _("💬 Just Chat")} | {str(agent.id): _agent_name(agent) for agent in view.agents}
    st.session_state[AGENT] = str(view.place.agent_id or JUST_CHAT)
    st.selectbox(
        _("Agent"),
        list(names),
        key=AGENT,
        format_func=names.__getitem__,
        label_visibility="collapsed",
        width=210,
        on_change=_choose,
    )


def _agent_name(agent: Agent) -> str:
    state = {"archived": _(" (archived)"), "deleted": _(" (deleted)")}.get(agent.status, "")
    return f"{agent.emoji} {agent.name}{state}"


def _choose() -> None:
    chat_place.go(agent=st.session_state[AGENT])


def _title(conversation: Conversation, read_only: bool) -> None:
    key = f"chat_title_text_{conversation.id}"
    if st.session_state.get(_RENAMING) == conversation.id and not read_only:
        st.session_state.setdefault(key, conversation.title)
        st.text_input(
            _("Title"),
            key=key,
            label_visibility="collapsed",
            max_chars=200,
            placeholder=_("Empty: the first question names it"),
            on_change=_rename,
            args=(conversation, key),
        )
        st.button(
            _("Cancel"), key="chat_title_close", icon=":material/close:", type="tertiary", help=_("Cancel"),
            on_click=_start_renaming, args=(None,),
        )  # fmt: skip
    else:
        st.button(
            label(conversation.title) or _("New conversation"),
            key="chat_title",
            type="tertiary",
            width="stretch",
            disabled=read_only,
            help=None if read_only else _("Rename"),
            on_click=_start_renaming,
            args=(conversation,),
        )


def _start_renaming(conversation: Conversation | None) -> None:
    st.session_state[_RENAMING] = conversation.id if conversation else None


def _rename(conversation: Conversation, key: str) -> None:
    chat_actions.rename(conversation.id, key)
    _start_renaming(None)


def _menu(conversation: Conversation, view: View) -> None:
    archived = conversation.status == "archived"
    names = {EXPORT: _("Export …")}
    if not view.barred:
        names = {
            "rename": _("Rename"),
            **({"task": _("Task …"), "propose": _("Propose a memory update")} if conversation.project_id else {}),
            "archive": _("Bring back from the archive") if archived else _("Archive"),
            SHARE: _("Share …"),
            EXPORT: _("Export …"),
            "delete": _("Delete …"),
        }
    choice = st.menu_button(
        _("More"),
        list(names),
        key="chat_menu",
        icon=":material/more_horiz:",
        format_func=names.__getitem__,
        type="tertiary",
    )
    if choice == "rename":
        _start_renaming(conversation)
        st.rerun()
    elif choice == "task":
        st.dialog(_("What is this conversation about?"))(chat_keep.choose_task)(conversation)
    elif choice == "propose":
        chat_keep.propose(conversation)
    elif choice == "archive":
        chat_actions.set_archived(conversation.id, not archived)
        if not archived:
            chat_place.go(agent=view.onward)
        st.rerun()
    elif choice in (SHARE, EXPORT):
        dialog.open_(choice, conversation.id)
    elif choice == "delete":
        st.dialog(_("Delete this conversation?"))(_confirm)(conversation, view.onward)


def _confirm(conversation: Conversation, onward: str | None) -> None:
    name = label(conversation.title) or _("New conversation")
    words = _("**{title}** goes to the trash. It can be restored for {days} days, then it is deleted for good.")
    st.markdown(words.format(title=name, days=TRASH_DAYS))
    st.caption(_("An answer that is being written is stopped; links stop working. Costs stay in the ledger."))
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button(_("Cancel"), key="chat_delete_cancel"):
            st.rerun()
        st.button(
            _("Delete"), key="chat_delete_confirm", type="primary", on_click=_delete, args=(conversation.id, onward)
        )


def _delete(conversation_id: UUID, onward: str | None) -> None:
    chat_actions.delete(conversation_id, onward)
    st.rerun()


def _gauge(gauge: Gauge) -> None:
    colour = "orange" if gauge.is_near else "gray"
    with st.popover(f":small[:{colour}[{_reading(gauge)}]]", type="tertiary", key="chat_gauge"):
        for line in explained(gauge):
            st.markdown(line)


def _reading(gauge: Gauge) -> str:
    if gauge.mode == "none":
        return _("no memory")
    by = "tokens" if gauge.bound == "tokens" else "messages"
    one = by == "messages" and gauge.messages == 1
    return ngettext("{amount} goes along", "{amount} go along", 1 if one else 2).format(amount=_counts(gauge)[by])


def _counts(gauge: Gauge) -> dict[str, str]:
    """How many messages and tokens go along, each beside its limit."""
    many, most, room = gauge.messages, gauge.max_messages, gauge.max_tokens
    messages = ngettext("{n} message", "{n} messages", many).format(n=many)
    if most is not None:
        words = ngettext("{n} of at most {most} message", "{n} of at most {most} messages", most)
        messages = words.format(n=many, most=most)
    tokens = _("about {n} tokens").format(n=figures.count(gauge.tokens))
    if room is not None:
        words = _("about {n} of at most {most} tokens")
        tokens = words.format(n=figures.count(gauge.tokens), most=figures.count(room))
    return {"messages": messages, "tokens": tokens}


def explained(gauge: Gauge) -> list[str]:
    """What the gauge means, in sentences."""
    does = {
        "none": _("The assistant sees the new message alone."),
        "session": _("The next question takes this conversation along, the newest first."),
        "user": _("The next question takes along what you said to this agent here, in all conversations."),
    }
    lines = [f"**{modes.title(gauge.mode)}.** {does[gauge.mode]}"]
    if gauge.mode != "none":
        lines.append(_("{messages}, {tokens}; the new question counts as one more.").format(**_counts(gauge)))
    oldest = _oldest(gauge)
    if gauge.summarized:
        lines.append(_("A summary stands for messages 1 to {last}.").format(last=gauge.summarized))
    if gauge.left_out:
        words = ngettext(
            "{n} older message stays behind, at {limit}.", "{n} older messages stay behind, at {limit}.", gauge.left_out
        )
        lines.append(":orange[" + words.format(n=gauge.left_out, limit=_limit(gauge)) + "]")
    if gauge.is_near and oldest:
        lines.append(_("The next to stay behind is {oldest}.").format(oldest=oldest))
    if gauge.left_out or gauge.is_near:
        lines.append(_("Nothing is deleted: what stays behind can still be read here, and found by search."))
    return lines


def _oldest(gauge: Gauge) -> str:
    if gauge.first_seq is None:
        return ""
    words = label(clip(one_line(gauge.first_words or ""), 60))
    return _("message {number}, “{words}”").format(number=gauge.first_seq, words=words)


def _limit(gauge: Gauge) -> str:
    return _("the limit of {messages} messages and {tokens} tokens").format(
        messages="∞" if gauge.max_messages is None else gauge.max_messages,
        tokens="∞" if gauge.max_tokens is None else figures.count(gauge.max_tokens),
    )
