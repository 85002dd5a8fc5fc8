"""The lists of a project's memory as tables to edit, and back; what a table does not show stays as it was."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import pandas as pd
import streamlit as st
from uuid6 import uuid7

from nexus_core import l10n
from nexus_core.entries import main_text
from nexus_core.i18n import _, pgettext
from pages.components import figures
from pages.components.memory_source import address

PLACE, SOURCE = "place", "source"
"""The columns that are no field of an entry: its place in the list, and the message that it comes from."""
COLUMNS: dict[str, tuple[str, ...]] = {
    "decisions": ("what", "why", "status", "decided_on", "who"),
    "open_questions": ("question", "status", "answer"),
    "risks": ("risk", "likelihood", "impact", "mitigation", "status"),
    "links": ("label", "url"),
}
CHOICES: dict[tuple[str, str], tuple[str, ...]] = {
    ("decisions", "status"): ("active", "superseded"),
    ("open_questions", "status"): ("open", "answered"),
    ("risks", "status"): ("open", "closed"),
    ("risks", "likelihood"): ("low", "medium", "high"),
    ("risks", "impact"): ("low", "medium", "high"),
}
WIDTHS = {
    "what": 156, "why": 100, "status": 92, "decided_on": 96, "who": 58, "question": 212, "answer": 190,
    "risk": 136, "likelihood": 92, "impact": 80, "mitigation": 106, "label": 180, "url": 320, PLACE: 48, SOURCE: 40,
}  # fmt: skip
"""Pixels; together what the page has beside the summary on a common screen."""


def titles() -> dict[str, str]:
    """What the lists are called."""
    return {
        "decisions": _("Decisions"),
        "open_questions": _("Open questions"),
        "risks": _("Risks"),
        "links": _("Links"),
    }


def frame(field: str, entries: Sequence[Any]) -> pd.DataFrame:
    """The entries of a list as a table of text, one row each in their order, with their places from 1."""
    rows = [_row(field, entry) for entry in entries]
    made = pd.DataFrame(rows, columns=list(COLUMNS[field]), dtype="object")
    made.insert(0, PLACE, pd.Series(range(1, len(rows) + 1), dtype="Int64"))
    if any(address(entry) for entry in entries):
        made[SOURCE] = [address(entry) for entry in entries]
    return made


def entries(field: str, before: Sequence[Any], edited: pd.DataFrame) -> list[Any]:
    """The entries that an edited table stands for, in the order of their places.

    A row that is as it was gives its entry back unchanged; a changed one keeps what the table does not show; rows
    without their sentence are left out. A new one gets an id, and stands last unless it names a place.
    """
    found: list[tuple[float, Any]] = []
    for index, values in zip(edited.index, edited.to_dict("records"), strict=True):
        row = {key: _text(values.get(key)) for key in COLUMNS[field]}
        number = index if isinstance(index, int) and index < len(before) else None
        old = None if number is None else before[number]
        place = _place(values.get(PLACE), number, len(before))
        if old is not None and _row(field, old) == row:
            found.append((place, old))
        elif row[COLUMNS[field][0]]:
            kept = dict(old) if isinstance(old, Mapping) else {"id": str(uuid7())}
            found.append((place, kept | {key: value for key, value in row.items() if value or key in kept}))
    return [entry for _at, entry in sorted(found, key=lambda item: item[0])]


def config(field: str, before: Sequence[Any]) -> dict[str, Any]:
    """How each column is edited."""
    names = {
        "what": _("What"), "why": _("Why"), "status": _("Status"), "decided_on": _("On"), "who": _("Who"),
        "question": _("Question"), "answer": _("Answer"), "risk": _("Risk"), "likelihood": _("Likelihood"),
        "impact": _("Impact"), "mitigation": _("Mitigation"), "label": _("Label"), "url": _("Address"),
    }  # fmt: skip
    today = f"{datetime.now(figures.zone()):%Y-%m-%d}"
    text = st.column_config.TextColumn
    place = _("The place in the list: write another number to move the row.")
    found: dict[str, Any] = {
        PLACE: st.column_config.NumberColumn("#", width=WIDTHS[PLACE], min_value=1, step=1, help=place),
        SOURCE: st.column_config.LinkColumn(
            "", width=WIDTHS[SOURCE], display_text=":material/chat:", disabled=True, help=_("The message it comes from")
        ),
    }
    for key in COLUMNS[field]:
        first = key == COLUMNS[field][0]
        if (field, key) in CHOICES:
            found[key] = _choice(field, key, names[key], before)
        elif key == "decided_on":
            hint = _("As year-month-day, such as 2026-03-14.")
            found[key] = text(names[key], width=WIDTHS[key], default=today, help=hint)
        else:
            web = r"^(https?://\S+|mailto:\S+@\S+)$" if key == "url" else None
            found[key] = text(names[key], width=WIDTHS[key], required=first, validate=web)
    return found


def words(key: str) -> dict[str, str]:
    """What a column of states or weights holds, as people read it."""
    if key == "impact":
        return {
            "low": pgettext("impact", "low"),
            "medium": pgettext("impact", "medium"),
            "high": pgettext("impact", "high"),
        }
    return {
        "active": _("active"), "superseded": _("superseded"), "open": _("open"), "answered": _("answered"),
        "closed": _("closed"), "low": _("low"), "medium": _("medium"), "high": _("high"),
    }  # fmt: skip


def say(key: str, value: str) -> str:
    """A value of an entry's key as people read it; the key's own name for ""."""
    if key == "decided_on":
        return l10n.written_day(value)
    return ({"likelihood": _("likelihood"), "impact": _("impact")} if not key else words(key)).get(value, value)


def _choice(field: str, key: str, name: str, before: Sequence[Any]) -> Any:
    known = CHOICES[field, key]
    others = {str(entry[key]) for entry in before if isinstance(entry, Mapping) and entry.get(key)} - set(known)
    shown = words(key)
    return st.column_config.SelectboxColumn(
        name,
        width=WIDTHS[key],
        options=[*known, *sorted(others)],
        format_func=lambda value: shown.get(value, value),
        default=known[0] if key == "status" else None,
    )


def _row(field: str, entry: Any) -> dict[str, str]:
    first = COLUMNS[field][0]
    if not isinstance(entry, Mapping):
        return dict.fromkeys(COLUMNS[field], "") | {first: _text(entry)}
    row = {key: _text(entry.get(key)) for key in COLUMNS[field]}
    return row | {first: row[first] or _text(main_text(entry))}


def _place(value: Any, number: int | None, last: int) -> float:
    """Where a row is sorted: half a step before the place that it names when it moves up, half a step behind else."""
    named = None if value is None or value is pd.NA or value != value else float(value)
    if number is None:
        return last + 1.0 if named is None else named - 0.5
    if named is None or named == number + 1:
        return number + 1.0
    return named - 0.5 if named < number + 1 else named + 0.5


def _text(value: Any) -> str:
    return "" if value is None or value is pd.NA or value != value else str(value).strip()
