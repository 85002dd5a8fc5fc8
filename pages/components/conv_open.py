"""One conversation opened: what it is, its messages, its details, its runs, and everything that can be done with it."""

import streamlit as st

from nexus_core import conversations, l10n, messages, runs, tags
from nexus_core.conversations import Conversation
from nexus_core.database import Scope, transaction
from nexus_core.errors import NotFound
from nexus_core.fork import ORIGIN
from nexus_core.i18n import _, ngettext
from nexus_core.text import as_uuid
from pages.components import (
    conv_actions,
    conv_bar,
    conv_details,
    conv_dialogs,
    conv_messages,
    conv_place,
    conv_rows,
    conv_summaries,
    conv_words,
    figures,
    session,
)  # fmt: skip
from pages.components.conv_place import Asked
from pages.components.conv_rows import Names
from pages.components.markdown import label

TABS = ("messages", "details", "runs")


def draw(scope: Scope, wanted: Asked) -> None:
    """The conversation of the URL; raises NotFound."""
    st.button(_("All conversations"), key="conv_back", type="tertiary", icon=":material/arrow_back:",
              on_click=conv_place.back)  # fmt: skip
    conversation_id = as_uuid(wanted.conversation)
    if conversation_id is None:
        raise NotFound(_("There is no such conversation here."))
    with transaction(scope) as tx:
        found = conversations.get(tx, conversation_id)
        carried = tags.of(tx, [found.id]).get(found.id, [])
        who = messages.people_of(tx, [found.id]).get(found.id, [])
        spent = runs.spent(tx, [found.id]).get(found.id)
    names = conv_rows.names(scope)
    editable = scope.role != "viewer"
    _head(found, editable)
    count = ngettext("{n} message", "{n} messages", found.next_seq - 1).format(n=l10n.number(found.next_seq - 1))
    facts = (names.project(found.project_id) or _("No project"), names.agent(found.agent_id), ", ".join(who), count,
             conv_words.cost(spent), figures.moment(found.last_message_at))  # fmt: skip
    st.caption(label(" · ".join(fact for fact in facts if fact)))
    _badges(found, carried)
    conv_actions.notice()
    with st.container(width=860):
        _body(found, carried, names, editable)
    conv_dialogs.draw(names)


def _head(found: Conversation, editable: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.title(label(conv_words.title(found.title)), anchor=False, width="content")
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            st.page_link(conv_place.CHAT, label=_("Open in chat"), icon=":material/chat:",
                         query_params=conv_place.in_chat(found))  # fmt: skip
            if editable:
                conv_bar.menu(found.id, archived=found.status == "archived", key=f"conv_menu_{found.id}")


def _badges(found: Conversation, carried: list[str]) -> None:
    words = [conv_words.kinds()[found.kind]] if found.kind != "project" else []
    words += [conv_words.statuses()[found.status]] if found.status != "open" else []
    badges = [f":gray-badge[{word}]" for word in words] + [f":blue-badge[{label(tag)}]" for tag in carried]
    if found.running:
        badges.append(f":green-badge[{_('answering now')}]")
    if badges:
        st.markdown(" ".join(badges))
    origin = found.metadata.get(ORIGIN)
    if isinstance(origin, dict) and (source := as_uuid(str(origin.get("conversation_id")))):
        st.page_link(
            conv_place.CHAT,
            label=_("Forked from message {number} of another conversation").format(number=origin.get("seq")),
            icon=":material/fork_right:",
            query_params=session.here() | {"conversation": str(source), "message": str(origin.get("message_id"))},
        )


def _body(found: Conversation, carried: list[str], names: Names, editable: bool) -> None:
    titles = {"messages": _("Messages"), "details": _("Details"), "runs": _("Runs")}
    current = st.query_params.get("tab", "")
    current = current if current in TABS else TABS[0]
    if st.session_state.get("conv_tab") != current:
        st.session_state["conv_tab"] = current
    st.segmented_control(_("Show"), TABS, key="conv_tab", format_func=titles.__getitem__, required=True,
                         label_visibility="collapsed", on_change=_turn)  # fmt: skip
    if current == "messages":
        conv_messages.draw(found, editable=editable)
    elif current == "runs":
        conv_details.ledger(found)
    else:
        if editable:
            conv_details.form(found, carried, list(names.tags.values()))
        else:
            conv_details.read(found, carried)
        conv_summaries.draw(found)


def _turn() -> None:
    conv_place.change(tab=st.session_state["conv_tab"])
