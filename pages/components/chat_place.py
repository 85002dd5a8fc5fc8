"""What the chat page shows: read from the URL, loaded at once, written back to the URL."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode
from uuid import UUID

import streamlit as st

from nexus_core import agents, chat, conversations, gauge, memories, messages, projects, runs
from nexus_core.agents import Agent
from nexus_core.conversations import Conversation, Place
from nexus_core.database import Scope, Transaction, transaction
from nexus_core.errors import Forbidden, NotFound
from nexus_core.gauge import Gauge
from nexus_core.i18n import _
from nexus_core.memories import Memory
from nexus_core.messages import Message
from nexus_core.runs import Run
from pages.components import session

JUST_CHAT = "just-chat"
PAGE = 20  # messages at first: each costs the browser some milliseconds at every drawing of the page
MORE = 80  # and with each "Show earlier"
_OPENED = "chat_opened"


@dataclass(frozen=True)
class Wanted:
    """What the URL asks for; all None is "where I stopped". `agent` is an id or JUST_CHAT."""

    project_id: UUID | None
    agent: str | None
    conversation_id: UUID | None
    message_id: UUID | None


@dataclass(frozen=True)
class Desk:
    """Where one writes: a conversation, or a place that has none yet. What is written for one belongs to it alone."""

    workspace_id: UUID | None
    place: Place
    conversation_id: UUID | None

    @property
    def name(self) -> str:
        """The same for the same desk, and for no other one."""
        if self.conversation_id:
            return str(self.conversation_id)
        return "_".join(map(str, (self.workspace_id, self.place.project_id, self.place.agent_id)))


@dataclass(frozen=True)
class View:
    """Everything that one drawing of the page needs.

    `scope` is who looks. `barred` says why this person can't change anything here; empty when they can. `messages` are
    oldest first, `earlier` more stand before them; `found` is the message that a link named, the last but its answer
    that is shown.
    """

    scope: Scope
    place: Place
    agent: Agent | None
    agents: Sequence[Agent]
    conversation: Conversation | None
    messages: Sequence[Message]
    earlier: int
    runs: dict[UUID, Run]
    gauge: Gauge | None
    memory: Memory | None
    found: Message | None
    barred: str

    @property
    def gone(self) -> bool:
        """Whether this is with a deleted agent: it can be read, put away and deleted, and does not go on."""
        return self.agent is not None and self.agent.status == "deleted"

    @property
    def refusal(self) -> str:
        """Why this person can't write here."""
        if self.gone and self.agent and not self.barred:
            return _("{name} was deleted; its conversations can be read only.").format(name=self.agent.name)
        return self.barred

    @property
    def onward(self) -> str | None:
        """The agent, as the URL names it, to go on with from here; None is wherever this person stopped."""
        return None if self.gone else str(self.place.agent_id or JUST_CHAT)

    @property
    def desk(self) -> Desk:
        """Where one writes here."""
        return Desk(self.scope.workspace_id, self.place, self.conversation.id if self.conversation else None)

    @property
    def running(self) -> bool:
        """Whether an answer is being written in this conversation."""
        return self.conversation is not None and self.conversation.running


def wanted() -> Wanted:
    """What the URL asks for; raises NotFound for what can't be an id.

    "Where I stopped" is looked up when one arrives, and stays the same conversation while one stays.
    """
    agent = st.query_params.get("agent") or None
    if agent not in (None, JUST_CHAT):
        _id(agent, _("There is no such agent here."))
    asked = Wanted(
        session.project_id(),
        agent,
        _id(st.query_params.get("conversation"), _("There is no such conversation here.")),
        _id(st.query_params.get("message"), _("There is no such message here.")),
    )
    if session.arrived():
        st.session_state.pop(_OPENED, None)
    opened = st.session_state.get(_OPENED)
    return replace(asked, conversation_id=opened[1]) if opened and opened[0] == asked else asked


def shown(conversation_id: UUID | None) -> int:
    """How many messages of this conversation are shown; "Show earlier" raises it."""
    return int(st.session_state.get(f"chat_shown_{conversation_id}", PAGE))


def show_earlier(conversation_id: UUID) -> None:
    """Show more of the messages."""
    st.session_state[f"chat_shown_{conversation_id}"] = shown(conversation_id) + MORE


