"""The list of conversations: search on top, filters, table or hits, the bar of actions, a preview beside it."""

from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from nexus_core import l10n, shelf
from nexus_core.database import Scope, transaction
from nexus_core.i18n import _, ngettext
from nexus_core.search import Page
from nexus_core.text import as_uuid
from pages.components import (
    conv_actions,
    conv_bar,
    conv_chosen,
    conv_dialogs,
    conv_filters,
    conv_hits,
    conv_place,
    conv_preview,
    conv_rows,
    conv_table,
    session,
)  # fmt: skip
from pages.components.conv_place import EVERYWHERE, TRASH, Asked
from pages.components.conv_rows import Names
from pages.components.markdown import label

STYLE = Path(__file__).with_name("conv.css")
_PAGES = "conv_pages"


@st.fragment
def draw(scope: Scope) -> None:
    """Everything under the title; what one types or chooses draws this alone anew."""
    st.html(STYLE)
    wanted = conv_place.asked()
    names = conv_rows.names(scope)
    conv_chosen.begin(wanted)
    conv_filters.box(wanted)
    conv_filters.pills(wanted, names)
    conv_actions.notice()
    beside = conv_chosen.looked_at() if wanted.status != TRASH else None
    if beside:
        with st.container(key="conv_split", horizontal=True, wrap=False, gap="medium"):
            with st.container(key="conv_main"):
                _main(scope, wanted, names)
            conv_preview.draw(beside, names)
    else:
        with st.container(key="conv_main"):
            _main(scope, wanted, names)
    conv_dialogs.draw(names)


def _main(scope: Scope, wanted: Asked, names: Names) -> None:
    if wanted.status == TRASH:
        _trash(scope, wanted, names)
        return
    rows = conv_rows.load(scope, wanted, names.zone)
    page = rows.page
    if not page.hits:
        _nothing(wanted, names)
        return
    if conv_chosen.ids() and scope.role != "viewer":
        conv_bar.bar(_useless(wanted))  # in the place of the line, so that the next box stays under the pointer
    else:
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.caption(_count(page, wanted), width="content")
            conv_filters.order(wanted)
    if wanted.q.strip():
        conv_hits.draw(rows, names)
    else:
        conv_table.draw(rows, names)
    _pager(wanted, page.after)


def _useless(wanted: Asked) -> str:
    """The action that would change nothing in this list."""
    if wanted.status == "archived":
        return "archive"
    return "" if wanted.q.strip() and not wanted.status else "unarchive"


def _count(page: Page, wanted: Asked) -> str:
    n = l10n.number(page.total) + ("" if page.exact else "+")
    words = ngettext("{n} conversation", "{n} conversations", page.total).format(n=n)
    if wanted.q.strip() and not wanted.status:
        return _("{found}, the archive included").format(found=words)
    return words


def _trash(scope: Scope, wanted: Asked, names: Names) -> None:
    with transaction(scope) as tx:
        found = shelf.trashed(tx, before=as_uuid(wanted.after), limit=conv_rows.SIZE + 1)
        total = shelf.count_trashed(tx)
    words = _("What is deleted stays here for {days} days and can be restored; then it goes for good.")
    st.caption(words.format(days=shelf.TRASH_DAYS))
    if not found:
        _empty(":material/delete:", _("The trash is empty."), "")
        return
    with st.container(height=40, border=False):
        if conv_chosen.ids():
            conv_bar.bar(trash=True)
        else:
            st.caption(ngettext("{n} conversation", "{n} conversations", total).format(n=l10n.number(total)))
    shown = found[: conv_rows.SIZE]
    conv_table.draw_trash(shown, names)
    _pager(wanted, str(shown[-1].id) if len(found) > len(shown) else None)


def _pager(wanted: Asked, following: str | None) -> None:
    """Forward by the key of the last row, back by the way that one came; a link into the middle leads to the first."""
    if not (wanted.after or following):
        return
    with st.container(key="conv_pager", horizontal=True, horizontal_alignment="center"):
        st.button(
            _("Previous"), key="conv_previous", icon=":material/chevron_left:", disabled=not wanted.after,
            on_click=_previous,
        )  # fmt: skip
        st.button(
            _("Next"), key="conv_next", icon=":material/chevron_right:", icon_position="right",
            disabled=not following, on_click=_next, args=(wanted.after, following),
        )  # fmt: skip


def _next(here: str, following: str) -> None:
    st.session_state.setdefault(_PAGES, {})[following] = here
    conv_place.change(after=following)


def _previous() -> None:
    conv_place.change(after=st.session_state.get(_PAGES, {}).get(st.query_params.get("after", ""), ""))


def _nothing(wanted: Asked, names: Names) -> None:
    if wanted.q.strip():
        title = _("Nothing was found for “{words}”.").format(words=label(wanted.q[:100]))
        text = _("Every word has to be in one message or in the title; the beginning of the last one is enough.")
    elif wanted.narrowed:
        title, text = _("No conversation fits these filters."), ""
    else:
        title, text = _("No conversations here yet."), _("What is said in the chat is kept and found here.")
    with _empty(":material/forum:", title, text), st.container(horizontal=True, horizontal_alignment="center"):
        if wanted.narrowed or (wanted.where != EVERYWHERE and (wanted.q.strip() or names.projects)):
            st.button(
                _("Look everywhere"), key="conv_everywhere", icon=":material/public:", on_click=conv_place.everywhere
            )
        st.page_link(conv_place.CHAT, label=_("Open chat"), icon=":material/chat:", query_params=session.here())


def _empty(icon: str, title: str, text: str) -> DeltaGenerator:
    place = st.container(key="conv_empty", horizontal_alignment="center", border=True)
    place.markdown(f"{icon} **{title}**", text_alignment="center")
    if text:
        place.caption(text, text_alignment="center")
    return place
