"""What every chart begins with: axes, type and colours of the theme, gaps for what is unknown, names as written."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import plotly.graph_objects as go

from nexus_core import l10n
from nexus_core.i18n import _
from nexus_core.palette import font, theme

Ends = tuple[datetime, datetime]


def figure(
    traces: Sequence[Mapping[str, Any]],
    mode: str,
    ends: Ends | None = None,
    *,
    x: Mapping[str, Any] | None = None,
    y: Mapping[str, Any] | None = None,
    **layout: Any,
) -> go.Figure:
    """A figure made at once: plotly takes five times as long when its parts are changed one by one."""
    colour = theme(mode)
    axis = {"gridcolor": colour["borderColor"], "zeroline": False, "linecolor": colour["borderColor"]}
    common = {
        "template": "none",
        "paper_bgcolor": colour["backgroundColor"],
        "plot_bgcolor": colour["backgroundColor"],
        "font": {"color": colour["textColor"], "size": 12, "family": font()},
        "margin": {"l": 48, "r": 8, "t": 8, "b": 32},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
        "hoverlabel": {"bgcolor": colour["secondaryBackgroundColor"], "font": {"color": colour["textColor"]}},
        "xaxis": axis | {"showgrid": False} | (_times(ends) if ends else {}) | dict(x or {}),
        "yaxis": axis | {"rangemode": "tozero"} | dict(y or {}),
        "dragmode": False,
        "separators": l10n.point() + l10n.grouping(),
    }
    return go.Figure({"data": list(traces), "layout": common | layout})


def nothing(mode: str, why: str | None = None) -> go.Figure:
    """An empty figure that says why."""
    said = {"text": why or _("Nothing ran in this range."), "showarrow": False}
    unseen = {"visible": False}
    return figure([], mode, x=unseen, y=unseen, annotations=[said | {"font": {"color": theme(mode)["grayColor"]}}])


def numbers(values: Iterable[Any]) -> list[float]:
    """As plotly draws them: what is unknown is a gap."""
    return [float("nan") if value is None else float(value) for value in values]


def literal(text: str) -> str:
    """A name as it is written: plotly reads tags and %{…} in labels."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("%{", "%\u200b{")


def _times(ends: Ends) -> dict[str, Any]:
    length = ends[1] - ends[0]
    shape = "%H:%M" if length < timedelta(days=3) else "%-d %b" if length < timedelta(days=400) else "%b %Y"
    return {"range": list(ends), "type": "date", "tickformat": shape}
