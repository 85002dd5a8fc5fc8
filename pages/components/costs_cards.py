"""The cards of the Costs page: a figure, its course, its change, and the way to the runs behind it."""

import streamlit as st

from nexus_core import behind, spark
from nexus_core.cards import Card
from nexus_core.costs import Report
from nexus_core.i18n import _
from pages.components import costs_runs, costs_words
from pages.components.markdown import label


def draw(found: tuple[Card, ...], report: Report, mode: str) -> None:
    """The cards, four in a row where there is room."""
    grid = st.grid(4, min_column_width=200)
    for card in found:
        with grid.container(border=True, height="stretch", gap=None, key=f"costs_card_{card.name}"):
            _card(card, report, mode)


def _card(card: Card, report: Report, mode: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", wrap=False):
        costs_runs.link(card.title, _runs(card, report))
        title = _("{title} in the course of the range").format(title=card.title)
        st.image(spark.draw(card.course, mode=mode), width=72, alt=title)
    at_least = card.name == "spend" and report.total.at_least
    amount = costs_words.value(card.now, card.unit, at_least=at_least)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.metric(card.title, amount.replace("$", "\\$"), label_visibility="collapsed", width="content")
        st.markdown(_change(card), width="content")
    if more := costs_words.more(card, report):
        st.caption(label(more))


def _change(card: Card) -> str:
    """The change with an arrow, in the colour that says whether it is good."""
    words = costs_words.change(card)
    if not words:
        return ""
    moved = 0.0 if card.is_new or words.startswith("±") else card.change or 0.0
    arrow = "" if not moved else "↑ " if moved > 0 else "↓ "
    colour = "gray" if card.worse is None or not moved else "red" if (moved > 0) == card.worse else "green"
    return f":{colour}-badge[{arrow}{words}]"


def _runs(card: Card, report: Report) -> behind.Query:
    query = behind.whole(report, card.narrow)
    return query | {"unpriced": ["1"]} if card.unpriced else query
