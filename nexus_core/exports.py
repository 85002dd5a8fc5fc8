"""Tables as files: the same numbers, and no cell that a spreadsheet would run."""

import csv as csv_
import io
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import pandas as pd

_RISKY = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv(frame: pd.DataFrame) -> bytes:
    """UTF-8 with a byte order mark, as spreadsheets want it; unknown is empty, money exact, instants ISO 8601.

    A text that begins like a formula gets an apostrophe before it (OWASP, "CSV injection"); numbers stay numbers.
    """
    safe = pd.DataFrame({name: [_cell(value) for value in frame[name]] for name in frame.columns}, dtype=object)
    safe.columns = pd.Index([_cell(str(name)) for name in frame.columns])
    return safe.to_csv(index=False, lineterminator="\r\n").encode("utf-8-sig")


def csv_lines(rows: Iterable[Sequence[Any]], *, first: bool = False) -> bytes:
    """A piece of a CSV file as `csv` writes it, for a file that is written while it is read; `first`: its beginning."""
    text = io.StringIO()
    csv_.writer(text, lineterminator="\r\n").writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue().encode("utf-8-sig" if first else "utf-8")


def parquet(frame: pd.DataFrame) -> bytes:
    """Parquet with decimal money and instants in UTC; `pyarrow` comes with Streamlit.

    A column of several sorts of numbers, such as the figures of cards, is one of floats: a file's column has one type.
    """
    buffer = io.BytesIO()
    mixed = {name: float for name in frame.columns if _is_mixed(frame[name])}
    frame.astype(mixed).to_parquet(buffer, engine="pyarrow", index=False)
    return buffer.getvalue()


def _is_mixed(values: Iterable[Any]) -> bool:
    kinds = {type(value) for value in values if value is not None}
    return len(kinds) > 1 and kinds <= {int, float, Decimal}


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_RISKY) else value
    if value is None or value is pd.NaT or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, Decimal):
        return f"{value:f}"
    return value.isoformat() if isinstance(value, datetime) else value
