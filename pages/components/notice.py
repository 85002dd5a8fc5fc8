"""What a click has to say, shown by the next drawing of the whole page.

A callback draws nothing itself: one of a dialog or another fragment would put its elements where others stand, and the
browser ends with a white page. `tests/pages/test_callbacks.py` sees to it.
"""

import streamlit as st

_KEY = "notices"
DONE = ":material/check:"
GONE = ":material/delete:"


def say(words: str, icon: str = DONE) -> None:
    """Have `words`, one of our own sentences, shown for a moment; in a fragment's callback followed by st.rerun()."""
    st.session_state.setdefault(_KEY, []).append((words, icon))


def draw() -> None:
    """Show what was said; at the end of a run, for one that is cut short by another shows nothing."""
    for words, icon in st.session_state.pop(_KEY, ()):
        st.toast(words, icon=icon)
