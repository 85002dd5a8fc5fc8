"""The box "What did we decide about …?": answers at once, with dates, quotes and links; no model is asked."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import streamlit as st

from nexus_core import asking, l10n
from nexus_core.asking import Answered, Known
from nexus_core.database import transaction
from nexus_core.entries import detail_text, is_closed, main_text
from nexus_core.errors import NexusError
from nexus_core.i18n import _
from nexus_core.recall import Passage
from nexus_core.text import clip, plain
from pages.components import ask_box, figures, session
from pages.components.attempt import attempt, refusal
from pages.components.conversation_list import CHAT
from pages.components.markdown import label, literal
from pages.components.memory_source import message

QUOTE = 260


@st.fragment
def draw(project_id: UUID, editable: bool) -> None:
    """The box and, below it, what is known."""
    question = st.text_input(
        _("What did we decide about …?"),
        key="decided_box",
        type="search",
        placeholder=_("What did we decide about …?"),
        label_visibility="collapsed",
        live="400ms",
    )
    if not (question or "").strip():
        return
    try:
        with transaction(session.scope()) as tx:
            found = asking.about(tx, project_id, str(question))
    except NexusError as error:
        st.error(label(error.message), icon=":material/error:")
        return
    with st.container(border=True, key="decided_answer", gap="small"):
        _answer(found)
        refusal("decided")
        if editable:
            words = _("Ask the assistant")
            if st.button(words, key="decided_ask", icon=":material/forum:", type="tertiary"):
                _ask(str(question), project_id)


def _ask(question: str, project_id: UUID) -> None:
    turn = attempt("decided", lambda: ask_box.send(question, project_id))
    if turn is not None:
        st.switch_page(CHAT, query_params=session.here() | {"conversation": str(turn.conversation_id)})


def _answer(found: Answered) -> None:
    if not found.entries and not found.passages:
        st.caption(_("Nothing that was decided or said here fits these words."))
    for known in found.entries:
        _known(known)
    if found.passages:
        st.caption(_("Said in conversations"))
    for passage in found.passages:
        _said(passage)


def _known(known: Known) -> None:
    kinds = {
        "decisions": ":material/gavel:",
        "open_questions": ":material/help:",
        "risks": ":material/warning:",
        "links": ":material/link:",
    }
    values: Mapping[str, Any] = known.entry if isinstance(known.entry, Mapping) else {}
    settled = f" :gray-badge[{_('no longer holds') if known.field == 'decisions' else _('settled')}]"
    text = f"{kinds[known.field]} **{label(main_text(known.entry))}**" + (settled if is_closed(known.entry) else "")
    on, who = (str(values.get(key) or "") for key in ("decided_on", "who"))
    facts = [l10n.written_day(on), who, detail_text(known.entry)]
    aside = label(" · ".join(fact for fact in facts if fact))
    link = ""
    if known.message_id and known.conversation_id:
        link = f" [:material/chat: {_('where it was said')}]({message(known.conversation_id, known.message_id)})"
    st.markdown(text + (f"\\\n:small[:gray[{aside}]]" if aside else "") + (f" :small[{link}]" if link else ""))


def _said(passage: Passage) -> None:
    who = passage.author or _("assistant")
    facts = label(" · ".join((who, figures.moment(passage.created_at), passage.conversation_title or _("Untitled"))))
    where = f"[:material/chat:]({message(passage.conversation_id, passage.message_id)})"
    st.markdown(f"> {literal(clip(plain(passage.body), QUOTE))}\\\n> :small[:gray[{facts}]] {where}")
