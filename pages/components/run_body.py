"""What happened in a run: its attempts in time, what was sent and what came back."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import streamlit as st

from nexus_core import charts, l10n, panels, run_detail
from nexus_core.i18n import _, ngettext
from nexus_core.providers import BUILTIN
from nexus_core.run_detail import Detail
from nexus_core.run_sent import Gap, Sent
from nexus_core.runs import Run
from pages.components import chat_figures, chat_parts, chat_receipt, figures, runs_state, runs_words
from pages.components.markdown import label

SHOWN = 30  # messages; more on wish


def timeline(detail: Detail) -> None:
    """The attempts of the request in time, then what happened in this one, in order."""
    st.subheader(_("Timeline"), anchor=False)
    stretches = run_detail.timeline(detail.attempts, datetime.now(UTC))
    if not stretches:
        st.caption(_("It has not begun."))
        return
    rows = [
        {"name": _("Attempt {n}").format(n=one.run.attempt), "begin": one.begin / 1000, "waited": one.waited / 1000,
         "wrote": one.wrote / 1000, "status": one.run.status} for one in stretches
    ]  # fmt: skip
    figure = charts.attempts(pd.DataFrame(rows), mode=st.context.theme.type or "light")
    st.plotly_chart(figure, key="run_timeline", config={"displayModeBar": False, **l10n.plotly()})
    if len(detail.attempts) > 1:
        for run in detail.attempts:
            _attempt(run, run.id == detail.run.id)
    st.markdown("\n".join(_steps(detail)))


def _attempt(run: Run, this: bool) -> None:
    facts = [panels.statuses()[run.status], run.model, figures.duration(run.duration_ms), run.error_type or ""]
    words = f"{_('Attempt {n}').format(n=run.attempt)} · " + " · ".join(fact for fact in facts if fact)
    if this:
        st.markdown(f"{runs_words.ICONS[run.status]} **{label(words)}**")
        return
    st.button(
        label(words), icon=runs_words.ICONS[run.status], type="tertiary", key=f"run_attempt_{run.id}",
        on_click=runs_state.open_run, args=(run.id,),
    )  # fmt: skip


def _steps(detail: Detail) -> list[str]:
    """The steps of this run: begin, first token, each call with its tools, end."""
    run = detail.run
    lines = [(_("begins"), 0)] if run.started_at else []
    lines += [(_("first token"), run.first_token_ms)] if run.first_token_ms is not None else []
    found = [f"- {_at(ms)} {words}" for words, ms in lines]
    tools = _tools(detail)
    calls: Sequence[dict[str, Any]] = (detail.receipt or {}).get("steps") or ()
    for number, call in enumerate(calls):
        tokens = f"{figures.count(call.get('input_tokens'))} → {figures.count(call.get('output_tokens'))}"
        said = _("call {n}: {tokens} tokens").format(n=number + 1, tokens=tokens)
        found.append(f"- {label(said)} · {label(_reason(call.get('reason')))}")
        found += [f"    - :material/build: {label(tool)}" for tool in (tools[number] if number < len(tools) else ())]
    if run.finished_at:
        found.append(f"- {_at(run.duration_ms)} {panels.statuses()[run.status]}")
    return found


def _at(milliseconds: int | None) -> str:
    seconds = "?" if milliseconds is None else l10n.number(milliseconds / 1000, 2)
    return f"**{_('{seconds} s').format(seconds=seconds)}**"


def _reason(reason: Any) -> str:
    words = {
        "stop": _("it was done"), "length": _("it reached its length"), "tool_calls": _("it asked for tools"),
        "content_filter": _("the provider's filter ended it"),
    }  # fmt: skip
    return words.get(str(reason), str(reason or "?"))


def _tools(detail: Detail) -> list[list[str]]:
    """What was asked of tools, call by call."""
    found: list[list[str]] = [[]]
    for part in _written(detail):
        kind = str(part.get("type"))
        if kind == "step-start":
            found.append([])
        elif kind.startswith(("tool-", "dynamic-tool")):
            name = str(part.get("toolName") or kind.removeprefix("tool-"))
            given = part.get("input") if isinstance(part.get("input"), dict) else {}
            failed = " · " + _("failed") if part.get("state") == "output-error" else ""
            found[-1].append(chat_figures.tool(name, given or {}, part.get("output")) + failed)
    return found


def _written(detail: Detail) -> Sequence[dict[str, Any]]:
    before = int((detail.receipt or {}).get("begun") or 0)  # written by the runs that it went on from
    return detail.answer.parts[before:] if detail.answer and detail.answer.run_id == detail.run.id else ()


def came_back(detail: Detail) -> None:
    """The answer as it is stored, or what the ledger has of it."""
    run = detail.run
    st.subheader(_("What came back"), anchor=False)
    if written := _written(detail):
        with st.container(border=True):
            chat_parts.answer(written, run)
    elif run.response_summary:
        with st.container(border=True):
            st.text(run.response_summary)
    elif detail.withheld:
        st.caption(_("Not yours to see."))
    elif detail.answer and detail.answer.run_id != run.id:
        st.caption(_("Nothing; a later attempt wrote the answer."))
    else:
        st.caption(_("Nothing is recorded."))


def sent(detail: Detail) -> None:
    """What was sent, by section with tokens, and the messages themselves."""
    run = detail.run
    st.subheader(_("What was sent"), anchor=False)
    if detail.withheld:
        st.caption(_("Not yours to see."))
        return
    if detail.receipt is None:
        if run.prompt_summary:
            with st.container(border=True):
                st.text(run.prompt_summary)
        over = run.status not in ("planned", "running")
        st.caption(_("Nothing more is recorded.") if over else _("This is recorded when the run ends."))
        return
    chat_receipt.draw(detail.receipt, run)
    if detail.sent is None:
        st.info(_("The messages can't be shown any more: the question is gone."), icon=":material/delete:")
        return
    messages = st.expander(_("The exact messages"), key="run_messages", on_change="rerun", icon=":material/list_alt:")
    if messages.open:
        with messages:
            _proof(detail.sent, run)
            _messages(detail.sent)


def _proof(found: Sent, run: Run) -> None:
    if run.model.startswith(f"{BUILTIN}/"):
        st.caption(_("The built-in assistant is sent no messages; it reads these texts from the store itself."))
    elif found.exact:
        st.markdown(f":green-badge[:material/verified: {_('Exactly as sent')}]")
        st.caption(_("Made again from what is stored; the digest that was taken when they were sent fits."))
    elif found.exact is None:
        st.caption(_("Made again from what is stored; no digest was taken then that could prove it."))
    else:
        part = (
            _("the system's text is as it was, the messages are not") if found.system_exact else _("not as they were")
        )
        st.warning(_("Made again from what is stored now, {part}.").format(part=part), icon=":material/difference:")
    for gap in found.gaps:
        st.markdown(f"- {label(_gap(gap))}")


def _gap(gap: Gap) -> str:
    names = {
        "memory": _("the project's memory at that version"), "summary": _("the summary"),
        "recall": _("quotes from other conversations"), "window": _("earlier messages"),
    }  # fmt: skip
    numbers = f" ({', '.join(map(str, gap.numbers))})" if gap.numbers else ""
    words = _("{what} is gone") if gap.reason == "gone" else _("{what} was changed since")
    return words.format(what=names.get(gap.section, gap.section) + numbers)


def _messages(found: Sent) -> None:
    left = len(found.messages) - SHOWN
    whole = left <= 0 or st.toggle(
        ngettext("Show the {n} message before too", "Show the {n} messages before too", left).format(n=left),
        key="run_all",
    )
    borders = {length: number + 2 for number, length in enumerate(found.calls[:-1])}
    for index, message in enumerate(found.messages):
        if index in borders:
            st.caption(_("Sent from call {n} on:").format(n=borders[index]))
        if whole or index == 0 or index >= left:
            _message(index, message)


def _message(index: int, message: dict[str, Any]) -> None:
    roles = {"system": _("system"), "user": _("person"), "assistant": _("assistant"), "tool": _("result of a tool")}
    text = str(message.get("content") or "")
    role = roles.get(str(message.get("role")), str(message.get("role")))
    with st.expander(f"{index + 1} · {role} · " + _("{n} characters").format(n=l10n.number(len(text))), type="compact"):
        if text:
            st.code(text, language=None, wrap_lines=True)
        if message.get("tool_calls"):
            st.json(message["tool_calls"])
