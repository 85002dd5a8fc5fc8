"""The table of runs: a page of them, drawn again while one is running; a click opens one."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pandas as pd
import streamlit as st

from nexus_core import costs, panels, ranges, replica, runs_list, runs_query
from nexus_core.database import Transaction
from nexus_core.i18n import _
from nexus_core.runs import Run
from nexus_core.runs_list import Page
from nexus_core.runs_query import Asked
from pages.components import figures, runs_state, runs_words, session

ROWS = 50
LIVE = 2.0
"""Seconds between two drawings while a run of the page is running."""
_IDS = {"project": "project_id", "agent": "agent_id", "person": "user_id", "task": "task_id"}
_WIDTHS = {
    "when": 126, "status": 94, "what": 174, "model": 138, "agent": 78, "person": 70, "input": 74, "output": 82,
    "cost": 76, "duration": 76, "first": 74, "error": 220, "answer": 260, "attempt": 70, "cached": 90, "reasoning": 90,
}  # fmt: skip
"""Pixels; together the usual ones have room on a common screen."""
_TINTS = {
    "failed": "rgba(214, 69, 50, 0.10)",
    "blocked": "rgba(214, 130, 40, 0.10)",
    "running": "rgba(40, 120, 200, 0.10)",
}


def draw(asked: Asked, columns: Sequence[str]) -> None:
    """The page that is asked for, and the way to the next one."""
    page, names = _read(asked)
    if any(run.status == "running" for run in page.runs):
        st.fragment(run_every=LIVE)(_followed)(asked, columns)
    elif page.runs:
        _table(asked, columns, page.runs, names, "runs_table")
    elif not page.reached:
        _nothing(asked)
    _ways_on(asked, page)


def _read(asked: Asked) -> tuple[Page, dict[UUID, str]]:
    def read(tx: Transaction) -> tuple[Page, dict[UUID, str]]:
        page = runs_list.page(
            tx, asked.span, asked.filters, search=asked.search, unpriced=asked.unpriced, after=asked.after, limit=ROWS
        )
        ids = {getattr(run, column) for run in page.runs for column in _IDS.values()}
        return page, costs.names(tx, list(ids))

    return replica.read(session.scope(), read)


def _followed(asked: Asked, columns: Sequence[str]) -> None:
    """The table while a run of it is running; then the whole page is drawn again, and follows no more."""
    page, names = _read(asked)
    if not any(run.status == "running" for run in page.runs):
        st.rerun()
    # A key of its own: clicks in a table that was a fragment's go on to that fragment, which is gone by then.
    _table(asked, columns, page.runs, names, "runs_table_live")
    st.caption(":shimmer[" + _("Running ones are followed live.") + "]")


def _table(asked: Asked, columns: Sequence[str], runs: Sequence[Run], names: dict[UUID, str], key: str) -> None:
    zone = ranges.zone_of(asked.span.zone)
    rows = [{name: _cell(run, name, names, zone) for name in columns} for run in runs]
    tints = [f"background-color: {_TINTS[run.status]}" if run.status in _TINTS else "" for run in runs]
    frame = pd.DataFrame(rows, columns=list(columns))
    chosen = st.dataframe(
        frame.style.apply(lambda _column: tints),
        key=key,
        hide_index=True,
        height="content",
        row_height=34,
        column_config=_config(columns),
        on_select="rerun",
        selection_mode="single-cell",
        placeholder="",
        alt=_("Runs, the newest first"),
    )
    cells = chosen["selection"]["cells"]
    if cells and cells[0][0] < len(runs):
        runs_state.open_run(runs[cells[0][0]].id)
        st.rerun()


def _cell(run: Run, name: str, names: dict[UUID, str], zone: Any) -> Any:
    if name in _IDS:
        found = getattr(run, _IDS[name])
        if found:
            return names.get(found) or _("gone")
        return _("Just Chat") if name == "agent" and run.kind == "answer" else None
    plain = {
        "what": run.prompt_summary, "answer": run.response_summary, "model": run.model, "input": run.input_tokens,
        "output": run.output_tokens, "cached": run.cached_tokens, "reasoning": run.reasoning_tokens,
        "error": run.error_message or run.error_type, "provider": run.provider, "profile": run.profile_slug,
        "attempt": run.attempt, "id": str(run.id),
    }  # fmt: skip
    if name in plain:
        return plain[name]
    if name == "status":
        return [panels.statuses()[run.status]]
    if name == "when":
        return run.created_at.astimezone(zone).replace(tzinfo=None)
    if name == "cost":
        return _cost(run)
    if name in ("kind", "runtime"):
        said = {"kind": runs_words.kinds(), "runtime": runs_words.runtimes()}[name]
        return said.get(getattr(run, name) or "", getattr(run, name))
    taken = run.first_token_ms if name == "first" else _duration(run)
    return None if taken is None else taken / 1000


def _cost(run: Run) -> str:
    """What it cost; a run that is not over, or gave nothing, has no price to miss."""
    if run.cost_estimate is None and (run.status not in ("succeeded", "failed") or run.output_tokens is None):
        return ""
    return figures.money(run.cost_estimate)


def _duration(run: Run) -> int | None:
    if run.status == "running" and run.started_at:
        return round((datetime.now(UTC) - run.started_at).total_seconds() * 1000)
    return run.duration_ms


def _config(columns: Sequence[str]) -> dict[str, Any]:
    names, kinds = runs_words.columns(), st.column_config
    found: dict[str, Any] = {}
    for name in columns:
        width = _WIDTHS.get(name)
        if name == "status":
            states = panels.statuses()
            found[name] = kinds.MultiselectColumn(
                names[name],
                width=width,
                options=list(states.values()),
                color=[runs_words.COLOURS[key] for key in states],
            )
        elif name == "when":
            found[name] = kinds.DatetimeColumn(names[name], width=width, format="YYYY-MM-DD HH:mm")
        elif name in ("duration", "first"):
            found[name] = kinds.NumberColumn(names[name], format="%.1f s", width=width)
        elif name in ("input", "output", "cached", "reasoning", "attempt"):
            found[name] = kinds.NumberColumn(names[name], format="localized", width=width)
        else:
            found[name] = kinds.TextColumn(names[name], width=width, alignment="right" if name == "cost" else None)
    return found


def _nothing(asked: Asked) -> None:
    with st.container(border=True, horizontal_alignment="center"):
        if asked.after:
            st.markdown(_("**Nothing older** in this range."), width="content")
        elif asked.search or asked.filters.dimensions() or asked.unpriced is not None:
            st.markdown(_("**No run fits.** Take a filter away, or look at more days."), width="content")
        else:
            st.markdown(_("**No runs in these days.** Every answer of an assistant is one."), width="content")
        st.button(_("All runs of the last 30 days"), key="runs_reset", type="tertiary", on_click=runs_state.reset)


def _ways_on(asked: Asked, page: Page) -> None:
    zone = ranges.zone_of(asked.span.zone)
    if page.reached:
        back = f"{page.reached.astimezone(zone):%Y-%m-%d %H:%M}"
        words = _("Looked back to {when}; what fits is rare here.").format(when=back)
        st.info(words, icon=":material/hourglass_top:")
    with st.container(horizontal=True, vertical_alignment="center"):
        if asked.after:
            st.button(
                _("Newest"), icon=":material/first_page:", key="runs_newest", on_click=runs_state.move, args=({},)
            )
        if page.after:
            words = _("Look further back") if page.reached else _("Older")
            older = {"after": [runs_query.cursor_text(page.after)]}
            st.button(words, icon=":material/chevron_right:", key="runs_older", on_click=runs_state.move, args=(older,))
