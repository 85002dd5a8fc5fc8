"""Charts of the report: pure, from a frame to a plotly figure; one palette, one colour per entity everywhere."""

import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from nexus_core.i18n import _

_THEME = Path(__file__).resolve().parent.parent / ".streamlit" / "config.toml"
_STATUSES = {"succeeded": "greenColor", "failed": "redColor", "blocked": "orangeColor", "running": "blueColor"}
_HATCH = {"shape": "/", "size": 5, "solidity": 0.25}
TOP = 7  # a stack of more tells nothing: the rest is one grey layer
DASHES = ("solid", "dash", "dot")


@cache
def theme(mode: str) -> dict[str, Any]:
    """The colours of .streamlit/config.toml for `mode`, light or dark."""
    themes: dict[str, dict[str, Any]] = tomllib.loads(_THEME.read_text("utf-8"))["theme"]
    return themes[mode]


def colours(keys: Iterable[str], mode: str = "light") -> dict[str, str]:
    """A colour for each key: by its name alone, so that it is the same on every page and in every session.

    Where two of the shown keys would meet, the later one in the order of names takes the next free colour.
    """
    palette: Sequence[str] = theme(mode)["chartCategoricalColors"]
    taken: dict[int, str] = {}
    found = {}
    for key in sorted(set(keys)):
        wanted = int.from_bytes(sha256(key.encode()).digest()[:4]) % len(palette)
        free = (place for n in range(len(palette)) if (place := (wanted + n) % len(palette)) not in taken)
        place = next(free, wanted)
        taken[place] = key
        found[key] = palette[place]
    return found


def stack(frame: pd.DataFrame, value: str, *, mode: str = "light", unit: str = "") -> go.Figure:
    """Bars of `value` by `start`, stacked by `key`, the largest at the bottom; open buckets are hatched.

    Every bar carries its key and the UTC ends of its bucket as customdata, for the click that opens the runs behind it.
    """
    figure = _figure(mode)
    if frame.empty:
        return _nothing(figure, mode)
    shown = _top(frame, value)
    order = shown.groupby("key", sort=False)[value].sum().sort_values(ascending=False).index
    known = colours((key for key in order if key != _rest()), mode)
    for key in order:
        part = shown[shown["key"] == key]
        figure.add_bar(
            x=part["start"],
            y=part[value],
            name=key,
            marker={
                "color": known.get(key, theme(mode)["grayColor"]),
                "pattern": _HATCH | {"shape": ["/" if is_open else "" for is_open in part["open"]]},
                "line": {"width": 0},
            },
            customdata=part[["key", "from_at", "to_at"]].astype(str).to_numpy(),
            hovertemplate=f"%{{x|%a %d %b %Y %H:%M}}<br>{_literal(key)}: {unit}%{{y:,.4~f}}<extra></extra>",
        )
    figure.update_layout(barmode="stack", bargap=0.15)
    return figure


def lines(frame: pd.DataFrame, columns: dict[str, str], *, mode: str = "light", unit: str = "") -> go.Figure:
    """A line for each of `columns` (column: its name) by `start`; unknown is a gap, one bucket alone is a point."""
    figure = _figure(mode)
    if frame.empty:
        return _nothing(figure, mode)
    palette = theme(mode)["chartCategoricalColors"]
    for n, (column, name) in enumerate(columns.items()):
        figure.add_scatter(
            x=frame["start"],
            y=_numbers(frame[column]),
            name=name,
            mode="lines+markers",
            connectgaps=False,
            line={"color": palette[n % len(palette)], "dash": DASHES[n % len(DASHES)], "width": 2},
            marker={"size": 8 if len(frame) == 1 else 4},
            customdata=frame[["from_at", "to_at"]].astype(str).to_numpy(),
            hovertemplate=f"%{{x|%a %d %b %Y %H:%M}}<br>{_literal(name)}: %{{y:,.4~f}}{unit}<extra></extra>",
        )
    return figure


def statuses(frame: pd.DataFrame, *, mode: str = "light") -> go.Figure:
    """Runs by `start`, stacked by status in `key`, in the colours that statuses have everywhere."""
    figure = stack(frame, "runs", mode=mode)
    for trace in figure.data:
        if trace.type == "bar":
            trace.marker.color = theme(mode)[_STATUSES.get(trace.name, "grayColor")]
    return figure


