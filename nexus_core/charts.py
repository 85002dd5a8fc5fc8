"""Charts of the report: pure, from a frame to a plotly figure; one palette, one colour per entity everywhere."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from nexus_core.i18n import _
from nexus_core.palette import colours, font, theme
from nexus_core.text import clip

_STATUSES = {"succeeded": "greenColor", "failed": "redColor", "blocked": "orangeColor", "running": "blueColor"}
_HATCH = {"shape": "/", "size": 5, "solidity": 0.25}
TOP = 7  # a stack of more tells nothing: the rest is one grey layer
DASHES = ("solid", "dash", "dot")
LABEL = 34  # clusters of a name beside a bar; the hover tells all of it
Ends = tuple[datetime, datetime]


def stack(
    frame: pd.DataFrame,
    value: str,
    *,
    mode: str = "light",
    unit: str = "",
    ends: Ends | None = None,
    names: Mapping[str, str] | None = None,
) -> go.Figure:
    """Bars of `value` by `start`, stacked by `key`, the largest at the bottom; open buckets are hatched.

    Every bar carries its key and the UTC ends of its bucket as customdata, for the click that opens the runs behind it.
    `ends`: from where to where the axis goes, on the zone's clock; `names`: what people call the keys.
    """
    figure = _figure(mode, ends)
    if frame.empty:
        return _nothing(figure, mode)
    shown, when = top(frame, value), _hover(ends)
    order = shown.groupby("key", sort=False)[value].sum().sort_values(ascending=False).index
    known = colours((key for key in order if key != rest()), mode)
    for key in order:
        part = shown[shown["key"] == key]
        name = _literal((names or {}).get(key, key))
        figure.add_bar(
            x=part["start"],
            y=part[value],
            name=name,
            meta=key,
            marker={
                "color": known.get(key, theme(mode)["grayColor"]),
                "pattern": _HATCH | {"shape": ["/" if is_open else "" for is_open in part["open"]]},
                "line": {"width": 0},
            },
            customdata=part[["key", "from_at", "to_at"]].astype(str).to_numpy(),
            hovertemplate=f"%{{x|{when}}}<br>{name}: {unit}%{{y:,.4~f}}<extra></extra>",
        )
    figure.update_yaxes(tickprefix=unit)
    figure.update_layout(barmode="stack", bargap=0.15, showlegend=True)
    return figure


def lines(
    frame: pd.DataFrame,
    columns: dict[str, str],
    *,
    mode: str = "light",
    unit: str = "",
    ends: Ends | None = None,
    scale: float = 1,
) -> go.Figure:
    """A line for each of `columns` (column: its name) by `start`; unknown is a gap, one bucket alone is a point.

    Values are divided by `scale`: what is stored in milliseconds is read in seconds.
    """
    figure = _figure(mode, ends)
    if frame.empty:
        return _nothing(figure, mode)
    palette, when = theme(mode)["chartCategoricalColors"], _hover(ends)
    for n, (column, name) in enumerate(columns.items()):
        figure.add_scatter(
            x=frame["start"],
            y=_numbers(frame[column]) / scale,
            name=name,
            mode="lines+markers",
            connectgaps=False,
            line={"color": palette[n % len(palette)], "dash": DASHES[n % len(DASHES)], "width": 2},
            marker={"size": 8 if len(frame) == 1 else 4},
            customdata=frame[["from_at", "to_at"]].astype(str).to_numpy(),
            hovertemplate=f"%{{x|{when}}}<br>{_literal(name)}: %{{y:,.4~f}}{unit}<extra></extra>",
        )
    figure.update_yaxes(ticksuffix=unit)
    return figure


def statuses(
    frame: pd.DataFrame, *, mode: str = "light", ends: Ends | None = None, names: Mapping[str, str] | None = None
) -> go.Figure:
    """Runs by `start`, stacked by status in `key`, in the colours that statuses have everywhere."""
    figure = stack(frame, "runs", mode=mode, ends=ends, names=names)
    for trace in figure.data:
        if trace.type == "bar":
            trace.marker.color = theme(mode)[_STATUSES.get(trace.meta, "grayColor")]
    return figure


def heat(frame: pd.DataFrame, value: str, *, mode: str = "light", unit: str = "") -> go.Figure:
    """`value` by hour and weekday, Monday on top, from a frame of 168 rows.

    Plotly selects no cell of a heat map: an unseen point on each, with weekday and hour as customdata, takes the click.
    """
    figure = _figure(mode)
    if frame.empty:
        return _nothing(figure, mode)
    table = frame.assign(**{value: _numbers(frame[value])}).pivot(index="weekday", columns="hour", values=value)
    days = weekdays()
    scale = theme(mode)["chartSequentialColors"]
    figure.add_heatmap(
        z=table.to_numpy(),
        x=list(table.columns),
        y=days,
        xgap=1,
        ygap=1,
        colorscale=[[n / (len(scale) - 1), colour] for n, colour in enumerate(scale)],
        colorbar={"thickness": 8, "outlinewidth": 0},
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=frame["hour"],
        y=[days[weekday - 1] for weekday in frame["weekday"]],
        mode="markers",
        marker={"symbol": "square", "size": 18, "opacity": 0},
        customdata=[[str(day), str(hour), value] for day, hour, value in zip(*_cells(frame, value), strict=True)],
        hovertemplate=f"%{{y}} %{{x}}:00 · {unit}%{{customdata[2]:,.4~f}}<extra></extra>",
        showlegend=False,
    )
    figure.update_yaxes(autorange="reversed", rangemode="normal", showgrid=False)
    figure.update_xaxes(tickvals=list(range(0, 24, 3)), range=[-0.5, 23.5])
    figure.update_layout(hovermode="closest")
    return figure


def ranking(frame: pd.DataFrame, value: str, *, mode: str = "light", unit: str = "") -> go.Figure:
    """Horizontal bars of `value` by `key`, the largest on top, each with its `id` (or key) as customdata."""
    figure = _figure(mode)
    if frame.empty:
        return _nothing(figure, mode)
    known = colours(frame["key"], mode)
    mark = "id" if "id" in frame else "key"
    figure.add_bar(
        orientation="h",
        x=_numbers(frame[value]),
        y=list(range(len(frame))),
        marker={"color": [known[key] for key in frame["key"]]},
        customdata=[[mark, _literal(key)] for mark, key in zip(frame[mark], frame["key"], strict=True)],
        hovertemplate=f"%{{customdata[1]}}: {unit}%{{x:,.4~f}}<extra></extra>",
    )
    labels = [_literal(clip(key, LABEL)) for key in frame["key"]]
    places = list(range(len(frame)))
    figure.update_yaxes(autorange="reversed", tickvals=places, ticktext=labels, automargin=True, showgrid=False)
    figure.update_xaxes(showgrid=True, tickprefix=unit)
    return figure


def causes(frame: pd.DataFrame, *, mode: str = "light") -> go.Figure:
    """Bars of `change` by `key`, to the right where spend grew by it and to the left where it shrank."""
    figure = _figure(mode)
    if frame.empty:
        return _nothing(figure, mode)
    colour = theme(mode)
    figure.add_bar(
        orientation="h",
        x=_numbers(frame["change"]),
        y=frame["key"],
        marker={"color": [colour["orangeColor" if change > 0 else "greenColor"] for change in frame["change"]]},
        hovertemplate="%{y}: %{x:+$,.4~f}<extra></extra>",
    )
    figure.update_yaxes(autorange="reversed", automargin=True, showgrid=False)
    figure.update_xaxes(showgrid=True, tickprefix="$", zeroline=True, zerolinecolor=colour["grayColor"])
    return figure


def course(frame: pd.DataFrame, *, mode: str = "light") -> go.Figure:
    """What was spent since the first of the month, and where that is heading, with its band, by `day`."""
    figure = _figure(mode)
    if frame.empty:
        return _nothing(figure, mode, _("A forecast needs 14 closed days."))
    accent, days = theme(mode)["primaryColor"], frame["day"]
    figure.update_xaxes(type="date", tickformat="%-d %b")
    figure.update_yaxes(tickprefix="$")
    for column in ("low", "high"):
        figure.add_scatter(
            x=days, y=_numbers(frame[column]), mode="lines", line={"width": 0}, showlegend=False, hoverinfo="skip",
            fill="tonexty" if column == "high" else None, fillcolor=accent + "33",
        )  # fmt: skip
    shown = (("spent", _("Spent"), "solid"), ("expected", _("Expected, with the band that holds 4 times in 5"), "dot"))
    for column, name, dash in shown:
        figure.add_scatter(
            x=days, y=_numbers(frame[column]), name=name, mode="lines+markers",
            line={"color": accent, "width": 2, "dash": dash}, marker={"size": 3},
            hovertemplate="%{x|%a %d %b}: $%{y:,.2f}<extra></extra>",
        )  # fmt: skip
    return figure


def spark(values: Sequence[Any], *, mode: str = "light", width: int = 72, height: int = 24) -> str:
    """A line without axes for a card, as SVG; what is unknown is a gap, one value alone is a point."""
    numbers = [float("nan") if value is None else float(value) for value in values]
    known = [value for value in numbers if value == value]
    low, high = min([0.0, *known]), max([0.0, *known])
    step, scale = (width - 6) / max(len(numbers) - 1, 1), (height - 6) / ((high - low) or 1)
    path, pen = "", "M"
    for place, value in enumerate(numbers):
        if value != value:
            pen = "M"
            continue
        x, y = 3 + place * step, height - 3 - (value - low) * scale
        path += f"{pen}{x:.1f} {y:.1f}" + ("h.01" if pen == "M" else "")  # a stroke of no length is not drawn
        pen = "L"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f'<path d="{path}" fill="none" stroke="{theme(mode)["primaryColor"]}" stroke-width="2" stroke-linecap="round"'
        f' stroke-linejoin="round"/></svg>'
    )


def weekdays() -> list[str]:
    """The names of the days in short, Monday first."""
    return [_("Mon"), _("Tue"), _("Wed"), _("Thu"), _("Fri"), _("Sat"), _("Sun")]


def top(frame: pd.DataFrame, value: str) -> pd.DataFrame:
    """The layers of a stack: the TOP largest keys, the others together as one."""
    numbers = frame.assign(**{value: _numbers(frame[value])})
    sizes = numbers.groupby("key", sort=False)[value].sum().sort_values(ascending=False)
    if len(sizes) <= TOP + 1:
        return numbers
    kept = set(sizes.index[:TOP])
    named = numbers.assign(key=[key if key in kept else rest() for key in numbers["key"]])
    return named.groupby(["start", "from_at", "to_at", "open", "key"], sort=False, as_index=False)[[value]].sum()


def rest() -> str:
    """What the layer of all smaller keys is called."""
    return _("All others")


def _cells(frame: pd.DataFrame, value: str) -> tuple[list[Any], list[Any], list[Any]]:
    return list(frame["weekday"]), list(frame["hour"]), [None if n != n else n for n in _numbers(frame[value])]


def _numbers(values: "pd.Series[Any]") -> "pd.Series[float]":
    return pd.Series([None if value is None else float(value) for value in values], dtype="float64", index=values.index)


def _literal(text: str) -> str:
    """A name as it is written: plotly reads tags and %{…} in labels."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("%{", "%\u200b{")


def _figure(mode: str, ends: Ends | None = None) -> go.Figure:
    colour = theme(mode)
    axis = {"gridcolor": colour["borderColor"], "zeroline": False, "linecolor": colour["borderColor"]}
    return go.Figure(
        layout={
            "template": "none",
            "paper_bgcolor": colour["backgroundColor"],
            "plot_bgcolor": colour["backgroundColor"],
            "font": {"color": colour["textColor"], "size": 12, "family": font()},
            "margin": {"l": 48, "r": 8, "t": 8, "b": 32},
            "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
            "hoverlabel": {"bgcolor": colour["secondaryBackgroundColor"], "font": {"color": colour["textColor"]}},
            "xaxis": axis | {"showgrid": False} | (_times(ends) if ends else {}),
            "yaxis": axis | {"rangemode": "tozero"},
            "dragmode": False,
        }
    )


def _times(ends: Ends) -> dict[str, Any]:
    length = ends[1] - ends[0]
    shape = "%H:%M" if length < timedelta(days=3) else "%-d %b" if length < timedelta(days=400) else "%b %Y"
    return {"range": list(ends), "type": "date", "tickformat": shape}


def _hover(ends: Ends | None) -> str:
    return "%a %-d %b, %H:%M" if ends and ends[1] - ends[0] < timedelta(days=3) else "%a %-d %b %Y"


def _nothing(figure: go.Figure, mode: str, why: str | None = None) -> go.Figure:
    figure.add_annotation(
        text=why or _("Nothing ran in this range."), showarrow=False, font={"color": theme(mode)["grayColor"]}
    )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return figure
