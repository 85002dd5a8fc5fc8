"""Two people's changes to one memory: what each did, what they join to, and a choice where they clash."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from nexus_core import memories, memory_diff
from nexus_core.entries import entry_line
from nexus_core.i18n import _
from nexus_core.memories import Memory
from nexus_core.memory_merge import BOTH, MINE, THEIRS, Clash, merge
from pages.components import figures, memory_changes, memory_tables, session
from pages.components.markdown import label, literal


def draw(base: Memory, mine: dict[str, Any], theirs: Memory, save: Callable[..., None]) -> None:
    """Both versions and what they join to; `save(theirs, joined)` is called once a person has looked at it."""
    who = theirs.updated_by_name or _("Somebody")
    read, now = memories.values(base), memories.values(theirs)
    joined = merge(read, mine, now)
    with st.container(border=True, key=f"memory_{base.project_id}_versions"):
        said = _("{name} saved version {n} ({when}) while you were editing. Nothing of yours is lost.")
        if theirs.updated_by == session.scope().user_id:
            said = _("You saved version {n} ({when}) elsewhere while you were editing here. Nothing is lost.")
        st.warning(
            label(said.format(name=who, n=theirs.version, when=figures.moment(theirs.updated_at))),
            icon=":material/call_merge:",
        )
        left, right = st.columns(2)
        with left:
            st.markdown(f"**{_('Your changes')}**")
            memory_changes.draw(memory_diff.changes(read, mine))
        with right:
            st.markdown(f"**{label(_('Changes by {name}').format(name=who))}**")
            memory_changes.draw(memory_diff.changes(read, now))
        if joined.clashes:
            st.markdown(f"**{_('Both of you changed these; choose what stays')}**")
        else:
            st.markdown(":green[:material/check:] " + _("They do not touch each other: both can stay."))
        choices = {clash.id: _choice(base, theirs, n, clash) for n, clash in enumerate(joined.clashes)}
        st.button(
            _("Save both") if not joined.clashes else _("Save what I chose"),
            type="primary",
            icon=":material/save:",
            key=f"memory_{base.project_id}_merge",
            on_click=save,
            args=(theirs, joined.values(choices)),
        )


def _choice(base: Memory, theirs: Memory, number: int, clash: Clash) -> str:
    title = memory_changes.titles()[clash.field]
    left, right = st.columns(2)
    with left.container(border=True, height="stretch"):
        st.caption(_("{part}, yours").format(part=title))
        _text(clash.mine)
    with right.container(border=True, height="stretch"):
        st.caption(_("{part}, theirs").format(part=title))
        _text(clash.theirs)
    names = {MINE: _("Keep mine"), THEIRS: _("Take theirs")}
    if clash.field == "summary_md":
        names[BOTH] = _("Keep both")
    return str(
        st.segmented_control(
            title,
            list(names),
            default=MINE,
            required=True,
            format_func=names.__getitem__,
            key=f"memory_{base.project_id}_{theirs.version}_{number}_choice",
            label_visibility="collapsed",
        )
    )


def _text(value: Any) -> None:
    text = (
        "\n".join(value) if isinstance(value, list) else "" if value is None else entry_line(value, memory_tables.say)
    )
    st.markdown(literal(text) if text.strip() else f":gray[{_('removed')}]")
