"""Every version of a memory: who made it when and from what, what it changed, and the way back to it."""

from datetime import date, datetime, time, timedelta
from typing import Any
from uuid import UUID

import streamlit as st

from nexus_core import l10n, memories, memory_diff
from nexus_core.database import transaction
from nexus_core.errors import NotFound
from nexus_core.i18n import _
from nexus_core.memories import Memory, Saved
from pages.components import figures, memory_changes, memory_view, notice, session
from pages.components.attempt import attempt, refusal
from pages.components.markdown import label

PAGE = 30
FEW = 9


def draw(memory: Memory, editable: bool) -> None:
    """Timeline on the left; on the right what the chosen version changed."""
    project_id = memory.project_id
    key = f"revisions_{project_id}"
    shown = int(st.session_state.get(f"{key}_shown", PAGE))
    with transaction(session.scope()) as tx:
        found = memories.revisions(tx, project_id, limit=shown + 1)
    _as_of(project_id, key)
    refusal(key)
    known = {saved.version: saved for saved in found[:shown]}
    wanted = st.session_state.get(f"{key}_version")
    if wanted is not None and wanted not in known:
        with transaction(session.scope()) as tx:
            known[wanted] = memories.revision(tx, project_id, wanted)
    left, right = st.columns([2, 5], gap="large")
    with left, st.container(height="content" if len(known) <= FEW else 560, border=False):
        chosen = _timeline(known, key)
        if len(found) > shown:
            st.button(_("Show older"), key=f"{key}_more", type="tertiary", on_click=_more, args=(key, shown))
    with right:
        if chosen is not None:
            _version(memory, known[chosen], list(known), editable, key)


def _as_of(project_id: UUID, key: str) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.date_input(
            _("Memory as of the end of"),
            value=None,
            min_value=date(1970, 1, 1),
            max_value="today",
            key=f"{key}_day",
            format=l10n.grid(),
            width=220,
            on_change=_jump,
            args=(project_id, key),
            help=_("Choose a day to see the version that was current then."),
        )


def _jump(project_id: UUID, key: str) -> None:
    """Choose the version that was current at the end of the day that was chosen, in the reader's time zone."""
    day: date | None = st.session_state[f"{key}_day"]
    if day is None:
        return
    at = datetime.combine(day + timedelta(days=1), time(), figures.zone()) - timedelta(microseconds=1)

    def find() -> int:
        with transaction(session.scope()) as tx:
            return memories.as_of(tx, project_id, at).version

    version = attempt(key, find)
    if version is not None:
        st.session_state[f"{key}_version"] = version


def _more(key: str, shown: int) -> None:
    st.session_state[f"{key}_shown"] = shown + 2 * PAGE


def _timeline(known: dict[int, Saved], key: str) -> int | None:
    versions = sorted(known, reverse=True)
    return st.radio(
        _("Versions"),
        versions,
        key=f"{key}_version",
        format_func=lambda version: _("Version {n}").format(n=version),
        captions=[label(facts(known[version])) for version in versions],
        label_visibility="collapsed",
    )


def facts(saved: Saved) -> str:
    """Who made a version, when, and from what."""
    sources = {
        "hand": _("by hand"), "proposal": _("from a proposal"), "api": _("through the API"), "import": _("imported"),
        "restore": _("restored version {n}").format(n=saved.restored_from), "sql": _("by SQL"),
    }  # fmt: skip
    who = saved.created_by_name or _("Somebody")
    return " · ".join((who, figures.moment(saved.created_at), sources.get(saved.source, saved.source)))


def _version(memory: Memory, chosen: Saved, known: list[int], editable: bool, key: str) -> None:
    others = [version for version in sorted({*known, memory.version}, reverse=True) if version != chosen.version]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        against = st.selectbox(
            _("Compare with"),
            others,
            index=next((n for n, version in enumerate(others) if version < chosen.version), None),
            format_func=lambda version: _("Version {n}").format(n=version),
            key=f"{key}_{chosen.version}_against",
            width=200,
        )
        if editable and chosen.version != memory.version:
            st.button(
                _("Restore this version"),
                icon=":material/restore:",
                key=f"{key}_{chosen.version}_restore",
                on_click=_restore,
                args=(memory, chosen.version, key),
            )
    try:
        with transaction(session.scope()) as tx:
            held: Any = memories.revision(tx, memory.project_id, chosen.version)
            other: Any = memories.revision(tx, memory.project_id, against) if against else None
    except NotFound as error:
        st.caption(label(error.message))
        return
    st.caption(label(" · ".join(text for text in (facts(chosen), chosen.note) if text)))
    if other is not None:
        before, after = sorted((other, held), key=lambda one: one.version)
        said = _("From version {old} to version {new}").format(old=before.version, new=after.version)
        st.markdown(f"#### {said}")
        memory_changes.draw(memory_diff.changes(memories.values(before), memories.values(after)))
    else:
        st.caption(_("The first version: there is nothing before it."))
    title = _("The whole memory at version {n}").format(n=chosen.version)
    with st.expander(title, type="compact", key=f"{key}_{chosen.version}_whole"):
        memory_view.draw(held)


def _restore(memory: Memory, version: int, key: str) -> None:
    def restore() -> Memory:
        with transaction(session.scope()) as tx:
            return memories.restore(tx, memory.project_id, version, read=memory.version)

    after = attempt(key, restore)
    if after is not None:
        st.session_state[f"{key}_version"] = after.version
        words = _("Version {old} is current again, as version {new}.").format(old=version, new=after.version)
        notice.say(words, ":material/restore:")
