"""Every table of the Costs page as files: the frames that the charts are drawn from."""

from collections.abc import Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from nexus_core import tables
from nexus_core.cards import Card
from nexus_core.dashboard import Dashboard
from nexus_core.i18n import _
from nexus_core.panels import Panel
from pages.components import costs_chart, costs_words


def draw(place: DeltaGenerator, page: Dashboard, found: tuple[Card, ...], charts: Mapping[str, Panel]) -> None:
    """A popover in `place`: which table, and as what."""
    span = page.report.range
    with place, st.popover(_("Export"), icon=":material/download:", key="costs_export"):
        known = tables.of(page, found, charts)
        titles = {name: table.title for name, table in known.items()}
        name = st.selectbox(_("Table"), list(titles), key="costs_export_table", format_func=titles.__getitem__)
        costs_chart.downloads("export", known[name].frame, costs_words.name_of_file(name, span.first, span.last))
        st.caption(_("The numbers of the page, as they are shown now. A chart as a picture: the camera in its corner."))
