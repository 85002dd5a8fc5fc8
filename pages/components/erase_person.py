"""Erasing a person, for administrators: chosen, confirmed by their e-mail address, and told what was removed."""

import streamlit as st

from nexus_core import erasure, people
from nexus_core.database import Scope, transaction
from nexus_core.erasure import Erased
from nexus_core.i18n import _
from pages.components.attempt import attempt, refusal
from pages.components.markdown import label

_REFUSED = "erase"
_DONE = "erase_done"


def draw(scope: Scope) -> None:
    """The section; nothing below the admin role."""
    if scope.role != "admin":
        return
    st.subheader(_("Erase a person"), anchor=False)
    st.caption(
        _(
            "Removes a person with everything that they said, wrote and made here, for good. The ledger keeps tokens "
            "and costs without them; what others wrote stays, and so do entries of a project’s memory."
        )
    )
    done: Erased | None = st.session_state.pop(_DONE, None)
    if done is not None:
        _receipt(done)
    refusal(_REFUSED)
    with transaction(scope) as tx:
        others = {str(one.id): one for one in people.members(tx) if one.id != scope.user_id}
    if not others:
        st.caption(_("Nobody else is here."))
        return
    chosen = st.selectbox(
        _("Person"), list(others), index=None, key="erase_person", placeholder=_("Choose a person"),
        format_func=lambda key: f"{others[key].name} ({others[key].email})",
    )  # fmt: skip
    if chosen is not None:
        email = others[chosen].email
        typed = st.text_input(_("To confirm, write their e-mail address"), key=f"erase_confirm_{chosen}")
        st.button(
            _("Erase for good"), key="erase_do", icon=":material/person_remove:", type="primary",
            disabled=typed.strip().lower() != email.lower(), on_click=_erase, args=(scope, email),
        )  # fmt: skip


def _erase(scope: Scope, email: str) -> None:
    done = attempt(_REFUSED, lambda: erasure.erase(scope, email))
    if done is not None:
        st.session_state[_DONE] = done
        st.session_state.pop("erase_person", None)


def _receipt(done: Erased) -> None:
    told = _("Erased.") if done.whole else _("Erased here; another workspace still has this person.")
    st.success(label(told), icon=":material/check:")
    with st.expander(_("What was removed"), key="erase_receipt"):
        st.table([{_("Table"): table, _("Rows"): rows} for table, rows in sorted(done.removed.items())])
