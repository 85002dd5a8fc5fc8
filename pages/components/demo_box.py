"""The demo workspace: loaded and removed by one click, and marked as made up on every page of it."""

import streamlit as st

from nexus_core import demo
from nexus_core.database import Scope
from nexus_core.errors import NexusError
from nexus_core.i18n import _
from pages.components import notice as said
from pages.components import session
from pages.components.attempt import attempt, refusal
from pages.components.markdown import label

_REFUSED = "demo"


def notice() -> None:
    """On a page of the demo: that nothing here is real, and where to get rid of it."""
    if session.scope().workspace_id == demo.WORKSPACE:
        words = _("Everything in this workspace is made up, and none of it counts elsewhere. Settings remove it.")
        with st.container(key="demo_notice"):
            st.badge(_("Demo: made-up data"), icon=":material/science:", color="orange", help=words)


def section(scope: Scope) -> None:
    """The section of Settings; nothing below the admin role."""
    if scope.role == "admin":
        st.subheader(_("Demo"), anchor=False)
        offer(scope)


def offer(scope: Scope) -> None:
    """Load the demo or, for those who have it, go to it and remove it; nothing below the admin role."""
    place = demo.membership(session.who().workspaces)
    if place is None and scope.role != "admin":
        return
    with st.container(border=True, key="demo_box"):
        if place is None:
            st.markdown(f":material/science: **{_('Look around in a demo first')}**")
            words = _(
                "A workspace of its own with a year of a made-up company: three projects, twelve agents, hundreds of "
                "conversations, costs and budgets. Your own figures stay apart, and one click removes it."
            )
            st.caption(words)
            _load(scope)
        else:
            st.caption(_("The demo workspace is here: a year of a made-up company, apart from your own figures."))
            with st.container(horizontal=True):
                here = scope.workspace_id == demo.WORKSPACE
                if not here and st.button(_("Open the demo workspace"), key="demo_open", icon=":material/science:"):
                    session.move({"workspace": place.slug})
                    st.rerun()
                st.button(
                    _("Remove the demo workspace"), key="demo_remove", icon=":material/delete:",
                    disabled=place.role != "admin", on_click=_remove, args=(scope,),
                    help=_("With everything in it, what you asked there included."),
                )  # fmt: skip
        refusal(_REFUSED)


def _load(scope: Scope) -> None:
    if not st.button(_("Load the demo workspace"), key="demo_load", icon=":material/science:"):
        return
    try:
        with st.spinner(_("Writing a year of made-up work; it takes some seconds…")):
            demo.load(scope)
    except NexusError as error:
        st.error(label(error.message), icon=":material/error:")
        return
    said.say(_("The demo workspace is loaded."))
    session.move({"workspace": demo.SLUG})
    st.rerun()


def _remove(scope: Scope) -> None:
    def act() -> bool:
        demo.remove(scope)
        return True

    if attempt(_REFUSED, act):
        said.say(_("The demo workspace is removed."), said.GONE)
        session.move({})
