"""The address of the Runs page, the only place where what is shown is kept."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

import streamlit as st

from nexus_core import runs_query
from nexus_core.runs import Run
from nexus_core.runs_query import Asked
from pages.components import session
from pages.components.runs_words import SHOWN, columns

PAGE = "pages/insight/runs.py"


def query() -> dict[str, list[str]]:
    """The query of the address."""
    return {key: st.query_params.get_all(key) for key in st.query_params}


def asked(zone: str, now: datetime) -> Asked:
    """Which runs the address asks for; raises Invalid."""
    return runs_query.from_query(query(), zone, now)


def shown_columns() -> list[str]:
    """The columns that the address names, or the usual ones."""
    known = columns()
    chosen = st.query_params.get("columns", "").split(",")
    return [name for name in known if name in chosen] or list(SHOWN)


def fitting(columns: Sequence[str], runs: Sequence[Run]) -> list[str]:
    """The columns without that of errors, unless somebody chose it, where nothing of a page went wrong."""
    wrong = "columns" in st.query_params or any(run.status in ("failed", "blocked") or run.error_type for run in runs)
    return [name for name in columns if wrong or name != "error"]


def move(changes: Mapping[str, Sequence[str]]) -> None:
    """Change keys of the address, and begin at the first page unless they say where."""
    found = query() | {"after": []} | {key: list(values) for key, values in changes.items()}
    st.query_params.from_dict({key: values for key, values in found.items() if values})


def open_run(run_id: UUID) -> None:
    """Show one run; Back leads to where one was."""
    st.query_params["run"] = str(run_id)


def close() -> None:
    """Leave the run for the table that it was found in."""
    st.query_params.pop("run", None)


def reset() -> None:
    """All runs of the usual range."""
    st.query_params.from_dict(session.here() if "project" not in st.query_params else {})
