"""What a click on the conversations page does, to one or to many; what was done can be undone from the notice."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

import streamlit as st

from nexus_core import fork, keeping, moves, shelf, tags
from nexus_core.database import Transaction, transaction
from nexus_core.i18n import _, ngettext
from pages.components import conv_chosen, conv_place, memory_fold, session
from pages.components.attempt import attempt, refusal
from pages.components.markdown import label

T = TypeVar("T")
REFUSED = "conv"
PROJECT = "pages/memory/project.py"
_NOTICE = "conv_notice"
_ASKING = "conv_asking"
Ids = Sequence[UUID]


@dataclass(frozen=True)
class Notice:
    """A sentence about what was done; `undo` (archive, trash, or "" for nothing) says how these are brought back.

    `project_id`: where proposals come of it.
    """

    sentence: str
    undo: str
    ids: tuple[UUID, ...]
    project_id: UUID | None = None


def do(action: Callable[[Transaction], T]) -> T:
    """Run an action in a transaction of its own."""
    with transaction(session.scope()) as tx:
        return action(tx)


def attempted(action: Callable[[Transaction], T]) -> T | None:
    """What an action gives, or None when it was refused; the page says why."""
    return attempt(REFUSED, lambda: do(action))


def archive(ids: Ids) -> None:
    """Put conversations away."""
    changed = attempt(REFUSED, lambda: keeping.archive(session.scope(), ids))
    if changed is not None:
        words = ngettext("{n} conversation archived.", "{n} conversations archived.", len(changed))
        _say(words.format(n=len(changed)), "archive", changed)


def unarchive(ids: Ids) -> None:
    """Bring conversations back from the archive."""
    changed = attempted(lambda tx: shelf.unarchive(tx, ids))
    if changed is not None:
        words = ngettext("{n} conversation brought back.", "{n} conversations brought back.", len(changed))
        _say(words.format(n=len(changed)))


def summarise(ids: Ids) -> None:
    """Have conversations summarised in the background."""
    begun = attempt(REFUSED, lambda: keeping.summarise_all(session.scope(), ids))
    if begun:
        words = ngettext(
            "{n} summary is being made; it appears in the details.",
            "{n} summaries are being made; they appear in the details.",
            begun,
        )
        _say(words.format(n=begun))
    elif begun == 0:
        _say(_("A budget lets no summary be made now; the conversation’s runs say which."))


def fold(ids: Ids) -> None:
    """Have the assistant read conversations and propose what their projects should remember."""
    done = attempt(REFUSED, lambda: keeping.fold(session.scope(), ids))
    if done is not None:
        projects = list(done.runs)
        _say(memory_fold.told(done), project_id=projects[0] if len(projects) == 1 else None)


def trash(ids: Ids) -> None:
    """Move conversations to the trash."""
    if _done(lambda tx: shelf.trash(tx, ids)):
        words = ngettext(
            "{n} conversation is in the trash, for {days} days.",
            "{n} conversations are in the trash, for {days} days.",
            len(ids),
        )
        _say(words.format(n=len(ids), days=shelf.TRASH_DAYS), "trash", ids)
        _leave(ids)


def restore(ids: Ids) -> None:
    """Bring conversations back from the trash."""
    if _done(lambda tx: shelf.restore(tx, ids)):
        words = ngettext("{n} conversation restored.", "{n} conversations restored.", len(ids))
        _say(words.format(n=len(ids)))


def delete(ids: Ids) -> None:
    """Delete conversations for good."""
    if _done(lambda tx: shelf.delete(tx, ids)):
        words = ngettext("{n} conversation deleted for good.", "{n} conversations deleted for good.", len(ids))
        _say(words.format(n=len(ids)))
        _leave(ids)


def tag(ids: Ids, added: Sequence[str], removed: Sequence[str]) -> None:
    """Put tags on conversations and take others off."""

    def change(tx: Transaction) -> None:
        tags.add(tx, ids, added)
        tags.remove(tx, ids, removed)

    if _done(change):
        words = ngettext("Tags of {n} conversation changed.", "Tags of {n} conversations changed.", len(ids))
        _say(words.format(n=len(ids)))


def move(ids: Ids, project_id: UUID | None) -> None:
    """Move conversations to a project, or outside any."""
    moved = attempted(lambda tx: moves.move(tx, ids, project_id))
    if moved is not None:
        words = ngettext("{n} conversation moved.", "{n} conversations moved.", len(moved))
        _say(words.format(n=len(moved)))


def fork_from(message_id: UUID) -> None:
    """Fork a conversation from a message, and show the fork."""
    made = attempted(lambda tx: fork.fork(tx, message_id))
    if made is not None:
        _say(_("Forked: go on here, the original stays as it is."))
        conv_place.open_(made.id)
        st.rerun()


def undo(notice: Notice) -> None:
    """Take back what a notice tells."""
    (restore if notice.undo == "trash" else unarchive)(notice.ids)


def ask(what: str, ids: Ids) -> None:
    """Open the dialog that asks before something is done to these."""
    st.session_state[_ASKING] = (what, tuple(ids))


def asking() -> tuple[str, tuple[UUID, ...]] | None:
    """The dialog that is open, and for which conversations."""
    found: tuple[str, tuple[UUID, ...]] | None = st.session_state.get(_ASKING)
    return found


def answered() -> None:
    """Close the dialog."""
    st.session_state.pop(_ASKING, None)


def notice() -> None:
    """What the last click did or why it was refused, until the next one."""
    refusal(REFUSED)
    said: Notice | None = st.session_state.get(_NOTICE)
    if said is None:
        return
    with st.container(key="conv_notice", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":green[:material/check_circle:] {label(said.sentence)}", width="content")
        if said.project_id:
            query = session.here() | {"project": str(said.project_id), "tab": "proposals"}
            st.page_link(PROJECT, label=_("Open proposals"), query_params=query)
        if said.undo and said.ids:
            st.button(_("Undo"), key="conv_undo", icon=":material/undo:", on_click=undo, args=(said,))
        st.button(
            _("Close"),
            key="conv_notice_close",
            icon=":material/close:",
            type="tertiary",
            help=_("Close"),
            on_click=silence,
        )


def silence() -> None:
    """Say nothing more about the last click."""
    st.session_state.pop(_NOTICE, None)


def _done(action: Callable[[Transaction], None]) -> bool:
    def run(tx: Transaction) -> bool:
        action(tx)
        return True

    return attempted(run) is True


def _say(sentence: str, undo: str = "", ids: Ids = (), project_id: UUID | None = None) -> None:
    st.session_state[_NOTICE] = Notice(sentence, undo, tuple(ids), project_id)
    conv_chosen.clear()


def _leave(ids: Ids) -> None:
    """What is gone is no longer shown."""
    if conv_chosen.looked_at() in ids:
        conv_chosen.look_at(None)
    if st.query_params.get("conversation") in {str(one) for one in ids}:
        conv_place.back()
