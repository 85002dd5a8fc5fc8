"""What a run cost and why, and everything about it for programs."""

import json
from decimal import Decimal

import pandas as pd
import streamlit as st

from nexus_core import l10n, run_detail, telemetry
from nexus_core.i18n import _
from nexus_core.run_detail import Detail
from nexus_core.runs import Run
from pages.components import figures
from pages.components.markdown import label


def draw(detail: Detail) -> None:
    """Tokens times price, line by line; what is unknown stays unknown."""
    run = detail.run
    st.subheader(_("Price"), anchor=False)
    if run.status not in ("succeeded", "failed"):
        blocked = run.status == "blocked"
        st.caption(_("No model was asked; it cost nothing.") if blocked else _("It is priced when it ends."))
        return
    names = {
        "input": _("Input"), "cached": _("Cached input"), "cache_write": _("Cache write"),
        "output": _("Output"), "reasoning": _("Reasoning"),
    }  # fmt: skip
    unknown = _("unknown")
    rows = [
        {
            "what": names[line.kind],
            "tokens": unknown if line.tokens is None else l10n.number(line.tokens),
            "price": unknown if line.per_million is None else _at_least_cents(line.per_million),
            "amount": unknown if line.amount is None else l10n.money(line.amount, 8),
        }
        for line in detail.priced.lines
    ]
    total = unknown if run.cost_estimate is None else l10n.money(run.cost_estimate, 8)
    rows.append({"what": _("Together"), "tokens": "", "price": "", "amount": total})
    right = {"alignment": "right"}
    text = st.column_config.TextColumn
    st.dataframe(
        pd.DataFrame(rows), hide_index=True, key="run_price",
        column_config={
            "what": text("", width=112), "tokens": text(_("Tokens"), **right, width=80),
            "price": text(_("Per million"), **right, width=90), "amount": text(_("Amount"), **right, width=118),
        },
    )  # fmt: skip
    st.caption(label(_source(run, detail.priced.known)))
    for item in detail.repriced:
        words = _("Priced again on {when}: {old} became {new}.").format(
            when=figures.moment(item.created_at), old=figures.money(item.old_cost), new=figures.money(item.new_cost)
        )
        undone = " " + _("Undone on {when}.").format(when=figures.moment(item.undone_at)) if item.undone_at else ""
        st.caption(label(words + undone))


def _at_least_cents(amount: Decimal) -> str:
    plain = amount.normalize()
    digits = plain.as_tuple().exponent
    return l10n.money(plain, max(2, -digits if isinstance(digits, int) else 2))


def _source(run: Run, known: bool) -> str:
    version = run.price_version or ""
    if run.cost_estimate is None:
        if run.input_tokens is None or run.output_tokens is None:
            return _("Unpriced: how many tokens it used is not known.")
        return _("Unpriced: no price is known for {model}. It counts as unknown, not as nothing.").format(
            model=run.model
        )
    words = {
        "litellm": _("List prices, table {version}.").format(version=version),
        "own": _("The workspace's own price, version {version}.").format(version=version.removeprefix("own ")),
        "local": _("A model of one's own: no provider is paid."),
        "built in": _("The built-in assistant costs nothing."),
        "recorded": _("As the program that recorded the run told it."),
    }
    told = words.get(run.cost_source or "", _("Nothing is known of where the amount is from."))
    if not known and run.cost_source in ("litellm", "own"):
        told += " " + _("The single prices of that version are not at hand any more; the amount stays.")
    return told + (" " + _("Tokens are estimates.") if run.usage_source == "estimated" else "")


def raw(detail: Detail) -> None:
    """The run as JSON and as a span of OpenTelemetry, each with a button that copies it."""
    st.subheader(_("For programs"), anchor=False)
    whole = st.expander(_("Everything as JSON"), key="run_json", on_change="rerun", icon=":material/data_object:")
    if whole.open:
        document = run_detail.document(detail)
        whole.code(json.dumps(document, ensure_ascii=False, indent=2, default=str), language="json", height=420)
    traced = st.expander(_("OpenTelemetry"), key="run_span", on_change="rerun", icon=":material/conversion_path:")
    if traced.open:
        span = telemetry.span(detail.run, detail.receipt, detail.name(detail.run.agent_id))
        words = _("Attributes of Semantic Conventions {version}, gen_ai (in development).")
        traced.caption(words.format(version=telemetry.VERSION))
        traced.code(json.dumps(span, ensure_ascii=False, indent=2), language="json")
    st.caption(_("Run {id} · request {request}").format(id=detail.run.id, request=detail.run.request_id))
