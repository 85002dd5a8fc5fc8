"""Which conversations are ticked, over the pages of one list, and which one is looked at beside it."""

from collections.abc import Sequence
from uuid import UUID

import streamlit as st

from pages.components.conv_place import Asked

_CHOSEN = "conv_chosen"
_LIST = "conv_chosen_list"
_LOOKED_AT = "conv_looked_at"


def begin(wanted: Asked) -> None:
    """Forget what was ticked in another list: nothing that is out of sight is ever acted upon by surprise."""
    of = (wanted.q, wanted.where, wanted.agent, wanted.kind, wanted.status, wanted.tag, wanted.person, wanted.since,
          wanted.until)  # fmt: skip
    if st.session_state.get(_LIST) != of:
        st.session_state[_LIST] = of
        clear()


def ids() -> list[UUID]:
    """What is ticked, in the order in which it was."""
    return list(st.session_state.get(_CHOSEN, ()))


def keep(page: Sequence[UUID], ticked: Sequence[UUID]) -> None:
    """Of this page these are ticked; what is ticked on other pages stays."""
    shown = set(page)
    before = [one for one in ids() if one not in shown or one in ticked]
    st.session_state[_CHOSEN] = before + [one for one in ticked if one not in before]


def tick(conversation_id: UUID, key: str) -> None:
    """Tick one, or take its tick away, as its box says."""
    keep([conversation_id], [conversation_id] if st.session_state[key] else [])


def clear() -> None:
    """Nothing is ticked."""
    st.session_state[_CHOSEN] = []
    st.session_state["conv_epoch"] = epoch() + 1


def epoch() -> int:
    """Part of the keys of boxes and tables: they begin anew, without ticks, when all are taken away."""
    return int(st.session_state.get("conv_epoch", 0))


def look_at(conversation_id: UUID | None) -> None:
    """Show this one beside the list; None closes it."""
    st.session_state[_LOOKED_AT] = conversation_id


def looked_at() -> UUID | None:
    """The one beside the list."""
    found: UUID | None = st.session_state.get(_LOOKED_AT)
    return found
