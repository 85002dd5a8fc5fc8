"""Every table of the Costs page by name: the frames that its charts are drawn from, as files and programs get them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from nexus_core import cards, frames, panels
from nexus_core.cards import Card
from nexus_core.dashboard import Dashboard
from nexus_core.i18n import _
from nexus_core.panels import Panel

NAMES = (
    "cards", "over_time", "spend", "tokens", "duration", "first_token", "status", "clock", "conversations", "agents",
    "tasks", "waste", "why", "forecast", "each",
)  # fmt: skip


@dataclass(frozen=True)
class Table:
    """A table and what it is called."""

    title: str
    frame: pd.DataFrame


def of(page: Dashboard, figures: Sequence[Card], charts: Mapping[str, Panel]) -> dict[str, Table]:
    """The tables of a page, with its cards and charts as they are shown."""
    by = panels.dimensions()[page.by].lower()
    found = {
        "cards": Table(_("Cards"), cards.table(figures)),
        "over_time": Table(_("All figures over time"), frames.over_time(page.report)),
    }
    for panel in charts.values():
        title = _("{title} by {dimension}").format(title=panel.title, dimension=by)
        found[panel.name] = Table(title if panel.name == "spend" else panel.title, panel.frame)
    each = {_("Conversation"): page.per_conversation, _("Finished task"): page.per_task}
    return found | {"each": Table(_("Cost of each"), frames.units(each))}
