"""Every table of the Costs page as files: the frames that the charts are drawn from."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from nexus_core import cards, frames, panels
from nexus_core.cards import Card
from nexus_core.dashboard import Dashboard
from nexus_core.i18n import _
from nexus_core.panels import Panel
from pages.components import costs_chart, costs_words


def draw(place: DeltaGenerator, page: Dashboard, found: tuple[Card, ...], charts: Mapping[str, Panel]) -> None:
    """A popover in `place`: which table, and as what."""
    span = page.report.range
    with place, st.popover(_("Export"), icon=":material/download:", key="costs_export"):
        tables = _tables(page, found, charts)
        titles = {name: title for name, (title, _frame) in tables.items()}
        name = st.selectbox(_("Table"), list(titles), key="costs_export_table", format_func=titles.__getitem__)
        costs_chart.downloads("export", tables[name][1], costs_words.name_of_file(name, span.first, span.last))
        st.caption(_("The numbers of the page, as they are shown now. A chart as a picture: the camera in its corner."))


def _tables(
    page: Dashboard, found: tuple[Card, ...], charts: Mapping[str, Panel]
) -> dict[str, tuple[str, pd.DataFrame]]:
    by = panels.dimensions()[page.by]
    tables = {"cards": (_("Cards"), cards.table(found))}
    tables["over_time"] = (_("All figures over time"), frames.over_time(page.report))
    for panel in charts.values():
        title = _("{title} by {dimension}").format(title=panel.title, dimension=by.lower())
        tables[panel.name] = (title if panel.name == "spend" else panel.title, panel.frame)
    each = {_("Conversation"): page.per_conversation, _("Finished task"): page.per_task}
    return tables | {"each": (_("Cost of each"), frames.units(each))}
