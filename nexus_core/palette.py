"""The colours of charts: those of the theme, one for each name, the same everywhere."""

import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

_THEME = Path(__file__).resolve().parent.parent / ".streamlit" / "config.toml"


@cache
def font() -> str:
    """The families of the page's type."""
    family: str = tomllib.loads(_THEME.read_text("utf-8"))["theme"]["font"]
    return family


@cache
def theme(mode: str) -> dict[str, Any]:
    """The colours of .streamlit/config.toml for `mode`, light or dark."""
    themes: dict[str, dict[str, Any]] = tomllib.loads(_THEME.read_text("utf-8"))["theme"]
    return themes[mode]


def colours(keys: Iterable[str], mode: str = "light") -> dict[str, str]:
    """A colour for each key: by its name alone, so that it is the same on every page and in every session.

    Where two of the shown keys would meet, the later one in the order of names takes the next free colour.
    """
    palette: Sequence[str] = theme(mode)["chartCategoricalColors"]
    taken: dict[int, str] = {}
    found = {}
    for key in sorted(set(keys)):
        wanted = int.from_bytes(sha256(key.encode()).digest()[:4]) % len(palette)
        free = (place for n in range(len(palette)) if (place := (wanted + n) % len(palette)) not in taken)
        place = next(free, wanted)
        taken[place] = key
        found[key] = palette[place]
    return found
