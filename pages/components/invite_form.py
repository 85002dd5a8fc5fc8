"""The dialog that invites a person, and the links by which people choose their password, shown once."""

from urllib.parse import urlsplit

import streamlit as st

from nexus_core import accounts
from nexus_core.database import ROLES, Scope
from nexus_core.i18n import _
from pages.components import dialog, people_words
from pages.components.attempt import told
from pages.components.markdown import label

DIALOG = "invite"
LINK = "person_link"


def draw(scope: Scope) -> None:
    """The dialogs, while they are open."""
    dialog.draw(DIALOG, lambda _about: _body(scope), lambda _about: _("Invite"), icon=":material/person_add:")
    dialog.draw(LINK, _link, lambda _about: _("A link for one person"), icon=":material/link:")


def show_link(name: str, code: str, days: int) -> None:
    """Ask for the dialog that shows a link once; it is drawn with the next run."""
    dialog.close(DIALOG)
    here = urlsplit(st.context.url or "")
    site = f"{here.scheme}://{here.netloc}" if here.netloc else ""
    dialog.open_(LINK, (name, f"{site}{accounts.PATH}{code}", days))


def _body(scope: Scope) -> None:
    email = st.text_input(_("E-mail"), key="invite_email", placeholder="ana@example.com", max_chars=254)
    name = st.text_input(_("Name"), key="invite_name", max_chars=200)
    words = people_words.roles()
    role = st.segmented_control(
        _("Role"), ROLES, default="operator", required=True, key="invite_role", format_func=words.__getitem__
    )
    st.caption(_("Nexus sends no mail: you get a link to hand over, by which they choose a password."))
    if st.button(_("Invite"), key="invite_make", type="primary", icon=":material/person_add:"):
        with told():
            made, code = accounts.invite(scope, email, name, role or "")
            if code:
                show_link(made.name, code, accounts.INVITED_DAYS)
            else:
                dialog.close(DIALOG)
                st.toast(_("Added: they sign in as they do already."), icon=":material/check:")
            st.rerun()


def _link(about: tuple[str, str, int]) -> None:
    name, address, days = about
    words = _("**Hand this link to {name}.** It is shown only here, works once and for {days} days.")
    if days == 1:
        words = _("**Hand this link to {name}.** It is shown only here, works once and for a day.")
    st.markdown(words.format(name=label(name), days=days))
    st.code(address, language=None, wrap_lines=True)
    if st.button(_("Done"), key="person_link_done", type="primary", icon=":material/check:"):
        dialog.close(LINK)
        st.rerun()
