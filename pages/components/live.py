"""Refreshing a page by itself, only while its tab can be seen: a hidden one asks the server nothing."""

from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

NAME = "nexus.live"


def tick(key: str, seconds: int) -> None:
    """Run the script again every `seconds`, paused while the browser hides the tab."""
    _component()(key=key, data={"seconds": seconds}, on_now_change=_noted, width="content", height="content")


def _component() -> Any:
    """Registered as a file of ours: inline script would need `blob:` in the Content-Security-Policy."""
    manager = get_bidi_component_manager()
    if manager.get_component_asset_root(NAME) is None:
        package, _dot, name = NAME.partition(".")
        manifest = ComponentManifest(package, "1", [ComponentConfig(name, "live")])
        manager.register_from_manifest(manifest, Path(__file__).parent)
    return st.components.v2.component(NAME, js="live.js")


def _noted() -> None:
    """The run that a tick causes is all that it is for."""
