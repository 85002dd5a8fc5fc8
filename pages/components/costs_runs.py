"""From the Costs page to the runs behind a figure."""

from collections.abc import Mapping, Sequence

import streamlit as st

from nexus_core.i18n import _
from pages.components import session
from pages.components.frame import ROOT

PAGE = "pages/insight/runs.py"
LEFT = "costs_left"


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
        st.session_state[LEFT] = {key: st.query_params.get_all(key) for key in st.query_params}
        st.switch_page(PAGE, query_params=_params(query))


def returned() -> None:
    """Streamlit writes the query of the next page into the history of this one first, where Back then stops: put the
    address back as it was left."""
    if not {"from", "to"} <= st.query_params.keys():
        return
    here = {key: st.query_params.get_all(key) for key in st.query_params if key not in ("from", "to")}
    st.query_params.from_dict(st.session_state.get(LEFT, here))


def _params(query: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {name: [value] for name, value in session.here().items()} | {
        key: list(items) for key, items in query.items()
    }
