"""The summaries that stand for the beginning of a conversation; each opens to the messages it was made of."""

import streamlit as st

from nexus_core import summaries
from nexus_core.conversations import Conversation
from nexus_core.database import transaction
from nexus_core.i18n import _, ngettext
from nexus_core.summaries import Summary
from pages.components import figures, prose, session
from pages.components.markdown import label, literal

PAGE = 40


def draw(found: Conversation) -> None:
    """Newest first; nothing where there is none."""
    with transaction(session.scope()) as tx:
        made = summaries.of(tx, found.id)
    if not made:
        return
    st.subheader(_("Summaries"), anchor=False)
    st.caption(_("They stand for older messages in what the assistant sees. The messages themselves stay."))
    for number, summary in enumerate(made):
        _one(summary, first=number == 0)


def _one(summary: Summary, *, first: bool) -> None:
    title = _("Messages {first} to {last}").format(first=summary.from_seq, last=summary.to_seq)
    with st.expander(f"{title} · {figures.moment(summary.created_at)}", expanded=first,
                     key=f"conv_made_{summary.id}"):  # fmt: skip
        st.markdown(f":gray-badge[{_methods()[summary.method]}]")
        prose.draw(summary.body_md)
        if st.toggle(_("Show these messages"), key=f"conv_made_open_{summary.id}"):
            _messages(summary)


def _methods() -> dict[str, str]:
    return {
        "model": _("written by the model"),
        "extract": _("sentences as they were said, chosen without a model"),
        "hand": _("written by a person"),
    }


def _messages(summary: Summary) -> None:
    key = f"conv_made_shown_{summary.id}"
    shown = int(st.session_state.get(key, PAGE))
    where = {"after": summary.from_seq - 1, "before": summary.to_seq + 1}
    with transaction(session.scope()) as tx:
        said = summaries.material(tx, summary.conversation_id, **where, limit=shown + 1)
    names = {"user": _("Somebody"), "assistant": _("Assistant"), "tool": _("Tool result")}
    for one in said[:shown]:
        who = one.author or names.get(one.role, _("Instructions"))
        when = figures.moment(one.created_at)
        st.markdown(f"**{label(who)}** :small[:gray[{one.seq} · {label(when)}]]")
        st.markdown(literal(one.body) if one.body else f":gray[{_('no text')}]")
    if len(said) > shown:
        words = ngettext("Show {n} more", "Show {n} more", PAGE).format(n=PAGE)
        st.button(words, key=f"conv_made_more_{summary.id}", on_click=_more, args=(key, shown))


def _more(key: str, shown: int) -> None:
    st.session_state[key] = shown + PAGE
