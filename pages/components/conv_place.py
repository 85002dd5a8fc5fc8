"""What the conversations page shows, as the URL says it; what the URL says wrongly is left out."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta
from uuid import UUID

import streamlit as st

from nexus_core import ranges
from nexus_core.conversations import KINDS, STATUSES, Conversation
from nexus_core.search import ACTIVE, Filter, Hit, Sort
from nexus_core.text import as_uuid
from pages.components import session

CHAT = "pages/work/chat.py"
PAGE = "pages/memory/conversations.py"
JUST_CHAT = "just-chat"
TRASH = "trash"
EVERYWHERE, OUTSIDE = "all", "none"
SORTS: tuple[Sort, ...] = ("best", "newest", "oldest", "title")
_LIST = "conv_list_query"


@dataclass(frozen=True)
class Asked:
    """What the URL asks for; "" and None narrow nothing.

    `where` is a project's id, EVERYWHERE or OUTSIDE; `agent` an id or JUST_CHAT; `status` one of STATUSES or TRASH;
    `tag` and `person` are ids; `after` brings a later page; `conversation` is opened instead of the list.
    """

    q: str
    where: str
    agent: str
    kind: str
    status: str
    tag: str
    person: str
    since: date | None
    until: date | None
    sort: str
    after: str
    conversation: str

    @property
    def narrowed(self) -> bool:
        """Whether anything but the words narrows the list."""
        return any((self.agent, self.kind, self.status, self.tag, self.person, self.since, self.until))


def asked() -> Asked:
    """What the URL asks for."""
    here = session.project_id()
    where = _of("in", (EVERYWHERE, OUTSIDE)) or (str(here) if here else EVERYWHERE)
    agent = st.query_params.get("agent", "")
    return Asked(
        q=st.query_params.get("q", ""),
        where=where,
        agent=agent if agent == JUST_CHAT else _id("agent"),
        kind=_of("kind", KINDS),
        status=_of("status", (*STATUSES, TRASH)),
        tag=_id("tag"),
        person=_id("person"),
        since=_day("since"),
        until=_day("until"),
        sort=_of("sort", SORTS),
        after=st.query_params.get("after", ""),
        conversation=st.query_params.get("conversation", ""),
    )


def filter_of(wanted: Asked, zone: str) -> Filter:
    """What narrows the search, days being those of a zone: without words and status, what is not archived."""
    info = ranges.zone_of(zone)
    return Filter(
        project_id=as_uuid(wanted.where),
        outside=wanted.where == OUTSIDE,
        agent_id=as_uuid(wanted.agent),
        just_chat=wanted.agent == JUST_CHAT,
        kind=wanted.kind or None,
        status=wanted.status or (None if wanted.q.strip() else ACTIVE),
        tag_id=as_uuid(wanted.tag),
        person_id=as_uuid(wanted.person),
        since=ranges.start_of(wanted.since, info) if wanted.since else None,
        until=ranges.start_of(wanted.until + timedelta(days=1), info) if wanted.until else None,
    )


def change(**values: str | None) -> None:
    """Ask for something else: the named parts of the URL change, the list begins anew unless `after` is among them."""
    query = st.query_params.to_dict()
    if "after" not in values:
        query.pop("after", None)
    query |= {name: value for name, value in values.items() if value}
    st.query_params.from_dict({name: value for name, value in query.items() if values.get(name, value)})


def everywhere() -> None:
    """Ask for the same words in every project and without any filter."""
    kept = {"q": st.query_params.get("q", ""), "in": EVERYWHERE}
    st.query_params.from_dict(session.here() | {name: value for name, value in kept.items() if value})


def in_chat(found: Hit | Conversation, message_id: UUID | None = None) -> dict[str, str]:
    """The query of the chat's address for a conversation, at a message: whole, so that the chat adds nothing to it and
    one step back leads here again."""
    query = {name: value for name, value in session.here().items() if name == "workspace"}
    query |= {"agent": str(found.agent_id or JUST_CHAT), "conversation": str(found.id)}
    query |= {"project": str(found.project_id)} if found.project_id else {}
    return query | ({"message": str(message_id)} if message_id else {})


def open_(conversation_id: UUID) -> None:
    """Show one conversation; the list is kept for the way back."""
    st.session_state[_LIST] = st.query_params.to_dict()
    st.query_params.from_dict(session.here() | {"conversation": str(conversation_id)})


def back() -> None:
    """To the list as it was left."""
    kept = {name: value for name, value in st.session_state.get(_LIST, {}).items() if name not in session.here()}
    kept.pop("conversation", None)
    st.query_params.from_dict(session.here() | kept)


def _of(name: str, known: Collection[str]) -> str:
    value = st.query_params.get(name, "")
    return value if value in known else ""


def _id(name: str) -> str:
    found = as_uuid(st.query_params.get(name, ""))
    return str(found) if found else ""


def _day(name: str) -> date | None:
    try:
        found = date.fromisoformat(st.query_params.get(name, ""))
    except ValueError:
        return None
    return found if 1970 <= found.year <= 2200 else None
