"""From the Costs page to the runs behind a figure."""

from collections.abc import Mapping, Sequence

import streamlit as st

from nexus_core.i18n import _
from pages.components import session
from pages.components.frame import ROOT

PAGE = "pages/insight/runs.py"


def there() -> bool:
    """Whether there is a page that shows runs."""
    return (ROOT / PAGE).exists()


def link(label: str, query: Mapping[str, Sequence[str]], *, icon: str | None = None) -> None:
    """A link to the runs of a query, or its words alone."""
    if there():
        st.page_link(PAGE, label=label, icon=icon, query_params=_params(query), help=_("Open the runs behind it"))
    else:
        st.markdown(f"{icon} {label}" if icon else label)


def open_(query: Mapping[str, Sequence[str]]) -> None:
    """Go to the runs of a query; where there is no such page, the address tells it."""
    if there():
        st.switch_page(PAGE, query_params=_params(query))


def _params(query: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {name: [value] for name, value in session.here().items()} | {
        key: list(items) for key, items in query.items()
    }
