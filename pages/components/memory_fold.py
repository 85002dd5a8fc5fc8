"""Folding a project's old conversations into its memory: chosen in a dialog, read by the assistant, one proposal."""

from collections import Counter
from collections.abc import Sequence
from uuid import UUID

import streamlit as st

from nexus_core import conversations, keeping
from nexus_core.conversations import Conversation
from nexus_core.database import transaction
from nexus_core.i18n import _, ngettext
from nexus_core.keeping import MOST, Folding
from pages.components import conv_words, dialog, figures, notice, session
from pages.components.attempt import attempt, refusal

DIALOG = "memory_fold"
OFFERED = 200


def ask(project_id: UUID, *, disabled: bool = False) -> None:
    """The button, and the dialog that it opened."""
    st.button(
        _("Fold in conversations"), icon=":material/merge:", key=f"fold_{project_id}_ask", type="tertiary",
        disabled=disabled, on_click=dialog.open_, args=(DIALOG, project_id),
    )  # fmt: skip
    dialog.draw(DIALOG, _choose, lambda _about: _("Fold conversations into the memory"), icon=":material/merge:")


def told(done: Folding) -> str:
    """What was begun, in a sentence."""
    if done.blocked:
        return _("A budget lets nothing be read now; an administrator can change it.")
    said = ngettext(
        "The assistant reads them; what it proposes waits in the project’s memory.",
        "The assistant reads them; what it proposes waits in the memory of each of the {n} projects.",
        len(done.runs),
    ).format(n=len(done.runs))
    if not done.outside:
        return said
    left = ngettext(
        "{n} conversation is in no project and was left out.",
        "{n} conversations are in no project and were left out.",
        done.outside,
    ).format(n=done.outside)
    return f"{said} {left}"


def _choose(project_id: UUID) -> None:
    with transaction(session.scope()) as tx:
        found = conversations.of_project(tx, project_id, limit=OFFERED)
    names = _names(found[::-1])
    st.markdown(
        _("The assistant reads them whole and proposes what is worth remembering, with the messages it rests on.")
    )
    if not names:
        st.caption(_("Nothing has been said in this project yet."))
    chosen = st.multiselect(
        _("Conversations, the oldest first"), list(names), key=f"fold_{project_id}_chosen", max_selections=MOST,
        format_func=names.__getitem__, placeholder=_("Choose some"), disabled=not names,
    )  # fmt: skip
    if len(found) == OFFERED:
        st.caption(_("The newest {n} are listed; the page Conversations finds the others.").format(n=OFFERED))
    refusal(DIALOG)
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button(_("Cancel"), key=f"fold_{project_id}_cancel"):
            dialog.close(DIALOG)
            st.rerun()
        sure = st.button(_("Propose"), key=f"fold_{project_id}_sure", type="primary", disabled=not chosen)
    if sure:
        done = attempt(DIALOG, lambda: keeping.fold(session.scope(), [UUID(one) for one in chosen]))
        if done is None:
            st.rerun(scope="fragment")
        dialog.close(DIALOG)
        notice.say(told(done), ":material/auto_awesome:")
        st.rerun()


def _names(found: Sequence[Conversation]) -> dict[str, str]:
    """By id; two that look alike are numbered, for the browser tells them apart by these words."""
    seen: Counter[str] = Counter()
    names = {}
    for one in found:
        name = f"{conv_words.title(one.title)} · {figures.moment(one.last_message_at)}"
        seen[name] += 1
        names[str(one.id)] = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return names
