"""What a memory weighs in prompts: of how many tokens, for whom, and what would be left out there."""

from collections.abc import Sequence

import streamlit as st

from nexus_core import l10n, weighing
from nexus_core.entries import entry_line
from nexus_core.i18n import _, ngettext
from nexus_core.memories import Memory
from nexus_core.text import clip
from nexus_core.weighing import Limit, Weight
from pages.components import figures, memory_tables
from pages.components.markdown import label

SHOWN = 6


def draw(memory: Memory, limits: Sequence[Limit], key: str) -> None:
    """One line with the weight, orange where something does not fit, and the details behind it."""
    weights = weighing.weigh(memory, limits)
    over = any(weight.left_out for weight in weights)
    with st.popover(
        f":small[:{'orange' if over else 'gray'}[{label(_reading(weights))}]]",
        type="tertiary",
        key=f"{key}_weight",
        icon=":material/scale:",
    ):
        st.markdown(_("Every prompt of this project begins with its memory, within these limits:"))
        for weight in weights:
            _limit(memory, weight)
        st.caption(_("Settled entries stay out of prompts. Nothing is deleted: what does not fit can still be found."))


def _reading(weights: Sequence[Weight]) -> str:
    widest = weights[0]
    if not widest.tokens:
        return _("An empty memory takes nothing in a prompt.")
    taken = _("about {n} of {limit} tokens of every prompt")
    said = taken.format(n=l10n.number(widest.tokens), limit=l10n.number(widest.limit.tokens))
    dropped = max(len(weight.left_out) for weight in weights)
    if not dropped:
        return said
    over = ngettext("{n} entry does not fit", "{n} entries do not fit", dropped).format(n=dropped)
    return f"{said} · {over}"


def _limit(memory: Memory, weight: Weight) -> None:
    names = ", ".join(name or _("Just Chat") for name in weight.limit.names)
    st.progress(
        min(weight.tokens / weight.limit.tokens, 1.0),
        text=label(
            _("{names}: {n} of {limit} tokens").format(
                names=clip(names, 120), n=figures.count(weight.tokens), limit=figures.count(weight.limit.tokens)
            )
        ),
    )
    if not weight.left_out:
        return
    titles = memory_tables.titles()
    st.markdown(f":orange[{_('Would be left out:')}]")
    lines = [
        (left["list"], entry_line(getattr(memory, left["list"])[left["index"]], memory_tables.say))
        for left in weight.left_out[:SHOWN]
    ]
    st.markdown("\n".join(f"- {titles[field]}: {label(clip(line, 90))}" for field, line in lines))
    if len(weight.left_out) > SHOWN:
        st.caption(_("and {n} more").format(n=len(weight.left_out) - SHOWN))
