"""The agents of a workspace, one card each."""

from uuid import UUID

import streamlit as st

from nexus_core.agents import Agent
from nexus_core.i18n import _, ngettext
from nexus_core.profiles import Profile
from nexus_core.text import clip, fold, one_line
from pages.components import agent_actions, modes, session
from pages.components.markdown import label

CHAT = "pages/work/chat.py"


def draw(agents: list[Agent], profiles: list[Profile], counts: dict[UUID, int], *, editable: bool) -> None:
    """Cards in a grid that reflows; with many agents a box that filters them."""
    if len(agents) > 6:
        wanted = st.text_input(
            _("Find an agent"),
            key="agents_find",
            type="search",
            live="300ms",
            width=360,
            placeholder=_("Find an agent by name or role"),
            label_visibility="collapsed",
        )
        agents = [agent for agent in agents if fold(wanted or "") in fold(f"{agent.name} {agent.role}")]
        if not agents:
            st.caption(_("No agent is called so."))
    models = {profile.id: profile.name for profile in profiles}
    grid = st.grid(3, min_column_width=300)
    for agent in agents:
        with grid.container(border=True, height="stretch", gap="xsmall"):
            _card(agent, models.get(agent.profile_id), counts.get(agent.id, 0), editable)


def show(agent: str = "") -> None:
    """Go to an agent, to "new", or back to all of them."""
    if agent:
        st.query_params["agent"] = agent
    else:
        st.query_params.pop("agent", None)


def _card(agent: Agent, model: str | None, count: int, editable: bool) -> None:
    here = session.here() | {"agent": str(agent.id)}
    st.markdown(f"**{label(f'{agent.emoji} {agent.name}')}**")
    if agent.role:
        st.caption(label(agent.role))
    if agent.description:
        st.markdown(label(clip(one_line(agent.description), 160)))
    with st.container(horizontal=True, gap="xsmall"):
        st.badge(label(model or _("Default model")), color="blue", icon=":material/memory:")
        st.badge(modes.title(agent.memory_mode), color="gray")
        if agent.status == "archived":
            st.badge(_("Archived"), color="orange", icon=":material/archive:")
    st.caption(
        ngettext("{n} conversation", "{n} conversations", count).format(n=count) if count else _("No conversation yet")
    )
    st.space("stretch")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            _("Open") if not editable else _("Edit"),
            key=f"agent_{agent.id}_open",
            icon=":material/visibility:" if not editable else ":material/edit:",
            on_click=show,
            args=(str(agent.id),),
        )
        if editable:
            if agent.status == "active":
                st.page_link(CHAT, label=_("Chat"), icon=":material/chat:", query_params=here)
            agent_actions.menu(agent)
