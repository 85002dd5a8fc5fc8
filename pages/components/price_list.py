"""Prices: models without one, the workspace's own, and past runs priced anew."""

from datetime import UTC, datetime
from decimal import Decimal

import pandas as pd
import streamlit as st

from nexus_core import l10n, prices, pricing, ranges
from nexus_core.database import Scope, transaction
from nexus_core.i18n import _, ngettext
from nexus_core.pricing import OwnPrice, Unpriced
from pages.components import dialog, figures, price_again
from pages.components.attempt import told
from pages.components.markdown import label

DAYS = "90d"
DIALOG = "price"


def draw(scope: Scope) -> None:
    """Everything about prices; only admins change something."""
    with transaction(scope) as tx:
        own = pricing.load(tx)
        span = ranges.make(DAYS, own.zone.key, datetime.now(UTC))
        missing, history = pricing.unpriced(tx, span), pricing.history(tx)
    editable = scope.role == "admin"
    st.caption(
        label(
            _(
                "US dollars per million tokens. A price of your own comes before the bundled table ({version}); a "
                "model that neither knows stays unpriced, never free."
            ).format(version=prices.version())
        )
    )
    _missing(scope, missing, editable)
    _own(scope, history, editable)
    dialog.draw(DIALOG, lambda model: _fields(scope, model), lambda _model: _("Set a price"), icon=":material/sell:")
    if editable:
        price_again.draw(scope, own.zone.key)


def _missing(scope: Scope, found: list[Unpriced], editable: bool) -> None:
    st.subheader(_("Without a price"), anchor=False)
    if not found:
        st.caption(_("Every model that was called in the last 90 days has a price."))
    for item in found:
        row = st.container(border=True, horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
        with row, st.container(width="content", gap=None):
            st.markdown(f":orange[:material/money_off:] **{label(item.model)}**")
            runs = ngettext("{n} run in 90 days", "{n} runs in 90 days", item.runs).format(n=l10n.number(item.runs))
            used = f"{figures.count(item.input_tokens)} → {figures.count(item.output_tokens)}"
            st.caption(label(f"{runs} · {_('{tokens} tokens').format(tokens=used)}"))
        if editable:
            row.button(
                _("Set price"),
                key=f"price_missing_{item.model}",
                on_click=dialog.open_,
                args=(DIALOG, item.model),
            )


def _own(scope: Scope, history: list[OwnPrice], editable: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        st.subheader(_("Your own prices"), anchor=False, width="content")
        if editable:
            st.button(
                _("Set a price"), icon=":material/add:", key="price_new", on_click=dialog.open_, args=(DIALOG, "")
            )
    if not history:
        st.caption(_("None: the bundled table holds."))
        return
    amounts = {"in": _("In"), "cached": _("Cached in"), "written": _("Cache write"), "out": _("Out")}
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "version": item.version, "model": item.model, "from": item.valid_from,
                    "in": _number(item.input_price), "cached": _number(item.cached_price),
                    "written": _number(item.cache_write_price), "out": _number(item.output_price),
                }
                for item in history
            ]
        ).style.format(dict.fromkeys(amounts, figures.fixed(4, "$"))),
        key="price_history",
        hide_index=True,
        placeholder="–",
        column_config={
            "version": st.column_config.NumberColumn(_("Version"), width="small"),
            "model": _("Model"),
            "from": st.column_config.DateColumn(_("From"), format=l10n.grid()),
            **{name: st.column_config.NumberColumn(title) for name, title in amounts.items()},
        },
    )  # fmt: skip
    st.caption(
        _("The highest version of a model's day holds. A line without amounts lets the bundled table hold again.")
    )


def _number(amount: Decimal | None) -> float | None:
    return None if amount is None else float(amount)


def _fields(scope: Scope, model: str) -> None:
    """The dialog: whatever is left empty is as its caption says."""
    named = st.text_input(
        _("Model, with its provider"), model, key=f"price_model_{model}", placeholder="openai/gpt-4o-mini"
    )
    first = st.date_input(_("From this day on"), key=f"price_from_{model}")
    places = st.grid(2, min_column_width=160)
    amounts: dict[str, Decimal | None] = {}
    for name, title, empty in (
        ("input_price", _("In"), ""),
        ("output_price", _("Out"), ""),
        ("cached_price", _("Cached in"), _("as In")),
        ("cache_write_price", _("Cache write"), _("as In")),
    ):
        value = places.number_input(
            title, min_value=0.0, value=None, step=0.01, format="%.4f", placeholder=empty, key=f"price_{name}_{model}",
            icon=":material/attach_money:",
        )  # fmt: skip
        amounts[name] = None if value is None else Decimal(repr(value))
    st.caption(
        _("US dollars per million tokens; 0 is free. All empty: the bundled table holds again from that day on.")
    )
    if st.button(_("Save"), type="primary", icon=":material/save:", key=f"price_save_{model}"):
        with told():
            with transaction(scope) as tx:
                pricing.set_price(tx, named, first, **amounts)
            dialog.close(DIALOG)
            st.rerun()
