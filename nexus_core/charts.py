"""Charts of the report: pure, from a frame to a plotly figure; one palette, one colour per entity everywhere."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from nexus_core import l10n
from nexus_core.i18n import _
from nexus_core.palette import colours, theme
from nexus_core.plots import Ends, figure, literal, nothing, numbers
from nexus_core.text import clip

_STATUSES = {"succeeded": "greenColor", "failed": "redColor", "blocked": "orangeColor", "running": "blueColor"}
_HATCH = {"shape": "/", "size": 5, "solidity": 0.25}
TOP = 7  # a stack of more tells nothing: the rest is one grey layer
_STACKED: dict[str, Any] = {"barmode": "stack", "bargap": 0.15, "showlegend": True}
_SIDEWAYS = {"autorange": "reversed", "automargin": True, "showgrid": False}
DASHES = ("solid", "dash", "dot")
LABEL = 34  # clusters of a name beside a bar; the hover tells all of it


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
    if frame.empty:
        return nothing(mode)
    return figure(_layers(frame, value, mode, unit, ends, names or {}), mode, ends, y=_ticks(unit), **_STACKED)


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
    if frame.empty:
        return nothing(mode)
    palette, when = theme(mode)["chartCategoricalColors"], _hover(ends)
    traces = [
        {
            "type": "scatter",
            "x": list(frame["start"]),
            "y": [value / scale for value in numbers(frame[column])],
            "name": name,
            "mode": "lines+markers",
            "connectgaps": False,
            "line": {"color": palette[n % len(palette)], "dash": DASHES[n % len(DASHES)], "width": 2},
            "marker": {"size": 8 if len(frame) == 1 else 4},
            "customdata": _texts(frame, "from_at", "to_at"),
            "hovertemplate": f"%{{x|{when}}}<br>{literal(name)}: %{{y:,.4~f}}{unit}<extra></extra>",
        }
        for n, (column, name) in enumerate(columns.items())
    ]
    return figure(traces, mode, ends, y={"ticksuffix": unit})


def statuses(
    frame: pd.DataFrame, *, mode: str = "light", ends: Ends | None = None, names: Mapping[str, str] | None = None
) -> go.Figure:
    """Runs by `start`, stacked by status in `key`, in the colours that statuses have everywhere."""
    if frame.empty:
        return nothing(mode)
    layers = _layers(frame, "runs", mode, "", ends, names or {})
    for layer in layers:
        layer["marker"]["color"] = theme(mode)[_STATUSES.get(layer["meta"], "grayColor")]
    return figure(layers, mode, ends, **_STACKED)


def heat(frame: pd.DataFrame, value: str, *, mode: str = "light", unit: str = "") -> go.Figure:
    """`value` by hour and weekday, Monday on top, from a frame of 168 rows.

    Plotly selects no cell of a heat map: an unseen point on each, with weekday and hour as customdata, takes the click.
    """
    if frame.empty:
        return nothing(mode)
    days, scale = l10n.weekdays(), theme(mode)["chartSequentialColors"]
    before, after = _sides(unit)
    cells = list(zip(frame["weekday"], frame["hour"], numbers(frame[value]), strict=True))
    map_ = {
        "type": "heatmap",
        "x": list(range(24)),
        "y": days,
        "z": [[number for day, _hour, number in cells if day == row + 1] for row in range(7)],
        "xgap": 1,
        "ygap": 1,
        "colorscale": [[n / (len(scale) - 1), colour] for n, colour in enumerate(scale)],
        "colorbar": {"thickness": 8, "outlinewidth": 0},
        "hoverinfo": "skip",
    }
    points = {
        "type": "scatter",
        "x": list(frame["hour"]),
        "y": [days[day - 1] for day in frame["weekday"]],
        "mode": "markers",
        "marker": {"symbol": "square", "size": 18, "opacity": 0},
        "customdata": [[str(day), str(hour), None if number != number else number] for day, hour, number in cells],
        "hovertemplate": f"%{{y}} %{{x}}:00 · {before}%{{customdata[2]:,.4~f}}{after}<extra></extra>",
        "showlegend": False,
    }
    x = {"tickvals": list(range(0, 24, 3)), "range": [-0.5, 23.5]}
    y = {"autorange": "reversed", "rangemode": "normal", "showgrid": False}
    return figure([map_, points], mode, x=x, y=y, hovermode="closest")


def ranking(frame: pd.DataFrame, value: str, *, mode: str = "light", unit: str = "") -> go.Figure:
    """Horizontal bars of `value` by `key`, the largest on top, each with its `id` (or key) as customdata."""
    if frame.empty:
        return nothing(mode)
    known, (before, after) = colours(frame["key"], mode), _sides(unit)
    marks = frame["id" if "id" in frame else "key"]
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": numbers(frame[value]),
        "y": list(range(len(frame))),
        "marker": {"color": [known[key] for key in frame["key"]]},
        "customdata": [[mark, literal(key)] for mark, key in zip(marks, frame["key"], strict=True)],
        "hovertemplate": f"%{{customdata[1]}}: {before}%{{x:,.4~f}}{after}<extra></extra>",
    }
    labels = [literal(clip(key, LABEL)) for key in frame["key"]]
    x = _ticks(unit) | {"showgrid": True}
    return figure([bars], mode, x=x, y=_SIDEWAYS | {"tickvals": bars["y"], "ticktext": labels})


def causes(frame: pd.DataFrame, *, mode: str = "light") -> go.Figure:
    """Bars of `change` by `key`, to the right where spend grew by it and to the left where it shrank."""
    if frame.empty:
        return nothing(mode)
    colour, after = theme(mode), _sides("$")[1]
    form = "+,.4~f" if after else "+$,.4~f"
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": numbers(frame["change"]),
        "y": list(frame["key"]),
        "marker": {"color": [colour["orangeColor" if change > 0 else "greenColor"] for change in frame["change"]]},
        "hovertemplate": f"%{{y}}: %{{x:{form}}}{after}<extra></extra>",
    }
    x = {"showgrid": True, "tickformat": form, "ticksuffix": after}
    x |= {"zeroline": True, "zerolinecolor": colour["grayColor"]}
    return figure([bars], mode, x=x, y=_SIDEWAYS)


def course(frame: pd.DataFrame, *, mode: str = "light") -> go.Figure:
    """What was spent since the first of the month, and where that is heading, with its band, by `day`."""
    if frame.empty:
        return nothing(mode, _("A forecast needs 14 closed days."))
    accent, (before, after) = theme(mode)["primaryColor"], _sides("$")
    line = {"type": "scatter", "x": list(frame["day"])}
    edge = line | {"mode": "lines", "line": {"width": 0}, "showlegend": False, "hoverinfo": "skip"}
    traces: list[dict[str, Any]] = [
        edge | {"y": numbers(frame["low"])},
        edge | {"y": numbers(frame["high"]), "fill": "tonexty", "fillcolor": accent + "33"},
    ]
    shown = (("spent", _("Spent"), "solid"), ("expected", _("Expected, with the band that holds 4 times in 5"), "dot"))
    for column, name, dash in shown:
        style = {"line": {"color": accent, "width": 2, "dash": dash}, "marker": {"size": 3}, "mode": "lines+markers"}
        about = {"name": name, "hovertemplate": f"%{{x|%a %-d %b}}: {before}%{{y:,.2f}}{after}<extra></extra>"}
        traces.append(line | style | about | {"y": numbers(frame[column])})
    return figure(traces, mode, x={"type": "date", "tickformat": "%-d %b"}, y=_ticks("$"))


def attempts(frame: pd.DataFrame, *, mode: str = "light") -> go.Figure:
    """Attempts under each other, in seconds: `begin`, then `waited` until the first token, then `wrote`; by `status`.

    Waiting is hatched; an attempt without a first token is one wait.
    """
    colour = [theme(mode)[_STATUSES.get(status, "grayColor")] for status in frame["status"]]
    bars = {"type": "bar", "orientation": "h", "y": [literal(name) for name in frame["name"]], "width": 0.6}
    ends = [begin + waited for begin, waited in zip(frame["begin"], frame["waited"], strict=True)]
    traces = [
        bars
        | {
            "x": numbers(frame[column]),
            "base": numbers(base),
            "marker": {"color": colour, "pattern": _HATCH | {"shape": shape}, "line": {"width": 0}},
            "hovertemplate": f"%{{y}}: %{{x:,.2f}} s {words}<extra></extra>",
        }
        for column, base, shape, words in (
            ("waited", frame["begin"], "/", _("until the first token")),
            ("wrote", ends, "", _("from the first token on")),
        )
    ]
    x = {"ticksuffix": " s", "rangemode": "tozero", "showgrid": True}
    height = 56 + 30 * len(frame)
    return figure(traces, mode, x=x, y=_SIDEWAYS, barmode="overlay", showlegend=False, height=height)


def top(frame: pd.DataFrame, value: str) -> pd.DataFrame:
    """The layers of a stack: the TOP largest keys, the others together as one."""
    drawn = frame.assign(**{value: pd.Series(numbers(frame[value]), dtype="float64", index=frame.index)})
    sizes = drawn.groupby("key", sort=False)[value].sum().sort_values(ascending=False)
    if len(sizes) <= TOP + 1:
        return drawn
    kept = set(sizes.index[:TOP])
    named = drawn.assign(key=[key if key in kept else rest() for key in drawn["key"]])
    return named.groupby(["start", "from_at", "to_at", "open", "key"], sort=False, as_index=False)[[value]].sum()


def rest() -> str:
    """What the layer of all smaller keys is called."""
    return _("All others")


def _layers(
    frame: pd.DataFrame, value: str, mode: str, unit: str, ends: Ends | None, names: Mapping[str, str]
) -> list[dict[str, Any]]:
    shown, when, (before, after) = top(frame, value), _hover(ends), _sides(unit)
    order = shown.groupby("key", sort=False)[value].sum().sort_values(ascending=False).index
    known = colours((key for key in order if key != rest()), mode)
    layers = []
    for key in order:
        # A closed bucket first: the legend looks like a layer's first bar, which may be hatched.
        part, name = shown[shown["key"] == key].sort_values("open", kind="stable"), literal(names.get(key, key))
        pattern = _HATCH | {"shape": ["/" if is_open else "" for is_open in part["open"]]}
        layers.append(
            {
                "type": "bar",
                "x": list(part["start"]),
                "y": list(part[value]),
                "name": name,
                "meta": key,
                "marker": {
                    "color": known.get(key, theme(mode)["grayColor"]), "pattern": pattern, "line": {"width": 0},
                },
                "customdata": _texts(part, "key", "from_at", "to_at"),
                "hovertemplate": f"%{{x|{when}}}<br>{name}: {before}%{{y:,.4~f}}{after}<extra></extra>",
            }
        )  # fmt: skip
    return layers


def _texts(frame: pd.DataFrame, *columns: str) -> list[list[str]]:
    return [[str(value) for value in row] for row in zip(*(frame[name] for name in columns), strict=True)]


def _sides(unit: str) -> tuple[str, str]:
    """What stands before and after a number: money's sign has its place by language, another unit comes first."""
    return l10n.sides() if unit == "$" else (unit, "")


def _ticks(unit: str) -> dict[str, Any]:
    before, after = _sides(unit)
    return {"tickprefix": before, "ticksuffix": after, "automargin": bool(after)}


def _hover(ends: Ends | None) -> str:
    return "%a %-d %b, %H:%M" if ends and ends[1] - ends[0] < timedelta(days=3) else "%a %-d %b %Y"
