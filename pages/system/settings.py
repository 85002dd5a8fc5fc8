"""Settings: the workspace's name and time zone, budgets, how long things are kept, the demo, erasing a person."""

from zoneinfo import available_timezones

import streamlit as st

from nexus_core import workspaces
from nexus_core.database import Scope, transaction
from nexus_core.i18n import _
from nexus_core.workspaces import Workspace
from pages.components import budget_list, demo_box, erase_person, retention_form, session
from pages.components.attempt import told


def main() -> None:
    """What everybody may read and admins change."""
    scope = session.scope()
    st.title(_("Settings"), anchor=False)
    with transaction(scope) as tx:
        workspace = workspaces.get(tx)
    with st.container(width=860):
        if scope.role != "admin":
            st.caption(_("Only administrators change these."))
        _workspace(scope, workspace)
        budget_list.draw(scope)
        retention_form.draw(scope)
        demo_box.section(scope)
        erase_person.draw(scope)


def _workspace(scope: Scope, workspace: Workspace) -> None:
    st.subheader(_("Workspace"), anchor=False)
    still = scope.role != "admin"
    with st.form("settings_workspace", enter_to_submit=False):
        name = st.text_input(_("Name"), workspace.name, key="settings_name", disabled=still)
        zones = sorted({*available_timezones(), workspace.time_zone})
        zone = st.selectbox(
            _("Time zone"), zones, index=zones.index(workspace.time_zone), key="settings_zone", disabled=still,
            help=_("Days, weeks and months of every report are days of this zone."),
        )  # fmt: skip
        if st.form_submit_button(
            _("Save"), type="primary", key="settings_save", disabled=still, icon=":material/save:"
        ):
            with told():
                with transaction(scope) as tx:
                    workspaces.update(tx, name=name, time_zone=zone)
                st.toast(_("Saved."), icon=":material/check:")


main()
