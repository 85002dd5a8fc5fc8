"""Range, search, filters and columns of the Runs page; each choice counts at once and is kept in the address."""

from datetime import date, timedelta
from urllib.parse import urlencode

import streamlit as st

from nexus_core import l10n, panels, ranges
from nexus_core.choices import Choices
from nexus_core.i18n import _
from nexus_core.runs_query import DEFAULT, Asked
from pages.components import runs_state, runs_words
from pages.components.markdown import label

OFFERED = ("project", "task", "agent", "person", "model", "provider", "runtime", "profile", "kind")
UNPRICED = ("", "1", "0")


def draw(asked: Asked, found: Choices) -> None:
    """The two rows above the table."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        _range(asked)
        _own(asked)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.session_state["runs_search"] = asked.search
        st.text_input(
            _("Search"), key="runs_search", type="search", on_change=_search, width=260, label_visibility="collapsed",
            placeholder=_("Search what was said"), max_chars=200,
        )  # fmt: skip
        _status(asked)
        _filters(asked, found)
        _columns()
    _pills(asked, found)


def export_link(asked: Asked) -> None:
    """The way to every run that fits, as CSV; it is written while it is loaded."""
    query = asked.query() | {key: [st.query_params[key]] for key in ("workspace",) if key in st.query_params}
    query.pop("after", None)
    address = "/api/assistant-runs.csv?" + urlencode(query, doseq=True)
    st.link_button(_("Download all as CSV"), address, icon=":material/download:", type="tertiary")


def _range(asked: Asked) -> None:
    names = {
        "today": _("Today"), "7d": _("7 days"), "30d": _("30 days"), "90d": _("90 days"), "month": _("This month"),
        "last_month": _("Last month"), "year": _("This year"),
    }  # fmt: skip
    if asked.span.name == "365d":
        names["365d"] = _("365 days")
    st.session_state["runs_range"] = asked.span.name if asked.span.name in names else None
    st.segmented_control(
        _("Range"), list(names), key="runs_range", format_func=names.__getitem__, on_change=_choose_range,
        label_visibility="collapsed",
    )  # fmt: skip


def _choose_range() -> None:
    name = st.session_state["runs_range"] or DEFAULT
    runs_state.move({"range": [] if name == DEFAULT else [name], "from": [], "to": []})


def _own(asked: Asked) -> None:
    own = asked.span.name == "own"
    title = f"{l10n.day(asked.span.first)} – {l10n.day(asked.span.last)}" if own else _("Other days")
    with st.popover(title, icon=":material/date_range:", type="primary" if own else "secondary", key="runs_own"):
        st.session_state["runs_days"] = (asked.span.first, asked.span.last)
        st.date_input(
            _("First and last day"),
            key="runs_days",
            on_change=_choose_days,
            args=(asked.span.zone,),
            format=l10n.grid(),
        )


def _choose_days(zone: str) -> None:
    days: tuple[date, ...] = st.session_state["runs_days"]
    if len(days) == 2:
        info = ranges.zone_of(zone)
        ends = ranges.start_of(days[0], info), ranges.start_of(days[1] + timedelta(days=1), info)
        runs_state.move({"from": [ends[0].isoformat()], "to": [ends[1].isoformat()], "range": []})


def _search() -> None:
    words = st.session_state["runs_search"].strip()
    runs_state.move({"q": [words] if words else []})


def _status(asked: Asked) -> None:
    names = panels.statuses()
    st.session_state["runs_status"] = [name for name in asked.filters.status or () if name in names]
    st.pills(
        _("Status"), runs_words.STATUSES, selection_mode="multi", key="runs_status", format_func=names.__getitem__,
        on_change=_narrow, args=("status",), label_visibility="collapsed",
    )  # fmt: skip


def _filters(asked: Asked, found: Choices) -> None:
    wanted = asked.filters.query()
    number = len(set(wanted) - {"status"}) + (asked.unpriced is not None)
    title = _("Filters ({n})").format(n=number) if number else _("Filters")
    names = panels.dimensions()
    with st.popover(title, icon=":material/filter_alt:", key="runs_filters"):
        grid = st.grid(2, min_column_width=220)
        for dimension in OFFERED:
            chosen = wanted.get(dimension, [])
            options = list(dict.fromkeys([*found.values.get(dimension, ()), *chosen]))
            if not options:
                continue
            key = f"runs_filter_{dimension}"
            st.session_state[key] = chosen
            grid.multiselect(
                names[dimension], options, key=key, on_change=_narrow, args=(dimension,), placeholder=_("All"),
                format_func=lambda text, dimension=dimension: runs_words.value(dimension, text, found),
            )  # fmt: skip
        prices = {"": _("Any"), "1": _("Without a price"), "0": _("With a price")}
        st.session_state["runs_filter_unpriced"] = "" if asked.unpriced is None else "1" if asked.unpriced else "0"
        grid.selectbox(
            _("Price"), UNPRICED, key="runs_filter_unpriced", format_func=prices.__getitem__, on_change=_narrow,
            args=("unpriced",),
        )  # fmt: skip


def _narrow(dimension: str) -> None:
    key = "runs_status" if dimension == "status" else f"runs_filter_{dimension}"
    chosen = st.session_state[key]
    runs_state.move({dimension: [chosen] if isinstance(chosen, str) and chosen else list(chosen)})


def _columns() -> None:
    names = runs_words.columns()
    with st.popover(_("Columns"), icon=":material/view_column:", key="runs_columns_choice"):
        st.session_state["runs_columns"] = runs_state.shown_columns()
        st.multiselect(
            _("Columns"), list(names), key="runs_columns", format_func=names.__getitem__, on_change=_show_columns,
            placeholder=_("The usual ones"),
        )  # fmt: skip


def _show_columns() -> None:
    chosen = set(st.session_state["runs_columns"])
    usual = chosen == set(runs_words.SHOWN) or not chosen
    names = [name for name in runs_words.columns() if name in chosen]
    runs_state.move({"columns": [] if usual else [",".join(names)], "after": st.query_params.get_all("after")})


def _pills(asked: Asked, found: Choices) -> None:
    """What is filtered by, each to be taken away with a click."""
    wanted = {name: values for name, values in asked.filters.query().items() if name != "status"}
    if asked.unpriced is not None:
        wanted["unpriced"] = ["1" if asked.unpriced else "0"]
    names = panels.dimensions()
    if not wanted:
        return
    with st.container(horizontal=True, gap="xsmall"):
        for name, values in wanted.items():
            for text in values:
                if name == "unpriced":
                    said = _("Without a price") if text == "1" else _("With a price")
                else:
                    said = f"{names[name]}: {runs_words.value(name, text, found)}"
                rest = [other for other in values if other != text]
                st.button(
                    label(said), icon=":material/close:", key=f"runs_without_{name}_{text}", type="tertiary",
                    help=_("Take this filter away"), on_click=runs_state.move, args=({name: rest},),
                )  # fmt: skip
