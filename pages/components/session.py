"""Who looks at the page, and where they are; resolved anew on every run, from the cookie and the URL."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import streamlit as st

from nexus_core import sessions, signin
from nexus_core.database import Scope
from nexus_core.errors import Unauthenticated
from nexus_core.i18n import _
from nexus_core.signin import Identity

_PAGE = "session_page"
_QUERY = "session_query"
_WHO = "session_who"
_ARRIVED = "session_arrived"


def who() -> Identity:
    """The signed-in person; raises Unauthenticated once the session has ended. Tests replace this function."""
    known: Identity | None = st.session_state.get(_WHO)
    identity = known or signin.resolve(st.context.cookies.get(sessions.COOKIE))
    if identity is None:
        raise Unauthenticated(_("You are not signed in any more."))
    if _WHO in st.session_state:
        st.session_state[_WHO] = identity
    return identity


@contextmanager
def one_drawing() -> Iterator[None]:
    """Ask only once who is there, for all that is drawn inside; clicks and fragments ask for themselves."""
    st.session_state[_WHO] = None
    try:
        yield
    finally:
        st.session_state.pop(_WHO, None)


def token() -> str | None:
    """What this browser is signed in by; None where there is no browser, as in a test."""
    found = st.context.cookies.get(sessions.COOKIE)
    return found if isinstance(found, str) else None


def scope() -> Scope:
    """That person in the workspace of the URL, or in their first one. Raises NotFound, Forbidden."""
    return signin.scope_for(who(), st.query_params.get("workspace"), "page")


def project_id() -> UUID | None:
    """The project that the URL names; None for none. Whether there is such a project, its noun says."""
    try:
        return UUID(st.query_params["project"])
    except (KeyError, ValueError):
        return None


def here() -> dict[str, str]:
    """The workspace and the project of the URL, for links to other pages: `query_params=here() | {…}`."""
    return {name: st.query_params[name] for name in ("workspace", "project") if name in st.query_params}


def move(query: dict[str, str]) -> None:
    """Put `query` into the URL, all at once: one step of the browser's history."""
    st.query_params.from_dict(query)
    st.session_state[_QUERY] = query


def followed_a_link() -> bool:
    """Whether the page that one is on was asked for anew with another query, which the browser does not show yet."""
    query = st.query_params.to_dict()
    former, st.session_state[_QUERY] = st.session_state.get(_QUERY), query
    return not arrived() and former != query


def turn_to(page: str) -> None:
    """The frame draws `page` (its name in the URL) from here on."""
    st.session_state[_ARRIVED] = st.session_state.get(_PAGE) != page
    st.session_state[_PAGE] = page


def arrived() -> bool:
    """Whether this is the first drawing of a page that one came to from another one."""
    return bool(st.session_state.get(_ARRIVED))
