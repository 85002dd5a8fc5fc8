"""People: who is in the workspace; administrators invite them and say what they may do."""

from uuid import UUID

import streamlit as st

from nexus_core import l10n, people
from nexus_core.database import Scope, transaction
from nexus_core.errors import NotFound
from nexus_core.i18n import _, ngettext
from nexus_core.people import Account
from pages.components import dialog, invite_form, people_words, person_view, session
from pages.components.markdown import label

SHOWN = 100


def main() -> None:
    """The person of the URL, or everybody."""
    scope = session.scope()
    chosen = st.query_params.get("person", "")
    with st.container(width=860):
        invite_form.draw(scope)
        if chosen:
            _one(scope, chosen)
        else:
            _all(scope)


def _all(scope: Scope) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        st.title(_("People"), anchor=False, width="content")
        if scope.role == "admin":
            st.button(
                _("Invite"), key="people_invite", type="primary", icon=":material/person_add:", on_click=dialog.open_,
                args=(invite_form.DIALOG,),
            )  # fmt: skip
    st.caption(
        _("Viewers read, operators also chat and change memory, administrators manage what stands under System.")
    )
    with transaction(scope) as tx:
        found = people.accounts(tx)
    wanted = ""
    if len(found) > 8:
        wanted = st.text_input(_("Find"), key="people_find", placeholder=_("Name or e-mail"), icon=":material/search:")
    shown = [one for one in found if wanted.strip().casefold() in f"{one.name} {one.email}".casefold()]
    for one in shown[:SHOWN]:
        _card(scope, one)
    if not shown:
        st.caption(_("Nobody here is called that."))
    if len(shown) > SHOWN:
        more = ngettext("{n} more: write what they are called.", "{n} more: write what they are called.", len(shown))
        st.caption(more.format(n=l10n.number(len(shown) - SHOWN)))


def _card(scope: Scope, one: Account) -> None:
    with (
        st.container(border=True, key=f"person_{one.id}"),
        st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", wrap=False),
    ):
        facts = [one.email, people_words.role(one.role), *people_words.seen(one)]
        badges = people_words.badges(one, is_self=one.id == scope.user_id)
        st.markdown(f"**{label(one.name or one.email)}**{badges}  \n:small[{label(' · '.join(facts))}]")
        if scope.role == "admin" or one.id == scope.user_id:
            st.button(
                _("Open"), key=f"person_open_{one.id}", icon=":material/chevron_right:", type="tertiary",
                on_click=person_view.show, args=(one.id,),
            )  # fmt: skip


def _one(scope: Scope, chosen: str) -> None:
    st.button(
        _("All people"), type="tertiary", icon=":material/arrow_back:", key="people_back", on_click=person_view.show
    )
    try:
        person_id = UUID(chosen)
    except ValueError:
        raise NotFound(_("There is no such person here.")) from None
    if scope.role == "admin" or person_id == scope.user_id:
        person_view.draw(scope, person_id)
    else:
        st.info(_("Only administrators see the accounts of others."), icon=":material/lock:")


main()
