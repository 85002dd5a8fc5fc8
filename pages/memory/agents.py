"""Agents: who there is, what each remembers, and one of them opened to change and to try."""

from uuid import UUID

import streamlit as st

from nexus_core import agents, profiles
from nexus_core.agents import Agent
from nexus_core.database import Scope, transaction
from nexus_core.errors import NotFound
from nexus_core.i18n import _
from nexus_core.profiles import Profile
from pages.components import agent_actions, agent_cards, agent_form, agent_trial, session
from pages.components.attempt import refusal
from pages.components.markdown import label


def main() -> None:
    """The agent of the URL, or all of them."""
    scope = session.scope()
    editable = scope.role != "viewer"
    chosen = st.query_params.get("agent", "")
    with transaction(scope) as tx:
        models = profiles.list_(tx)
        counts = agents.conversation_counts(tx)
    if chosen == "new" and editable:
        _create(models)
    elif chosen and chosen != "new":
        _open(scope, chosen, models, counts, editable)
    else:
        _list(scope, models, counts, editable)


def _list(scope: Scope, models: list[Profile], counts: dict[UUID, int], editable: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        st.title(_("Agents"), anchor=False, width="content")
        if editable:
            st.button(
                _("New agent"),
                type="primary",
                icon=":material/add:",
                key="agents_new",
                on_click=agent_cards.show,
                args=("new",),
            )
    st.caption(_("Assistants with instructions, a model and a memory of their own."))
    if not editable:
        st.caption(_("You can look around here; making and changing agents needs the operator role."))
    refusal("agents")
    with transaction(scope) as tx:
        found = agents.list_(tx, archived=True)
    archived = sum(agent.status == "archived" for agent in found)
    shown = found
    if archived and not st.toggle(_("Show archived ({n})").format(n=archived), key="archived", bind="query-params"):
        shown = [agent for agent in found if agent.status == "active"]
    if not found:
        _none_yet(editable)
    agent_cards.draw(shown, models, counts, editable=editable)
    agent_actions.ask({agent.id: agent for agent in found}, counts)


def _none_yet(editable: bool) -> None:
    with st.container(border=True, horizontal_alignment="center"):
        st.markdown(_("**No agent yet.** Just Chat answers without one."), width="content")
        if editable:
            st.caption(_("Make one for each kind of work: it keeps its own conversations and its own memory."))


def _create(models: list[Profile]) -> None:
    _back()
    st.title(_("New agent"), anchor=False)
    with st.container(width=860):
        agent_form.draw(None, models, editable=True)


def _open(scope: Scope, chosen: str, models: list[Profile], counts: dict[UUID, int], editable: bool) -> None:
    _back()
    try:
        with transaction(scope) as tx:
            agent = agents.get(tx, UUID(chosen))
    except (NotFound, ValueError):
        raise NotFound(_("There is no such agent here.")) from None
    if agent.status == "deleted":
        raise NotFound(_("{name} was deleted; conversations that were kept can still be read.").format(name=agent.name))
    _head(agent, editable)
    refusal("agents")
    if editable and agent.status == "active":
        form, trial = st.columns([3, 2], gap="large")
        with trial:
            agent_trial.draw(agent)
    else:
        form = st.container(width=860)
    with form:
        agent_form.draw(agent, models, editable=editable)
    agent_actions.ask({agent.id: agent}, counts)


def _head(agent: Agent, editable: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.title(label(f"{agent.emoji} {agent.name}"), anchor=False, width="content")
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            if agent.status == "archived":
                st.badge(_("Archived"), color="orange", icon=":material/archive:")
            elif editable:
                where = session.here() | {"agent": str(agent.id)}
                st.page_link(agent_cards.CHAT, label=_("Open in chat"), icon=":material/chat:", query_params=where)
            if editable:
                agent_actions.menu(agent)
    if not editable:
        st.caption(_("You can look around here; making and changing agents needs the operator role."))


def _back() -> None:
    back = ":material/arrow_back:"
    st.button(_("All agents"), type="tertiary", icon=back, key="agents_back", on_click=agent_cards.show)


main()
