"""Public links: made for a conversation, listed, withdrawn."""

from functools import partial
from urllib.parse import urlsplit
from uuid import UUID

import streamlit as st

from nexus_core import conversations, l10n, shares
from nexus_core.database import transaction
from nexus_core.i18n import _, ngettext
from nexus_core.shares import DAYS, Share
from pages.components import conv_words, figures, session
from pages.components.attempt import attempt, refusal
from pages.components.markdown import label

PLACE = "conv_share"
_MADE = "conv_share_made"
SPANS = (1, 7, 30, 90, 365)


def draw(conversation_id: UUID) -> None:
    """The body of a dialog: make a link to a conversation, and withdraw those that work."""
    with transaction(session.scope()) as tx:
        found = conversations.get(tx, conversation_id)
        live = shares.of_conversation(tx, conversation_id)
    refusal(PLACE)
    made = st.session_state.get(_MADE)
    if made and made[0] in {one.id for one in live}:
        st.markdown(_("**The link.** Copy it now: Nexus does not keep it, so it is shown only here."))
        st.code(made[1], language=None, wrap_lines=True)
        if st.button(_("Make another"), key="conv_share_another", type="tertiary", icon=":material/add_link:"):
            del st.session_state[_MADE]
            st.rerun()
    else:
        _offer(conversation_id, found.next_seq - 1)
    _list(live, titled=False)


def links() -> None:
    """The body of a dialog: the links that one made; for an admin, all to what they may see."""
    scope = session.scope()
    with transaction(scope) as tx:
        live = shares.live(tx)
    refusal(PLACE)
    if scope.role == "admin":
        st.caption(
            _("All links to conversations that you may see. Those to other people's private ones are theirs alone.")
        )
    if not live:
        st.markdown(_("**No link works now.**"))
        st.caption(_("Share a conversation from its menu; its link then stands here until it expires."))
    _list(live, titled=True)


def _offer(conversation_id: UUID, messages: int) -> None:
    st.markdown(
        _("Whoever has the link can read what has been said until now, without signing in. What is said later, names, "
          "instructions, memory and costs are not shown.")
    )  # fmt: skip
    words = {days: ngettext("{n} day", "{n} days", days).format(n=days) for days in SPANS}
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        days = st.selectbox(
            _("It works for"), SPANS, index=SPANS.index(DAYS), key="conv_share_days", width=180,
            format_func=words.__getitem__,
        )  # fmt: skip
        if st.button(
            _("Make a link"), key="conv_share_make", type="primary", icon=":material/link:", disabled=not messages
        ):
            _make(conversation_id, days)
            st.rerun()
    if not messages:
        st.caption(_("Nothing was said yet."))


def _make(conversation_id: UUID, days: int) -> None:
    def create() -> tuple[Share, str]:
        with transaction(session.scope()) as tx:
            return shares.create(tx, conversation_id, days=days)

    if made := attempt(PLACE, create):
        here = urlsplit(st.context.url or "")
        site = f"{here.scheme}://{here.netloc}" if here.netloc else ""
        st.session_state[_MADE] = (made[0].id, f"{site}/shared/{made[1]}")


def _list(live: list[Share], *, titled: bool) -> None:
    if not live:
        return
    if not titled:
        st.markdown(ngettext("**{n} link works**", "**{n} links work**", len(live)).format(n=len(live)))
    with st.container(key="conv_share_list", height=360 if len(live) > 5 else "content", border=len(live) > 5):
        for one in live:
            _row(one, titled)


def _row(one: Share, titled: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", wrap=False):
        views = ngettext("opened once", "opened {n} times", one.views).format(n=l10n.number(one.views))
        facts = [
            _("made {time}").format(time=figures.moment(one.created_at)),
            _("until {time}").format(time=figures.moment(one.expires_at)),
            views if one.views else _("never opened"),
        ]
        facts += [one.created_by_name] if one.created_by_name else []
        title = f"{label(conv_words.title(one.title))}  \n" if titled else ""
        st.markdown(f"{title}:small[{label(' · '.join(facts))}]")
        if st.button(_("Withdraw"), key=f"conv_share_withdraw_{one.id}", icon=":material/link_off:"):
            attempt(PLACE, partial(_revoke, one.id))
            st.rerun()


def _revoke(share_id: UUID) -> None:
    with transaction(session.scope()) as tx:
        shares.revoke(tx, share_id)
