"""One chart of the Costs page: title, figure, the way to the runs behind a point, and its data as table and files."""

import pickle
from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from nexus_core import exports, l10n, panels
from nexus_core.costs import Report
from nexus_core.i18n import _, language
from nexus_core.panels import Panel
from pages.components import costs_words

CLICKED = "costs_clicked"
PARQUET = "application/vnd.apache.parquet"


def draw(
    panel: Panel,
    report: Report,
    mode: str,
    *,
    height: int = 260,
    beside: Callable[[], None] | None = None,
    below: Callable[[], None] | None = None,
) -> None:
    """The panel in a frame of its own; `beside` draws in the row of its title, `below` under the figure."""
    with st.container(border=True, height="stretch", gap="small", key=f"costs_panel_{panel.name}"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(f"**{panel.title}**", width="content")
            if beside:
                beside()
            _data(panel, report)
        _figure(panel, report, mode, height)
        if below:
            below()


def _figure(panel: Panel, report: Report, mode: str, height: int) -> None:
    file = costs_words.name_of_file(panel.name, report.range.first, report.range.last)
    options = {
        "displaylogo": False,
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {"format": "png", "filename": file, "scale": 2},
        **l10n.plotly(),
    }
    key = f"costs_chart_{panel.name}_{st.session_state.get('costs_clicks', 0)}"
    clickable = panel.runs is not None or panel.name == "clock"
    made_of = (pickle.dumps(panel.frame), *panels.axis(report), report.range.grain, language())
    st.plotly_chart(
        _drawn(panel.name, mode, made_of, panel),
        height=height,
        theme=None,
        key=key,
        config=options,
        alt=costs_words.sentence(panel, report),
        on_select=partial(_clicked, panel.name, key) if clickable else "ignore",
        selection_mode="points",
    )


@st.cache_resource(max_entries=500, show_spinner=False)
def _drawn(name: str, mode: str, made_of: tuple[object, ...], _panel: Panel) -> go.Figure:
    """The figure, made once for the same data, whoever looks: plotly checks every value, which takes 5 ms a figure."""
    return _panel.draw(mode)


def clicked() -> tuple[str, Sequence[str]] | None:
    """The panel and the customdata of the point that was clicked since the last run, once."""
    found: tuple[str, Sequence[str]] | None = st.session_state.pop(CLICKED, None)
    return found


def downloads(name: str, frame: pd.DataFrame, file: str) -> None:
    """The frame as files; they are made when they are asked for."""
    with st.container(horizontal=True):
        for kind, make, mime in (("csv", exports.csv, "text/csv"), ("parquet", exports.parquet, PARQUET)):
            st.download_button(
                {"csv": "CSV", "parquet": "Parquet"}[kind],
                data=partial(make, frame),
                file_name=f"{file}.{kind}",
                mime=mime,
                on_click="ignore",
                icon=":material/download:",
                key=f"costs_{name}_{kind}",
            )


def _clicked(name: str, key: str) -> None:
    """Note the point, and draw the charts anew, so that it is not selected when the person comes back."""
    points = st.session_state[key].selection.points
    if points and points[0].get("customdata"):
        st.session_state[CLICKED] = (name, [str(item) for item in _listed(points[0]["customdata"])])
        st.session_state["costs_clicks"] = st.session_state.get("costs_clicks", 0) + 1


def _listed(customdata: object) -> list[object]:
    """Plotly hands a point's customdata over as a list, or as an object with its places as keys."""
    if isinstance(customdata, dict):
        return [customdata[place] for place in sorted(customdata, key=int)]
    return list(customdata) if isinstance(customdata, Sequence) and not isinstance(customdata, str) else [customdata]


def _data(panel: Panel, report: Report) -> None:
    title = _("Data of {title}").format(title=panel.title)
    popover = st.popover(title, icon=":material/table:", type="tertiary", key=f"costs_data_{panel.name}", help=title,
                         on_change="rerun")  # fmt: skip
    if popover.open:
        with popover, st.container(width=680):
            st.markdown(f"**{title}**")
            st.caption(
                _("Money in US dollars, durations in milliseconds, times in {zone}.").format(zone=report.range.zone)
            )
            shown = table(panel.frame)
            names = {name: title for name, title in costs_words.columns().items() if name in shown}
            st.dataframe(
                shown, hide_index=True, height=320, column_config=names, key=f"costs_table_{panel.name}", alt=title
            )
            downloads(
                panel.name, panel.frame, costs_words.name_of_file(panel.name, report.range.first, report.range.last)
            )


def table(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame for the eyes: without ids and ends in UTC, empty columns left out, money as it is."""
    hidden = [name for name in ("id", "from_at", "to_at") if name in frame]
    shown = frame.drop(columns=hidden)
    return shown[[name for name in shown if any(value is not None for value in shown[name])]]
