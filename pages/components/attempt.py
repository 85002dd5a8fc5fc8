"""Doing what may be refused: the refusal stands beside what the person typed, which stays."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TypeVar

import streamlit as st

from nexus_core.errors import NexusError
from pages.components.markdown import label

T = TypeVar("T")


def attempt(place: str, action: Callable[[], T]) -> T | None:
    """The result of `action`, or None when it was refused; `refusal(place)` then says why, on the next drawing."""
    try:
        return action()
    except NexusError as error:
        st.session_state[_key(place)] = (error.message, error.field)
        return None


@contextmanager
def told() -> Iterator[None]:
    """What is refused inside is said where one stands. For a script or a dialog's body, not for a callback."""
    try:
        yield
    except NexusError as error:
        st.error(label(error.message), icon=":material/error:")


def refusal(place: str, field: str | None = None, *, besides: Collection[str] = ()) -> None:
    """Draw, once, why `place` was refused: for the input `field`, or for any but those that draw their own."""
    message, about = st.session_state.get(_key(place), ("", None))
    if message and (about == field if field else about not in besides):
        del st.session_state[_key(place)]
        st.error(label(message), icon=":material/error:")


def _key(place: str) -> str:
    return f"refused_{place}"
