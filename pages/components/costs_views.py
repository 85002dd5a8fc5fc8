"""Saved views of the Costs page: one's own and those that others share."""

import streamlit as st

from nexus_core import views
from nexus_core.database import Scope, transaction
from nexus_core.i18n import _
from nexus_core.views import View
from pages.components import costs_state
from pages.components.attempt import attempt, refusal
from pages.components.markdown import label

PLACE = "costs_views"


def draw(scope: Scope) -> None:
    """The views to choose from, and the way to keep the present one."""
    with transaction(scope) as tx:
        found = views.of_page(tx, "costs")
    shown = current()
    name = next((view.name for view in found if view.query == shown), None)
    with st.popover(label(name) if name else _("Views"), icon=":material/bookmark:", key=PLACE):
        if not found:
            st.caption(_("No view yet. A view keeps range, filters and main dimension under a name."))
        for view in found:
            _view(view, scope)
        st.text_input(_("Keep this view as"), key=f"{PLACE}_name", max_chars=80, placeholder=_("Month by project"))
        refusal(PLACE)
        if scope.role != "viewer":
            st.checkbox(_("Share it with the workspace"), key=f"{PLACE}_shared")
        st.button(_("Save view"), key=f"{PLACE}_save", icon=":material/save:", on_click=_save, args=(scope,))


def current() -> dict[str, list[str]]:
    """What a view of the present address keeps."""
    return {key: values for key, values in costs_state.query().items() if key in costs_state.VIEW}


def _view(view: View, scope: Scope) -> None:
    mine = view.user_id == scope.user_id
    with st.container(horizontal=True, vertical_alignment="center", wrap=False):
        icon = ":material/group:" if view.shared else ":material/bookmark:"
        st.button(
            label(view.name), key=f"{PLACE}_{view.id}", icon=icon, type="tertiary", width="stretch", on_click=_show,
            args=(view,), help=None if mine else _("Shared by somebody else"),
        )  # fmt: skip
        if mine or scope.role == "admin":
            st.button(
                _("Remove view"), key=f"{PLACE}_{view.id}_remove", icon=":material/delete:", type="tertiary",
                help=_("Remove view"), on_click=_remove, args=(scope, view),
            )  # fmt: skip


def _show(view: View) -> None:
    known = {key: view.query.get(key, []) for key in costs_state.VIEW}
    costs_state.move(known | {"cell": []})


def _save(scope: Scope) -> None:
    name, shared = st.session_state[f"{PLACE}_name"], bool(st.session_state.get(f"{PLACE}_shared"))

    def save() -> View:
        with transaction(scope) as tx:
            return views.save(tx, "costs", name, current(), shared=shared)

    if attempt(PLACE, save):
        st.session_state[f"{PLACE}_name"] = ""


def _remove(scope: Scope, view: View) -> None:
    def remove() -> None:
        with transaction(scope) as tx:
            views.remove(tx, view.id)

    attempt(PLACE, remove)
