"""A project's memory to read: the summary, then its lists, what still holds first."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import streamlit as st

from nexus_core import context, sections, tokens
from nexus_core.i18n import _, ngettext
from nexus_core.memories import Memory, main_text
from nexus_core.sections import is_closed
from pages.components import memory_tables, prose
from pages.components.markdown import label


def draw(memory: Memory) -> None:
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


def weight(memory: Memory) -> str:
    """What this memory takes in each prompt, and what does not fit there."""
    text, left = sections.memory_text(memory, context.MEMORY_TOKENS)
    if not text:
        return _("An empty memory takes nothing in a prompt.")
    taken = _("takes about {n} tokens of every prompt").format(n=f"{tokens.count(text):,}")
    dropped = sum(entry["reason"] == "tokens" for entry in left)
    if not dropped:
        return taken
    over = ngettext("{n} entry does not fit", "{n} entries do not fit", dropped).format(n=dropped)
    return f"{taken}; {over}"


def _list(field: str, title: str, entries: list[Any]) -> None:
    live = [entry for entry in entries if not is_closed(entry)]
    closed = [entry for entry in entries if is_closed(entry)]
    st.subheader(f"{title} :gray-badge[{len(live)}]", anchor=False)
    if not live:
        st.caption(_("None."))
    for entry in live:
        _entry(field, entry)
    if closed:
        settled = ngettext("{n} settled", "{n} settled", len(closed)).format(n=len(closed))
        with st.expander(settled, type="compact", key=f"memory_{field}_closed"):
            for entry in closed:
                _entry(field, entry)


def _entry(field: str, entry: Any) -> None:
    values = entry if isinstance(entry, Mapping) else {}
    sentence = label(main_text(entry))
    if field == "links":
        _link(main_text(entry), str(values.get("url") or ""))
        return
    words = memory_tables.words()
    weights = [f"{name} {words.get(str(values[key]), str(values[key]))}" for key, name in _weights() if values.get(key)]
    facts = [str(values[key]) for key in ("decided_on", "who") if values.get(key)] + weights
    reason = next((str(values[key]) for key in ("why", "answer", "mitigation") if values.get(key)), "")
    aside = " · ".join(text for text in (*facts, reason) if text)
    st.markdown(f"- {sentence}" + (f"\\\n  :small[:gray[{label(aside)}]]" if aside else ""))


def _weights() -> tuple[tuple[str, str], ...]:
    return (("likelihood", _("likelihood")), ("impact", _("impact")))


def _link(name: str, url: str) -> None:
    """A link that can be clicked where it leads to the web; anything else as text."""
    if _is_web(url):
        st.page_link(url, label=label(name or url), icon=":material/link:")
    else:
        st.markdown(f"- {label(' '.join(text for text in (name, url) if text))}")


def _is_web(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)
