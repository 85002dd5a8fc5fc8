"""Two versions of a memory side by side, when somebody else saved while one was editing."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from nexus_core.i18n import _
from nexus_core.memories import Memory
from nexus_core.sections import entry_line
from pages.components import figures, memory_tables
from pages.components.markdown import label, literal


def draw(base: Memory, mine: dict[str, Any], theirs: Memory, save: Callable[..., None]) -> None:
    """What differs, part by part, with a choice for each; `save(theirs, chosen)` is called once a person has chosen."""
    who = theirs.updated_by_name or _("Somebody")
    with st.container(border=True, key=f"memory_{base.project_id}_versions"):
        said = _("{name} saved version {n} ({when}) while you were editing. Your text is kept; choose what stays.")
        st.warning(
            label(said.format(name=who, n=theirs.version, when=figures.moment(theirs.updated_at))),
            icon=":material/call_merge:",
        )
        chosen = dict(mine)
        for field, title in ({"summary_md": _("Summary")} | memory_tables.titles()).items():
            if mine[field] != getattr(theirs, field) and _part(base, theirs, field, title, mine[field]) == "theirs":
                chosen[field] = getattr(theirs, field)
        st.button(
            _("Save what I chose"),
            type="primary",
            icon=":material/save:",
            key=f"memory_{base.project_id}_merge",
            on_click=save,
            args=(theirs, chosen),
        )


def _part(base: Memory, theirs: Memory, field: str, title: str, mine: Any) -> str:
    st.markdown(f"**{title}**")
    left, right = st.columns(2)
    with left, st.container(border=True):
        st.caption(_("Yours"))
        _text(mine)
    with right, st.container(border=True):
        st.caption(_("Theirs"))
        _text(getattr(theirs, field))
    names = {"mine": _("Keep mine"), "theirs": _("Take theirs")}
    return str(
        st.segmented_control(
            title,
            list(names),
            default="theirs" if mine == getattr(base, field) else "mine",
            required=True,
            format_func=names.__getitem__,
            key=f"memory_{base.project_id}_{theirs.version}_{field}_choice",
            label_visibility="collapsed",
        )
    )


def _text(value: Any) -> None:
    text = value if isinstance(value, str) else "\n".join(f"• {entry_line(entry)}" for entry in value)
    st.markdown(literal(text) if text.strip() else f":gray[{_('empty')}]")
