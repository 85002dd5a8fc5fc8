"""Audit: who did what, when and through which door; and a proof that nothing of it was changed."""

from datetime import UTC, datetime
from functools import partial

import streamlit as st

from nexus_core import audit, l10n, people
from nexus_core.audit import Verdict
from nexus_core.database import Scope, transaction
from nexus_core.i18n import _
from pages.components import audit_table, session
from pages.components.markdown import label


def main() -> None:
    """Filters, table and proof for admins; others are told why there is nothing for them."""
    scope = session.scope()
    if scope.role != "admin":
        st.title(_("Audit"), anchor=False)
        st.info(_("The audit is for administrators of the workspace."), icon=":material/lock:")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        st.title(_("Audit"), anchor=False, width="content")
        buttons = st.container(horizontal=True, width="content")
    st.caption(_("Every change, sign-in, export and first look at another's conversation. Nothing here can be edited."))
    with transaction(scope) as tx:
        members, entities = people.members(tx), audit.entities(tx)
    asked = audit_table.wanted(members, entities)
    with buttons:
        verify = st.button(_("Verify"), key="audit_verify", icon=":material/verified:", type="primary")
        st.download_button(
            _("CSV"),
            data=partial(audit_table.file, scope, asked),
            file_name=f"nexus-audit-{datetime.now(UTC):%Y-%m-%d}.csv",
            mime="text/csv",
            icon=":material/download:",
            key="audit_csv",
            on_click="ignore",
            help=_("Every entry that fits the filters"),
        )
    if verify:
        _verdict(_verified(scope))
    audit_table.draw(scope, asked)


def _verified(scope: Scope) -> Verdict:
    with st.spinner(_("Making every seal anew …")), transaction(scope) as tx:
        return audit.verify(tx)


def _verdict(verdict: Verdict) -> None:
    if verdict.holds:
        words = _("All {n} entries hold: numbered without gaps, each sealed with the one before it.")
        st.success(words.format(n=l10n.number(verdict.entries)), icon=":material/verified:")
    elif verdict.broken_at is not None:
        words = _("It does not hold: entry {n} was changed, or what stood before it was taken away.")
        st.error(words.format(n=l10n.number(verdict.broken_at)), icon=":material/gpp_bad:")
    else:
        words = _("It does not hold: {n} entries are not in the chain.")
        missing = max(verdict.unsealed, verdict.last_number - verdict.entries)
        st.error(words.format(n=l10n.number(missing)), icon=":material/gpp_bad:")
    st.caption(
        label(
            _(
                "What this proves: since it was sealed, no entry up to number {n} was changed, removed or put between "
                "others without making every later seal anew. Somebody who may rewrite the whole database could do "
                "that; to rule it out, keep this seal elsewhere and compare it later with the seal of the same number:"
            ).format(n=l10n.number(verdict.last_number))
        )
    )
    st.code(f"{verdict.last_number} {verdict.last_hash}", language=None)


main()
