"""What the browser's tab keeps for the chat, over a reload too: the draft of each conversation, and where one is."""

from functools import partial

import streamlit as st

from pages.components import scripts


def keep(name: str, *, box: str, waiting: str | None, begun_as: str, address: str) -> None:
    """Keep what is typed into `box` under `name`, in this tab alone, and put it back into an empty box.

    `waiting` is the text that could not be sent, where one stands in the box instead; `begun_as` a former name, to be
    forgotten; `address` the query string that the address bar shows from here on, empty for the one that it has. An
    empty `box` is none to write in.
    """
    key = f"chat_tab_{name}"
    data = {"name": name, "box": box, "waiting": waiting, "begunAs": begun_as, "address": address}
    with st.container(key="chat_tab"):  # not seen
        scripts.component("chat_tab")(key=key, data=data, on_draft_change=partial(_put_back, key, box))


def _put_back(key: str, box: str) -> None:
    st.session_state[box] = str(st.session_state[key].draft or "")
