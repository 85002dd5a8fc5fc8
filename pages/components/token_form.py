"""The dialog that makes a token, and shows it once."""

from uuid import UUID

import streamlit as st

from nexus_core import api_tokens, projects
from nexus_core.api_tokens import DAYS
from nexus_core.database import ROLES, Scope, transaction
from nexus_core.i18n import _, ngettext
from pages.components import dialog, people_words
from pages.components.attempt import told

DIALOG = "token"
_MADE = "token_made"
SPANS = (7, 30, 90, 365, None)


def draw(scope: Scope) -> None:
    """The dialog, while it is open; what it showed is forgotten with it."""
    if not dialog.is_open(DIALOG):
        st.session_state.pop(_MADE, None)
    dialog.draw(DIALOG, lambda _about: _body(scope), lambda _about: _("New token"), icon=":material/key:")


def _body(scope: Scope) -> None:
    if made := st.session_state.get(_MADE):
        st.markdown(_("**The token.** Copy it now: Nexus does not keep it, so it is shown only here."))
        st.code(made, language=None, wrap_lines=True)
        st.caption(_("Programs send it with each request, in this header:"))
        st.code("Authorization: Bearer nxs_…", language=None)
        if st.button(_("Done"), key="token_done", type="primary", icon=":material/check:"):
            dialog.close(DIALOG)
            st.rerun()
        return
    name = st.text_input(_("What it is for"), key="token_name", placeholder=_("Nightly import"), max_chars=100)
    mine = ROLES[: ROLES.index(scope.role) + 1]
    words = people_words.roles()
    role = st.segmented_control(
        _("Role"), mine, default=min("operator", scope.role, key=ROLES.index), required=True, key="token_role",
        format_func=words.__getitem__, help=_("The highest that it gives; when yours sinks, so does the token's."),
    )  # fmt: skip
    limit = _projects(scope) if role != "admin" else None
    spans = {
        days: ngettext("{n} day", "{n} days", days).format(n=days) if days else _("until revoked") for days in SPANS
    }
    days = st.selectbox(
        _("It works for"), SPANS, index=SPANS.index(DAYS), key="token_days", format_func=spans.__getitem__
    )
    if st.button(_("Make the token"), key="token_make", type="primary", icon=":material/key:"):
        with told():
            with transaction(scope) as tx:
                _token, text = api_tokens.create(tx, name, role=role or "", project_ids=limit, days=days)
            st.session_state[_MADE] = text
            st.rerun()


def _projects(scope: Scope) -> list[UUID] | None:
    with transaction(scope) as tx:
        names = {one.id: one.name for one in projects.list_(tx, archived=True)}
    if not names:
        return None
    chosen = st.multiselect(
        _("Projects"), list(names), key="token_projects", format_func=names.__getitem__, placeholder=_("Every project"),
        help=_("With projects chosen, others and what is in no project are not there for it."),
    )  # fmt: skip
    return chosen or None
