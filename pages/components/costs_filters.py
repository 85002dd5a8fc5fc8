"""Filters of the Costs page: chosen in a popover, shown as pills, kept in the address."""

import streamlit as st

from nexus_core import panels
from nexus_core.choices import Choices
from nexus_core.filters import NONE, Filters
from nexus_core.frames import nothing
from nexus_core.i18n import _
from pages.components import costs_state

OFFERED = ("model", "provider", "agent", "project", "profile", "person", "runtime", "kind", "status")


def draw(filters: Filters, found: Choices) -> None:
    """The popover with every dimension; a choice counts at once."""
    number = len(filters.dimensions())
    title = _("Filters ({n})").format(n=number) if number else _("Filters")
    wanted = filters.query()
    with st.popover(title, icon=":material/filter_alt:", key="costs_filters", width="content"):
        st.caption(_("Nothing chosen means everything."))
        grid = st.container(width=520).grid(2, min_column_width=200)
        for dimension in OFFERED:
            chosen = wanted.get(dimension, [])
            options = list(dict.fromkeys([*found.values.get(dimension, ()), *chosen]))
            key = f"costs_filter_{dimension}"
            st.session_state[key] = chosen
            grid.multiselect(
                panels.dimensions()[dimension], options, key=key, on_change=_narrow, args=(dimension,),
                format_func=lambda value, dimension=dimension: name(dimension, value, found), placeholder=_("All"),
            )  # fmt: skip


def pills(filters: Filters, found: Choices) -> None:
    """What is filtered by, each to be taken away with a click."""
    shown = [f"{dimension}={value}" for dimension, values in filters.query().items() for value in values]
    if shown:
        st.session_state["costs_pills"] = shown
        st.pills(
            _("Only"), shown, selection_mode="multi", key="costs_pills", on_change=_keep, args=(tuple(shown),),
            format_func=lambda item: _pill(item, found), label_visibility="collapsed", help=_("Click to take it away"),
        )  # fmt: skip


def name(dimension: str, value: str, found: Choices) -> str:
    """What people call a value of a filter."""
    if value == NONE:
        return nothing(dimension)
    if dimension == "status":
        return panels.statuses().get(value, value)
    return found.names.get(value, value)


def _pill(item: str, found: Choices) -> str:
    dimension, _sign, value = item.partition("=")
    return f"{panels.dimensions()[dimension]}: {name(dimension, value, found)} ✕"


def _narrow(dimension: str) -> None:
    costs_state.move({dimension: st.session_state[f"costs_filter_{dimension}"], "cell": []})


def _keep(shown: tuple[str, ...]) -> None:
    kept = set(st.session_state["costs_pills"] or [])
    changes: dict[str, list[str]] = {}
    for item in shown:
        dimension, _sign, value = item.partition("=")
        changes.setdefault(dimension, []).extend([value] if item in kept else [])
    costs_state.move(changes)
