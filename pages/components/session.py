"""Who looks at the page, and where they are; resolved anew on every run, from the cookie and the URL."""

from uuid import UUID

import streamlit as st

from nexus_core import sessions, signin
from nexus_core.database import Scope
from nexus_core.errors import Unauthenticated
from nexus_core.i18n import _
from nexus_core.signin import Identity


def who() -> Identity:
    """The signed-in person; raises Unauthenticated once the session has ended. Tests replace this function."""
    identity = signin.resolve(st.context.cookies.get(sessions.COOKIE))
    if identity is None:
        raise Unauthenticated(_("You are not signed in any more."))
    return identity


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
