"""Dialogs that stay, through reruns, until they are answered or dismissed; one of a name at a time."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import streamlit as st


def open_(name: str, about: Any = True) -> None:
    """Ask for the dialog `name`, `about` something; a button's callback."""
    st.session_state[_key(name)] = about


def close(name: str) -> None:
    """It was answered; st.rerun() then takes it away."""
    st.session_state.pop(_key(name), None)


def is_open(name: str) -> bool:
    """Whether it was asked for and not answered yet."""
    return _key(name) in st.session_state


def draw(
    name: str,
    body: Callable[[Any], None],
    title: Callable[[Any], str],
    *,
    icon: str | None = None,
    width: Literal["small", "medium", "large"] = "small",
) -> None:
    """Draw it when it was asked for: `body` and `title` (safe Markdown) are told what it is about."""
    about = st.session_state.get(_key(name))
    if about is not None:
        st.dialog(title(about), icon=icon, width=width, on_dismiss=partial(close, name))(body)(about)


def _key(name: str) -> str:
    return f"dialog_{name}"
