"""The table of runs: a page of them, drawn again while one is running; a click opens one."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pandas as pd
import streamlit as st

from nexus_core import costs, l10n, panels, ranges, replica, runs_look, runs_query
from nexus_core.i18n import _
from nexus_core.runs import Run
from nexus_core.runs_list import Page
from nexus_core.runs_query import Asked
from pages.components import figures, runs_state, runs_words, session
from pages.components.markdown import label

ROWS = 50
LIVE = 2.0
"""Seconds between two drawings while a run of the page is running."""
_IDS = {"project": "project_id", "agent": "agent_id", "person": "user_id", "task": "task_id"}
_WIDTHS = {
    "when": 126, "status": 94, "error": 140, "model": 118, "agent": 74, "person": 70, "input": 60, "output": 60,
    "cost": 76, "duration": 76, "first": 90, "answer": 260, "attempt": 70, "cached": 72, "reasoning": 90,
}  # fmt: skip
"""Pixels; what was asked gets the rest of ROOM."""
ROOM, LEAST = 1004, 110
"""Pixels of the table at 1440, the whole window with its navigation; and of what was asked, at least."""
_TINTS = {
    "failed": "rgba(214, 69, 50, 0.10)",
    "blocked": "rgba(214, 130, 40, 0.10)",
    "running": "rgba(40, 120, 200, 0.10)",
}


def draw(asked: Asked, columns: Sequence[str]) -> None:
    """The page that is asked for, and the way to the next one."""
    page, at_once = _look(asked)
    if at_once and any(run.status == "running" for run in page.runs):
        st.fragment(run_every=LIVE)(_followed)(asked, columns)
    elif page.runs:
        _table(asked, columns, page.runs, _names(page), "runs_table")
    elif not page.reached:
        _nothing(asked)
    _ways_on(asked, page)


def _look(asked: Asked) -> tuple[Page, bool]:
    """The page, and whether it was there at once: what is rare is looked for, and one sees how far back."""
    progress = st.empty()
    steps = runs_look.look(session.scope(), asked, limit=ROWS)
    page = next(steps)
    at_once = page.reached is None
    while page.reached:
        words = _("{n} found so far").format(n=len(page.runs))
        back = _("Looking back: {when}").format(when=_when(asked, page.reached))
        progress.markdown(f":material/hourglass_top: :shimmer[{label(f'{back} · {words}')}]")
        following = next(steps, None)
        if following is None:
            break
        page = following
    progress.empty()
    return page, at_once


def _names(page: Page) -> dict[UUID, str]:
    ids = {getattr(run, column) for run in page.runs for column in _IDS.values()}
    return replica.read(session.scope(), lambda tx: costs.names(tx, list(ids)))


def _followed(asked: Asked, columns: Sequence[str]) -> None:
    """The table while a run of it is running; then the whole page is drawn again, and follows no more."""
    page = next(runs_look.look(session.scope(), asked, limit=ROWS))
    if not any(run.status == "running" for run in page.runs):
        st.rerun()
    # A key of its own: clicks in a table that was a fragment's go on to that fragment, which is gone by then.
    _table(asked, columns, page.runs, _names(page), "runs_table_live")
    st.caption(":shimmer[" + _("Running ones are followed live.") + "]")


def _table(asked: Asked, columns: Sequence[str], runs: Sequence[Run], names: dict[UUID, str], key: str) -> None:
    zone = ranges.zone_of(asked.span.zone)
    columns = runs_state.fitting(columns, runs)
    rows = [{name: _cell(run, name, names, zone) for name in columns} for run in runs]
    tints = [f"background-color: {_TINTS[run.status]}" if run.status in _TINTS else "" for run in runs]
    frame = pd.DataFrame(rows, columns=list(columns))
    one_year = asked.span.first.year == asked.span.last.year
    seconds = {name: figures.fixed(1, " s") for name in ("duration", "first") if name in columns}
    chosen = st.dataframe(
        frame.style.apply(lambda _column: tints).format(seconds),
        key=key,
        hide_index=True,
        height="content",
        row_height=34,
        column_config=_config(columns, one_year),
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


def _config(columns: Sequence[str], one_year: bool) -> dict[str, Any]:
    names, full, kinds = runs_words.heads(), runs_words.columns(), st.column_config
    widths = _WIDTHS | ({"when": 104} if one_year else {}) | ({"cost": 100} if l10n.sides()[1] else {})
    widths["what"] = max(LEAST, ROOM - sum(widths.get(name, LEAST) for name in columns if name != "what"))
    found: dict[str, Any] = {}
    for name in columns:
        width = widths.get(name)
        if name == "status":
            states = panels.statuses()
            found[name] = kinds.MultiselectColumn(
                names[name],
                width=width,
                options=list(states.values()),
                color=[runs_words.COLOURS[key] for key in states],
            )
        elif name == "when":
            found[name] = kinds.DatetimeColumn(names[name], width=width, format=l10n.grid("HH:mm", year=not one_year))
        elif name in ("duration", "first"):
            found[name] = kinds.NumberColumn(names[name], width=width)
        elif name in ("input", "output", "cached", "reasoning", "attempt"):
            found[name] = kinds.NumberColumn(names[name], format="localized", width=width, help=full[name])
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
    if page.reached:
        words = _("Looked for {n} seconds, back to {when}; older runs were not looked at yet.")
        told = words.format(n=round(runs_look.PATIENCE), when=_when(asked, page.reached))
        st.warning(told, icon=":material/hourglass_bottom:")
    with st.container(horizontal=True, vertical_alignment="center"):
        if asked.after:
            st.button(
                _("Newest"), icon=":material/first_page:", key="runs_newest", on_click=runs_state.move, args=({},)
            )
        if page.after:
            words = _("Look further back") if page.reached else _("Older")
            older = {"after": [runs_query.cursor_text(page.after)]}
            st.button(words, icon=":material/chevron_right:", key="runs_older", on_click=runs_state.move, args=(older,))


def _when(asked: Asked, at: datetime) -> str:
    return l10n.instant(at.astimezone(ranges.zone_of(asked.span.zone)))
