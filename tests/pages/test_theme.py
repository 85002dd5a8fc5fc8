"""The theme's colours: readable in light and dark, charts told apart also by colour-blind people."""

import itertools
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONFIG = tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))
THEME = CONFIG["theme"]
Colour = tuple[float, float, float]
# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB
DEUTERANOPIA = (
    (0.367322, 0.860646, -0.227968),
    (0.280085, 0.672501, 0.047413),
    (-0.01182, 0.04294, 0.968881),
)
PROTANOPIA = (
    (0.152286, 1.052583, -0.204868),
    (0.114503, 0.786281, 0.099216),
    (-0.003882, -0.048116, 1.051998),
)
NOBODY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def channels(colour: str) -> Colour:
    return int(colour[1:3], 16) / 255, int(colour[3:5], 16) / 255, int(colour[5:7], 16) / 255


def linear(colour: Colour) -> Colour:
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour)
    return red, green, blue


def luminance(colour: Colour) -> float:
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: Colour, second: Colour) -> float:
    """WCAG 2's ratio, 1 to 21."""
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def oklab(colour: Colour) -> Colour:
    """Björn Ottosson's perceptual space, from linear RGB."""
    r, g, b = (max(c, 0.0) for c in colour)
    l = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) ** (1 / 3)  # noqa: E741
    m = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) ** (1 / 3)
    s = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) ** (1 / 3)
    return (
        0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
    )


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_text_is_readable_on_every_surface(mode: str) -> None:
    theme = THEME[mode]
    surfaces = [
        theme["backgroundColor"],
        theme["secondaryBackgroundColor"],
        theme["sidebar"]["backgroundColor"],
    ]
    names = {"textColor", "linkColor", "codeTextColor"} | {name for name in theme if name.endswith("TextColor")}
    for surface, name in itertools.product(map(channels, surfaces), sorted(names)):
        assert (name, contrast(channels(theme[name]), surface) >= 4.5) == (name, True)
    text = channels(theme["textColor"])
    for surface in (channels(surfaces[0]), channels(surfaces[2])):
        red, green, blue = (0.6 * ink + 0.4 * paper for ink, paper in zip(text, surface, strict=True))
        assert contrast((red, green, blue), surface) >= 4.5
    assert contrast((1, 1, 1), channels(theme["primaryColor"])) >= 4.5
    assert contrast(channels(theme["primaryColor"]), channels(surfaces[0])) >= (4.5 if mode == "light" else 4)


def test_the_accent_as_letters_and_as_a_mark_is_read_on_every_page() -> None:
    style = (ROOT / "pages/components/frame.css").read_text(encoding="utf-8")
    ((on_light, on_dark),) = re.findall(r"light-dark\((#\w{6}), (#\w{6})\)", style)
    for mode, colour in (("light", on_light), ("dark", on_dark)):
        for name in ("backgroundColor", "secondaryBackgroundColor"):
            assert contrast(channels(colour), channels(THEME[mode][name])) >= 4.5
    for name in ("logo", "icon"):
        mark = (ROOT / "static" / f"{name}.svg").read_text(encoding="utf-8")
        light, dark = (re.findall(r"stroke: (#\w{6})", part) for part in mark.split("prefers-color-scheme: dark"))
        for mode, (colour,), least in (("light", light, 3), ("dark", dark, 7)):
            for surface in (THEME[mode]["backgroundColor"], THEME[mode]["sidebar"]["backgroundColor"]):
                assert contrast(channels(colour), channels(surface)) >= least


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("eyes", [NOBODY, DEUTERANOPIA, PROTANOPIA])
def test_chart_colours_stand_out_and_apart(mode: str, eyes: tuple[Colour, Colour, Colour]) -> None:
    colours = [channels(colour) for colour in THEME[mode]["chartCategoricalColors"]]
    assert all(contrast(colour, channels(THEME[mode]["backgroundColor"])) >= 3 for colour in colours)
    seen = []
    for colour in map(linear, colours):
        red, green, blue = (sum(w * c for w, c in zip(row, colour, strict=True)) for row in eyes)
        seen.append(oklab((red, green, blue)))
    for first, second in itertools.combinations(seen, 2):
        assert sum((a - b) ** 2 for a, b in zip(first, second, strict=True)) ** 0.5 >= 0.08


def test_nothing_of_the_look_is_fetched() -> None:
    text = (ROOT / ".streamlit/config.toml").read_text(encoding="utf-8")
    assert "://" not in text
    assert "fontFaces" not in THEME
    for mode in ("light", "dark"):
        assert len(THEME[mode]["chartSequentialColors"]) == len(THEME[mode]["chartDivergingColors"]) == 10
