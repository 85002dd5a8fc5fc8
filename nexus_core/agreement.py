"""The self-check of the Costs page: what its cards, charts, tables and files say is the same."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from math import isclose
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from nexus_core import cards, exports, frames, panels
from nexus_core.dashboard import Dashboard


@dataclass(frozen=True)
class Check:
    """One figure in all its places; None where no run tells it. Money is exact but in the chart, which draws floats."""

    name: str
    card: Decimal | None
    table: Decimal | None
    file: Decimal | None
    over_time: Decimal | None
    chart: float | None

    @property
    def agrees(self) -> bool:
        """Whether all places say the same; what nobody knows counts as nothing, as it adds nothing to a sum."""
        exact = {value or Decimal(0) for value in (self.card, self.table, self.file, self.over_time)}
        return len(exact) == 1 and isclose(self.chart or 0.0, float(self.card or 0), rel_tol=1e-9, abs_tol=1e-9)


def checks(page: Dashboard) -> tuple[Check, ...]:
    """Spend, runs and tokens of a page as they are shown; read from the very figures and files that people get."""
    shown, known = panels.of(page), {card.name: card.now for card in cards.of(page)}
    times = frames.over_time(page.report)
    found = []
    for name, panel, columns in (
        ("spend", "spend", ("cost",)),
        ("runs", "status", ("runs",)),
        ("tokens", "tokens", ("input_tokens", "output_tokens")),
    ):
        frame, value = shown[panel].frame, shown[panel].value
        found.append(
            Check(
                name=name,
                card=_exact(known[name]),
                table=_sum(frame.get(value, ())),
                file=_sum(row[value] or None for row in _rows(frame)),
                over_time=_sum(item for column in columns for item in times[column]),
                chart=_drawn(shown[panel].draw("light")),
            )
        )
    return tuple(found)


def _rows(frame: pd.DataFrame) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(exports.csv(frame).decode("utf-8-sig")))) if len(frame) else []


def _drawn(figure: go.Figure) -> float | None:
    heights = [float(value) for trace in figure.data for value in trace.y if value == value]
    return sum(heights) if heights else None


def _sum(values: Iterable[Any]) -> Decimal | None:
    known = [_exact(value) for value in values if value is not None]
    return sum((value for value in known if value is not None), Decimal(0)) if known else None


def _exact(value: Any) -> Decimal | None:
    return None if value is None else Decimal(str(value))
