"""Conversations as a dense table: tick many by the boxes, look at one by clicking on its row."""

from collections.abc import Sequence
from uuid import UUID, uuid5

import pandas as pd
import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from nexus_core import l10n
from nexus_core.i18n import _
from nexus_core.shelf import Trashed
from pages.components import conv_chosen, conv_words, figures
from pages.components.conv_rows import Names, Rows

_TABLES = UUID("0198c0de-0000-7000-8000-000000000020")


def draw(rows: Rows, names: Names) -> None:
    """A page of the list."""
    hits = rows.page.hits
    data = pd.DataFrame(
        {
            "title": [conv_words.title(hit.title) for hit in hits],
            "project": [names.project(hit.project_id) for hit in hits],
            "agent": [names.agent(hit.agent_id) for hit in hits],
            "people": [rows.who(hit) for hit in hits],
            "messages": [hit.messages for hit in hits],
            "said": [hit.last_message_at.astimezone(figures.zone()) for hit in hits],
            "cost": [conv_words.cost(rows.spent.get(hit.id)) for hit in hits],
            "tags": [hit.tags for hit in hits],
            "status": [conv_words.statuses()[hit.status] for hit in hits],
        }
    )
    _table([hit.id for hit in hits], data, _columns())


def draw_trash(found: Sequence[Trashed], names: Names) -> None:
    """A page of the trash."""
    zone = figures.zone()
    data = pd.DataFrame(
        {
            "title": [conv_words.title(one.title) for one in found],
            "project": [names.project(one.project_id) for one in found],
            "agent": [names.agent(one.agent_id) for one in found],
            "people": [one.user_name or "" for one in found],
            "messages": [one.messages for one in found],
            "deleted": [one.deleted_at.astimezone(zone) for one in found],
            "gone": [one.gone_at.astimezone(zone) for one in found],
        }
    )
    _table([one.id for one in found], data, _columns())


def _columns() -> dict[str, ColumnConfig]:
    make = st.column_config
    time, wide = l10n.grid("HH:mm"), 21 if l10n.sides()[1] else 0  # "0,0021 US$" needs more room than "$0.0021"
    return {
        "title": make.TextColumn(_("Title"), width=230 - wide),
        "project": make.TextColumn(_("Project"), width=95),
        "agent": make.TextColumn(_("Agent"), width=95),
        "people": make.TextColumn(_("People"), width=105),
        "messages": make.NumberColumn(_("Messages"), width=80, format="localized"),
        "said": make.DatetimeColumn(_("Last said"), format=time, width=132),
        "cost": make.TextColumn(_("Cost"), alignment="right", width=75 + wide),
        "tags": make.ListColumn(_("Tags"), width=95),
        "status": make.TextColumn(_("Status"), width=85),
        "deleted": make.DatetimeColumn(_("Deleted"), format=time, width=132),
        "gone": make.DatetimeColumn(_("Goes for good"), format=time, width=132),
    }


def _table(ids: list[UUID], data: pd.DataFrame, columns: dict[str, ColumnConfig]) -> None:
    """Its key comes from the ids of its rows, so that a tick never slips to another row when the list moves."""
    chosen = set(conv_chosen.ids())
    key = f"conv_table_{conv_chosen.epoch()}_{uuid5(_TABLES, ''.join(map(str, ids)))}"
    first = [number for number, each in enumerate(ids) if each in chosen]
    ticked = st.session_state.setdefault(f"{key}_first", first)  # once: from then on the table itself knows
    st.dataframe(
        data,
        key=key,
        hide_index=True,
        height="content",
        row_height=34,
        column_config=columns,
        on_select=lambda: _selected(key, ids),
        selection_mode=["multi-row", "single-cell"],
        selection_default={"selection": {"rows": ticked, "columns": [], "cells": []}},
    )


def _selected(key: str, ids: list[UUID]) -> None:
    """The rows that are ticked, and the one that was clicked on."""
    chosen = st.session_state[key].selection
    conv_chosen.keep(ids, [ids[row] for row in chosen.rows if row < len(ids)])
    clicked = [cell[0] for cell in chosen.cells if cell[0] < len(ids)]
    if clicked != st.session_state.get(f"{key}_clicked", []):
        st.session_state[f"{key}_clicked"] = clicked
        if clicked:
            conv_chosen.look_at(ids[clicked[0]])
