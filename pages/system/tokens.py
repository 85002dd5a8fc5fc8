"""Tokens: with which programs act for a person; made here, shown once, listed and revoked."""

import streamlit as st

from nexus_core import api_tokens
from nexus_core.api_tokens import Token
from nexus_core.database import Scope, transaction
from nexus_core.i18n import _
from pages.components import dialog, figures, notice, people_words, session, token_form
from pages.components.attempt import attempt, refusal
from pages.components.markdown import label

PLACE = "tokens"


def main() -> None:
    """One's own tokens; as an admin, everybody's on request."""
    scope = session.scope()
    with (
        st.container(width=860),
        st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"),
    ):
        st.title(_("Tokens"), anchor=False, width="content")
        st.button(
            _("New token"), key="tokens_new", type="primary", icon=":material/add:", on_click=dialog.open_,
            args=(token_form.DIALOG,),
        )  # fmt: skip
    with st.container(width=860):
        st.caption(
            _("A program that sends a token acts for you in this workspace, with the token’s role and projects.")
        )
        token_form.draw(scope)
        everybodys = scope.role == "admin" and st.toggle(_("Everybody’s"), key="tokens_all")
        with transaction(scope) as tx:
            found = api_tokens.list_(tx, everybodys=everybodys)
        refusal(PLACE)
        if not found:
            st.markdown(_("**There is no token.**"))
            st.caption(_("Make one for a script, a coding assistant or any client that speaks to Nexus."))
        for one in found:
            _card(scope, one)


def _card(scope: Scope, one: Token) -> None:
    with (
        st.container(border=True, key=f"token_{one.id}"),
        st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", wrap=False),
    ):
        state = f" :red-badge[{_('expired')}]" if one.expired else ""
        whose = [one.person_name] if one.person_id != scope.user_id else []
        facts = [*whose, people_words.role(one.role), _where(one), _until(one), _used(one)]
        st.markdown(f"**{label(one.name)}** `{one.hint}…`{state}  \n:small[{label(' · '.join(facts))}]")
        st.button(
            _("Revoke"), key=f"token_revoke_{one.id}", icon=":material/key_off:", on_click=_revoke, args=(one,),
        )  # fmt: skip


def _where(one: Token) -> str:
    if one.project_ids is None:
        return _("every project")
    return ", ".join(one.projects) or _("no project that is left")


def _until(one: Token) -> str:
    if one.expires_at is None:
        return _("never expires")
    words = _("expired {time}") if one.expired else _("until {time}")
    return words.format(time=figures.moment(one.expires_at))


def _used(one: Token) -> str:
    return _("used {time}").format(time=figures.moment(one.last_used_at)) if one.last_used_at else _("never used")


def _revoke(one: Token) -> None:
    def end() -> bool:
        with transaction(session.scope()) as tx:
            api_tokens.revoke(tx, one.id)
        return True

    if attempt(PLACE, end):
        notice.say(_("Revoked: it works no more."), notice.GONE)


main()
