"""What is known of one conversation besides its words: title, kind, task, tags, summary; and the runs behind it."""

from pathlib import Path

import streamlit as st

from nexus_core import conversations, projects, runs, tags
from nexus_core.conversations import KINDS, Conversation
from nexus_core.database import Transaction, transaction
from nexus_core.i18n import _, ngettext
from nexus_core.runs import Run
from nexus_core.tags import MOST
from nexus_core.text import as_uuid
from pages.components import chat_receipt, conv_actions, conv_words, figures, prose, session
from pages.components.markdown import label

RUNS = Path(__file__).resolve().parents[1] / "insight" / "runs.py"
LATEST = 50


def form(found: Conversation, carried: list[str], known: list[str]) -> None:
    """Title, kind, task, tags and summary, to change together."""
    with transaction(session.scope()) as tx:
        tasks = {str(task.id): task.title for task in projects.tasks(tx, found.project_id)} if found.project_id else {}
    version = f"{found.id}_{found.updated_at.timestamp()}"
    kinds = conv_words.kinds()
    task = str(found.task_id) if str(found.task_id) in tasks else None
    with st.form(f"conv_form_{version}", border=False, width=640):
        title = st.text_input(_("Title"), found.title, max_chars=200, key=f"conv_title_{version}",
                              placeholder=_("Empty: the first question names it"))  # fmt: skip
        left, right = st.columns(2)
        kind = left.selectbox(_("Kind"), KINDS, KINDS.index(found.kind), key=f"conv_kind_{version}",
                              format_func=kinds.__getitem__)  # fmt: skip
        chosen = right.selectbox(
            _("Task"), list(tasks), None if task is None else list(tasks).index(task), key=f"conv_task_{version}",
            format_func=tasks.__getitem__, placeholder=_("No task"), disabled=not tasks,
        )  # fmt: skip
        words = st.multiselect(
            _("Tags"), sorted({*known, *carried}), carried, key=f"conv_words_{version}", accept_new_options=True,
            max_selections=MOST, placeholder=_("Choose tags, or write new ones"),
        )  # fmt: skip
        summary = st.text_area(_("Summary"), found.summary_md, key=f"conv_summary_{version}", height=140)
        if st.form_submit_button(_("Save"), type="primary", key=f"conv_save_{version}"):
            fields = {"kind": kind, "summary_md": summary, "task_id": as_uuid(chosen or "")}
            if title != found.title:
                fields["title"] = title
            _save(found, fields, words if words != carried else None)


def _save(found: Conversation, fields: dict[str, object], words: list[str] | None) -> None:
    def change(tx: Transaction) -> bool:
        conversations.update(tx, found.id, unchanged_since=found.updated_at, **fields)
        if words is not None:
            tags.replace(tx, found.id, words)
        return True

    conv_actions.attempted(change)
    st.rerun()


def read(found: Conversation, carried: list[str]) -> None:
    """The same for those who may not change it."""
    st.caption(_("Changing these needs the operator role."))
    st.markdown(f"{_('Kind')}: **{conv_words.kinds()[found.kind]}**")
    if carried:
        st.markdown(" ".join(f":gray-badge[{label(word)}]" for word in carried))
    prose.draw(found.summary_md)


def ledger(found: Conversation) -> None:
    """The newest runs, each with its receipt and its page."""
    with transaction(session.scope()) as tx:
        made = runs.of_conversation(tx, found.id, limit=LATEST)
        spent = runs.spent(tx, [found.id]).get(found.id)
    if not made:
        st.caption(_("No model was called here."))
        return
    n = spent.runs if spent else len(made)
    told = conv_words.cost(spent) or _("nothing priced yet")
    st.caption(label(ngettext("{n} run, {cost}", "{n} runs, {cost} in all", n).format(n=n, cost=told)))
    for run in made:
        _run(run)


def _run(run: Run) -> None:
    icons = {"succeeded": ":green[:material/check_circle:]", "failed": ":red[:material/error:]"}
    used = f"{figures.count(run.input_tokens)} → {figures.count(run.output_tokens)}"
    facts = (figures.moment(run.created_at), run.served_model or run.model, figures.duration(run.duration_ms),
             _("{tokens} tokens").format(tokens=used), figures.money(run.cost_estimate))  # fmt: skip
    with st.container(key=f"conv_run_{run.id}", horizontal=True, vertical_alignment="center", gap="xsmall"):
        line = label(" · ".join(fact for fact in facts if fact))
        st.markdown(f"{icons.get(run.status, ':material/pending:')} {line}", width="content")
        st.space("stretch")
        if run.status in ("succeeded", "failed") and st.button(
            _("What it saw"), key=f"conv_receipt_{run.id}", type="tertiary"
        ):
            chat_receipt.show(run)
        if RUNS.exists():
            st.page_link(RUNS, label=_("Run"), icon=":material/timeline:", width="content",
                         query_params=session.here() | {"run": str(run.id)})  # fmt: skip