def heat(frame: pd.DataFrame, value: str, *, mode: str = "light", unit: str = "") -> go.Figure:
    """`value` by hour and weekday, Monday on top, from a frame of 168 rows."""
    figure = _figure(mode)
    if frame.empty:
        return _nothing(figure, mode)
    table = frame.assign(**{value: _numbers(frame[value])}).pivot(index="weekday", columns="hour", values=value)
    days = [_("Mon"), _("Tue"), _("Wed"), _("Thu"), _("Fri"), _("Sat"), _("Sun")]
    scale = theme(mode)["chartSequentialColors"]
    figure.add_heatmap(
        z=table.to_numpy(),
        x=list(table.columns),
        y=days,
        xgap=1,
        ygap=1,
        colorscale=[[n / (len(scale) - 1), colour] for n, colour in enumerate(scale)],
        colorbar={"thickness": 8, "outlinewidth": 0},
        hovertemplate=f"%{{y}} %{{x}}:00 · {unit}%{{z:,.4~f}}<extra></extra>",
    )
    figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(dtick=3)
    return figure


def ranking(frame: pd.DataFrame, value: str, *, mode: str = "light", unit: str = "") -> go.Figure:
    """Horizontal bars of `value` by `key`, the largest on top, each with its `id` (or key) as customdata."""
    figure = _figure(mode)
    if frame.empty:
        return _nothing(figure, mode)
    known = colours(frame["key"], mode)
    figure.add_bar(
        orientation="h",
        x=_numbers(frame[value]),
        y=list(range(len(frame))),
        marker={"color": [known[key] for key in frame["key"]]},
        customdata=frame[["id" if "id" in frame else "key", "key"]].to_numpy(),
        hovertemplate=f"%{{customdata[1]}}: {unit}%{{x:,.4~f}}<extra></extra>",
    )
    labels = [_literal(key) for key in frame["key"]]
    figure.update_yaxes(autorange="reversed", tickvals=list(range(len(frame))), ticktext=labels, automargin=True)
    return figure


def spark(values: Sequence[Any], *, mode: str = "light") -> go.Figure:
    """A line without axes for a card; what is unknown is a gap."""
    figure = _figure(mode)
    accent = theme(mode)["primaryColor"]
    figure.add_scatter(
        y=_numbers(pd.Series(list(values), dtype=object)), mode="lines", line={"color": accent, "width": 2}
    )
    figure.update_layout(height=42, margin={"l": 0, "r": 0, "t": 2, "b": 2}, showlegend=False, hovermode=False)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return figure


def _top(frame: pd.DataFrame, value: str) -> pd.DataFrame:
    """The TOP largest keys; the others together as one."""
    numbers = frame.assign(**{value: _numbers(frame[value])})
    sizes = numbers.groupby("key", sort=False)[value].sum().sort_values(ascending=False)
    if len(sizes) <= TOP + 1:
        return numbers
    kept = set(sizes.index[:TOP])
    named = numbers.assign(key=[key if key in kept else _rest() for key in numbers["key"]])
    return named.groupby(["start", "from_at", "to_at", "open", "key"], sort=False, as_index=False)[[value]].sum()


def _rest() -> str:
    return _("All others")


def _numbers(values: "pd.Series[Any]") -> "pd.Series[float]":
    return pd.Series([None if value is None else float(value) for value in values], dtype="float64", index=values.index)


def _literal(text: str) -> str:
    """A name as it is written: plotly reads tags and %{…} in labels."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("%{", "%\u200b{")


def _figure(mode: str) -> go.Figure:
    colour = theme(mode)
    axis = {"gridcolor": colour["borderColor"], "zeroline": False, "linecolor": colour["borderColor"]}
    return go.Figure(
        layout={
            "template": "none",
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"color": colour["textColor"], "size": 13},
            "margin": {"l": 48, "r": 8, "t": 8, "b": 32},
            "legend": {"orientation": "h", "y": -0.18},
            "hoverlabel": {"bgcolor": colour["secondaryBackgroundColor"], "font": {"color": colour["textColor"]}},
            "xaxis": axis | {"showgrid": False},
            "yaxis": axis | {"rangemode": "tozero"},
        }
    )


def _nothing(figure: go.Figure, mode: str) -> go.Figure:
    figure.add_annotation(
        text=_("Nothing ran in this range."), showarrow=False, font={"color": theme(mode)["grayColor"]}
    )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return figure
