"""One person: their role, how they come in, where they are signed in; for administrators, and oneself."""

from collections.abc import Callable
from functools import partial
from uuid import UUID

import streamlit as st

from nexus_core import accounts, l10n, people
from nexus_core.database import ROLES, Scope, transaction
from nexus_core.errors import NotFound
from nexus_core.i18n import _
from nexus_core.people import Account
from nexus_core.sessions import Session
from pages.components import figures, invite_form, notice, people_words, session
from pages.components.attempt import attempt, refusal, told
from pages.components.markdown import label

PLACE = "person"


def show(person_id: UUID | None = None) -> None:
    """Put a person into the URL, or nobody; a button's callback."""
    session.move(session.here() | ({"person": str(person_id)} if person_id else {}))


def draw(scope: Scope, person_id: UUID) -> None:
    """Everything of one member. Raises NotFound."""
    with transaction(scope) as tx:
        found = people.accounts(tx, person_id)
    if not found:
        raise NotFound(_("There is no such person here."))
    one = found[0]
    badges = people_words.badges(one, is_self=one.id == scope.user_id)
    st.title(f"{label(one.name or one.email)}{badges}", anchor=False)
    st.caption(label(" · ".join([one.email, people_words.role(one.role), *_how(one), *people_words.seen(one)])))
    refusal(PLACE)
    if scope.role == "admin":
        _role(scope, one)
        if one.id == scope.user_id:
            st.caption(_("This is your own account: only another administrator deactivates or removes it."))
        else:
            _ways_in(scope, one)
    if one.id == scope.user_id and one.has_password:
        _password(scope)
    _sessions(scope, one)


def _password(scope: Scope) -> None:
    with st.expander(_("Change your password"), icon=":material/password:", key="person_password"):
        current = st.text_input(_("Current password"), type="password", key="password_current")
        new = st.text_input(_("New password"), type="password", key="password_new", help=_("At least 10 characters."))
        if st.button(_("Change"), key="password_change", type="primary"):
            with told():
                accounts.change_password(scope, current, new, keep=session.token())
                st.success(_("Changed. Your other sessions have ended."), icon=":material/check:")


def _how(one: Account) -> list[str]:
    ways = [_("signs in by password")] if one.has_password else []
    ways += [_("signs in by the identity provider")] if one.has_oidc else []
    if one.link_until:
        ways.append(_("link works until {time}").format(time=figures.moment(one.link_until)))
    return [*ways, _("member since {day}").format(day=l10n.day(one.joined_at.astimezone(figures.zone())))]


def _role(scope: Scope, one: Account) -> None:
    key, words = f"person_role_{one.id}", people_words.roles()
    st.session_state[key] = one.role
    st.segmented_control(
        _("Role"), ROLES, key=key, required=True, format_func=words.__getitem__, on_change=_do,
        args=(lambda: accounts.set_role(session.scope(), one.id, st.session_state[key]), _("Saved.")),
    )  # fmt: skip


def _ways_in(scope: Scope, one: Account) -> None:
    st.subheader(_("Account"), anchor=False)
    with st.container(horizontal=True, key="person_account"):
        if one.status == "deactivated":
            _button(
                _("Reactivate"), "reactivate", ":material/person_check:",
                partial(_do, lambda: accounts.reactivate(session.scope(), one.id), _("They can come in again.")),
            )  # fmt: skip
        else:
            if one.has_password:
                _button(_("Reset password"), "reset", ":material/lock_reset:", partial(_reset, one))
            else:
                _button(_("New link"), "link", ":material/link:", partial(_new_link, one))
            _button(
                _("Deactivate"), "deactivate", ":material/person_off:",
                partial(_do, lambda: accounts.deactivate(session.scope(), one.id), _("They come in no more.")),
            )  # fmt: skip
        _button(_("Remove from workspace"), "remove", ":material/person_remove:", partial(_remove, one))
    st.caption(
        _(
            "Whoever is deactivated or removed comes in no more, from this moment on. What they wrote stays, under "
            "their name; to erase it all, open Settings."
        )
    )


def _button(title: str, name: str, icon: str, action: Callable[[], None]) -> None:
    st.button(title, key=f"person_{name}", icon=icon, on_click=action)


def _do(action: Callable[[], object], words: str) -> None:
    if attempt(PLACE, lambda: (action(), True)):
        notice.say(words)


def _reset(one: Account) -> None:
    if code := attempt(PLACE, lambda: accounts.reset_password(session.scope(), one.id)):
        invite_form.show_link(one.name, code, accounts.RESET_DAYS)


def _new_link(one: Account) -> None:
    if code := attempt(PLACE, lambda: accounts.new_link(session.scope(), one.id)):
        invite_form.show_link(one.name, code, accounts.INVITED_DAYS)


def _remove(one: Account) -> None:
    if attempt(PLACE, lambda: (accounts.remove(session.scope(), one.id), True)):
        notice.say(_("Removed from the workspace."), notice.GONE)
        show()


def _sessions(scope: Scope, one: Account) -> None:
    st.subheader(_("Signed in"), anchor=False)
    living = accounts.sessions_of(scope, one.id)
    if not living:
        st.caption(_("Nowhere."))
    for found in living:
        _session(one, found)
    if len(living) > 1:
        _button(
            _("End all sessions"), "sessions", ":material/logout:",
            partial(_do, lambda: accounts.end_sessions(session.scope(), one.id), _("Ended.")),
        )  # fmt: skip


def _session(one: Account, found: Session) -> None:
    ways = {"local": _("at this machine"), "password": _("by password"), "oidc": _("by the identity provider")}
    with (
        st.container(border=True, key=f"session_{found.id}"),
        st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", wrap=False),
    ):
        facts = [
            ways[found.method], found.address,
            _("since {time}").format(time=figures.moment(found.created_at)),
            _("last seen {time}").format(time=figures.moment(found.last_seen_at)),
        ]  # fmt: skip
        browser = label(found.user_agent[:120]) or _("A browser that says nothing of itself")
        st.markdown(f"{browser}  \n:small[{label(' · '.join(fact for fact in facts if fact))}]")
        st.button(
            _("End"), key=f"session_end_{found.id}", icon=":material/logout:", on_click=_do,
            args=(lambda: accounts.end_sessions(session.scope(), one.id, found.id), _("Ended.")),
        )  # fmt: skip
