"""Budgets: how far each is spent this month, and the form that sets one."""

from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

import streamlit as st

from nexus_core import agents, budgets, l10n, people, projects
from nexus_core.budgets import Budget, Status
from nexus_core.database import Scope, transaction
from nexus_core.i18n import _, ngettext
from pages.components import dialog, figures
from pages.components.attempt import told
from pages.components.markdown import label

DIALOG = "budget"
NEW = "new"


def draw(scope: Scope) -> None:
    """Every budget of the workspace with its month so far; admins set, change and remove."""
    with transaction(scope) as tx:
        found = budgets.statuses(tx, datetime.now(UTC))
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        st.subheader(_("Budgets"), anchor=False, width="content")
        if scope.role == "admin":
            st.button(
                _("Set a budget"), icon=":material/add:", key="budget_new", on_click=dialog.open_, args=(DIALOG, NEW)
            )
    st.caption(_("US dollars a calendar month. A run that would pass one is blocked, and its question is kept."))
    if not found:
        st.caption(_("There is none: nothing is blocked."))
    for status in found:
        with st.container(border=True, key=f"budget_{status.budget.id}"):
            _card(scope, status)
    known = {str(status.budget.id): status.budget for status in found}
    dialog.draw(
        DIALOG,
        lambda about: _fields(scope, known.get(about)),
        lambda about: label(name(known[about])) if about in known else _("Set a budget"),
        icon=":material/savings:",
    )


def name(budget: Budget) -> str:
    """Whose budget it is."""
    kinds = {"project": _("Project"), "agent": _("Agent"), "person": _("Person")}
    if budget.scope == "workspace":
        return _("The whole workspace")
    return f"{kinds[budget.scope]} · {budget.target_name or '–'}"


def _dollars(amount: Decimal) -> str:
    return figures.money(amount) if amount else l10n.money(amount, 0)  # "free" is said of a call


def _card(scope: Scope, status: Status) -> None:
    budget, spent = status.budget, status.spent
    share = float((spent + status.held) / budget.amount) if budget.amount else 1.0
    tone = "red" if share >= 1 else "orange" if status.warned is not None else "green"
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"**{label(name(budget))}**", width="content")
        least = "≥ " if status.unpriced else ""
        st.markdown(
            f":{tone}[**{least}{label(_dollars(spent))}**] "
            + label(_("of {amount}").format(amount=_dollars(budget.amount))),
            width="content",
        )
    st.progress(min(share, 1.0))
    facts = [
        _("Blocks at the limit") if budget.blocks else _("Only warns"),
        _("warns at {shares}").format(shares=", ".join(l10n.percent(float(one)) for one in budget.warn_shares)),
        _("blocks models without a price")
        if budget.unknown_price == "block"
        else _("lets models without a price answer"),
    ]
    if status.held:
        facts.append(_("{amount} held for answers that run").format(amount=figures.money(status.held)))
    if status.unpriced:
        runs = ngettext("{n} run unpriced", "{n} runs unpriced", status.unpriced)
        facts.append(runs.format(n=l10n.number(status.unpriced)))
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(label(" · ".join(facts)), width="stretch")
        if scope.role == "admin":
            with st.container(horizontal=True, width="content", wrap=False):
                _buttons(scope, budget)


def _buttons(scope: Scope, budget: Budget) -> None:
    st.button(
        _("Change"),
        key=f"budget_change_{budget.id}",
        type="tertiary",
        icon=":material/edit:",
        on_click=dialog.open_,
        args=(DIALOG, str(budget.id)),
    )
    if st.button(_("Remove"), key=f"budget_remove_{budget.id}", type="tertiary", icon=":material/delete:"):
        with told():
            with transaction(scope) as tx:
                budgets.remove(tx, budget.id)
            st.rerun()


def _fields(scope: Scope, budget: Budget | None) -> None:
    key = str(budget.id) if budget else "new"
    kind, target = (budget.scope, budget.target_id) if budget else _target(scope)
    amount = st.number_input(
        _("US dollars a month"), min_value=0.0, value=float(budget.amount) if budget else None, step=10.0,
        key=f"budget_amount_{key}", icon=":material/attach_money:", placeholder="100",
    )  # fmt: skip
    known = [round(one * 100) for one in (budget.warn_shares if budget else budgets.WARN_SHARES)]
    shares = st.multiselect(
        _("Warn at"), sorted({25, 50, 75, 80, 90, 100, *known}), known, format_func="{} %".format,
        key=f"budget_warn_{key}",
    )  # fmt: skip
    blocks = st.toggle(_("Block at the limit"), budget.blocks if budget else True, key=f"budget_blocks_{key}")
    strict = st.toggle(
        _("Block models whose price is unknown"), bool(budget and budget.unknown_price == "block"),
        key=f"budget_unknown_{key}", help=_("Otherwise they answer, with a warning, and are not counted."),
    )  # fmt: skip
    if st.button(_("Save"), type="primary", icon=":material/save:", key=f"budget_save_{key}"):
        with told():
            _save(scope, kind, target, amount, shares, blocks=blocks, strict=strict)
            dialog.close(DIALOG)
            st.rerun()


def _target(scope: Scope) -> tuple[str, UUID | None]:
    kinds = {
        "workspace": _("The whole workspace"),
        "project": _("A project"),
        "agent": _("An agent"),
        "person": _("A person"),
    }
    kind = st.segmented_control(
        _("For"), list(kinds), default="workspace", required=True, format_func=kinds.__getitem__, key="budget_kind"
    ) or "workspace"  # fmt: skip
    if kind == "workspace":
        return kind, None
    with transaction(scope) as tx:
        found = {"project": projects.list_, "agent": agents.list_, "person": people.members}[kind](tx)
    names = {one.id: one.name or getattr(one, "email", "") for one in found}
    chosen = st.selectbox(
        _("Which"), list(names), format_func=names.__getitem__, key=f"budget_target_{kind}", index=None
    )
    return kind, chosen


def _save(
    scope: Scope, kind: str, target: UUID | None, amount: float | None, shares: list[int], *, blocks: bool, strict: bool
) -> None:
    with transaction(scope) as tx:
        budgets.put(
            tx, kind, Decimal("NaN") if amount is None else Decimal(repr(amount)), target_id=target,
            warn_shares=[Decimal(one) / 100 for one in shares], blocks=blocks,
            unknown_price="block" if strict else "warn",
        )  # fmt: skip
