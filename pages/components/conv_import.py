"""Bringing conversations in from a file, and the report of what was taken and what was left."""

from collections import Counter
from collections.abc import Iterator, Sequence

import pandas as pd
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from nexus_core import importing, l10n, projects
from nexus_core.conversations import Place
from nexus_core.database import transaction
from nexus_core.i18n import _, ngettext
from nexus_core.importing import Outcome
from nexus_core.reading import MOST_BYTES
from nexus_core.text import as_uuid
from pages.components import conv_words, dialog, session
from pages.components.attempt import attempt, refusal

DIALOG = "conv_import"
PRIVATE = "none"
_DONE = "conv_import_done"


def open_() -> None:
    """Ask for a file; a button's callback."""
    st.session_state.pop(_DONE, None)
    dialog.open_(DIALOG)


def draw() -> None:
    """The dialog, when it was asked for."""
    dialog.draw(DIALOG, _body, lambda _about: _("Import conversations"), icon=":material/upload:", width="medium")


def _body(_about: bool) -> None:
    done: list[Outcome] | None = st.session_state.get(_DONE)
    if done is None:
        _ask()
    else:
        _report(done)


def _ask() -> None:
    st.caption(
        _("Nexus' own JSON, and what ChatGPT and Claude send when you ask for your data: the zip as it came, or the "
          "conversations.json in it. Importing the same file again adds nothing.")
    )  # fmt: skip
    file = st.file_uploader(
        _("File"), type=["json", "zip"], key="conv_import_file", max_upload_size=MOST_BYTES // 1024**2,
        label_visibility="collapsed",
    )  # fmt: skip
    with transaction(session.scope()) as tx:
        names = {str(one.id): one.name for one in projects.list_(tx)}
    options = {"": _("Where they were, if that project is here; else outside any"),
               PRIVATE: _("No project: seen by me alone")} | names  # fmt: skip
    where = st.selectbox(_("Where to"), list(options), key="conv_import_where", format_func=options.__getitem__)
    refusal(DIALOG)
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button(_("Cancel"), key="conv_import_cancel"):
            dialog.close(DIALOG)
            st.rerun()
        pressed = st.button(_("Import"), key="conv_import_go", type="primary", disabled=file is None)
    if pressed and file is not None:
        into = None if not where else Place(None if where == PRIVATE else as_uuid(where))
        st.session_state[_DONE] = attempt(DIALOG, lambda: _run(file, into))
        st.rerun()


def _run(file: UploadedFile, into: Place | None) -> list[Outcome]:
    """Import, saying how far it is; what was stored stays when somebody closes the page meanwhile."""
    return list(_told(importing.run(session.scope(), file, into)))


def _told(outcomes: Iterator[Outcome]) -> Iterator[Outcome]:
    place = st.empty()
    for number, outcome in enumerate(outcomes, 1):
        if number % 10 == 1:
            words = ngettext("{n} conversation read …", "{n} conversations read …", number)
            place.caption(":material/hourglass_top: " + words.format(n=l10n.number(number)))
        yield outcome


def _report(done: Sequence[Outcome]) -> None:
    counts = Counter(one.status for one in done)
    lines = [
        (":green[:material/check_circle:]", counts["imported"],
         ngettext("**{n}** imported", "**{n}** imported", counts["imported"])),
        (":material/done_all:", counts["known"],
         ngettext("**{n}** was here already", "**{n}** were here already", counts["known"])),
        (":material/delete:", counts["trashed"],
         ngettext("**{n}** is in the trash", "**{n}** are in the trash", counts["trashed"])),
        (":red[:material/error:]", counts["failed"],
         ngettext("**{n}** could not be read", "**{n}** could not be read", counts["failed"])),
    ]  # fmt: skip
    st.markdown("  \n".join(f"{icon} {words.format(n=l10n.number(n))}" for icon, n, words in lines if n))
    if any(one.left for one in done):
        st.caption(_("What no export carries along, or what has no place here, was left; the list says what."))
    st.dataframe(
        pd.DataFrame(
            {
                "title": [conv_words.title(one.title) if one.status != "failed" else one.title for one in done],
                "became": [_statuses()[one.status] for one in done],
                "messages": [one.messages or None for one in done],
                "left": [one.reason or left(one) for one in done],
            }
        ),
        key="conv_import_report",
        hide_index=True,
        height="content" if len(done) < 10 else 360,
        column_config={
            "title": st.column_config.TextColumn(_("Title"), width=190),
            "became": st.column_config.TextColumn(_("Became"), width=85),
            "messages": st.column_config.NumberColumn(_("Messages"), width=80, format="localized"),
            "left": st.column_config.TextColumn(_("Left out"), width=310),
        },
    )
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button(_("Done"), key="conv_import_close", type="primary"):
            dialog.close(DIALOG)
            st.rerun()


def _statuses() -> dict[str, str]:
    return {
        "imported": _("imported"),
        "known": _("was here"),
        "trashed": _("in the trash"),
        "failed": _("failed"),
    }


def left(outcome: Outcome) -> str:
    """What of a conversation was left, in words."""
    words = {
        "attachments": lambda n: ngettext("{n} attachment", "{n} attachments", n),
        "images": lambda n: ngettext("{n} image", "{n} images", n),
        "tool_calls": lambda n: ngettext("{n} tool call", "{n} tool calls", n),
        "thoughts": lambda n: ngettext("{n} thought", "{n} thoughts", n),
        "system": lambda n: ngettext("{n} hidden instruction", "{n} hidden instructions", n),
        "unknown": lambda n: ngettext("{n} thing of an unknown kind", "{n} things of an unknown kind", n),
        "authors": lambda n: ngettext("the author of {n} message", "the authors of {n} messages", n),
        "project": lambda n: _("its project, which is not here"),
        "agent": lambda n: _("its agent, which is not here"),
        "task": lambda n: _("its task, which is not here"),
    }
    return ", ".join(words[kind](n).format(n=n) for kind, n in outcome.left.items() if kind in words)
