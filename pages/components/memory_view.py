"""A project's memory to read: the summary, then its lists, what still holds first."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from nexus_core.entries import is_closed, is_web, main_text
from nexus_core.i18n import _, ngettext
from nexus_core.memories import Memory, Revision
from pages.components import memory_tables, prose
from pages.components.markdown import label
from pages.components.memory_source import address


def draw(memory: Memory | Revision) -> None:
    """Summary on the left, lists on the right; one below the other on a narrow screen."""
    left, right = st.columns([4, 5], gap="large")
    with left:
        st.subheader(_("Summary"), anchor=False)
        if memory.summary_md.strip():
            prose.draw(memory.summary_md)
        else:
            st.caption(_("Nothing yet. A few lines are enough: what this is about, where it stands, what comes next."))
    with right:
        for field, title in memory_tables.titles().items():
            _list(field, title, getattr(memory, field))


def _list(field: str, title: str, entries: list[Any]) -> None:
    live = [entry for entry in entries if not is_closed(entry)]
    closed = [entry for entry in entries if is_closed(entry)]
    st.subheader(f"{title} :gray-badge[{len(live)}]", anchor=False)
    if not live:
        st.caption(_("None."))
    _entries(field, live)
    if closed:
        settled = ngettext("{n} settled", "{n} settled", len(closed)).format(n=len(closed))
        with st.expander(settled, type="compact", key=f"memory_{field}_closed"):
            _entries(field, closed)


def _entries(field: str, entries: Sequence[Any]) -> None:
    """Entries in one piece, for there may be hundreds; links one by one, to be clicked."""
    if field == "links":
        for entry in entries:
            link(entry)
    elif entries:
        st.markdown("\n".join(map(_entry, entries)))


def _entry(entry: Any) -> str:
    values = entry if isinstance(entry, Mapping) else {}
    told = {key: memory_tables.say(key, str(value)) for key, value in values.items() if value}
    weights = [f"{memory_tables.say('', key)} {told[key]}" for key in ("likelihood", "impact") if key in told]
    facts = [*(told[key] for key in ("decided_on", "who") if key in told), *weights]
    reason = next((str(values[key]) for key in ("why", "answer", "mitigation") if values.get(key)), "")
    aside = " · ".join(text for text in (*facts, reason) if text)
    source = address(entry)
    where = f" [:material/chat:]({source})" if source else ""
    return f"- {label(main_text(entry))}{where}" + (f"\\\n  :small[:gray[{label(aside)}]]" if aside else "")


def link(entry: Any) -> None:
    """A link of a memory: it can be clicked where it leads to the web; anything else is text."""
    name, url = main_text(entry), str(entry.get("url") or "") if isinstance(entry, Mapping) else ""
    if is_web(url):
        st.page_link(url, label=label(name or url), icon=":material/link:")
    else:
        st.markdown(f"- {label(' '.join(text for text in (name, url) if text))}")
