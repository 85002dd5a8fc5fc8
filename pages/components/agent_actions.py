"""What one can do with an agent besides editing it: duplicate, put away, bring back, delete."""

from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

import streamlit as st

from nexus_core import agents
from nexus_core.agents import Agent
from nexus_core.database import Transaction, transaction
from nexus_core.i18n import _, ngettext
from pages.components import notice, session
from pages.components.attempt import attempt, refusal
from pages.components.markdown import label

T = TypeVar("T")
_ASKED = "agent_to_delete"


def menu(agent: Agent) -> None:
    """The menu of an agent; deleting asks first, in the dialog that `ask` draws."""
    archived = agent.status == "archived"
    names = {
        "duplicate": f":material/content_copy: {_('Duplicate')}",
        "restore" if archived else "archive": f":material/unarchive: {_('Restore')}"
        if archived
        else f":material/archive: {_('Archive')}",
        "delete": f":material/delete: {_('Delete…')}",
    }
    st.menu_button(
        _("More"),
        list(names),
        format_func=names.__getitem__,
        key=f"agent_{agent.id}_menu",
        on_click=_chosen,
        args=(agent.id,),
    )


def ask(found: dict[UUID, Agent], counts: dict[UUID, int]) -> None:
    """The question before an agent is deleted, when somebody wants to delete one of `found`."""
    agent = found.get(st.session_state.get(_ASKED))
    if agent is not None:
        _dialog(agent, counts.get(agent.id, 0))


def _chosen(agent_id: UUID) -> None:
    choice = st.session_state[f"agent_{agent_id}_menu"]
    if choice == "delete":
        st.session_state[_ASKED] = agent_id
    elif choice == "duplicate":
        made = attempt("agents", lambda: _do(lambda tx: agents.duplicate(tx, agent_id)))
        if made is not None:
            st.query_params["agent"] = str(made.id)
    elif choice:
        status = "archived" if choice == "archive" else "active"
        if attempt("agents", lambda: _do(lambda tx: agents.update(tx, agent_id, status=status))):
            notice.say(_("Archived.") if choice == "archive" else _("Restored."))


def _dialog(agent: Agent, count: int) -> None:
    title = _("Delete {name}?").format(name=agent.name)
    st.dialog(label(title), icon=":material/delete:", on_dismiss=_forget)(_question)(agent, count)


def _question(agent: Agent, count: int) -> None:
    key = f"agent_{agent.id}_conversations"
    if count:
        kept, gone = _("Keep what was said"), _("Delete it for good")
        st.radio(
            ngettext("You can see {n} conversation with it.", "You can see {n} conversations with it.", count).format(
                n=count
            ),
            ["keep", "delete"],
            format_func={"keep": kept, "delete": gone}.__getitem__,
            captions=[
                _("It can still be read and found, but not continued."),
                _("Messages, summaries and shares go too; the ledger keeps its figures."),
            ],
            key=key,
        )
    else:
        st.write(_("No conversation with it that you can see."))
    refusal("agent_delete")
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.button(_("Cancel"), key=f"agent_{agent.id}_keep", on_click=_keep)
        st.button(
            _("Delete agent"),
            type="primary",
            icon=":material/delete:",
            key=f"agent_{agent.id}_delete",
            on_click=_delete,
            args=(agent.id, key),
        )


def _delete(agent_id: UUID, key: str) -> None:
    conversations = st.session_state.get(key) == "delete"
    count = attempt("agent_delete", lambda: _do(lambda tx: agents.delete(tx, agent_id, conversations=conversations)))
    if count is None:
        return
    _forget()
    st.query_params.pop("agent", None)
    words = ngettext("Deleted, with {n} conversation.", "Deleted, with {n} conversations.", count).format(n=count)
    notice.say(words if count else _("Deleted."), notice.GONE)
    st.rerun()


def _keep() -> None:
    _forget()
    st.rerun()


def _forget() -> None:
    st.session_state.pop(_ASKED, None)


def _do(action: Callable[[Transaction], T]) -> T:
    with transaction(session.scope()) as tx:
        return action(tx)
