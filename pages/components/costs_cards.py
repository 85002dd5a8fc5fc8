"""The cards of the Costs page: a figure, its course, its change, and the way to the runs behind it."""

import streamlit as st

from nexus_core import behind, charts
from nexus_core.cards import Card
from nexus_core.costs import Report
from nexus_core.i18n import _
from pages.components import costs_runs, costs_words


def draw(found: tuple[Card, ...], report: Report, mode: str) -> None:
    """The cards, four in a row where there is room."""
    grid = st.grid(4, min_column_width=200)
    for card in found:
        with grid.container(border=True, height="stretch", gap=None, key=f"costs_card_{card.name}"):
            _card(card, report, mode)


def _card(card: Card, report: Report, mode: str) -> None:
    costs_runs.link(card.title, _runs(card, report))
    at_least = card.name == "spend" and report.total.at_least
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", wrap=False):
        change = costs_words.change(card)
        st.metric(
            card.title,
            costs_words.value(card.now, card.unit, at_least=at_least),
            change or None,
            label_visibility="collapsed",
            delta_color=_colour(card),
            delta_arrow=_arrow(card),
            delta_description=costs_words.more(card, report) or None,
        )
        title = _("{title} in the course of the range").format(title=card.title)
        st.image(charts.spark(card.course, mode=mode), width=96, alt=title)


def _runs(card: Card, report: Report) -> behind.Query:
    query = behind.whole(report, card.narrow)
    return query | {"unpriced": ["1"]} if card.unpriced else query


def _arrow(card: Card) -> str:
    moved = 1 if card.is_new else card.change or 0
    return "off" if card.is_new or not round(moved, 4) else "up" if moved > 0 else "down"


def _colour(card: Card) -> str:
    """Gray where more is neither good nor bad, and where nothing moved."""
    moved = card.change
    if card.worse is None or moved is None or not round(moved, 4):
        return "gray"
    return "red" if (moved > 0) == card.worse else "green"
