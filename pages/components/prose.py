"""Text that an assistant or a person wrote as Markdown, drawn safely."""

import streamlit as st

from pages.components.markdown import assistant_blocks


def draw(markdown: str) -> None:
    """The text, with its code blocks."""
    for block in assistant_blocks(markdown):
        if block.is_code:
            st.code(block.body, language=block.language)
        else:
            st.markdown(block.body)
