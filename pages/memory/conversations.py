"""Conversations: everything that was said, to find, to put in order, and to open."""

import streamlit as st

from nexus_core.i18n import _
from pages.components import conv_files, conv_list, conv_open, conv_place, session


def main() -> None:
    """The conversation of the URL, or the list of those that are asked for."""
    scope = session.scope()
    wanted = conv_place.asked()
    if wanted.conversation:
        conv_open.draw(scope, wanted)
        return
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        st.title(_("Conversations"), anchor=False, width="content")
        conv_files.menu(scope)
    if scope.role == "viewer":
        st.caption(_("You can search and read here; changing conversations needs the operator role."))
    conv_list.draw(scope)
    conv_files.draw(wanted)


main()
