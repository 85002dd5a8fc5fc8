"""Health: is it well, and if not, what to do about it."""

from datetime import UTC, datetime

import pandas as pd
import streamlit as st

from nexus_core import costs, ranges, selfcheck
from nexus_core.database import Scope, transaction
from nexus_core.i18n import _
from nexus_core.ranges import Range
from nexus_core.selfcheck import Check
from pages.components import figures, session
from pages.components.markdown import label

ICONS = {"well": ":green[:material/check_circle:]", "look": ":orange[:material/info:]", "bad": ":red[:material/error:]"}
SPANS = ("7d", "30d", "90d")


def main() -> None:
    """The quick checks at once; what reads the whole range when it is asked for."""
    scope = session.scope()
    st.title(_("Health"), anchor=False)
    span = _span(scope)
    with st.skeleton(height=240):
        found = selfcheck.examine(scope, span)
    _verdict(found)
    grid = st.grid(3, min_column_width=320)
    for check in found:
        with grid.container(border=True, height="stretch"):
            _card(check)
    _proof(scope, span)
    if scope.role == "admin":
        _slow(scope)


def _span(scope: Scope) -> Range:
    names = {"7d": _("7 days"), "30d": _("30 days"), "90d": _("90 days")}
    with transaction(scope) as tx:
        zone = costs.zone(tx).key
    asked = st.query_params.get("range")
    chosen = st.segmented_control(
        _("Range"), SPANS, key="health_range", default=asked if asked in SPANS else "30d", required=True,
        format_func=names.__getitem__, label_visibility="collapsed", on_change=_keep,
    )  # fmt: skip
    st.caption(_("Looked at {time}. Days are days of {zone}.").format(time=_now(), zone=zone))
    return ranges.make(chosen or "30d", zone, datetime.now(UTC))


def _keep() -> None:
    st.query_params["range"] = st.session_state["health_range"]


def _now() -> str:
    return datetime.now(UTC).strftime("%H:%M:%S UTC")


def _verdict(found: list[Check]) -> None:
    bad, look = (sum(check.state == state for check in found) for state in ("bad", "look"))
    if bad:
        st.error(_("Something needs you: see what is marked red below."), icon=":material/error:")
    elif look:
        st.info(_("It works; a few things are worth a look."), icon=":material/info:")
    else:
        st.success(_("All is well."), icon=":material/check_circle:")


def _card(check: Check) -> None:
    st.markdown(f"{ICONS[check.state]} **{label(check.title)}**")
    st.markdown(label(check.found))
    if check.do:
        st.caption(label(check.do))
    if check.page:
        st.page_link(f"pages/{check.page}", label=_("Go there"), query_params=session.here())


@st.fragment
def _proof(scope: Scope, span: Range) -> None:
    st.subheader(_("Prove the figures"), anchor=False)
    st.caption(
        _("Adds up every run of the range anew and compares cards, charts, tables, files and kept sums; the audit too.")
    )
    if st.button(_("Prove now"), key="health_prove", icon=":material/fact_check:"):
        with st.spinner(_("Adding up …")):
            found = list(selfcheck.prove(scope, span))
        grid = st.grid(3, min_column_width=320)
        for check in found:
            with grid.container(border=True, height="stretch"):
                _card(check)


def _slow(scope: Scope) -> None:
    st.subheader(_("Slow statements"), anchor=False)
    with transaction(scope) as tx:
        found = selfcheck.slow_statements(tx)
    if not found:
        st.caption(_("The server keeps no statistics of statements (pg_stat_statements is not loaded)."))
        return
    slowest = max(found, key=lambda item: item.mean_ms)
    if slowest.mean_ms > selfcheck.SLOW_MS:
        st.caption(_("Statements over 200 ms on average deserve a look: is the disk busy, is there enough memory?"))
    frame = pd.DataFrame([vars(item) for item in found])
    st.dataframe(
        frame.style.format({"mean_ms": figures.fixed(1), "total_ms": figures.fixed(0)}),
        hide_index=True,
        key="health_slow",
        column_config={
            "statement": st.column_config.TextColumn(_("Statement"), width="large"),
            "calls": st.column_config.NumberColumn(_("Calls"), format="localized"),
            "mean_ms": st.column_config.NumberColumn(_("On average, ms")),
            "total_ms": st.column_config.NumberColumn(_("Together, ms")),
        },
    )


main()
