"""Home: where one is, what is open, and the next thing to do."""

from uuid import UUID

import streamlit as st

from nexus_core import agents, conversations, costs, memories, people, profiles, projects, proposals
from nexus_core.database import Scope, transaction
from nexus_core.i18n import _, ngettext
from pages.components import conversation_list, decided_box, demo_box, home_project, home_spend, home_start, session
from pages.components.markdown import label


def main() -> None:
    """The project of the URL, or the first steps."""
    scope = session.scope()
    name = session.who().person.name
    project_id = session.project_id()
    with transaction(scope) as tx:
        project = projects.get(tx, project_id) if project_id else None
    if project is None:
        st.title(label(_("Welcome, {name}").format(name=name)), anchor=False)
        _start(scope)
    else:
        st.title(label(project.name), anchor=False)
        greeting = _("Hello {name}, this is where it stands.").format(name=name)
        st.caption(label(" · ".join(text for text in (greeting, project.description) if text)))
        _project(scope, project)


def _start(scope: Scope) -> None:
    st.caption(_("Nexus keeps what you and your assistants said and decided, and brings it back when it counts."))
    with transaction(scope) as tx:
        default = profiles.default(tx)
        found = projects.list_(tx)
        said = conversations.recent(tx, None, limit=6)
        asked = bool(said or conversations.of_person(tx, limit=1))
        names = _agent_names(agents.list_(tx, archived=True))
    home_start.steps(default, found, scope.role, asked=asked)
    if not found and not asked:
        demo_box.offer(scope)
    if said:
        st.subheader(_("Your conversations outside projects"), anchor=False)
        conversation_list.draw(said, names, {})


def _project(scope: Scope, project: projects.Project) -> None:
    with transaction(scope) as tx:
        memory = memories.get(tx, project.id)
        tasks = projects.tasks(tx, project.id, open_only=True)
        said = conversations.recent(tx, project.id, limit=8)
        names = _agent_names(agents.list_(tx, archived=True))
        members = {member.id: member.name for member in people.members(tx)}
        waiting = proposals.waiting(tx, project.id)
        zone = costs.zone(tx).key
    decided_box.draw(project.id, scope.role != "viewer")
    if waiting:
        words = ngettext("{n} proposal waits for you", "{n} proposals wait for you", waiting).format(n=waiting)
        st.page_link(
            home_project.PROJECT,
            label=words,
            icon=":material/auto_awesome:",
            query_params=session.here() | {"tab": "proposals"},
        )
    left, right = st.columns([5, 4], gap="medium")
    with left.container(border=True, height="stretch"):
        home_project.summary(memory)
    with right.container(border=True, height="stretch", gap="xsmall"):
        answering = sum(conversation.running for conversation in said)
        now = f" :blue-badge[{_('{n} answering now').format(n=answering)}]" if answering else ""
        st.markdown(f":material/forum: **{_('Said lately')}**{now}")
        if not said:
            st.caption(_("Nobody has said anything in this project yet."))
        conversation_list.draw(said, names, members)
    home_project.lists(memory, tasks, lambda: home_spend.draw(scope, project.id, zone))


def _agent_names(found: list[agents.Agent]) -> dict[UUID, str]:
    return {agent.id: f"{agent.emoji} {agent.name}" for agent in found}


main()
