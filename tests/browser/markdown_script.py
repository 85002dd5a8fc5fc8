"""Draws the samples of test_markdown_rendering.py, each in a container of its own."""

import json
import os
from pathlib import Path

import streamlit as st

from pages.components.markdown import assistant_blocks, label, literal

samples = json.loads(Path(os.environ["NEXUS_SAMPLES"]).read_text(encoding="utf-8"))

shown = st.query_params["show"]

if shown == "person":
    for number, sample in enumerate(samples["person"]):
        with st.container(key=f"person-{number}"):
            st.markdown(literal(sample))

if shown == "assistant":
    for number, sample in enumerate(samples["assistant"]):
        with st.container(key=f"assistant-{number}"):
            for block in assistant_blocks(sample):
                if block.is_code:
                    st.code(block.body, language=block.language)
                else:
                    st.markdown(block.body)

if shown == "label":
    for number, name in enumerate(label(sample) for sample in samples["label"]):
        with st.container(key=f"button-{number}"):
            st.button(name, key=f"button-of-{number}")
        with st.container(key=f"expander-{number}"):
            st.expander(name).write("inside")
        with st.container(key=f"tabs-{number}"):
            st.tabs([name, "other"])
        with st.container(key=f"link-{number}"):
            st.page_link("https://127.0.0.1/nowhere", label=name)
        with st.container(key=f"title-{number}"):
            st.subheader(name, anchor=False)
        with st.container(key=f"metric-{number}"):
            st.metric(name, "1")
    st.toast(label(samples["toast"]), duration="infinite")
