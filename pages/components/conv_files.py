"""What concerns all conversations of the page at once: bring some in, take all out, see which links work."""

import streamlit as st

from nexus_core.database import Scope
from nexus_core.i18n import _
from pages.components import conv_export, conv_import, conv_share, dialog
from pages.components.conv_place import TRASH, Asked

EXPORT, LINKS = "conv_export_all", "conv_links"


def menu(scope: Scope) -> None:
    """The buttons beside the title."""
    with st.container(key="conv_files", horizontal=True, width="content", gap="xsmall"):
        if scope.role != "viewer":
            st.button(_("Import"), key="conv_import_open", icon=":material/upload:", on_click=conv_import.open_)
            st.button(_("Links"), key="conv_links_open", icon=":material/link:", on_click=dialog.open_, args=(LINKS,))
        st.button(
            _("Export all"), key="conv_export_open", icon=":material/download:", on_click=dialog.open_, args=(EXPORT,)
        )


def draw(wanted: Asked) -> None:
    """The dialogs that were asked for."""
    conv_import.draw()
    dialog.draw(LINKS, lambda _about: conv_share.links(), lambda _about: _("Links that work"), icon=":material/link:")
    if wanted.status != TRASH:
        dialog.draw(
            EXPORT, lambda _about: conv_export.everything(wanted), lambda _about: _("Export all"),
            icon=":material/download:",
        )  # fmt: skip
