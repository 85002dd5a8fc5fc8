"""Past runs priced anew: what would change, by model and day; then at once, and back again."""

from datetime import UTC, datetime

import pandas as pd
import streamlit as st

from nexus_core import l10n, ranges, repricing
from nexus_core.database import Scope, transaction
from nexus_core.i18n import _, ngettext
from nexus_core.ranges import Range
from nexus_core.repricing import Batch, Change
from pages.components import figures
from pages.components.attempt import told
from pages.components.markdown import label

SPANS = ("7d", "30d", "90d", "month", "last_month", "year")


def draw(scope: Scope, zone: str) -> None:
    """Choose a range, look, apply; below, what was applied before."""
    st.subheader(_("Price past runs again"), anchor=False)
    st.caption(_("With the prices that hold now for their day. Old amounts are kept: every re-pricing can be undone."))
    _look(scope, zone)
    with transaction(scope) as tx:
        done = repricing.batches(tx)
    for batch in done[:10]:
        _batch(scope, batch)


@st.fragment
def _look(scope: Scope, zone: str) -> None:
    names = {
        "7d": _("7 days"), "30d": _("30 days"), "90d": _("90 days"), "month": _("This month"),
        "last_month": _("Last month"), "year": _("This year"),
    }  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox(_("Range"), SPANS, index=1, format_func=names.__getitem__, key="reprice_range", width=200)
        st.button(_("See what would change"), key="reprice_look", on_click=_asked, args=(chosen,))
    if st.session_state.get("reprice_asked") != chosen:
        return
    span = ranges.make(chosen, zone, datetime.now(UTC))
    with st.spinner(_("Adding up …")), transaction(scope) as tx:
        found = repricing.preview(tx, span)
    if not found:
        st.info(_("No run of this range would get another price."), icon=":material/check:")
        return
    _changes(found)
    if st.button(
        _("Apply to {n} runs").format(n=l10n.number(sum(item.runs for item in found))),
        type="primary",
        key="reprice_apply",
    ):
        _apply(scope, span)


def _asked(chosen: str) -> None:
    st.session_state["reprice_asked"] = chosen


def _changes(found: list[Change]) -> None:
    frame = pd.DataFrame(
        [
            {
                "model": item.model, "day": item.day, "runs": item.runs,
                "before": None if item.before is None else float(item.before), "after": float(item.after),
            }
            for item in found
        ]
    )  # fmt: skip
    money = {"before": _("Before"), "after": _("After")}
    st.dataframe(
        frame.style.format(dict.fromkeys(money, figures.fixed(4, "$"))),
        key="reprice_changes",
        hide_index=True,
        column_config={
            "model": _("Model"), "day": st.column_config.DateColumn(_("Day"), format=l10n.grid()),
            "runs": st.column_config.NumberColumn(_("Runs"), format="localized"),
            **{name: st.column_config.NumberColumn(title) for name, title in money.items()},
        },
    )  # fmt: skip
    st.caption(_("An empty amount: these runs had no price."))


def _apply(scope: Scope, span: Range) -> None:
    with told():
        with st.spinner(_("Pricing …")), transaction(scope) as tx:
            repricing.apply(tx, span)
        st.session_state.pop("reprice_asked", None)
        st.rerun()


def _batch(scope: Scope, batch: Batch) -> None:
    row = st.container(border=True, horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
    with row, st.container(width="content", gap=None):
        words = ngettext("{n} run priced again", "{n} runs priced again", batch.runs).format(n=l10n.number(batch.runs))
        st.markdown(f"**{label(words)}** · {figures.moment(batch.created_at)}")
        last = batch.to_at - pd.Timedelta(seconds=1)
        st.caption(
            label(f"{l10n.day(batch.from_at.astimezone(figures.zone()))} – {l10n.day(last.astimezone(figures.zone()))}")
        )
    if batch.undone_at:
        row.caption(_("Undone {when}").format(when=figures.moment(batch.undone_at)), width="content")
    elif row.button(_("Undo"), key=f"reprice_undo_{batch.id}", icon=":material/undo:"):
        with told():
            with transaction(scope) as tx:
                repricing.undo(tx, batch.id)
            st.rerun()
