"""The top of a run: its state, its figures, why it failed, and the ways to what it belongs to."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import streamlit as st

from nexus_core import l10n, panels, runs
from nexus_core.database import transaction
from nexus_core.i18n import _
from nexus_core.run_detail import Detail
from nexus_core.runs import Run
from nexus_core.text import clip, one_line
from pages.components import figures, notice, runs_state, runs_words, session
from pages.components.attempt import attempt, refusal
from pages.components.markdown import label


def draw(detail: Detail, zone: ZoneInfo) -> None:
    """State and figures, error, links."""
    run = detail.run
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.title(label(_title(detail)), anchor=False, width="content")
        state = panels.statuses()[run.status]
        st.badge(state, icon=runs_words.ICONS[run.status], color=runs_words.COLOURS[run.status])  # type: ignore[arg-type]
        if run.stopped:
            st.badge(_("stopped by a person"), color="orange")
        _cancel(run)
    refusal("run")
    st.caption(label(" · ".join(_facts(detail, zone))))
    _figures(detail)
    _error(detail)
    _links(detail)


def _title(detail: Detail) -> str:
    run = detail.run
    asked = clip(one_line(run.prompt_summary or ""), 90)
    return asked or _("{kind} by {model}").format(kind=runs_words.kinds()[run.kind].capitalize(), model=run.model)


def _facts(detail: Detail, zone: ZoneInfo) -> list[str]:
    run = detail.run
    at = f"{l10n.instant(run.created_at.astimezone(zone), seconds=True)} {zone.key}"
    runtime = runs_words.runtimes().get(run.runtime or "", run.runtime)
    model = run.model
    if run.served_model and run.served_model != run.model:
        model = _("{model}, served by {served}").format(model=run.model, served=run.served_model)
    kind, tries = runs_words.kinds()[run.kind], len(detail.attempts)
    if tries > 1:
        kind += ", " + _("attempt {n} of {all}").format(n=run.attempt, all=tries)
    return [fact for fact in (at, kind, model, runtime, run.profile_slug, detail.name(run.user_id)) if fact]


def _figures(detail: Detail) -> None:
    run = detail.run
    about = "≈ " if run.usage_source == "estimated" else ""
    tokens = [
        (_("Tokens in"), run.input_tokens, run.cached_tokens, _("{n} from the provider's cache")),
        (_("Tokens out"), run.output_tokens, run.reasoning_tokens, _("{n} of them reasoning")),
    ]
    grid = st.grid(5, min_column_width=150)
    grid.metric(_("Duration"), figures.duration(_duration(run)) or _("unknown"), border=True)
    grid.metric(_("First token"), figures.duration(run.first_token_ms) or _("unknown"), border=True)
    for name, number, part, words in tokens:
        shown = _("unknown") if number is None else about + l10n.number(number)
        grid.metric(name, shown, border=True, help=words.format(n=l10n.number(part)) if part else None)
    grid.metric(_("Cost"), _cost(run), border=True)


def _duration(run: Run) -> int | None:
    if run.status == "running" and run.started_at:
        return round((datetime.now(UTC) - run.started_at).total_seconds() * 1000)
    return run.duration_ms


def _cost(run: Run) -> str:
    if run.cost_estimate is None and run.status not in ("succeeded", "failed"):
        return _("not yet") if run.status in ("planned", "running") else _("nothing")
    return figures.money(run.cost_estimate).replace("$", r"\$")


def _error(detail: Detail) -> None:
    run = detail.run
    if run.status not in ("failed", "blocked"):
        return
    words = run.error_message or {"cancelled": _("It was cancelled.")}.get(run.error_type or "", run.error_type or "")
    kind = f" `{run.error_type}`" if run.error_type and run.error_message and run.error_type.isidentifier() else ""
    box = st.warning if run.status == "blocked" else st.error
    box((label(words) or _("It failed, and nothing is known of why.")) + kind, icon=runs_words.ICONS[run.status])
    if detail.provider_error:
        with st.expander(_("What the provider said"), key="run_provider_error"):
            st.code(detail.provider_error, language=None, wrap_lines=True)


def _links(detail: Detail) -> None:
    run, here = detail.run, session.here()
    chat, said = "pages/work/chat.py", detail.title
    with st.container(horizontal=True, gap="medium"):
        if said is not None:
            where = here | {"conversation": str(run.conversation_id)}
            st.page_link(
                chat,
                label=label(said or _("New conversation")),
                icon=":material/forum:",
                query_params=where,
                width="content",
            )
            if detail.answer:
                where |= {"message": str(detail.answer.id)}
                number = _("Message {number}").format(number=detail.answer.seq)
                st.page_link(chat, label=number, icon=":material/chat_bubble:", query_params=where, width="content")
        if run.agent_id and detail.name(run.agent_id):
            where = here | {"agent": str(run.agent_id)}
            name = label(detail.name(run.agent_id) or "")
            agents = "pages/memory/agents.py"
            st.page_link(agents, label=name, icon=":material/smart_toy:", query_params=where, width="content")
        for item, icon in ((run.project_id, ":material/folder_open:"), (run.task_id, ":material/task_alt:")):
            project = item if item == run.project_id else detail.task_project
            if item and project and detail.name(item):
                where = here | {"project": str(project)} | ({} if item == project else {"task": str(item)})
                name, page = label(detail.name(item) or ""), "pages/memory/project.py"
                st.page_link(page, label=name, icon=icon, query_params=where, width="content")
    if detail.withheld:
        owner = detail.name(run.user_id) or _("another person")
        st.info(
            _("It belongs to a private conversation of {person}: you see its figures, not its words.").format(
                person=label(owner)
            ),
            icon=":material/lock:",
        )


def _cancel(run: Run) -> None:
    if run.kind == "external" and run.status in ("planned", "running") and session.scope().role != "viewer":
        st.button(_("Cancel"), icon=":material/cancel:", key=f"run_cancel_{run.id}", on_click=_call_off, args=(run,))


def _call_off(run: Run) -> None:
    def act() -> Run:
        with transaction(session.scope()) as tx:
            return runs.advance(tx, run.id, runs.CANCELLED)

    if attempt("run", act):
        notice.say(_("Cancelled."))
    st.rerun()  # an open run that goes on is drawn by a fragment


def back() -> None:
    """The way to the table."""
    st.button(_("All runs"), type="tertiary", icon=":material/arrow_back:", key="run_back", on_click=runs_state.close)
