"""The audit as a table: filters that stand in the address, pages by keyset, one entry in full, the log as a file."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pandas as pd
import streamlit as st

from nexus_core import audit, audit_export, exports, l10n
from nexus_core.audit import Entry, Page, Wanted
from nexus_core.database import Scope, transaction
from nexus_core.i18n import _
from nexus_core.people import Member
from pages.components import audit_words, figures
from pages.components.markdown import label

SIZE = 100
SPANS = {"1d": 1, "7d": 7, "30d": 30, "365d": 365, "all": None}
DEFAULT = "7d"
DOORS = ("page", "api", "mcp", "cli", "worker", "gate")


def wanted(members: Sequence[Member], entities: Sequence[str]) -> Wanted:
    """The filters, drawn and read; they live in the address."""
    spans = {"1d": _("24 hours"), "7d": _("7 days"), "30d": _("30 days"), "365d": _("A year"), "all": _("All")}
    span = st.segmented_control(
        _("Range"), list(SPANS), required=True, format_func=spans.__getitem__, label_visibility="collapsed",
        **_bound("range", next(iter(_asked("range", SPANS)), DEFAULT)),
    )  # fmt: skip
    names = {str(one.id): one.name or one.email for one in members}
    grid = st.grid(3, min_column_width=200)
    person = grid.selectbox(
        _("Person"), list(names), format_func=lambda key: names.get(key, key), placeholder=_("Everybody"),
        **_bound("person", next(iter(_asked("person", names)), None)),
    )  # fmt: skip
    things = grid.multiselect(
        _("About"), list(entities), format_func=audit_words.thing, placeholder=_("Everything"),
        **_bound("about", _asked("about", entities)),
    )  # fmt: skip
    doors = grid.multiselect(
        _("Through"), DOORS, format_func=audit_words.door, placeholder=_("Every door"),
        **_bound("door", _asked("door", DOORS)),
    )  # fmt: skip
    days = SPANS[span or DEFAULT]
    return Wanted(
        from_at=datetime.now(UTC) - timedelta(days=days) if days else None,
        person=UUID(person) if person else None,
        entities=tuple(things) or None,
        doors=tuple(doors) or None,
    )


def _asked(name: str, known: Collection[str]) -> list[str]:
    return [value for value in st.query_params.get_all(name) if value in known]


def _bound(name: str, value: Any) -> dict[str, Any]:
    """A widget whose value is the address's; the names in it stay the same in every language."""
    key = f"audit_{name}"
    st.session_state[key] = value
    return {"key": key, "on_change": _moved, "args": (name,)}


def _moved(name: str) -> None:
    """Another filter: it goes into the address, and the newest entries that fit come first."""
    chosen = st.session_state[f"audit_{name}"]
    st.query_params[name] = chosen if isinstance(chosen, list) else chosen or ""
    st.session_state.pop("audit_pages", None)


def draw(scope: Scope, asked: Wanted) -> None:
    """The entries, a hundred at a time, and the chosen one in full below."""
    pages: list[tuple[datetime, UUID]] = st.session_state.get("audit_pages", [])
    with transaction(scope) as tx:
        found = audit.page(tx, asked, after=pages[-1] if pages else None, limit=SIZE)
    if not found.entries:
        with st.container(border=True, key="audit_nothing"):
            st.markdown(_("**Nothing happened in this range.**"))
            st.caption(_("Take filters away, or choose a longer range."))
        return
    chosen = st.dataframe(
        frame(found.entries),
        key=f"audit_table_{len(pages)}",
        hide_index=True,
        height="content" if len(found.entries) < 16 else 600,
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            "number": st.column_config.NumberColumn(_("No."), width=52),
            "at": st.column_config.DatetimeColumn(
                _("When"), format=l10n.grid("HH:mm:ss"), timezone=str(figures.zone()), width=158
            ),
            "who": st.column_config.TextColumn(_("Who"), width=136),
            "what": st.column_config.TextColumn(_("What"), width=215),
            "detail": st.column_config.TextColumn(_("Detail"), width=270),
            "door": st.column_config.TextColumn(_("Through"), width=145),
        },
    )
    _pager(found, pages)
    rows = chosen["selection"]["rows"]
    if rows and rows[0] < len(found.entries):
        _entry(found.entries[rows[0]])
    else:
        st.caption(_("Choose a row to see it in full."))


def _pager(found: Page, pages: list[tuple[datetime, UUID]]) -> None:
    with st.container(horizontal=True, horizontal_alignment="center"):
        if pages:
            st.button(_("Newer"), key="audit_newer", icon=":material/chevron_left:", on_click=_turn, args=(pages[:-1],))
        if found.after:
            older = [*pages, found.after]
            st.button(_("Older"), key="audit_older", icon=":material/chevron_right:", on_click=_turn, args=(older,))


def _turn(pages: list[tuple[datetime, UUID]]) -> None:
    st.session_state["audit_pages"] = pages


def _entry(entry: Entry) -> None:
    with st.container(border=True, key=f"audit_entry_{entry.id}"):
        who = entry.user_name or _("nobody who is known")
        st.markdown(f"**{label(audit_words.sentence(entry.action, entry.entity))}** · {label(who)}")
        at = entry.at.astimezone(figures.zone())
        when = f"{l10n.instant(at, seconds=True)} {at:%Z}"
        st.caption(label(_("{when}, through {door}").format(when=when, door=audit_words.door(entry.door))))
        changes = entry.detail.get("changes")
        if isinstance(changes, dict) and changes:
            st.dataframe(
                pd.DataFrame(
                    [
                        {_("Field"): name, _("Before"): str(pair[0]), _("After"): str(pair[1])}
                        for name, pair in changes.items()
                        if isinstance(pair, list) and len(pair) == 2
                    ]
                ),
                hide_index=True,
                key=f"audit_changes_{entry.id}",
            )
        ids = {"entity_id": entry.entity_id and str(entry.entity_id), "user_id": entry.user_id and str(entry.user_id)}
        st.json({"number": entry.number, **ids, "detail": entry.detail})


def frame(entries: Sequence[Entry]) -> pd.DataFrame:
    """The columns that the table and the file show."""
    return pd.DataFrame(
        [
            {
                "number": entry.number,
                "at": entry.at,
                "who": entry.user_name or "",
                "what": audit_words.sentence(entry.action, entry.entity),
                "detail": audit_words.detail(entry.detail),
                "door": audit_words.door(entry.door),
            }
            for entry in entries
        ]
    )


def file(scope: Scope, asked: Wanted) -> bytes:
    """Every entry that fits, not only those shown, as CSV; the export is an entry itself."""
    found = frame([entry for page in audit_export.begin(scope, asked) for entry in page])
    return exports.csv(found if len(found) else pd.DataFrame(columns=["number", "at", "who", "what", "detail", "door"]))
