"""Components whose script is a file of ours: inline script would need `blob:` in the Content-Security-Policy."""

from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

_PACKAGE = "nexus"


def component(name: str) -> Any:
    """The component whose script is pages/components/<name>/<name>.js, ready to be drawn."""
    manager, full = get_bidi_component_manager(), f"{_PACKAGE}.{name}"
    if manager.get_component_asset_root(full) is None:
        manifest = ComponentManifest(_PACKAGE, "1", [ComponentConfig(name, name)])
        manager.register_from_manifest(manifest, Path(__file__).parent)
    return st.components.v2.component(full, js=f"{name}.js")
