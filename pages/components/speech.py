"""Whose language a page speaks: the person's own once they chose one, else the browser's.

Scripts, fragments and callbacks run in threads of their own, so the language is looked up by session wherever a text is
made. Not in st.session_state: reading that may end a run, and texts are made inside transactions, too.
"""

from threading import Lock

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from nexus_core import accounts, i18n
from nexus_core.i18n import _
from nexus_core.signin import Identity
from pages.components import scripts, session
from pages.components.attempt import attempt, refusal

KEY = "frame_language"
MOST = 10_000
_spoken: dict[str, str] = {}
_DRAWN = "speech_drawn"
_lock = Lock()


def settle(identity: Identity | None) -> None:
    """Speak the language of who looks, from here on in this session; at the beginning of a page's run.

    None: it is not known who looks, so the language stays what it was.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return
    before = _spoken.get(context.session_id)
    language = (identity.person.locale if identity else before) or browser()
    with _lock:
        _spoken.pop(context.session_id, None)
        while len(_spoken) >= MOST:  # sessions end without a word; one that is forgotten settles with its next page
            del _spoken[next(iter(_spoken))]
        _spoken[context.session_id] = language


def browser() -> str:
    """The language that the browser asks for; English where it asks for none of ours."""
    return i18n.accepted(st.context.locale) or i18n.accepted(st.context.headers.get("Accept-Language")) or "en"


def here() -> str | None:
    """The language of the session that this thread draws for; None in a thread of no session."""
    context = get_script_run_ctx(suppress_warning=True)
    return None if context is None else _spoken.get(context.session_id) or browser()


def menu() -> None:
    """The language, and the choice of another."""
    code = i18n.language()
    st.menu_button(
        code.upper(), list(i18n.LANGUAGES), format_func=i18n.LANGUAGES.__getitem__, key=KEY, type="tertiary",
        icon=":material/translate:", help=_("Language"), on_click=_chosen,
    )  # fmt: skip
    refusal(KEY)
    if st.session_state.setdefault(_DRAWN, code) != code:
        st.session_state[_DRAWN] = ""  # from here on it is told with every drawing, for it may change back
        # The page says its language to who hears it or would translate it; from its next opening on by itself.
        scripts.component("speech")(key="speech", data={"language": code}, height="content")


def _chosen() -> None:
    code = st.session_state[KEY]
    if code:
        attempt(KEY, lambda: accounts.speak(session.scope(), code))


i18n.ask(here)
