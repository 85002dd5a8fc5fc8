"""Proposals that wait, each line with the messages it rests on: accept, edit or reject."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

import streamlit as st

from nexus_core import deciding, projects, proposals, proposing, runs
from nexus_core.database import Transaction, transaction
from nexus_core.deciding import Decision
from nexus_core.errors import Conflict, NexusError
from nexus_core.i18n import _, ngettext
from nexus_core.memory_diff import Change
from nexus_core.proposals import Line, Proposal, Said
from nexus_core.runs import Run
from nexus_core.text import clip, plain
from pages.components import figures, memory_changes, memory_fold, memory_line, notice, session
from pages.components.attempt import attempt, refusal
from pages.components.markdown import label, literal
from pages.components.memory_source import message

QUOTE = 280
TICK = 0.7
DECIDED = 10


def draw(project_id: UUID, editable: bool) -> None:
    """What the assistant is doing, what waits, and what was decided lately."""
    with transaction(session.scope()) as tx:
        automatic = projects.get(tx, project_id).auto_propose
        run = proposing.state(tx, project_id)
        waiting = proposals.list_(tx, project_id, status="pending", limit=50)
        decided = [one for one in proposals.list_(tx, project_id, limit=DECIDED) if one.status != "pending"]
        quoted = proposals.evidence(tx, [line for one in waiting for line in one.lines])
        made = runs.of(tx, [one.run_id for one in waiting if one.run_id])
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(_("Nothing of a proposal is remembered before a person accepts it."), width="content")
        if editable:
            reading = run is not None and run.status == "running"
            with st.container(horizontal=True, width="content"):
                memory_fold.ask(project_id, disabled=reading)
                ask(project_id, disabled=reading)
    refusal(f"proposals_{project_id}")
    _state(project_id, run, bool(waiting))
    for proposal in waiting:
        _card(proposal, quoted, made.get(proposal.run_id) if proposal.run_id else None, editable)
    if not waiting and (run is None or run.status != "running"):
        st.markdown(f"**{_('Nothing waits.')}**")
        on = _("Closing a task, marking a decision or archiving a conversation makes the assistant propose changes.")
        off = _("Automatic proposals are off for this project; its menu turns them on.")
        st.caption(on if automatic else off)
    if decided:
        with st.expander(_("Decided lately"), type="compact", key=f"proposals_{project_id}_decided"):
            for proposal in decided:
                _decided(proposal)


def ask(project_id: UUID, *, disabled: bool = False) -> None:
    """The button that has the assistant read what was said lately."""
    st.button(
        _("Propose an update"),
        icon=":material/auto_awesome:",
        key=f"proposals_{project_id}_ask",
        disabled=disabled,
        on_click=_ask,
        args=(project_id,),
    )


def _ask(project_id: UUID) -> None:
    attempt(f"proposals_{project_id}", lambda: proposing.propose(session.scope(), project_id))


def _state(project_id: UUID, run: Run | None, waiting: bool) -> None:
    if run is None:
        return
    if run.status == "running":
        _watch(project_id)
    elif run.status in ("failed", "blocked"):
        st.warning(label(run.error_message or _("No answer came.")), icon=":material/error:")
    elif not waiting and run.response_summary:
        said = _("{what} ({when})").format(what=run.response_summary, when=figures.moment(run.created_at))
        st.caption(label(said))


@st.fragment(run_every=TICK)
def _watch(project_id: UUID) -> None:
    """Says that the assistant reads; the page is drawn anew once it has ended."""
    try:
        with transaction(session.scope()) as tx:
            run = proposing.state(tx, project_id)
    except NexusError as error:
        st.caption(label(error.message))
        return
    if run is None or run.status != "running":
        st.rerun()
    st.status(_("The assistant reads what was said …"), type="compact", state="running")


def _card(proposal: Proposal, quoted: Mapping[UUID, Said], run: Run | None, editable: bool) -> None:
    with st.container(border=True, key=f"proposal_{proposal.id}"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            with st.container(gap=None, width="content"):
                st.markdown(f"**{label(why(proposal))}**")
                st.caption(label(_facts(proposal, run)))
            if editable and len(proposal.pending) > 1:
                with st.container(horizontal=True, width="content"):
                    _decide(_("Accept all"), f"proposal_{proposal.id}_accept", "primary", _accept, proposal, None)
                    _decide(_("Reject all"), f"proposal_{proposal.id}_reject", "tertiary", _reject, proposal, None)
        refusal(f"proposal_{proposal.id}")
        for line in proposal.lines:
            with st.container(border=True, gap="xsmall", key=f"line_{line.id}"):
                _line(proposal, line, quoted, editable)


def _line(proposal: Proposal, line: Line, quoted: Mapping[UUID, Said], editable: bool) -> None:
    name = memory_changes.titles()[line.field]
    verbs = {"add": _("add"), "edit": _("change"), "close": _("close")}
    st.markdown(f":small[:gray[{name}: {verbs[line.op]}]]")
    memory_line.draw(Change(line.field, "changed", line.before, line.after))
    for message_id in line.evidence:
        _quote(quoted.get(message_id))
    if line.status != "pending":
        states = {"accepted": _("accepted"), "rejected": _("rejected"), "known": _("was known already")}
        st.caption(f":material/check: {states.get(line.status, line.status)}")
    elif editable:
        _actions(proposal, line)


def _actions(proposal: Proposal, line: Line) -> None:
    key = f"line_{line.id}"
    now = memory_line.clash(line.id)
    if now is not None:
        st.warning(_("Somebody changed this since. It says now:"), icon=":material/call_merge:")
        memory_line.current(line.field, now)
    with st.container(horizontal=True, vertical_alignment="center"):
        if now is None:
            kind = "secondary" if len(proposal.pending) > 1 else "primary"
            _decide(_("Accept"), f"{key}_accept", kind, _accept, proposal, line.id)
        if line.after is not None:
            st.toggle(_("Edit"), key=f"{key}_edit")
        _decide(_("Reject"), f"{key}_reject", "tertiary", _reject, proposal, line.id)
    if line.after is not None and st.session_state.get(f"{key}_edit"):
        memory_line.form(line, key)
        _decide(_("Accept as edited"), f"{key}_edited", "primary", _accept_edited, proposal, line.id)


def _decide(name: str, key: str, kind: Any, action: Callable[..., None], *about: Any) -> None:
    st.button(name, key=key, type=kind, on_click=action, args=about)


def _accept(proposal: Proposal, line_id: UUID | None) -> None:
    _taken(proposal, lambda tx: deciding.accept(tx, proposal.id, [line_id] if line_id else None))


def _accept_edited(proposal: Proposal, line_id: UUID) -> None:
    line = next(line for line in proposal.lines if line.id == line_id)
    edits = {line_id: memory_line.edited(line, f"line_{line.id}")}
    _taken(proposal, lambda tx: deciding.accept(tx, proposal.id, [line_id], edits=edits))


def _taken(proposal: Proposal, accept: Callable[[Transaction], Decision]) -> None:
    """Accept; lines that clash show what the memory says now, the others are taken."""

    def run() -> Decision | None:
        try:
            with transaction(session.scope()) as tx:
                return accept(tx)
        except Conflict as lost:
            if "current" not in lost.detail:
                raise
            memory_line.keep_clashes({UUID(line_id): now for line_id, now in lost.detail["current"].items()})
            return None

    done = attempt(f"proposal_{proposal.id}", run)
    if done is not None:
        memory_line.keep_clashes(done.clashes)
        notice.say(_("Saved as version {n}.").format(n=done.memory.version))


def _reject(proposal: Proposal, line_id: UUID | None) -> None:
    def run() -> None:
        with transaction(session.scope()) as tx:
            deciding.reject(tx, proposal.id, [line_id] if line_id else None)

    attempt(f"proposal_{proposal.id}", run)


def why(proposal: Proposal) -> str:
    """Why a proposal was made."""
    if proposal.task_title:
        return _("Task closed: {title}").format(title=proposal.task_title)
    title = proposal.conversation_title or _("a conversation")
    words = {
        "archive": _("Conversation archived: {title}"),
        "decision": _("Decision marked in {title}"),
        "merge": _("Old conversations folded in"),
    }
    asked = _("Asked for, about {title}") if proposal.conversation_id else _("Asked for")
    return words.get(proposal.trigger, asked).format(title=title)


def _facts(proposal: Proposal, run: Run | None) -> str:
    count = ngettext("{n} change", "{n} changes", len(proposal.lines)).format(n=len(proposal.lines))
    facts = [count, proposal.created_by_name or "", figures.moment(proposal.created_at)]
    if run is not None:
        facts += [run.model, figures.money(run.cost_estimate)]
    return " · ".join(fact for fact in facts if fact)


def _quote(said: Said | None) -> None:
    if said is None:
        st.caption(_("The message it rests on is gone."))
        return
    who = said.author or _("assistant")
    where = f"[:material/chat:]({message(said.conversation_id, said.id)})"
    facts = label(f"{who} · {figures.moment(said.created_at)} · {said.conversation_title}")
    st.markdown(f"> {literal(clip(plain(said.body), QUOTE))}\\\n> :small[:gray[{facts}]] {where}")


def _decided(proposal: Proposal) -> None:
    states = {"accepted": _("accepted"), "rejected": _("rejected")}
    taken = sum(line.status == "accepted" for line in proposal.lines)
    said = _("{taken} of {n} taken").format(taken=taken, n=len(proposal.lines))
    when = figures.moment(proposal.decided_at) if proposal.decided_at else ""
    facts = (why(proposal), states.get(proposal.status, ""), said, proposal.decided_by_name or "", when)
    st.markdown(f"- {label(' · '.join(fact for fact in facts if fact))}")