def load(scope: Scope, asked: Wanted, limit: int) -> View:
    """Read what is asked for, in one transaction, with `limit` messages at most.

    Raises NotFound, for what others may see alone too.
    """
    with transaction(scope) as tx:
        place, conversation = _conversation(tx, asked)
        agent = agents.get(tx, place.agent_id) if place.agent_id else None
        found = _found(tx, conversation, asked.message_id)
        page = _page(tx, conversation, found, limit)
        return View(
            scope,
            place,
            agent,
            _choices(tx, agent),
            conversation,
            page,
            messages.earlier(tx, page[0].conversation_id, page[0].seq) if page else 0,
            runs.of(tx, [message.run_id for message in page if message.run_id]),
            gauge.of(tx, conversation, agent) if conversation else None,
            memories.get(tx, place.project_id) if place.project_id and not page else None,
            found,
            _barred(scope),
        )


def settle(view: View) -> None:
    """Keep what is shown where the URL does not name it; another project than the frame's draws the frame again."""
    anew = session.followed_a_link()
    if view.conversation and not st.query_params.get("conversation"):
        asked = Wanted(session.project_id(), st.query_params.get("agent") or None, None, None)
        st.session_state[_OPENED] = (asked, view.conversation.id)
        if anew:
            session.move(session.here() | {"conversation": str(view.conversation.id)})
    if session.project_id() != view.place.project_id:
        project = {"project": str(view.place.project_id)} if view.place.project_id else {}
        kept = {name: value for name, value in st.query_params.to_dict().items() if name != "project"}
        session.move(kept | project)
        st.rerun()


def address(view: View) -> str:
    """The query string that names what is shown, where the URL does not; empty where it does."""
    if view.conversation is None or st.query_params.get("conversation"):
        return ""
    return urlencode(session.here() | {"conversation": str(view.conversation.id)})


def go(conversation_id: UUID | None = None, *, agent: str | None = None, message_id: UUID | None = None) -> None:
    """Show something else of this project from here on: put it into the URL, all at once, as one step of history."""
    st.session_state.pop(_OPENED, None)
    named = {"agent": agent, "conversation": conversation_id, "message": message_id}
    session.move(session.here() | {name: str(value) for name, value in named.items() if value})


def go_to(desk: Desk, workspace: str | None) -> None:
    """Show a desk, in whichever project and workspace (its name in the URL) it is."""
    st.session_state.pop(_OPENED, None)
    agent = None if desk.conversation_id else desk.place.agent_id or JUST_CHAT
    named = {
        "workspace": workspace,
        "project": desk.place.project_id,
        "agent": agent,
        "conversation": desk.conversation_id,
    }
    session.move({name: str(value) for name, value in named.items() if value})


def leave() -> None:
    """Away from what can't be found, to where this person stopped in the same workspace."""
    st.session_state.pop(_OPENED, None)
    session.move({name: value for name, value in session.here().items() if name == "workspace"})


def _conversation(tx: Transaction, asked: Wanted) -> tuple[Place, Conversation | None]:
    """The conversation of the URL; else the one that is active with its agent; else where this person stopped."""
    if asked.conversation_id:
        conversation = conversations.get(tx, asked.conversation_id)
        return Place(conversation.project_id, conversation.agent_id), conversation
    if asked.project_id:
        projects.get(tx, asked.project_id)
    if asked.agent:
        place = Place(asked.project_id, None if asked.agent == JUST_CHAT else UUID(asked.agent))
        return place, conversations.active(tx, place)
    last = conversations.latest(tx, asked.project_id)
    return Place(asked.project_id, last.agent_id if last else None), last


def _choices(tx: Transaction, agent: Agent | None) -> Sequence[Agent]:
    """The agents to choose from, and the one that is shown though it is archived or deleted."""
    known = agents.list_(tx)
    return known if agent is None or agent.id in {one.id for one in known} else [*known, agent]


def _found(tx: Transaction, conversation: Conversation | None, message_id: UUID | None) -> Message | None:
    if message_id is None:
        return None
    message = messages.get(tx, message_id)
    if conversation is None or message.conversation_id != conversation.id:
        raise NotFound(_("There is no such message in this conversation."))
    return message


def _page(tx: Transaction, conversation: Conversation | None, found: Message | None, limit: int) -> list[Message]:
    """The newest messages, or those up to the one that is looked for and its answer."""
    if conversation is None:
        return []
    return chat.read(tx, conversation.id, before=found.seq + 2 if found else None, limit=limit)


def _barred(scope: Scope) -> str:
    try:
        scope.require("operator")
    except Forbidden as error:
        return error.message
    return ""


def _id(value: str | None, sentence: str) -> UUID | None:
    try:
        return UUID(value) if value else None
    except ValueError:
        raise NotFound(sentence) from None
