"""A conversation before its first message: who will answer, what it remembers, how to begin."""

import streamlit as st

from nexus_core.entries import is_closed
from nexus_core.i18n import _, ngettext
from nexus_core.memories import Memory
from pages.components import chat_actions, chat_message
from pages.components.chat_place import View
from pages.components.markdown import label, literal


def draw(view: View) -> None:
    """Draw the invitation."""
    with st.container(key="chat_empty", horizontal_alignment="center", gap="small"):
        st.markdown(f"## {label(chat_message.face(view.agent))}", width="content", text_alignment="center")
        st.markdown(f"### {label(view.agent.name) if view.agent else _('Just Chat')}", width="content")
        st.markdown(_description(view), text_alignment="center")
        st.caption(_remembers(view), text_alignment="center")
        if not view.refusal:
            _suggestions(view)


def _description(view: View) -> str:
    if view.agent is None:
        return _("A plain conversation, without an agent.")
    return literal(view.agent.description or view.agent.role) or _("This agent has no description yet.")


def _remembers(view: View) -> str:
    modes = {
        "none": _("It sees each message alone and remembers nothing."),
        "session": _("It remembers this conversation."),
        "user": _("It remembers everything you say to it here, in every conversation."),
    }
    found = [modes[view.agent.memory_mode if view.agent else "session"]]
    if view.memory and not (view.agent and view.agent.memory_mode == "none"):
        found.append(_project(view.memory))
    return " ".join(found)


def _project(memory: Memory) -> str:
    decisions = sum(not is_closed(entry) for entry in memory.decisions)
    questions = sum(not is_closed(entry) for entry in memory.open_questions)
    return _("It knows the project's memory, version {version}: {decisions}, {questions}.").format(
        version=memory.version,
        decisions=ngettext("{n} decision", "{n} decisions", decisions).format(n=decisions),
        questions=ngettext("{n} open question", "{n} open questions", questions).format(n=questions),
    )


def _suggestions(view: View) -> None:
    mode = view.agent.memory_mode if view.agent else "session"
    if view.place.project_id and mode != "none":
        words = [_("What did we decide so far?"), _("Which questions are still open?"), _("Which risks do we see?")]
    else:
        words = [_("What can you do?"), *_of_memory(mode), _("How do I connect a language model?")]
    with st.container(horizontal=True, horizontal_alignment="center", gap="xsmall"):
        for number, text in enumerate(words):
            st.button(
                text,
                key=f"chat_suggestion_{number}",
                on_click=chat_actions.send,
                args=(text, view.desk),
            )


def _of_memory(mode: str) -> list[str]:
    """What an assistant with such a memory can answer to, from its first message on."""
    return {
        "session": [_("Remember that our review is on Friday")],
        "user": [_("What do you remember about me?")],
    }.get(mode, [])
