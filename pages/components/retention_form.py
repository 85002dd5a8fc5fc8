"""How long conversations are kept: the rules, what they would do now, and a form for a new one."""

from collections.abc import Callable

import streamlit as st

from nexus_core import l10n, projects, retention
from nexus_core.database import Scope, Transaction, transaction
from nexus_core.i18n import _, ngettext
from nexus_core.retention import Due, Rule
from nexus_core.shelf import TRASH_DAYS
from nexus_core.text import as_uuid
from pages.components import figures
from pages.components.attempt import attempt, refusal
from pages.components.markdown import label

_REFUSED = "retention"


def draw(scope: Scope) -> None:
    """The section; only administrators change it or see what the rules would do."""
    st.subheader(_("How long conversations are kept"), anchor=False)
    told = _(
        "Days count from a conversation’s newest message. What is deleted stays in the trash for {days} days more; "
        "tokens and costs stay for ever. A project’s own rule takes the place of the workspace’s."
    )
    st.caption(told.format(days=TRASH_DAYS))
    with transaction(scope) as tx:
        rules = retention.rules(tx)
        names = {str(one.id): one.name for one in projects.list_(tx)}
    admin = scope.role == "admin"
    due = {one.rule_id: one for one in retention.preview(scope)} if admin and rules else {}
    if not rules:
        st.caption(_("No rule: everything is kept."))
    for rule in rules:
        _rule(scope, rule, due.get(rule.id))
    refusal(_REFUSED)
    if admin:
        _form(scope, names)


def _rule(scope: Scope, rule: Rule, due: Due | None) -> None:
    with st.container(border=True, key=f"retention_{rule.id}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            where = label(rule.project_name or _("Everything else in the workspace"))
            st.markdown(f"**{where}** · {label(_days(rule))}")
            if due is not None:
                st.button(
                    _("Remove"), key=f"retention_remove_{rule.id}", type="tertiary", icon=":material/close:",
                    on_click=_remove, args=(scope, rule),
                )  # fmt: skip
        if due is not None:
            st.caption(label(_now(due)))
        if rule.applied_at is not None:
            st.caption(label(_("Last applied {when}").format(when=figures.moment(rule.applied_at))))


def _days(rule: Rule) -> str:
    parts = []
    if (days := rule.archive_after_days) is not None:
        parts.append(ngettext("archived after {n} day", "archived after {n} days", days).format(n=l10n.number(days)))
    if (days := rule.delete_after_days) is not None:
        parts.append(ngettext("deleted after {n} day", "deleted after {n} days", days).format(n=l10n.number(days)))
    return ", ".join(parts)


def _now(due: Due) -> str:
    """The dry run in a sentence."""
    if not due.archives and not due.deletes:
        return _("Applied now, it would change nothing.")
    archived = ngettext("{n} conversation archived", "{n} conversations archived", due.archives)
    deleted = ngettext("{n} conversation deleted", "{n} conversations deleted", due.deletes)
    said = ngettext("{n} message", "{n} messages", due.messages).format(n=l10n.number(due.messages))
    parts = [archived.format(n=l10n.number(due.archives))] if due.archives else []
    parts += [f"{deleted.format(n=l10n.number(due.deletes))} ({said})"] if due.deletes else []
    return _("The next run, within a day: {what}.").format(what=", ".join(parts))


def _form(scope: Scope, names: dict[str, str]) -> None:
    with st.form("retention_form", border=True, enter_to_submit=False):
        target = st.selectbox(
            _("For"), ["", *names], key="retention_for",
            format_func=lambda key: names.get(key) or _("Everything else in the workspace"),
        )  # fmt: skip
        left, right = st.columns(2)
        limits = {"min_value": 1, "max_value": retention.LONGEST, "value": None, "placeholder": _("never")}
        archive = left.number_input(_("Archive after (days)"), key="retention_archive", **limits)
        delete = right.number_input(_("Delete after (days)"), key="retention_delete", **limits)
        if st.form_submit_button(_("Set this rule"), key="retention_save", icon=":material/save:"):

            def put(tx: Transaction) -> None:
                retention.put(tx, as_uuid(target), archive_after_days=archive, delete_after_days=delete)

            _do(scope, put)
            st.rerun()


def _remove(scope: Scope, rule: Rule) -> None:
    _do(scope, lambda tx: retention.remove(tx, rule.id))


def _do(scope: Scope, change: Callable[[Transaction], None]) -> None:
    def run() -> None:
        with transaction(scope) as tx:
            change(tx)

    attempt(_REFUSED, run)
